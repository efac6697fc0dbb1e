#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A program that pretends to be one rank of many (STARPU_MPI_FAKE_SIZE) may leave at once, as
bench/mpi_insert does while the library runs: no other rank waits for it."""
import os
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
PROGRAM = os.path.join(BUILD, "bench", "mpi_insert")


def main():
    if not os.path.exists(PROGRAM):
        print("bench/mpi_insert is not built")
        return 77
    out = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=100, check=False,
                         env=dict(os.environ, STARPU_MPI_FAKE_SIZE="1024", STARPU_MPI_FAKE_RANK="345"))
    good = out.returncode == 0 and "insert nb=" in out.stdout and "the program leaves" not in out.stderr
    print("PASS it leaves with its own status" if good else "FAIL it leaves with its own status: %s" % out)
    return not good


if __name__ == "__main__":
    sys.exit(main())
