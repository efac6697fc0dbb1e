#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What few payloads at a time and passing them on are worth to Cholesky (decision 032).

usage: passing_on.py [--build DIR] [--table]

Each case is played with all payloads at once and nobody who passes on (as it was before), with few at a
time, and with both; medians over seeds of a noise of 0.1 %, since one tie moves a makespan by percents.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEEDS = 3
WAYS = {
    "before": {"STARPU_MPI_COOP_SENDS": "0", "ORRERY_MPI_PUT_BYTES": "1000000000000",
               "ORRERY_MPI_BESIDE": "1000000000000"},
    "alone": {"STARPU_MPI_COOP_SENDS": "0"},
    "now": {},
}
# platform, nodes, tiles, their size, policy; at most these shares of before and of alone.
CASES = [
    ("gpu64", 64, 24, 960, "dmdas", 0.7, 1.01),
    ("gpu64", 64, 24, 1920, "dmdas", 0.75, 1.02),
    ("gpu64", 64, 40, 192, "dmdas", 1.01, 1.01),
    ("gpu64", 64, 40, 480, "dmdas", 0.85, 1.02),
    ("gpu64", 64, 40, 960, "dmdas", 0.8, 1.01),
    ("gpu64", 64, 40, 1920, "dmda", 0.8, 0.85),
]
# As many nodes have lives of ten seconds each.
LARGE = [
    ("gpu1024", 1024, 64, 480, "dmdas", 0.7, 0.95),
    ("gpu1024", 1024, 64, 960, "dmdas", 0.7, 0.95),
    ("gpu1024", 1024, 64, 960, "dmda", 0.7, 0.7),
]


def makespan_s(build, case, way, seed):
    platform, nodes, tiles, size, policy = case[:5]
    env = dict(os.environ, ORRERY_BUILD=build, STARPU_SCHED=policy, ORRERY_NOISE="0.001",
               ORRERY_NOISE_SEED=str(seed), **WAYS[way])
    command = [os.path.join(SRC, "scripts", "orrery"), "run", "--quiet", "--sim", platform, "-n",
               str(nodes), os.path.join(build, "examples", "cholesky", "cholesky-sim"), "--nb",
               str(tiles), "--tile", str(size), "--prune"]
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    found = re.search(r"^makespan: ([0-9.e+-]+)", run.stdout, re.MULTILINE)
    if run.returncode or not found:
        print("FAIL %s: exit status %d: %s" % (" ".join(command), run.returncode, run.stdout))
        sys.exit(1)
    return float(found.group(1))


def play(build, case, seeds):
    """Whether both shares are as they should be."""
    took = {way: statistics.median(makespan_s(build, case, way, seed)
                                   for seed in range(1, seeds + 1)) for way in WAYS}
    shares = took["now"] / took["before"], took["now"] / took["alone"]
    good = shares[0] <= case[5] and shares[1] <= case[6]
    print("%s %s, %d nodes, %d x %d tiles of %d, %s: %.1f, %.1f, %.1f ms: %.3f of all at once "
          "(at most %g), %.3f of few at a time alone (at most %g)" % (
              ("PASS" if good else "FAIL", case[0], case[1], case[2], case[2]) + case[3:5] +
              tuple(1e3 * took[way] for way in WAYS) +
              (shares[0], case[5], shares[1], case[6])), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.environ.get("ORRERY_BUILD",
                                                          os.path.join(SRC, "build")))
    parser.add_argument("--table", action="store_true", help="1,024 nodes, too, one seed of these")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    good = [play(build, case, SEEDS) for case in CASES]
    if args.table:
        good += [play(build, case, 1) for case in LARGE]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
