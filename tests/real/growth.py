#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What costs the same however many there are: instructions of growth.c by number.

usage: growth.py [SCENE...]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ["ORRERY_BUILD"], "tests", "real", "growth")
NUMBERS = (250, 1000, 4000)
MOST = 1.3  # times as much for each of the last as for each of those before


def count(scene, number, home):
    """The instructions of all threads."""
    env = dict(os.environ, STARPU_NCPU="1", STARPU_WORKERS_NOBIND="1", STARPU_SCHED="eager",
               STARPU_SILENT="1", STARPU_HOME=home, OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    result = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, scene,
         str(number)], env=env, capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        print(result.stdout + result.stderr)
        return None
    return int(found.group(1))


def growth(scene, home):
    """Why the scene fails, or None.  What the start costs is in all of the numbers."""
    counts = [count(scene, number, home) for number in NUMBERS]
    if None in counts:
        return "it failed"
    few, many = ((counts[i + 1] - counts[i]) / (NUMBERS[i + 1] - NUMBERS[i]) for i in (0, 1))
    if many <= MOST * few:
        return None
    return "%.0f instructions for each up to %d, %.0f for each up to %d" % (
        few, NUMBERS[1], many, NUMBERS[2])


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    scenes = sys.argv[1:] or subprocess.run(
        [PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    nfailed = 0
    with tempfile.TemporaryDirectory() as home:
        for scene in scenes:
            # A start may differ from another by chance: two failures in a row do not.
            why = growth(scene, home) and growth(scene, home)
            print("FAIL %s: %s" % (scene, why) if why else "PASS %s cost the same each" % scene,
                  flush=True)
            nfailed += why is not None
    return nfailed != 0


if __name__ == "__main__":
    sys.exit(main())
