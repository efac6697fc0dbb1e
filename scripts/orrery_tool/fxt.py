# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""starpu_fxt_tool: what was recorded, in the files and under the names that scripts around
StarPU read."""
import os
import sys
from array import array

from orrery_tool import events as e
from orrery_tool.report_page import Report, page_with_figures
from orrery_tool.report_path import Path
from orrery_tool.report_read import Run
from orrery_tool.report_time import Accounts
from orrery_tool.trace import Output
from orrery_tool.trace_paje import write_paje
from orrery_tool.trace_tasks import Everything, write_comms, write_dot, write_tasks
from orrery_tool.words import Refusal

USAGE = """Usage: starpu_fxt_tool [ options ]

Writes what a run with STARPU_FXT_TRACE=1 (or "orrery run --trace DIRECTORY") has recorded
in the formats of other tools: paje.trace, dag.dot, tasks.rec, comms.rec, activity.data,
distrib.data and trace.html, in the current directory.

Options:
  -i FILE...          files of the run, of all its ranks, such as /tmp/prof_file_USER_0, or the
                      directory of "orrery run --trace"; also several times
  -o FILE             name of the Paje trace (paje.trace)
  -d DIRECTORY        write into it
  -no-events          no events of the program's in the Paje trace
  -no-counter         no amounts of memory in the Paje trace
  -no-bus             no copies between memories in the Paje trace
  -number-events      also write number_events.data: how many records there are of each kind
  -c, -no-flops, -no-smooth, -no-acquire, -memory-states, -internal, -label-deps,
  -use-task-color     are taken and change nothing: each codelet has its colour, and figures
                      of flops, smoothed values, acquisitions, and states of data are not in
                      these files
  -h, --help          this text
  -v, --version       the version

