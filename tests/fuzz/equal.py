#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Random programs that are simulated twice, where memory lies and is used again otherwise, write
equal files of events."""
import os
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
FUZZ = os.path.join(BUILD, "tests", "fuzz", "fuzz-sim")
SEEDS = (0, 5)            # the first, how many
OTHERWISE = {"UNREAD": "x" * 20000, "MALLOC_PERTURB_": "165", "MALLOC_MMAP_THRESHOLD_": "4096",
             "MALLOC_TOP_PAD_": "1"}
RUNS = {"routes": ["-n", "4", "--transport", "routes"], "mpi": ["-n", "4", "--transport", "mpi"],
        "alone": ["-n", "1"]}


def play(top, name, words, env):
    """(status, {file: bytes})"""
    trace = os.path.join(top, name)
    command = [sys.executable, os.path.join(SRC, "scripts", "orrery"), "run", "--sim", "small4", "--execute",
               "--quiet", *words, "--trace", trace, FUZZ, *["--mpi"] * (words[1] != "1"), *map(str, SEEDS)]
    out = subprocess.run(command, env=dict(os.environ, ORRERY_BUILD=BUILD, STARPU_HOME=os.path.join(top, "home"), **env),
                         stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False)
    files = {}
    for path in sorted(os.listdir(trace)):
        if path.endswith(".events"):
            with open(os.path.join(trace, path), "rb") as f:
                files[path] = f.read()
    return out.returncode, files


def main():
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        if "sim=no" in f.read().split("\n"):
            return 77
    nfailed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-equal-") as top:
        os.mkdir(os.path.join(top, "home"))
        for name, words in RUNS.items():
            (status, first), (again, second) = (play(top, name + str(i), words, env)
                                                for i, env in enumerate(({}, OTHERWISE)))
            differ = [path for path in first if second.get(path) != first[path]]
            ok = status == again == 0 and len(first) >= SEEDS[1] and len(second) == len(first) and not differ
            nfailed += not ok
            print("%s equal runs write equal events, %s%s" % (
                "PASS" if ok else "FAIL", name, "" if ok else ": status %d, %d, files %d, %d, of which differ: %s"
                % (status, again, len(first), len(second), " ".join(differ))), flush=True)
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
