#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Ranks that do not have the same transport say so, and agree on one."""
import os
import re
import subprocess
import sys

BUILD = os.environ["ORRERY_BUILD"]
PROGRAM = os.path.join(BUILD, "tests", "api", "mpi_world")
LIMIT_S = 60
NOWHERE = "ORRERY_UCX_LIBRARY=/nowhere/libucp.so.0"


def run(*settings):
    """(status, output) of a rank for each string of settings."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none"]
    command += ["--allow-run-as-root"] * (os.geteuid() == 0)
    for number, words in enumerate(settings):
        command += [":"] * (number > 0) + ["-n", "1", "env"] + words.split() + [PROGRAM]
    env = dict(os.environ, STARPU_SILENT="1")
    try:
        out = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    return out.returncode, out.stdout


def claim(name, result, says, works=True):
    status, output = result
    if status is None:
        wrong = "it does not end within %d s" % LIMIT_S
    elif works != (status == 0):
        wrong = "status %d" % status
    else:
        missing = [pattern for pattern in says if not re.search(pattern, output)]
        wrong = missing and "no \"%s\" in the output" % missing[0]
    print("FAIL %s: %s" % (name, wrong) if wrong else "PASS " + name, flush=True)
    if wrong:
        print("\n".join("  | " + line for line in output.split("\n")[:25]))
    return bool(wrong)


def main():
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        conf = f.read().split("\n")
    if "mpi=no" in conf:
        return 77
    ucx = "ORRERY_TRANSPORT=ucx"
    nfailed = claim("an unknown transport of one rank ends all",
                    run("A=1", "ORRERY_TRANSPORT=pigeons"),
                    [r'rank 1\] ORRERY_TRANSPORT is "pigeons": .*"mpi" and "ucx"'], works=False)
    nfailed += claim("ranks that want different transports use mpi", run(ucx, "A=1"),
                     [r"rank 0\] ORRERY_TRANSPORT is ucx on some ranks only: all ranks use"])
    if "ucx=yes" not in conf:
        nfailed += claim("without UCX all use mpi", run(ucx, ucx),
                         [r"rank 0\] .*built without.*libucx-dev"])
        return 1 if nfailed else 0
    nfailed += claim("a rank that has no UCX says so, and all use mpi", run(ucx, ucx + " " + NOWHERE),
                     [r"rank 1\] ORRERY_TRANSPORT is ucx, which this rank has not: /nowhere/.*"
                      r"libucx0; all ranks use \"mpi\""])
    nfailed += claim("another library is not taken for UCX",
                     run(ucx + " ORRERY_UCX_LIBRARY=libm.so.6", ucx),
                     [r"rank 0\] .*libm.so.6 has no function ucp_init_version"])
    nfailed += claim("over sockets", run(*[ucx + " UCX_TLS=tcp"] * 3), [])
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
