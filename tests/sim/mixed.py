#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A task costs as much however many wait that are for other workers: instructions of mixed.c.

usage: mixed.py [SCENE...]
    without any, one for each way to look for a task; "all": all of mixed.c
"""
import os
import re
import shutil
import sys
import tempfile

import floods

PLATFORM = os.path.join(floods.SRC, "platforms", "xml", "small4.xml")
NUMBERS = (200, 500, 2000)
SCENES = ("modular-eager", "modular-ws", "fifo", "deque")
MOST = 1.5  # times as much for each of the last as for each of those before


def check(directory, scene):
    """Why the scene fails, or None.  What the start costs is in all of the counts."""
    counts = [floods.count(directory, PLATFORM, scene, number) for number in NUMBERS]
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
    floods.PROGRAM = os.path.join(floods.BUILD, "tests", "sim", "mixed-sim")
    nfailed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-mixed-") as directory:
        with open(os.path.join(directory, "hosts"), "w", encoding="utf-8") as f:
            f.write("node-0\n")
        scenes = sys.argv[1:] or SCENES
        if scenes == ["all"]:
            scenes = floods.start(directory, PLATFORM, []).stdout.split()
        for scene in scenes:
            why = check(directory, scene)
            print("FAIL %s: %s" % (scene, why) if why else
                  "PASS tasks of all kinds cost the same each: " + scene, flush=True)
            nfailed += why is not None
    return nfailed != 0


if __name__ == "__main__":
    with open(os.path.join(floods.BUILD, "build.conf"), encoding="utf-8") as conf:
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            sys.exit(77)
    sys.exit(main())
