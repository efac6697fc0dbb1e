#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What a checkpoint every 20 iterations costs on 64 nodes, and that a node may be lost at any date.

usage: checkpoint_cost.py [--build DIR]
"""
import argparse
import os
import re
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NODES = 64
MOST = 1.05
# Of the time without a loss; before the first checkpoint, beside one, before the end.
DATES = (0.02, 0.5, 0.61, 0.97)


def play(build, every, **env):
    """(exit status, simulated seconds, output)"""
    command = [os.path.join(SRC, "scripts", "orrery"), "run", "--sim", "gpu64", "-n", str(NODES),
               os.path.join(build, "examples", "checkpoints-sim"), str(every)]
    run = subprocess.run(command, env=dict(os.environ, ORRERY_BUILD=build, **env), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = re.search(r"^\[orrery\] simulated ([0-9.e+-]+) s", run.stdout, re.MULTILINE)
    return run.returncode, float(found.group(1)) if found else float("nan"), run.stdout


def verdict(claim, good, why):
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.environ.get("ORRERY_BUILD",
                                                          os.path.join(SRC, "build")))
    build = os.path.abspath(parser.parse_args().build)
    without, with_them = play(build, 0), play(build, 20)
    good = verdict("a checkpoint every 20 iterations costs at most 5 %",
                   without[0] == 0 and with_them[0] == 0 and with_them[1] <= MOST * without[1],
                   "%s, then %s" % (without, with_them))
    for share in DATES:
        date_s = share * with_them[1]
        lost = play(build, 20, ORRERY_MPI_LOSE="2@%.9g" % date_s)
        good &= verdict("node 2 is lost at %g of the time, and a spare goes on" % share,
                        lost[0] == 0 and "has 0 wrong blocks" in lost[2] and
                        lost[1] > with_them[1], lost)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