"orrery trace" and "orrery report" show more of the same run."""

WITHOUT_EFFECT = {"-c", "-no-flops", "-no-smooth", "-no-acquire", "-memory-states", "-internal",
                  "-label-deps", "-use-task-color"}
SWITCHES = {"-no-events", "-no-counter", "-no-bus", "-number-events"}
SLICES = 200               # of activity.data
ARCHITECTURES = {0: "cpu", 1: "cuda", 2: "opencl", 3: "fpga", 4: "mpi_ms", 5: "tcpip_ms", 7: "hip"}


def parse(argv):
    """(input files, name of the Paje trace, directory, set of switches), or None after help."""
    files, paje, directory, switches, words = [], "paje.trace", "", set(), list(argv)
    taking = False
    while words:
        word = words.pop(0)
        if word in ("-i", "-o", "-d") and not words:
            raise Refusal("%s needs a name behind it; see starpu_fxt_tool --help" % word)
        if word == "-i":
            files.append(words.pop(0))
            taking = True
            continue
        if taking and not word.startswith("-"):
            files.append(word)
            continue
        taking = False
        if word == "-o":
            paje = words.pop(0)
        elif word == "-d":
            directory = words.pop(0)
        elif word in SWITCHES:
            switches.add(word)
        elif word not in WITHOUT_EFFECT:
            raise Refusal("no option %s; see starpu_fxt_tool --help" % word)
    if not files:
        raise Refusal("Incorrect usage, aborting: no input file; starpu_fxt_tool -i FILE...")
    return files, paje, directory, switches


def read(files):
    paths = []
    for name in files:
        paths += e.paths_in(name) if os.path.isdir(name) else [name]
    for path in paths:
        if not os.path.isfile(path):
            raise Refusal("%s is no file; a run with STARPU_FXT_TRACE=1 writes "
                          "STARPU_FXT_PREFIX/prof_file_USER_RANK, /tmp/prof_file_... by default"
                          % path)
    return e.open_nodes(paths, "; ".join(files))


# ---- tables ----

class Workers:
    """Numbers through all nodes, as in traces of several ranks."""

    def __init__(self, nodes):
        self.first, self.rows = {}, []
        for node in nodes:
            self.first[node.rank] = len(self.rows)
            for worker in range(max(node.workers, default=-1) + 1):
                name = node.workers.get(worker, ("worker %d" % worker, 0))[0]
                self.rows.append((node, worker, "%d_%s" % (node.rank, name)
                                  if len(nodes) > 1 else name))

    def number(self, rank, worker):
        return self.first[rank] + worker


def write_distrib(nodes, file):
    """A line for each task that ran and whose codelet has a model: codelet, worker, bytes,
    footprint, milliseconds."""
    workers = Workers(nodes)
    for task in Everything(nodes).tasks:
        if task.end_s is None or not task.footprint:
            continue
        file.write("%s\t%d\t%d\t%08x\t%.6f\n" % (
            task.name.replace("\t", " ").replace(" ", "_"), workers.number(task.rank, task.worker),
            sum(size for _, _, size in task.uses), task.footprint,
            1e3 * (task.end_s - task.start_s)))


class Activity:
    """What workers did over time, and how many tasks there were."""

    def __init__(self, nodes):
        self.workers, self.last_s = Workers(nodes), 0.0
        self.busy = [array("d") for _ in self.workers.rows] # begin, end, begin, ...
        self.working = [array("d") for _ in self.workers.rows]
        self.submitted, self.ready = [], []
        for node in nodes:
            self.read(node)

    def read(self, node):
        first, since = self.workers.first[node.rank], {}
        for date_s, kind, _, worker, _, _, value in node.records():
            date_s -= node.origin_s
            self.last_s = max(self.last_s, date_s)
            if kind == e.TASK_SUBMITTED:
                self.submitted.append((date_s, 1))
            elif kind == e.TASK_PUSHED:
                self.ready.append((date_s, 1))
            elif kind == e.TASK_FETCHING:
                since[worker] = date_s
            elif kind == e.TASK_STARTED:
                self.ready.append((date_s, -1))
                self.submitted.append((date_s, -1))
            elif kind in (e.TASK_ENDED, e.HELP_ENDS):
                begin_s = e.date_of(value) - node.origin_s
                self.busy[first + worker].extend((begin_s, date_s))
            elif kind == e.TASK_TERMINATED and worker != e.NO_WORKER and worker in since:
                self.working[first + worker].extend((since.pop(worker), date_s))

    def shares(self, spans):
        """Seconds in each slice."""
        width_s, found = self.last_s / SLICES or 1.0, [0.0] * SLICES
        for begin_s, end_s in zip(spans[::2], spans[1::2]):
            at = min(int(max(begin_s, 0.0) / width_s), SLICES - 1)
            while begin_s < end_s and at < SLICES:
                until_s = end_s if at == SLICES - 1 else min(end_s, (at + 1) * width_s)
                found[at] += max(until_s - max(begin_s, 0.0), 0.0)
                begin_s, at = until_s, at + 1
        return found


def write_activity(nodes, file):
    """Of each worker its name, and of each slice of time: worker, begin, length, time in
    kernels, time in the library for tasks, milliseconds all; then submitted and ready tasks."""
    activity = Activity(nodes)
    width_ms = 1e3 * activity.last_s / SLICES
    for number, (_, _, name) in enumerate(activity.workers.rows):
        file.write("name\t%d\t%s\n" % (number, name))
        busy, working = (activity.shares(spans[number])
                         for spans in (activity.busy, activity.working))
        for at in range(SLICES):
            inside = min(busy[at] * 1e3, width_ms)
            file.write("%d\t%.9f\t%.9f\t%.9f\t%.9f\n" % (
                number, at * width_ms, width_ms, inside,
                min(max(working[at] * 1e3 - inside, 0.0), width_ms - inside)))
    for name, changes in (("cnt_submitted", activity.submitted), ("cnt_ready", activity.ready)):
        changes.sort(key=lambda change: change[0])
        value, at, dates = 0, 0, [date_s for date_s, _ in changes]
        for index in range(SLICES + 1):
            until_s = index * activity.last_s / SLICES
            while at < len(dates) and dates[at] <= until_s:
                value += changes[at][1]
                at += 1
            file.write("%s\t%.9f\t%d\n" % (name, 1e3 * until_s, max(value, 0)))


def write_numbers(nodes, file):
    """How many records there are of each kind."""
    found = {}
    for node in nodes:
        for record in node.records():
            found[record[1]] = found.get(record[1], 0) + 1
    for kind, count in sorted(found.items(), key=lambda item: -item[1]):
        file.write("%s\t%d\n" % (e.KIND_NAMES[kind] if kind < len(e.KIND_NAMES) else kind, count))


def write_html(nodes, file):
    run = Run(nodes)
    if not run.ntasks():
        file.write("<!DOCTYPE html><title>no task ended</title><p>No task ended in this run.\n")
        return
    accounts = Accounts(run)
    file.write(page_with_figures(Report(run, accounts, Path(run, accounts))))


@e.tells_damage
def command_fxt(place, argv):
    if any(word in ("-h", "--help") for word in argv):
        print(USAGE)
        return 0
    if any(word in ("-v", "--version") for word in argv):
        print("starpu_fxt_tool (Orrery) " + place.version())
        return 0
    files, paje, directory, switches = parse(argv)
    nodes = read(files)
    hidden = {name[len("-no-"):] for name in switches if name.startswith("-no-")}
    outputs = [(paje, lambda n, f: write_paje(n, f, hidden)), ("dag.dot", write_dot),
               ("tasks.rec", write_tasks), ("comms.rec", write_comms),
               ("distrib.data", write_distrib), ("activity.data", write_activity),
               ("trace.html", write_html)]
    if "-number-events" in switches:
        outputs.append(("number_events.data", write_numbers))
    try:
        if directory:
            os.makedirs(directory, exist_ok=True)
        for name, write in outputs:
            with Output(os.path.join(directory, name)) as file:
                write(nodes, file)
    except OSError as error:
        raise Refusal("%s: %s" % (error.filename or directory, error.strerror)) from None
    sys.stdout.flush()
    return 0
