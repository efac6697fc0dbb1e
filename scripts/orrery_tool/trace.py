# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery trace."""
import heapq
import json
import os
import sys
import zlib

from orrery_tool import events as e
from orrery_tool.trace_paje import write_paje
from orrery_tool.trace_tables import write_message_table, write_task_table
from orrery_tool.trace_tasks import write_comms, write_dot, write_tasks
from orrery_tool.words import Refusal

USAGE = """usage: orrery trace DIRECTORY [--perfetto FILE.json] [--csv FILE.csv]
                    [--paje FILE.trace] [--tasks FILE.rec] [--comms FILE.rec] [--dot FILE.dot]

Reads what a run with "orrery run --trace DIRECTORY" has recorded.

  --perfetto FILE.json  write a trace that https://ui.perfetto.dev opens: tasks by worker,
                        copies between memories, messages with their flows, memory, tasks that
                        are ready and do not run yet
  --csv FILE.csv        write how busy the nodes were, for draw-utilisation
  --paje FILE.trace     write the trace in the format of Paje, for ViTE and pj_dump
  --tasks FILE.rec      write the tasks as StarPU's tasks.rec does: dates in ms, what they use
                        and wait for
  --comms FILE.rec      write the messages as StarPU's comms.rec does
  --tasks FILE.csv, --comms FILE.csv
                        write a table instead: a row for each, dates in s
  --dot FILE.dot        write the graph of the tasks for Graphviz

Without options: print tasks, by codelet, and messages."""

BINS = 256
FIRST_WIDTH_S = 1e-6
APPLICATION = 999          # thread of what no worker did
FIRST_LANE = 1000
LEAST_US = 0.001           # what lasts nothing shall be seen, and flows end in it


class Output:
    """A file that is written whole or not at all."""

    def __init__(self, path):
        self.path, self.beside = path, "%s.new-%d" % (path, os.getpid())

    def __enter__(self):
        try:
            self.file = open(self.beside, "w", encoding="utf-8")
        except OSError as error:
            self.refuse(error)
        return self.file

    def __exit__(self, kind, error, _):
        try:
            self.file.close()
            if kind is None:
                os.replace(self.beside, self.path)
                return False
        except OSError as closing:
            error = error or closing
        if os.path.exists(self.beside):
            os.remove(self.beside)
        if isinstance(error, OSError):
            self.refuse(error)
        return False

    def refuse(self, error):
        raise Refusal("trace: %s cannot be written: %s; an older file is kept"
                      % (self.path, error.strerror or error)) from None


# ---- Perfetto ----

class Lanes:
    """Threads for what overlaps: the lowest free one of its group."""

    def __init__(self, writer, pid):
        self.writer, self.pid = writer, pid
        self.free, self.used, self.next = {}, {}, FIRST_LANE
        self.since_s = {} # by thread: free

    def take(self, group, date_s):
        """The lowest that has been free since a date, which may have passed."""
        free = self.free.setdefault(group, [])
        if free and self.since_s[free[0]] <= date_s:
            return heapq.heappop(free)
        found = min((tid for tid in free if self.since_s[tid] <= date_s), default=None)
        if found is None:
            return self.another(group)
        free.remove(found)
        heapq.heapify(free)
        return found

    def another(self, group):
        number = self.used[group] = self.used.get(group, 0) + 1
        tid = self.next
        self.next += 1
        self.writer.name_thread(self.pid, tid, "%s (%d)" % (group, number) if number > 1
                                else group)
        return tid

    def give(self, group, tid, date_s):
        self.since_s[tid] = date_s + LEAST_US * 1e-6 # what lasted nothing is as long
        heapq.heappush(self.free[group], tid)


