#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --trace DIRECTORY: what is recorded of a run that ends before its end."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

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


def still_there(program):
    """Processes of it that have not ended, even when nobody has asked how they did."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                words = f.read().split(b"\0")
            if words[0] == program.encode():
                found.append(path)
        except OSError:
            pass
    return found


def started(case, nranks, *how):
    """A run that has done its tasks and goes on."""
    child = subprocess.Popen([sys.executable, ORRERY, "run", *case.flavour, "-n", str(nranks),
                              "--trace", case.trace, case.program, *how],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             start_new_session=True,
                             env=dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1"))
    for _ in range(nranks if not case.flavour else 1):
        child.stdout.readline()
    return child


def times_heard(path):
    with open(path, encoding="ascii") as f:
        return f.read().count("heard\n")


def interrupted_twice(case):
    """A program that goes on when it is told to end: the second time it is not asked."""
    path = case.trace + "-heard"
    child = started(case, NRANKS, "deaf", path)
    os.kill(child.pid, signal.SIGINT)
    while times_heard(path) == 0 and child.poll() is None:
        time.sleep(0.01)
    time.sleep(1) # what comes sooner is taken for the same
    os.kill(child.pid, signal.SIGINT)
    rest = child.stdout.read()
    status = child.wait(timeout=60)
    left, nheard = still_there(case.program), times_heard(path)
    verdict("%s_second_interrupt_ends_at_once" % case.name,
            (nheard == 1 if case.flavour else 1 <= nheard <= NRANKS) and
            status == 128 + signal.SIGINT and not left, (nheard, rest, status, left))
    n, _, output = case.tasks()
    verdict("%s_records_survive_two_interrupts" % case.name, n == NTASKS,
            "%d tasks, %s" % (n, output))


def interrupted(case, whom, interrupt):
    child = started(case, NRANKS, "stay")
    interrupt(child.pid, signal.SIGINT)
    status = child.wait(timeout=60)
    left = still_there(case.program)
    verdict("%s_interrupt_of_%s_ends_all" % (case.name, whom),
            status == 128 + signal.SIGINT and not left, "status %d, %s" % (status, left))
    n, _, output = case.tasks()
    verdict("%s_records_survive_an_interrupt_of_%s" % (case.name, whom), n == NTASKS,
            "%d tasks, %s" % (n, output))
    status, output = orrery("report", case.trace, "--quiet")
    verdict("%s_report_of_an_interrupt_of_%s" % (case.name, whom),
            status == 0 and "%d tasks" % NTASKS in output, output)


def refused(case):
    blocker = case.trace + "-file"
    with open(blocker, "w", encoding="ascii") as f:
        f.write("in the way\n")
    status, output = orrery("run", *case.flavour, "-n", str(NRANKS), "--trace",
                            os.path.join(blocker, "below"), case.program)
    verdict("%s_an_impossible_directory_costs_a_sentence" % case.name,
            status == 0 and "the run goes on" in output and "cannot write" in output,
            "status %d, %s" % (status, output))


def displaced(case):
    """Another run writes to the directory meanwhile: its records are not mixed with ours."""
    over = case.trace + "-over"
    shutil.rmtree(case.trace, ignore_errors=True)
    env = dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1", ORRERY_EVENTS=case.trace)
    words = [sys.executable, ORRERY, "run", *case.flavour, "-n", str(NRANKS), case.program]
    child = subprocess.Popen([*words, "until", over], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=env)
    for _ in range(NRANKS if not case.flavour else 1):
        child.stdout.readline()
    subprocess.run(words, env=env, capture_output=True, timeout=100, check=False)
    before = contents(case.trace)
    with open(over, "w", encoding="ascii"): # mpirun would drop words after a signal
        pass
    _, said = child.communicate(timeout=60)
    verdict("%s_runs_in_one_directory_are_not_mixed" % case.name, len(before) == NRANKS and
            contents(case.trace) == before and
            "another run has written a file of that name meanwhile (give each run" in said,
            (list(before), said))
    n, _, output = case.tasks()
    verdict("%s_records_of_the_later_one_are_whole" % case.name, n == NTASKS, "%d tasks, %s" % (
        n, output))


def killed(case):
    """Nobody can write what is left after SIGKILL; the report says so."""
    shutil.rmtree(case.trace, ignore_errors=True)
    child = started(case, NRANKS, "stay")
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                words = f.read().split(b"\0")
            if words[0] == case.program.encode() or words[0].endswith(b"/smpimain") and \
                    case.program.encode() in words:
                os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass
    status = child.wait(timeout=60)
    reported, output = orrery("report", case.trace, "--text")
    verdict("%s_report_of_a_run_that_was_killed" % case.name, status != 0 and reported in (0, 2) and
            "This is no whole run: node 0 and 1 more did not record their end" in output,
            (status, output))


FULL = """mount -t tmpfs -o size=%dk none "$0" || exit 77
"$@"; echo "status $?"; "%s" "%s" report "$0" --text; echo "report $?"
"""


def full(case):
    """A page for each node, on a disk of its own: its first records have room, the others none."""
    nranks, words = (NRANKS, [sys.executable, ORRERY, "run", *case.flavour, "-n", str(NRANKS)]) \
        if case.flavour else (1, [])
    shutil.rmtree(case.trace, ignore_errors=True)
    os.mkdir(case.trace)
    out = subprocess.run(["unshare", "-rm", "sh", "-c", FULL % (4 * nranks, sys.executable, ORRERY),
                          case.trace, *words, case.program], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=200, check=False, env=dict(
                             os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1",
                             ORRERY_EVENTS=case.trace)) if shutil.which("unshare") else None
    if not out or out.returncode == 77 or "unshare:" in out.stdout:
        print("no file system of our own can be made here: a full disk is not tried")
        return
    verdict("%s_a_full_disk_ends_the_records_and_not_the_run" % case.name, all(
        text in out.stdout for text in (
            "No space left on device; the run goes on", "records of events were lost",
            "date ", "This is no whole run", "\nreport ")), out.stdout)


def contents(directory):
    found = {}
    for path in glob.glob(os.path.join(directory, "*.events")):
        with open(path, "rb") as f:
            found[path] = f.read()
    return found


def check(case, top):
    endings(case)
    uncaught(case)
    interrupted(case, "the_launcher", os.kill)
    interrupted(case, "the_terminal", os.killpg)
    interrupted_twice(case)
    refused(case)
    displaced(case)
    killed(case)
    full(case)


if __name__ == "__main__":
    sys.exit(each_flavour(check))
