#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What only the main of a simulated rank, or only threads, may do is refused elsewhere, by name."""
import os
import subprocess
import sys

SRC = os.environ.get("ORRERY_SRC",
                     os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.path.join(SRC, "scripts", "orrery")
PROGRAM = os.path.join(BUILD, "tests", "sim", "mains-sim")
# (what, where, exit status, what is said)
CASES = [
    ("send", "kernel", 1, "MPI_Send: called in a callback or a kernel"),
    ("send", "callback", 1, "MPI_Send: called in a callback or a kernel"),
    ("send", "thread", 0, ""),
    ("receive", "thread", 3, "[rank 1] 1 of its threads waits in MPI_Recv"),
    ("barrier", "kernel", 1, "MPI_Barrier: called in a callback or a kernel"),
    ("barrier", "thread", 0, ""),
    ("barrier", "made", 0, ""),
    ("barrier", "system", 1, "MPI_Barrier: called in a thread of the system"),
    ("finalize", "thread", 1, "MPI_Finalize: called in a thread: in simulation the main"),
    ("early", "main", 1, "MPI_Barrier: called in a thread before the main of its rank"),
    ("exit", "kernel", 5, "exit(5) in a callback, a kernel or a thread"),
    ("exit", "callback", 5, "exit(5) in a callback, a kernel or a thread"),
    ("exit", "thread", 5, "exit(5) in a callback, a kernel or a thread"),
    ("lock", "kernel", 134, "starpu_pthread_mutex_lock: a callback or kernel would block"),
    ("lock", "callback", 134, "starpu_pthread_mutex_lock: a callback or kernel would block"),
    ("spin", "kernel", 134, "starpu_pthread_spin_lock: a callback or kernel would block"),
    ("spin", "thread", 3, "a thread is in starpu_pthread_spin_lock()"),
    ("join", "kernel", 134, "starpu_pthread_join: a callback or kernel would block"),
    ("rank", "kernel", 0, "rank 1 of 2, type of 4 bytes"),
    ("rank", "callback", 0, "rank 1 of 2, type of 4 bytes"),
    ("rank", "thread", 0, "rank 1 of 2, type of 4 bytes"),
]


def main():
    nfailed = 0
    for what, where, expected, says in CASES:
        out = subprocess.run([sys.executable, ORRERY, "run", "--sim", "small4", "-n", "2", PROGRAM,
                              what, where], capture_output=True, text=True, timeout=60)
        good = out.returncode == expected and says in out.stdout + out.stderr
        print("%s %s_in_a_%s%s" % ("PASS" if good else "FAIL", what, where, "" if good else
                                   ": expected %d and %r, got %d, %r" % (
                                       expected, says, out.returncode, out.stdout + out.stderr)))
        nfailed += not good
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
