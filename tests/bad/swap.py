#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Disks that cannot take what has no room in memory: what is said, and that nothing is lost.

A full disk is a memory file system in a name space of its own; without the right to make
one that part is skipped.
"""
import os
import re
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build")))
PROGRAM = os.path.join(BUILD, "tests", "bad", "swap")
failures = 0


def judge(claim, is_met, shown):
    global failures
    print("%s %s" % ("PASS" if is_met else "FAIL", claim))
    if not is_met:
        failures += 1
        print(shown)


def run(arguments, swap, prefix=(), **env):
    """(status, output) of the program with 3 MiB of main memory."""
    env = dict(os.environ, STARPU_LIMIT_CPU_MEM="3", STARPU_NCPU="1", STARPU_SILENT="1",
               STARPU_WORKERS_NOBIND="1", **env)
    if swap:
        env["STARPU_DISK_SWAP"] = swap
    result = subprocess.run(list(prefix) + [PROGRAM] + arguments, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                            check=False)
    return result.returncode, result.stdout


def all_in(output, *patterns):
    return all(re.search(pattern, output) for pattern in patterns)


def check_good(swap):
    for backend in ("unistd", "stdio", "wonderful"):
        status, output = run(["12"], swap, STARPU_DISK_SWAP_BACKEND=backend)
        judge("values go to the disk and come back with backend %s" % backend,
              status == 0 and all_in(output, "swap node: there", "ends well, 0 wrong"), output)
        judge("no file stays behind with backend %s" % backend, os.listdir(swap) == [], output)
    judge("an unknown backend is told",
          all_in(output, 'BACKEND is "wonderful"; expected unistd'), output)
    status, output = run(["8", "small"], swap)
    judge("small values go to the disk and come back, and no file stays behind",
          status == 0 and "ends well, 0 wrong" in output and os.listdir(swap) == [], output)
    status, output = run(["12"], swap, STARPU_DISK_SWAP_SIZE="3")
    judge("a disk too small by its size is told",
          status == 0 and all_in(output, "SIZE is 3 MiB; expected at least 16",
                                 "ends well, 0 wrong"), output)


def check_too_small(swap):
    status, output = run(["30"], swap, STARPU_DISK_SWAP_SIZE="16")
    judge("what has no room on the disk stays in memory",
          status == 0 and all_in(output, "goes over the limit of memory node 0",
                                 "STARPU_LIMIT_CPU_MEM", "ends well, 0 wrong"), output)


def check_unusable(directory):
    status, output = run(["3"], "/dev/null/x")
    judge("a swap directory that cannot be used is told, the run goes on",
          status == 0 and all_in(output, r"/dev/null/x", "no value will go there",
                                 "swap node: none", "ends well, 0 wrong"), output)
    path = os.path.join(directory, "file")
    with open(path, "w", encoding="utf-8"):
        pass
    status, output = run(["3"], path)
    judge("a swap directory that is a file is told",
          status == 0 and all_in(output, "it is none|Not a directory", "swap node: none"),
          output)


def check_vanished(swap):
    status, output = run(["12", "vanish"], swap)
    judge("a file that has vanished ends the run with its name",
          status != 0 and all_in(output, re.escape(swap) + "/orrery-disk-",
                                 "No such file", "nobody else has the value"), output)


def check_full(swap):
    mount = "mount -t tmpfs -o size=4m none %s && exec \"$@\"" % swap
    prefix = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if subprocess.run(prefix + ["true"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return
    for arguments in (["14"], ["8", "small"]):
        status, output = run(arguments, swap, prefix)
        judge("a full disk loses nothing of %s MiB" % " ".join(arguments),
              status == 0 and all_in(output, "cannot be written", "No space left",
                                     "goes over the limit", "ends well, 0 wrong"), output)


def main():
    if not os.path.exists(PROGRAM):
        return 77
    with tempfile.TemporaryDirectory(prefix="orrery-swap-") as directory:
        swap = os.path.join(directory, "swap")
        check_good(swap)
        check_too_small(swap)
        check_unusable(directory)
        check_vanished(swap)
        os.makedirs(swap, exist_ok=True)
        check_full(swap)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