class Perfetto:
    """Chrome's format: one JSON object for each event."""

    def __init__(self, file):
        self.file, self.first = file, True

    def put(self, text):
        self.file.write(("" if self.first else ",\n") + text)
        self.first = False

    def name_thread(self, pid, tid, name):
        self.put('{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":%s}}'
                 % (pid, tid, json.dumps(name)))
        self.put('{"ph":"M","pid":%d,"tid":%d,"name":"thread_sort_index",'
                 '"args":{"sort_index":%d}}' % (pid, tid, tid))

    def slice(self, place, name, begin_us, end_us, args):
        # Whole nanoseconds: who reads it takes a slice that ends within the next one for damaged.
        begin_us, end_us = round(begin_us, 3), round(end_us, 3)
        self.put('{"ph":"X","pid":%d,"tid":%d,"name":%s,"cat":"orrery","ts":%.3f,"dur":%.3f,'
                 '"args":{%s}}' % (*place, name, begin_us, max(end_us - begin_us, LEAST_US), args))

    def flow(self, place, phase, ident, date_us):
        self.put('{"ph":"%s","pid":%d,"tid":%d,"name":"message","cat":"message","id":%d,'
                 '"ts":%.3f%s}' % (phase, *place, ident, date_us,
                                   ',"bp":"e"' if phase == "f" else ""))

    def instant(self, place, name, date_us):
        self.put('{"ph":"i","s":"t","pid":%d,"tid":%d,"name":%s,"cat":"user","ts":%.3f}'
                 % (*place, json.dumps(name), date_us))

    def counter(self, pid, name, unit, value, date_us):
        self.put('{"ph":"C","pid":%d,"name":%s,"ts":%.3f,"args":{"%s":%d}}'
                 % (pid, json.dumps(name), date_us, unit, value))


class NodePicture:
    """The tracks of one node."""

    def __init__(self, writer, node):
        self.writer, self.node, self.pid = writer, node, node.rank
        self.lanes = Lanes(writer, self.pid)
        self.running, self.copies, self.requests = {}, {}, {}
        self.memory, self.posted, self.names, self.ready = {}, {}, {}, set()
        self.has_application = False
        writer.put('{"ph":"M","pid":%d,"name":"process_name","args":{"name":%s}}' % (
            self.pid, json.dumps("node %d (%s)" % (self.pid, node.host))))
        writer.put('{"ph":"M","pid":%d,"name":"process_sort_index","args":{"sort_index":%d}}'
                   % (self.pid, self.pid))
        for worker, (name, _) in sorted(node.workers.items()):
            writer.name_thread(self.pid, worker, name)

    HANDLERS = {e.TASK_PUSHED: "task_pushed", e.TASK_TERMINATED: "task_terminated",
                e.TASK_STARTED: "task_started", e.TASK_ENDED: "task_ended",
                e.HELP_BEGINS: "task_started", e.HELP_ENDS: "task_ended",
                e.COPY_BEGINS: "copy_begins", e.COPY_ENDS: "copy_ends",
                e.ALLOCATED: "bytes_changed", e.FREED: "bytes_changed",
                e.REQUEST_POSTED: "request_posted", e.REQUEST_MOVING: "request_moving",
                e.REQUEST_ANNOUNCED: "request_announced",
                e.REQUEST_MOVED: "request_moved", e.REQUEST_DONE: "request_done",
                e.USER: "user", e.USER_TEXT: "user", e.USER_META: "user"}

    def draw(self):
        handlers = {kind: getattr(self, name) for kind, name in self.HANDLERS.items()}
        for record in self.node.records():
            handler = handlers.get(record[1])
            if handler:
                handler(*record)

    def us(self, date_s):
        return 1e6 * (date_s - self.node.origin_s)

    def quoted(self, key):
        """A text as JSON; the same few names come again and again."""
        if key not in self.names:
            self.names[key] = json.dumps(self.node.text(key))
        return self.names[key]

    def task_pushed(self, date_s, kind, flag, worker, n, ident, value):
        if ident not in self.ready: # again after exclusion came
            self.ready.add(ident)
            self.count_ready(date_s)

    def task_terminated(self, date_s, kind, flag, worker, n, ident, value):
        self.leave_ready(date_s, ident) # without a kernel

    def leave_ready(self, date_s, ident):
        if ident in self.ready:
            self.ready.remove(ident)
            self.count_ready(date_s)

    def count_ready(self, date_s):
        self.writer.counter(self.pid, "ready tasks", "tasks", len(self.ready), self.us(date_s))

    def task_started(self, date_s, kind, flag, worker, n, ident, value):
        self.running[worker] = (ident, value)
        self.leave_ready(date_s, ident)

    def task_ended(self, date_s, kind, flag, worker, n, ident, value):
        number, key = self.running.pop(worker, (None, 0))
        name = self.quoted(key) if number == ident else '"task"'
        self.writer.slice((self.pid, worker), name, self.us(e.date_of(value)), self.us(date_s),
                          '"task":%d' % ident)

    def copy_begins(self, date_s, kind, flag, worker, n, ident, value):
        group = "copies from memory %s to %s" % (self.node.memory_name(n >> 16),
                                                 self.node.memory_name(n & 0xFFFF))
        self.copies[ident] = (group, self.lanes.take(group, date_s), date_s)

    def copy_ends(self, date_s, kind, flag, worker, n, ident, value):
        if ident not in self.copies:
            return
        group, tid, begin_s = self.copies.pop(ident)
        self.writer.slice((self.pid, tid), '"%d bytes"' % value, self.us(begin_s),
                          self.us(date_s), '"bytes":%d' % value)
        self.lanes.give(group, tid, date_s)

    def bytes_changed(self, date_s, kind, flag, worker, n, ident, value):
        now = self.memory[n] = self.memory.get(n, 0) + (value if kind == e.ALLOCATED else -value)
        self.writer.counter(self.pid, "memory " + self.node.memory_name(n), "bytes", now,
                            self.us(date_s))

    def request_posted(self, date_s, kind, flag, worker, n, ident, value):
        """The k-th send of a tag from one node to another is for the k-th receive."""
        pair = (n, self.pid, value) if flag else (self.pid, n, value)
        k = self.posted[pair] = self.posted.get(pair, 0) + 1
        text = "%d %d %d %d" % (*pair, k)
        flow = zlib.crc32(text.encode()) << 20 | zlib.adler32(text.encode()) & 0xFFFFF
        self.requests[ident] = [value, flow, None, None]

    def request_announced(self, date_s, kind, flag, worker, n, ident, value):
        if ident in self.requests:
            self.requests[ident][3] = date_s

    def request_moving(self, date_s, kind, flag, worker, n, ident, value):
        if ident in self.requests:
            group = "receives" if flag else "sends"
            self.requests[ident][2:] = [self.lanes.take(group, date_s), date_s]

    def request_moved(self, date_s, kind, flag, worker, n, ident, value):
        if ident not in self.requests:
            return
        tag, flow, tid, begin_s = self.requests[ident]
        group = "receives" if flag else "sends"
        if tid is None and not flag and begin_s is not None:
            # Its receiver read it, and this node hears of it late.
            tid = self.lanes.take(group, begin_s)
        elif tid is None: # a small one: it came as a whole
            tid, begin_s = self.lanes.take(group, date_s), date_s
        place = (self.pid, tid)
        begin_us, end_us = self.us(begin_s), self.us(date_s)
        self.writer.slice(place, '"%s %d"' % ("from" if flag else "to", n), begin_us, end_us,
                          '"tag":%d,"bytes":%d' % (tag - (tag >> 63 << 64), value))
        if n != self.pid:
            # An arrow ends in what lasts until after it.
            self.writer.flow(place, "f" if flag else "s", flow,
                             max(end_us - LEAST_US, begin_us) if flag else begin_us)
        self.lanes.give(group, tid, date_s)
        self.requests[ident][2] = None

    def request_done(self, date_s, kind, flag, worker, n, ident, value):
        self.requests.pop(ident, None)

    def user(self, date_s, kind, flag, worker, n, ident, value):
        place = (self.pid, worker if worker != e.NO_WORKER else APPLICATION)
        if place[1] == APPLICATION and not self.has_application:
            self.has_application = True
            self.writer.name_thread(self.pid, APPLICATION, "application")
        name = "event %d" % ident if kind == e.USER else self.node.texts.pop(value, "?")
        self.writer.instant(place, name, self.us(date_s))


