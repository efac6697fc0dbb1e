#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The examples under valgrind: no error, no lost memory of ours."""
import os
import shutil
import subprocess
import sys

SRC = os.environ["ORRERY_SRC"]
BUILD = os.environ["ORRERY_BUILD"]
EXAMPLES = [["examples/vector_scal"], ["examples/stencil5"]]


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    nfailed = 0
    for command in EXAMPLES:
        program = os.path.join(BUILD, command[0])
        if not os.path.exists(program):
            continue
        env = dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1",
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        result = subprocess.run(
            ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full",
             "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite",
             "--fair-sched=yes",
             "--suppressions=" + os.path.join(SRC, "tests/sanitize/valgrind.supp"),
             program] + command[1:], env=env, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if result.returncode:
            nfailed += 1
            print(result.stdout)
            print("FAIL %s is clean under valgrind: status %d" % (command[0], result.returncode))
        else:
            print("PASS %s is clean under valgrind" % command[0])
    return nfailed != 0


if __name__ == "__main__":
    sys.exit(main())
