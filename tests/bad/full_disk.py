#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A full disk while a file is written: the old one stays, and a message says so.

The disk is a memory file system of 16 KiB in a name space of its own; without the right
to make one the test is skipped.
"""
import os
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build")))
ORRERY = os.path.join(SRC, "scripts", "orrery")
SMALL = ["mount", "-t", "tmpfs", "-o", "size=16k", "none"]
OLD = "what was there before\n"
failures = 0


def judge(claim, is_met, shown):
    global failures
    print("%s %s" % ("PASS" if is_met else "FAIL", claim))
    if not is_met:
        failures += 1
        print(shown)


def check(what, disk, name, said, output):
    path = os.path.join(disk, name)
    with open(path, encoding="utf-8", errors="replace") as file:
        judge("a full disk keeps the old %s" % what, file.read() == OLD, output)
    judge("a full disk that refuses a %s is told" % what, said in output, output)
    judge("nothing else of the %s stays behind" % what, os.listdir(disk) == [name],
          os.listdir(disk))
    os.remove(path)


def put_old(disk, name):
    with open(os.path.join(disk, name), "w", encoding="utf-8") as file:
        file.write(OLD)
    return os.path.join(disk, name)


def run(argv, **env):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, ORRERY_BUILD=BUILD, **env), timeout=120,
                          check=False).stdout


def simulate(trace, variable="ORRERY_TRACE"):
    return run([ORRERY, "run", "--sim", os.path.join(SRC, "platforms/xml/gpu64.xml"), "-n",
                "64", os.path.join(BUILD, "examples/cholesky/cholesky-sim"), "--nb", "16",
                "--tile", "960"], **{variable: trace})


def check_events(disk):
    """What fits is there in whole records, the run goes on, the loss is told."""
    output = simulate(disk, "ORRERY_EVENTS")
    judge("a full disk costs records of events, and not the run",
          "the run goes on" in output and "were lost" in output and "makespan" in output, output)
    sizes = [os.path.getsize(os.path.join(disk, name)) for name in os.listdir(disk)]
    judge("records on a full disk are whole", sizes and all(n % 32 == 0 for n in sizes), sizes)
    for name in os.listdir(disk):
        os.remove(os.path.join(disk, name))


def inside(top):
    disk = os.path.join(top, "disk")
    subprocess.run(SMALL + [disk], check=True)
    check("trace", disk, "trace.csv", "cannot write it", simulate(put_old(disk, "trace.csv")))
    check_events(disk)
    trace = os.path.join(top, "trace.csv")
    simulate(trace)
    picture = put_old(disk, "picture.png")
    check("picture", disk, "picture.png", "an older picture is kept",
          run([os.path.join(SRC, "scripts/draw-utilisation"), trace,
               picture]))
    return failures


def main():
    if len(sys.argv) == 2:
        return inside(sys.argv[1])
    if not os.path.exists(os.path.join(BUILD, "examples/cholesky/cholesky-sim")) or \
            subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False,
                           stderr=subprocess.DEVNULL).returncode:
        return 77
    with tempfile.TemporaryDirectory(prefix="orrery-disk-") as top:
        os.mkdir(os.path.join(top, "disk"))
        own = ["unshare", "--mount", "--map-root-user"]
        if subprocess.run(own + SMALL + [os.path.join(top, "disk")], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            print("no file system can be mounted here")
            return 77
        return subprocess.run(own + [sys.executable, __file__, top], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