def write_perfetto(nodes, path):
    with Output(path) as file:
        writer = Perfetto(file)
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for node in nodes:
            NodePicture(writer, node).draw()
        file.write("\n]}\n")


# ---- utilisation ----

class Bins:
    """As src/trace/utilisation.c: when a run leaves the last bin, they are merged."""

    def __init__(self):
        self.width_s, self.busy = FIRST_WIDTH_S, {}

    def add(self, kind, begin_s, end_s):
        begin_s = max(begin_s, 0.0)
        self.widen(end_s)
        bins = self.busy.setdefault(kind, [0.0] * BINS)
        at = int(begin_s / self.width_s)
        while begin_s < end_s and at < BINS:
            until_s = min(end_s, (at + 1) * self.width_s)
            bins[at] += until_s - begin_s
            begin_s, at = until_s, at + 1

    def widen(self, end_s):
        while end_s >= self.width_s * BINS:
            self.width_s *= 2
            for kind, bins in self.busy.items():
                self.busy[kind] = [bins[2 * i] + bins[2 * i + 1]
                                   for i in range(BINS // 2)] + [0.0] * (BINS // 2)


def read_bins(node):
    """(bins, last date) of a node."""
    bins, last_s = Bins(), 0.0
    for date_s, kind, _, worker, _, _, value in node.records():
        last_s = max(last_s, date_s - node.origin_s)
        if kind in (e.TASK_ENDED, e.HELP_ENDS):
            name = node.kind_of(worker)
            bins.add(name, e.date_of(value) - node.origin_s, date_s - node.origin_s)
        elif kind == e.NET_BUSY:
            bins.add("net", e.date_of(value) - node.origin_s, date_s - node.origin_s)
    return bins, last_s


def write_csv(nodes, path):
    tables = [read_bins(node) for node in nodes]
    end_s = max(last_s for _, last_s in tables)
    gpus = [sum(1 for worker in node.workers if node.kind_of(worker) == "gpu") for node in nodes]
    with Output(path) as file:
        file.write("# makespan_s=%.9g nodes=%d cpus_per_node=%d gpus_per_node=%d title=%s\n" % (
            end_s, len(nodes), max(len(node.workers) - n for node, n in zip(nodes, gpus)),
            max(gpus), os.path.basename(os.path.abspath(os.path.dirname(nodes[0].path)))))
        file.write("node,kind,t0_s,t1_s,busy_s\n")
        for (bins, _), node, ngpus in zip(tables, nodes, gpus):
            bins.widen(max(other.width_s for other, _ in tables) * (BINS - 1))
            write_rows(file, bins, node.rank, ["cpu"] + ["gpu"] * (ngpus > 0) + ["net"], end_s)


def write_rows(file, bins, rank, kinds, end_s):
    for kind in kinds:
        for i, busy_s in enumerate(bins.busy.get(kind, [0.0] * BINS)):
            if i * bins.width_s >= end_s:
                break
            if rank == 0 or busy_s > 0:
                file.write("%d,%s,%.9g,%.9g,%.9g\n" % (
                    rank, kind, i * bins.width_s, min((i + 1) * bins.width_s, end_s), busy_s))


# ---- in short ----

def print_summary(nodes):
    tasks, nmessages, nbytes, last_s = {}, 0, 0, 0.0
    for node in nodes:
        running = {}
        for date_s, kind, flag, worker, _, ident, value in node.records():
            last_s = max(last_s, date_s - node.origin_s)
            if kind == e.TASK_STARTED:
                running[worker] = node.text(value)
            elif kind == e.TASK_ENDED:
                figures = tasks.setdefault(running.pop(worker, "?"), [0, 0.0])
                figures[0] += 1
                figures[1] += date_s - e.date_of(value)
            elif kind == e.REQUEST_MOVED and not flag:
                nmessages += 1
                nbytes += value
    print("%d node%s, %.9g s, %d transfers between tasks and ranks, %d bytes"
          % (len(nodes), "s" * (len(nodes) != 1), last_s, nmessages, nbytes))
    print("%-32s %10s %14s %14s" % ("codelet", "tasks", "seconds", "mean us"))
    for name, (n, busy_s) in sorted(tasks.items(), key=lambda item: -item[1][1]):
        print("%-32s %10d %14.6g %14.6g" % (name, n, busy_s, 1e6 * busy_s / n))


def through(write):
    """A file that write(nodes, file) fills."""
    def write_file(nodes, path):
        with Output(path) as file:
            write(nodes, file)
    return write_file


def by_ending(write, write_table):
    """A table where the name of the file asks for one."""
    def write_file(nodes, path):
        through(write_table if path.endswith(".csv") else write)(nodes, path)
    return write_file


FILES = {"--perfetto": write_perfetto, "--csv": write_csv, "--paje": through(write_paje),
         "--tasks": by_ending(write_tasks, write_task_table),
         "--comms": by_ending(write_comms, write_message_table),
         "--dot": through(write_dot)}


@e.tells_damage
def command_trace(place, argv):
    wanted, words = {}, list(argv)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    directory = None
    while words:
        word = words.pop(0)
        name, _, path = word.partition("=")
        if name in FILES:
            if not path and not words:
                raise Refusal("trace: %s needs the name of a file" % name)
            wanted[name] = path or words.pop(0)
        elif word.startswith("-") or directory is not None:
            raise Refusal("trace: what is %s? usage: orrery trace DIRECTORY, then any of %s "
                          "with a file" % (word, ", ".join(FILES)))
        else:
            directory = word
    if directory is None:
        raise Refusal("trace: no directory given; usage: orrery trace DIRECTORY")
    try:
        nodes = e.read_nodes(directory)
        for name, path in wanted.items():
            FILES[name](nodes, path)
        if not wanted:
            print_summary(nodes)
    except OSError as error:
        raise Refusal("trace: %s: %s" % (error.filename or directory, error.strerror)) from None
    sys.stdout.flush()
    return 0
