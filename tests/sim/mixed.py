#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A task costs as much however many wait that are for other workers: instructions of mixed.c.

usage: mixed.py [SCENE...]
    without any, one for each way to look for a task; "all": all of mixed.c
"""
import os
import sys

import floods

SCENES = ["modular-eager", "modular-ws", "fifo", "deque"]


def main():
    scenes = sys.argv[1:] or SCENES
    with open(os.path.join(floods.SRC, "platforms", "xml", "small4.xml"), encoding="utf-8") as f:
        return floods.run(floods.program_of("mixed-sim"), f.read(), [] if scenes == ["all"] else scenes,
                          (200, 500, 2000), "tasks of all kinds cost the same each")


if __name__ == "__main__":
    sys.exit(main())
