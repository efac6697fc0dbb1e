#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery calibrate: a machine that is known is found again; what it writes is taken by run."""
import os
import sys
import tempfile

from run import SRC, Suite, configured

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import calibrate        # noqa: E402
from orrery_tool.place import Place      # noqa: E402

# Descriptions whose simulation is measured as if it were a machine.
KNOWN = {
    "fast": 'nodes = 2\nlink = "HDR"\n',
    "ethernet": 'nodes = 2\nlink = "1G-Ethernet"\n',
    "by_size": 'nodes = 2\nlatency = "3 us"\nmessage_cost = "1 us"\nbandwidth = "5 GB/s"\n'
               'bandwidth_factors = "0:0.1;1000:0.3;20000:0.6;500000:1"\n',
}
REAL = {("alone", 8): 1e-6, ("alone", 64): 1.1e-6, ("alone", 1024): 2e-6, ("flood", 64): 4e-7}


def known_machines(suite, place):
    for name, text in KNOWN.items():
        directory = os.path.join(suite.directory, name)
        args = calibrate.calibrate_parser().parse_args(["-o", directory, "--name", name])
        os.makedirs(directory)
        suite.write("known.toml", text)
        real = calibrate.quiet(calibrate.run(
            place, args, calibrate.program(place, "-sim"),
            os.path.join(suite.directory, "known.toml")))
        found = calibrate.fit(place, args, real)
        wrong = {key: "%.1f %%" % (100 * value)
                 for key, value in calibrate.differences(real, found).items()
                 if abs(value) > 0.06}
        suite.verdict("finds_%s_again_within_6_percent" % name, not wrong, wrong)
        suite.succeeds("what_it_writes_of_%s_is_good" % name, "platform", "--check",
                       os.path.join(directory, name + ".toml"), says="good: 2 nodes")


def judgements(suite):
    slower = {key: value * (1.3 if key[0] == "alone" else 1) for key, value in REAL.items()}
    suite.verdict("says_that_nothing_changed", "as before" in calibrate.compare(
        REAL, {key: 1.05 * value for key, value in REAL.items()}), calibrate.compare(REAL, REAL))
    suite.verdict("says_that_it_changed", "has changed: 3 of 4" in
                  calibrate.compare(REAL, slower), calibrate.compare(REAL, slower))
    disturbed = dict(REAL)
    disturbed["alone", 64] = 1
    suite.verdict("a_larger_message_is_not_faster",
                  calibrate.risen(disturbed)["alone", 64] == 2e-6, calibrate.risen(disturbed))
    calm = calibrate.noise({key: (value, 1.02 * value) for key, value in REAL.items()})
    busy = calibrate.noise({key: (value, 3 * value) for key, value in REAL.items()})
    suite.verdict("says_how_noisy_it_was", " 2 % above" in calm and "busy" not in calm
                  and "the machine is busy" in busy, calm + busy)
    machine = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), {
        ("alone", 8): 75.433333e-6, ("alone", 64): 8e-5, ("alone", 1024): 9e-5,
        ("flood", 64): 1e-3})
    suite.write("slow.toml", machine.text())
    suite.succeeds("a_flood_slower_than_a_message_is_no_contradiction", "platform", "--check",
                   "slow.toml", says="good")
    errors = calibrate.left_out(calibrate.Machine(
        calibrate.calibrate_parser().parse_args([]), REAL))
    suite.verdict("leaves_sizes_out", len(errors) == 1 and 0.05 < errors[0] < 0.3, errors)
    for claim, words, says in (
            ("name", ["--name", "a b"], ["a b", "letters"]),
            ("nodes", ["--nodes", "1"], ["2 or more"]),
            ("directory", ["-o", "/proc/none"], ["/proc/none"])):
        suite.refuses("refuses_" + claim, "calibrate", *words, says=says)


def real_machine(suite):
    """Quick and unsure, but whole: files, table, comparison."""
    for i, says in enumerate(("measured", "of 28 figures")):
        status, said = suite.orrery("calibrate", "-o", "here", "--name", "here", "--tiles", "0",
                                    "--repetitions", "20")
        suite.verdict("run_%d_measures_this_machine" % (i + 1), status == 0 and says in said
                      and "noise: " in said and said.count("measured ") >= 28, said)
    suite.succeeds("its_platform_is_good", "platform", "--check", "here/here.toml",
                   says="good: 2 nodes")


def main():
    if not (configured("sim") and configured("mpi")):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")
        suite = Suite(directory)
        judgements(suite)
        known_machines(suite, Place(os.path.join(SRC, "scripts")))
        real_machine(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
