#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --trace DIRECTORY: what is recorded of a run that ends before its end."""
import os
import signal
import subprocess
import sys

from trace_case import NRANKS, NTASKS, ORRERY, each_flavour, orrery, verdict


def endings(case):
    for how in ("exit", "abort"):
        _, said = case.run(how)
        n, _, output = case.tasks()
        verdict("%s_records_survive_%s" % (case.name, how), n == NTASKS,
                "%d tasks, %s, %s" % (n, output, said))


def uncaught(case):
    """Of a rank that has no other: one that waits for another writes what it has."""
    case.run("abort", env={"STARPU_CATCH_SIGNALS": "0"}, nranks=1)
    n, _, output = case.tasks()
    verdict("%s_signals_are_not_caught_when_not_wanted" % case.name, n == 0,
            "%d tasks, %s" % (n, output))


def interrupted(case):
    child = subprocess.Popen([sys.executable, ORRERY, "run", *case.flavour, "-n",
                              str(NRANKS), "--trace", case.trace, case.program, "stay"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             env=dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1"))
    for _ in range(NRANKS if not case.flavour else 1):
        child.stdout.readline()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    n, _, output = case.tasks()
    verdict("%s_records_survive_an_interrupt" % case.name, n == NTASKS,
            "%d tasks, %s" % (n, output))


def refused(case):
    blocker = case.trace + "-file"
    with open(blocker, "w", encoding="ascii") as f:
        f.write("in the way\n")
    status, output = orrery("run", *case.flavour, "-n", str(NRANKS), "--trace",
                            os.path.join(blocker, "below"), case.program)
    verdict("%s_an_impossible_directory_costs_a_sentence" % case.name,
            status == 0 and "the run goes on" in output and "cannot write" in output,
            "status %d, %s" % (status, output))


def check(case, top):
    endings(case)
    uncaught(case)
    interrupted(case)
    refused(case)


if __name__ == "__main__":
    sys.exit(each_flavour(check))
