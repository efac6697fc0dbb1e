#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: the first or the second reason is the one why a program is slow."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from run import SRC, Suite, configured

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import events as e          # noqa: E402
from orrery_tool.report_page import Report   # noqa: E402
from orrery_tool.report_path import Path     # noqa: E402
from orrery_tool.report_read import Run      # noqa: E402
from orrery_tool.report_time import Accounts  # noqa: E402

AMISS = os.path.join(SRC, "tests", "cli", "amiss.c")
FEW, LIMIT = "too few tasks at a time", {"STARPU_LIMIT_MAX_SUBMITTED_TASKS": "5",
                                         "STARPU_LIMIT_MIN_SUBMITTED_TASKS": "2"}
# What the program does, on how many nodes; a reason that is among the first two, and words of it.
SMALL = [
    ("acquire", 1, "pauses of the program", "starpu_data_acquire(),"),
    ("unregister", 1, "pauses of the program", "starpu_data_unregister(),"),
    ("together", 1, "parallel tasks", "which 4 run together"),
    ("limit", 1, "a limit of submitted tasks", "STARPU_LIMIT_MAX_SUBMITTED_TASKS"),
    ("rank", 4, "slow node", "node 1"),
    ("blocks", 4, "uneven distribution", "node 3"),
    ("hotspot", 4, "messages", "Node 0 sends or receives 100 % of all bytes, a hot spot"),
    ("chain", 4, FEW, "80 of them write one and the same datum, which goes from node to node"),
    ("flushed", 4, "values sent again", "starpu_mpi_cache_flush_all_data()"),
    ("tiny", 4, "small tasks", "Make tasks at least"),
    ("big", 4, "messages", "Little else can run meanwhile"),
    ("eager", 1, "placement", "Take a scheduler that knows durations"),
    ("gpuonly", 1, "too few GPUs", "4 CPU cores run no task: give the codelets kernels for cores"),
    ("gpumem", 1, "GPU memory is full", "STARPU_LIMIT_CUDA_MEM=500"),
    ("inverted", 1, "priorities", "give the tasks of the chain higher ones"),
    ("coarse", 4, "too few tasks", "20 tasks for 16 CPU cores, so in the end some run one more"),
    ("war", 1, FEW, "49 of them only wait until others have done"),
    ("rw", 1, FEW, "where they only read it, say so (STARPU_R)"),
    ("callbacks", 1, "callbacks", "after each task"),
    ("partitions", 1, FEW, "partition once for many tasks"),
    ("syncpart", 1, "pauses of the program", "starpu_data_unpartition_submit()"),
    ("commute", 1, "commuting tasks take turns", "STARPU_REDUX"),
    ("small", 1, "small tasks", "Make tasks at least"),
    ("noisy", 1, "noise", "nearly all on CPU 0 of node 0"),
    ("fine", 1, "too few CPU cores", "4 CPU cores run tasks for 100 %")]
LARGE = [("hotspot", 16, "messages", "Node 0 sends or receives 100 % of all bytes, a hot spot"),
         ("chain", 16, FEW, "which goes from node to node"),
         ("tiny", 64, "messages", "They are short"), ("big", 64, "messages", "neighbours")]
KNOBS = {"limit": LIMIT, "eager": {"STARPU_SCHED": "eager"},
         "inverted": {"STARPU_SCHED": "prio"}, "together": {"STARPU_SCHED": "peager"},
         "gpumem": {"STARPU_SCHED": "dmdas", "STARPU_LIMIT_CUDA_MEM": "500"}}
# One worker alone has hardly a pause there.
REAL_KNOBS = {"acquire": {"STARPU_NCPU": "2"}, "limit": LIMIT}
# What it must not be taken for.
NOT = {"together": ["tasks tied to a worker"], "noisy": ["priorities"], "tiny": ["too few tasks at a time"]}
# Advice that contradicts itself.
NEVER = r"last (?:[\d.]+ us) on average.*smaller ones"


