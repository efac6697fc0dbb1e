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
# Which of two large values that are asked for at one date comes first decides what is sent next.
FEW_ROUNDS, LARGE = 4, 65536


def play(platform, n, rounds, size, transport):
    """{pattern: us}, or what went wrong."""
    if size >= LARGE:
        rounds = FEW_ROUNDS
    out = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", platform, "-n",
                          str(n), "--transport", transport, PROGRAM, ",".join(PATTERNS),
                          str(size), str(rounds), "1"], text=True, timeout=250,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env=dict(os.environ, ORRERY_BUILD=BUILD), check=False)
    found = re.findall(r"^small_messages,(\w+),us,([0-9.e+]+)", out.stdout, re.MULTILINE)
    if out.returncode or len(found) != len(PATTERNS):
        return "status %d: %s" % (out.returncode, out.stdout[-300:])
    return {pattern: float(us) for pattern, us in found}


def main():
    nfailed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(machine, size, [pool.submit(play, *machine, size, transport)
                                 for transport in ("routes", "flows", "mpi")])
                for machine in MACHINES for size in SIZES]
        for (platform, n, _), size, runs in jobs:
            played = [run.result() for run in runs]
            wrong = [one for one in played if isinstance(one, str)]
            for pattern in () if wrong else PATTERNS:
                dates = [one[pattern] for one in played]
                if "--table" in sys.argv:
                    print("%s, %d nodes, %s of %d: routes %.1f us, flows %+.2f %%, mpi %+.2f %%"
                          % (platform, n, pattern, size, dates[0],
                             *(100 * (date / dates[0] - 1) for date in dates[1:])))
                if any(abs(date / dates[0] - 1) > TOLERANCE for date in dates):
                    wrong.append("%s: routes, flows, mpi %s us" % (pattern, dates))
            print("%s transports agree within 3 %%: messages of %d bytes of %d nodes, %s%s" % (
                "FAIL" if wrong else "PASS", size, n, platform,
                ": " + "; ".join(wrong) if wrong else ""), flush=True)
            nfailed += bool(wrong)
    return 1 if nfailed else 0


if __name__ == "__main__":
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as conf:
        # With sanitizers the ranks share the globals of the programs.
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            sys.exit(77)
    sys.exit(main())
