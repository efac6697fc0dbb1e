#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A simulated message costs as much however many are on their way: instructions of floods.c.

usage: floods.py [--table] [SCENE...]      --table: instructions of each message, by number
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
NUMBERS = (500, 1000, 2000)
MOST = 1.5  # times as much for each of the last as for each of the first
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-8" speed="1Gf" bw="1GBps" lat="%s"/>
</platform>
"""


def program_of(name):
    return os.path.join(BUILD, "tests", "sim", name)


def command_of(directory, path, program, arguments):
    """What the launcher would start, with a directory that exists."""
    env = dict(os.environ, ORRERY_BUILD=BUILD)
    shown = subprocess.run([sys.executable, ORRERY, "run", "--show", "--no-privatize", "--sim", path,
                            "-n", "1", program, *arguments], env=env, text=True, check=True,
                           stdout=subprocess.PIPE).stdout.strip().splitlines()[-1]
    private = re.search(r"smpi/hostfile:(\S+)/hosts", shown).group(1)
    return shlex.split(shown.replace(private, directory))


def start(directory, path, program, arguments, tool=()):
    env = dict(os.environ, SMPI_GLOBAL_SIZE="1")
    return subprocess.run([*tool, *command_of(directory, path, program, arguments)], env=env, text=True,
                          capture_output=True, errors="replace", check=False)


def count(directory, path, program, scene, number):
    """The instructions of a run, or None."""
    result = start(directory, path, program, [scene, str(number)],
                   ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"])
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        print(result.stdout + result.stderr)
        return None
    return int(found.group(1))


def check(directory, path, program, scene, numbers, shown):
    """Why the scene fails, or None.  What the start costs is in all of the counts."""
    counts = [count(directory, path, program, scene, number) for number in numbers]
    if None in counts:
        return "it failed"
    each = [(counts[i + 1] - counts[i]) / (numbers[i + 1] - numbers[i])
            for i in range(len(numbers) - 1)]
    words = ", ".join("%.0f up to %d" % pair for pair in zip(each, numbers[1:]))
    if shown:
        print("%s: %s" % (scene, words), flush=True)
    return None if each[-1] <= MOST * each[0] else "instructions of each: " + words


def can_run():
    """Why not is printed."""
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as conf:
        if re.search("^(sim=no|sanitize=.+)$", conf.read(), re.MULTILINE):
            return False
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return False
    return True


def run(program, platform, scenes, numbers, claim, shown=False):
    """The scenes of a program, or all of them, on the first node of a platform; returns the exit status."""
    if not can_run():
        return 77
    nfailed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-floods-") as directory:
        with open(os.path.join(directory, "hosts"), "w", encoding="utf-8") as f:
            f.write("node-0\n")
        path = os.path.join(directory, "platform.xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(platform)
        for scene in scenes or start(directory, path, program, []).stdout.split():
            why = check(directory, path, program, scene, numbers, shown)
            print("FAIL %s: %s" % (scene, why) if why else "PASS %s: %s" % (claim, scene), flush=True)
            nfailed += why is not None
    return nfailed != 0


if __name__ == "__main__":
    sys.exit(run(program_of("floods-sim"), PLATFORM % "10us", [a for a in sys.argv[1:] if a != "--table"],
                 NUMBERS, "messages cost the same each", "--table" in sys.argv))