def reasons_of(output):
    return re.findall(r"^Reason \((.*?)\): (.*)", output, re.M)


def simulated(suite):
    suite.orrery("cc", "--sim", AMISS, "-o", "amiss-sim")
    for platform, cases in (("small4", SMALL), ("gpu64", LARGE)):
        for why, nranks, reason, words in cases:
            name = "%s-%d" % (why, nranks)
            os.environ.update(KNOBS.get(why, {}))
            status, said = suite.orrery("run", "--sim", platform, "-n", str(nranks), "--quiet",
                                        "--trace", name, "./amiss-sim", why)
            for knob in KNOBS.get(why, {}):
                del os.environ[knob]
            output = suite.orrery("report", name, "--text")[1]
            found = reasons_of(output)
            suite.verdict("%s_on_%d_nodes_is_%s" % (why, nranks, reason.replace(" ", "_")),
                          status == 0 and any(words in text for other, text in found[:2]
                                              if other == reason)
                          and not set(NOT.get(why, ())) & {other for other, _ in found}
                          and not re.search(NEVER, output), said + output)


def named(suite, directory, kept_s):
    """The reasons of a run, had workers been without their cores for so long, and 0.1 s with."""
    run = Run(os.path.join(suite.directory, directory))
    for node in run.nodes:
        node.kept_s = {node.workers[at][0]: (seconds, 0.1) for at, seconds in enumerate(kept_s)}
    books = Accounts(run)
    return [reason.name for reason in Report(run, books, Path(run, books)).reasons.found]


def kept(suite):
    """Late tasks are no noise where Linux has counted that others had the cores."""
    usual, busy = named(suite, "noisy-1", [0] * 5), named(suite, "noisy-1", [0.1] * 5)
    suite.verdict("cores_that_others_had_are_told", "noise" in usual and
                  "other programs" not in usual and "other programs" in busy and
                  "noise" not in busy, (usual, busy))
    suite.verdict("a_slow_node_beside_them_is_told", "slow node" in named(
        suite, "rank-4", [0.01] * 5), named(suite, "rank-4", [0.01] * 5))


class Writer:
    """A file of events, of one worker."""

    def __init__(self):
        self.records = []
        self.add(0, e.OPENED, n=e.VERSION, ident=e.MAGIC)
        self.text(1, b"CPU 0")
        self.add(0, e.WORKER, worker=0, value=1)
        self.text(2, b"work")

    def add(self, date_s, kind, worker=e.NO_WORKER, n=0, ident=0, value=0):
        self.records.append(e.RECORD.pack(date_s, kind, 0, worker, n, ident, value))

    def text(self, key, text):
        self.add(0, e.TEXT, ident=key, value=struct.unpack("<Q", text.ljust(8, b"\0"))[0])

    def task(self, number, begin_s, end_s):
        self.add(begin_s, e.TASK_STARTED, 0, ident=number, value=2)
        self.add(end_s, e.TASK_ENDED, 0, ident=number)

    def write(self, directory, rank=0):
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "node-%d.events" % rank), "wb") as f:
            f.write(e.RECORD.pack(0, e.PIECE, 0, 0, len(self.records), 0, 0))
            f.write(b"".join(self.records))


def gaps(suite):
    """100 tasks of 20 us: after each of them 40 us pass, or after each tenth of them 4 ms."""
    for name, gaps_s in (("each", [40e-6] * 100), ("few", ([1e-6] * 9 + [4e-3]) * 10)):
        writer, now_s = Writer(), 0.001
        for number in range(1, 101):
            writer.add(0, e.TASK_SUBMITTED, ident=number, value=number)
            writer.add(0, e.TASK_PUSHED, ident=number)
        for number, gap_s in enumerate(gaps_s, 1):
            writer.task(number, now_s, now_s + 20e-6)
            now_s += 20e-6 + gap_s
        writer.write(os.path.join(suite.directory, "gaps-" + name))
        found = [reason for reason, _ in reasons_of(
            suite.orrery("report", "gaps-" + name, "--text")[1])]
        suite.verdict("after_%s_a_gap" % name, ("small tasks" in found) == (name == "each"), found)


