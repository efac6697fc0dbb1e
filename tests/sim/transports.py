#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Transports give small messages the same dates, where nothing else takes time.

usage: transports.py [--table]
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
PROGRAM = os.path.join(BUILD, "bench", "small_messages-sim")
PATTERNS = ("burst", "incast", "ring", "all", "flood")
SIZES = (8, 512, 4096, 20000, 65536)
TOLERANCE = 0.03
# Platform, nodes, rounds: messages of 50 us that cost 5, of some 2 that cost hardly anything,
# and such that cost nothing and that SMPI has factors for.
MACHINES = (("ethernet:2", 2, 40), ("ethernet:4", 4, 40), ("a100", 16, 10), ("small4", 4, 20))
# More on their way at once than receives are posted to begin with, each for 50 times as long as
# one that leaves: who was not met moved later, and the flood was 9 % shorter.
LONG_FLOOD = (2, 1000, 10000)  # nodes, rounds, bytes
DESCRIPTION = """nodes = 2
network = "fat tree"
link = "EDR"
[node]
cores = 4
"""
# Where what goes before each message is a quarter of its time.
SLOW_RING = (2, 40, 8)
SLOW = "nodes = 2\nbandwidth = \"100 kB/s\"\nlatency = \"10 us\"\n[node]\ncores = 4\n"
# Which of two large values that are asked for at one date comes first decides what is sent next.
FEW_ROUNDS, LARGE = 4, 65536


def play(platform, n, rounds, size, patterns, transport):
    """{pattern: us}, or what went wrong."""
    out = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", platform, "-n",
                          str(n), "--transport", transport, PROGRAM, ",".join(patterns),
                          str(size), str(rounds), "1"], text=True, timeout=250,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env=dict(os.environ, ORRERY_BUILD=BUILD), check=False)
    found = re.findall(r"^small_messages,(\w+),us,([0-9.e+]+)", out.stdout, re.MULTILINE)
    if out.returncode or len(found) != len(patterns):
        return "status %d: %s" % (out.returncode, out.stdout[-300:])
    return {pattern: float(us) for pattern, us in found}


def check(case, played):
    """What is wrong with a case that was played under routes, flows and mpi."""
    platform, n, _, size, patterns = case
    wrong = [one for one in played if isinstance(one, str)]
    for pattern in () if wrong else patterns:
        dates = [one[pattern] for one in played]
        if "--table" in sys.argv:
            print("%s, %d nodes, %s of %d: routes %.1f us, flows %+.2f %%, mpi %+.2f %%"
                  % (os.path.basename(platform), n, pattern, size, dates[0],
                     *(100 * (date / dates[0] - 1) for date in dates[1:])))
        if any(abs(date / dates[0] - 1) > TOLERANCE for date in dates):
            wrong.append("%s: routes, flows, mpi %s us" % (pattern, dates))
    return wrong


def main():
    nfailed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool, \
            tempfile.TemporaryDirectory(prefix="orrery-transports-") as directory:
        path = os.path.join(directory, "edr.toml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(DESCRIPTION)
        cases = [(path, *LONG_FLOOD, ("flood",))]
        path = os.path.join(directory, "slow.toml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(SLOW)
        cases.append((path, *SLOW_RING, ("ring",)))
        cases += [(platform, n, FEW_ROUNDS if size >= LARGE else rounds, size, PATTERNS)
                  for platform, n, rounds in MACHINES for size in SIZES]
        jobs = [(case, [pool.submit(play, *case, transport)
                        for transport in ("routes", "flows", "mpi")]) for case in cases]
        for case, runs in jobs:
            wrong = check(case, [run.result() for run in runs])
            print("%s transports agree within 3 %%: messages of %d bytes of %d nodes, %s%s" % (
                "FAIL" if wrong else "PASS", case[3], case[1], os.path.basename(case[0]),
                ": " + "; ".join(wrong) if wrong else ""), flush=True)
            nfailed += bool(wrong)
    return 1 if nfailed else 0


if __name__ == "__main__":
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as conf:
        # With sanitizers the ranks share the globals of the programs.
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            sys.exit(77)
    sys.exit(main())