def cut(suite):
    """Files that end where the run was killed, or where the disk was full."""
    for name, ntasks, is_closed in (("whole", 1, True), ("cut", 1, False), ("nothing", 0, False)):
        writer = Writer()
        for number in range(1, 2):
            writer.add(0, e.TASK_SUBMITTED, ident=number, value=number)
        for number in range(1, ntasks + 1):
            writer.task(number, 0.001, 0.002)
        if is_closed:
            writer.add(0.003, e.CLOSED)
        writer.write(os.path.join(suite.directory, "file-" + name))
        status, output = suite.orrery("report", "file-" + name, "--text")
        suite.verdict("a_file_that_is_%s_is_told_so" % name, status == (0 if ntasks else 2) and
                      is_closed != ("This is no whole run: node 0 did not record its end" in output),
                      output)
    strangers(suite)
    output = suite.orrery("compare", "file-whole", "file-cut")[1]
    suite.verdict("comparisons_tell_it_too", re.match(
        r"file-cut took [^.]*\S* ms\)\.  file-cut is no whole run", output) and
                  "file-whole is no whole" not in output, output)


def strangers(suite):
    """Of a run on 4 ranks, of which one on 2 has written two files anew."""
    for rank, size in ((0, 2), (1, 2), (2, 4), (3, 4)):
        writer = Writer()
        writer.add(0, e.RANK, n=size, ident=rank)
        writer.add(0, e.TASK_SUBMITTED, ident=1, value=1)
        writer.task(1, 0.001, 0.002)
        writer.write(os.path.join(suite.directory, "strangers"), rank)
    suite.refuses("files_of_two_runs", "report", "strangers",
                  says=["node-0.events is of a run on 2 ranks, and", "node-2.events of one on 4"])


def real(suite):
    """Programs whose reasons are theirs, unless others have their cores."""
    suite.orrery("cc", "-O2", AMISS, "-o", "amiss")
    for why, reason, words in (
            ("acquire", "pauses of the program", "starpu_data_acquire()"),
            ("computes", "slow submission", "it computes in between"),
            ("limit", None, ""), ("callbacks", "callbacks", "after each task")):
        os.environ.update(REAL_KNOBS.get(why, {}))
        status, said = suite.orrery("run", "-n", "1", "--quiet", "--trace", "real-" + why,
                                    "./amiss", why)
        for knob in REAL_KNOBS.get(why, {}):
            del os.environ[knob]
        output = suite.orrery("report", "real-" + why, "--text")[1]
        found = reasons_of(output)
        suite.verdict("real_%s" % why, status == 0 and "small tasks" not in dict(found) and (
            reason is None or words in dict(found).get(reason, "") or
            "other programs" in dict(found)), said + output)


def unquiet(suite):
    """Two programs on one core; Linux counts what each does not get."""
    core = str(min(os.sched_getaffinity(0)))
    if not shutil.which("taskset") or not counts_waits():
        return
    with subprocess.Popen(["taskset", "-c", core, sys.executable, "-c", "while True: pass"]) as other:
        out = subprocess.run(["taskset", "-c", core, "./amiss", "fine"], cwd=suite.directory,
                             env=dict(os.environ, ORRERY_EVENTS="unquiet"), capture_output=True,
                             text=True, timeout=100)
        other.kill()
    output = suite.orrery("report", "unquiet", "--text")[1]
    suite.verdict("another_program_on_the_core_is_named", out.returncode == 0 and
                  "other programs" in dict(reasons_of(output)[:2]), out.stderr + output)


def counts_waits():
    try:
        with open("/proc/self/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) > 0
    except OSError:
        return False


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        gaps(suite)
        cut(suite)
        if configured("sim"):
            simulated(suite)
            kept(suite)
        if configured("real"):
            real(suite)
            unquiet(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
