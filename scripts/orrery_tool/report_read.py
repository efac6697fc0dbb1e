# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: what the events of a run say of each task, message and memory.

Who pushes a task says why it became ready: the end of another task, a message that has
arrived, one that has left so that its value may change, or the program that submitted it.
"""
import os
from array import array

from orrery_tool import events as e
from orrery_tool.graph import HANDED, Graph
from orrery_tool.report_setup import Setup
from orrery_tool.report_words import seconds

# Why a task became ready, or a value could be sent.
BY_PROGRAM, BY_TASK, BY_MESSAGE, BY_SEND = range(4)
HELD_S = 1e-4              # from a submission: who is ready later had to wait for a release
AROUND, AROUND_S = 0.25, 0.01 # of the run, and seconds: what is told before and after it
ALIKE = 0.8                # of the waits: as many tasks were left
NOTHING = -1
KINDS = ("cpu", "gpu")


class Columns:
    """Rows of numbers, a column each."""

    def __init__(self, **types):
        for name, kind in types.items():
            setattr(self, name, array(kind))
        self.names = list(types)

    def add(self, *values):
        for name, value in zip(self.names, values):
            getattr(self, name).append(value)
        return len(getattr(self, self.names[0])) - 1

    def __len__(self):
        return len(getattr(self, self.names[0]))


class Steps:
    """A quantity over time: the dates at which it changes, and by how much."""

    def __init__(self):
        self.dates, self.changes = array("d"), array("d")

    def add(self, date_s, change):
        self.dates.append(date_s)
        self.changes.append(change)


class Link:
    """Copies from one memory to another: how many, their bytes, and how long there were any."""

    def __init__(self):
        self.count, self.bytes, self.busy_s = 0, 0, 0.0
        self.nflying, self.since_s = 0, 0.0

    def begin(self, date_s, nbytes):
        if self.nflying == 0:
            self.since_s = date_s
        self.nflying += 1
        self.count += 1
        self.bytes += nbytes

    def end(self, date_s):
        self.nflying -= 1
        if self.nflying == 0:
            self.busy_s += date_s - self.since_s

    def until_s(self, date_s):
        """How long there were any until a date."""
        return self.busy_s + (date_s - self.since_s if self.nflying else 0.0)


class NodeRun:
    """One node of a run.  Dates count from the start of the run."""

    def __init__(self, node, names, graph):
        self.rank, self.host, self.node = node.rank, node.host, node
        self.workers = [(worker, name, node.kind_of(worker))
                        for worker, (name, _) in sorted(node.workers.items())]
        self.devices = {memory for worker, (_, memory) in node.workers.items()
                        if node.kind_of(worker) == "gpu"}
        self.mains = {0}.union(memory for _, memory in node.workers.values()) - self.devices
        self.names = names # of codelets, of all nodes: index
        # cause: what made it ready; by: that task or receive, as an index.
        # expected: seconds by its model, 0 where unknown.  after: what its worker does for its
        # end, such as its callback.
        # size: the footprint, 0 without a model; flops: as the program says, or 0.
        self.tasks = Columns(pushed="d", fetched="d", started="d", ended="d", worker="H",
                             name="H", cause="B", by="q", expected="f", size="I", flops="d",
                             after="f", priority="i")
        # A send: ready is when it had the value, since cause and by.
        self.requests = Columns(is_receive="B", peer="i", tag="q", ordinal="q", posted="d",
                                ready="d", moving="d", moved="d", bytes="d", cause="B", by="q")
        self.ready, self.memory = Steps(), {}
        # Dates of submissions; bytes that left, or came to, memories of GPUs, or that left
        # main memory.
        self.submitted, self.evicted, self.copied, self.swapped = array("d"), 0, 0, 0
        self.priorities = {} # other than 0, of tasks that have not ended
        self.nagain, self.again_bytes = 0, 0 # sent to who had the value
        # Submissions that followed the end of all tasks before: (date, the last of these).
        self.awaited, self.pending, self.last_ended = [], {}, NOTHING
        self.waited_s = {} # seconds of waits between submissions, by tasks left then
        self.waited_for_s = {} # the same by what was waited for: enum wait_kind
        self.waits = [] # since the last submission: (enum wait_kind, seconds, tasks left)
        # Tasks that the program made ready; those that it released later, and by how much.
        self.nprompt, self.nheld, self.held_s = 0, 0, 0.0
        self.links = {} # by (from, to), memories
        # Seconds of copies to GPUs while those run tasks; by worker, seconds of copies before.
        self.hidden_s, self.copying_s = 0.0, {}
        self.memory_of = {worker: memory for worker, (_, memory) in node.workers.items()
                          if memory in self.devices}
        # By worker, or None for the thread of the program: seconds without a core that it could
        # have used, and those with one.
        self.kept_s, self.is_whole = {}, False
        self.first_s, self.last_s, self.nevents, self.life_s = None, 0.0, 0, 0.0
        self.opened_s = 0.0
        # (worker, index of the task): they run it together with its worker.
        self.helped = []
        self.begun, self.flying, self.copies = {}, {}, {}
        self.graph, self.by_number = graph, {}
        self.ordinals, self.context, self.ended = {}, {}, {}
        self.moved, self.ends = {}, {} # requests not done; by worker, the task that it ends
        self.ending = {} # the number of that task
        self.delivered_s = {} # by worker: the date of a message whose arrival it sees to
        graph.begin_node(node.rank)
        self.read()
        self.place_tasks()
        self.helped = [(worker, self.by_number[ident]) for worker, ident in self.helped
                       if ident in self.by_number]
        del self.begun, self.flying, self.copies, self.context, self.ended, self.node, \
            self.moved, self.ends, self.ending, self.delivered_s, self.graph, \
            self.by_number, self.pending, self.priorities

    def read(self):
        handlers = {getattr(e, name.upper()): getattr(self, name) for name in (
            "task_submitted", "task_pushed", "task_taken", "task_fetching", "task_started", "task_ended",
            "task_terminated", "copy_begins", "copy_ends", "allocated", "freed",
            "request_posted", "request_ready", "request_moving", "request_moved",
            "request_done", "message_received", "waited", "help_ends", "setting", "opened", "closed")}
        handlers[e.EVICTED] = self.evict
        others = self.graph.handlers() # of those, submissions and requests are ours, too
        self.of_graph = {kind: others.pop(kind) for kind in (e.TASK_SUBMITTED, e.REQUEST_POSTED)}
        handlers.update(others)
        get, origin_s, count, last_s = handlers.get, self.node.origin_s, 0, 0.0
        opened_s = None
        for date_s, kind, flag, worker, n, ident, value in self.node.records():
            count += 1
            handler = get(kind)
            last_s = date_s
            if opened_s is None:
                opened_s = date_s
            if handler:
                handler(date_s - origin_s, flag, worker, n, ident, value)
        self.nevents, self.last_s = count, last_s - origin_s
        self.life_s = last_s - (opened_s or 0.0)
        self.opened_s = self.last_s - self.life_s

    def place_tasks(self):
        """The vertex of each task, -1 when its submission was not recorded."""
        vertices = self.graph.vertices
        numbers = {index: vertices.get(ident, NOTHING)
                   for ident, index in self.by_number.items()}
        self.vertices = array("q", (numbers.get(i, NOTHING) for i in range(len(self.tasks))))

    def cause(self, worker):
        """(why, index) of what the caller is at.  Who has nothing to do with a task, and has
        submitted none, is at the end of a request that has been moved, perhaps by another."""
        found = self.context.get(worker)
        if not found and self.moved:
            found = next(iter(self.moved.values()))
        return found or (BY_PROGRAM, NOTHING)

    def task_submitted(self, date_s, flag, worker, n, ident, value):
        self.of_graph[e.TASK_SUBMITTED](date_s, flag, worker, n, ident, value)
        if worker in self.ends:
            # The end of a task submits, its callback or a reduction: that is the cause.
            self.graph.follows(ident, self.ending[worker])
        elif not flag:
            self.delivered_s.pop(worker, None)
            self.context[worker] = (BY_PROGRAM, NOTHING)
            self.note_wait(date_s)
            self.submitted.append(date_s)
        self.pending[ident] = date_s
        if n:
            self.priorities[ident] = n - (n >> 31 << 32)
        if self.first_s is None:
            self.first_s = date_s

    def note_wait(self, date_s):
        """What the program has waited for between two submissions."""
        gap_s = date_s - self.submitted[-1] if self.submitted else 0.0
        for kind, seconds, left in self.waits:
            seconds = min(seconds, gap_s)
            gap_s -= seconds
            self.waited_for_s[kind] = self.waited_for_s.get(kind, 0.0) + seconds
            self.waited_s[left] = self.waited_s.get(left, 0.0) + seconds
            if left == 0 and self.last_ended != NOTHING:
                self.awaited.append((date_s, self.last_ended))
        self.waits = []

    def waited(self, date_s, flag, worker, n, ident, value):
        self.waits.append((n, date_s + self.node.origin_s - e.date_of(value), len(self.pending)))

    def opened(self, date_s, flag, worker, n, ident, value):
        self.is_whole = False

    def closed(self, date_s, flag, worker, n, ident, value):
        self.is_whole = True

    def setting(self, date_s, flag, worker, n, ident, value):
        """At the end of a real run: for how long others had the core of a thread."""
        name, _, text = self.node.text(value).partition("=")
        what, _, number = name.partition(".")
        if what == "kept":
            kept_s, _, ran_s = text.partition(",")
            before = self.kept_s.get(int(number) if number else None, (0.0, 0.0))
            self.kept_s[int(number) if number else None] = (
                before[0] + float(kept_s), before[1] + float(ran_s))

    def task_pushed(self, date_s, flag, worker, n, ident, value):
        why, by = self.cause(worker)
        if why == BY_PROGRAM:
            late_s = date_s - self.pending.get(ident, date_s)
            why, by = self.cause_beside(worker, late_s)
        if ident not in self.begun:
            self.ready.add(date_s, 1)
            if why == BY_PROGRAM:
                self.note_release(late_s)
        # date ready, why, by, date fetched, date started, name, footprint, flops
        self.begun[ident] = [date_s, why, by, None, None, 0, 0, 0.0]

    def cause_beside(self, worker, late_s):
        """Other threads share their number with the program.  While that submits others, one
        that moves messages tells why a task is ready that was submitted some time ago."""
        if worker == e.NO_WORKER and late_s > HELD_S and self.moved:
            return next(reversed(self.moved.values()))
        return BY_PROGRAM, NOTHING

    def note_release(self, late_s):
        if late_s > HELD_S:
            self.nheld += 1
            self.held_s += late_s
        else:
            self.nprompt += 1

    def task_taken(self, date_s, flag, worker, n, ident, value):
        task = self.begun.get(ident)
        if task and task[3] is None:
            task[3] = date_s

    def task_fetching(self, date_s, flag, worker, n, ident, value):
        self.task_taken(date_s, flag, worker, n, ident, value)
        if value and ident in self.begun:
            self.begun[ident][7] = e.date_of(value)

    def task_started(self, date_s, flag, worker, n, ident, value):
        task = self.begun.setdefault(ident, [date_s, BY_PROGRAM, NOTHING, None, None, 0, 0,
                                               0.0])
        name = self.node.text(value)
        task[4:7] = [date_s, self.names.setdefault(name, len(self.names)), n]
        self.ready.add(date_s, -1)
        if worker in self.memory_of:
            self.copying_s[worker] = self.copied_until_s(self.memory_of[worker], date_s)

    def copied_until_s(self, memory, date_s):
        return sum(link.until_s(date_s) for (_, to), link in self.links.items() if to == memory)

    def task_ended(self, date_s, flag, worker, n, ident, value):
        task = self.begun.pop(ident, None)
        if task is None or task[4] is None:
            return
        pushed_s, why, by, fetched_s, started_s, name, size, flops = task
        if value: # a worker that is late, or a queue of kernels, began it later
            started_s = max(started_s, e.date_of(value) - self.node.origin_s)
        index = self.tasks.add(pushed_s, started_s if fetched_s is None else fetched_s,
                               started_s, date_s, worker, name, why, by,
                               1e-6 * e.float_of(n) if n else 0.0, size, flops, 0.0,
                               self.priorities.pop(ident, 0) if self.priorities else 0)
        self.context[worker] = self.ends[worker] = (BY_TASK, index)
        self.ending[worker] = ident
        self.by_number[ident] = self.last_ended = index
        self.pending.pop(ident, None)
        if worker in self.copying_s:
            self.hidden_s += self.copied_until_s(self.memory_of[worker], date_s) \
                - self.copying_s.pop(worker)

    def help_ends(self, date_s, flag, worker, n, ident, value):
        self.helped.append((worker, ident))

    def task_terminated(self, date_s, flag, worker, n, ident, value):
        self.context.pop(worker, None)
        index = self.by_number.get(ident)
        if self.ends.pop(worker, None) == (BY_TASK, index) and index is not None:
            self.tasks.after[index] = max(date_s - self.tasks.ended[index], 0.0)
        self.pending.pop(ident, None) # one without a kernel has not ended

    def copy_begins(self, date_s, flag, worker, n, ident, value):
        ends = n >> 16, n & 0xFFFF
        self.copies[ident] = self.cause(worker), ends
        self.links.setdefault(ends, Link()).begin(date_s, value)
        if (n & 0xFFFF) in self.devices:
            self.copied += value

    def evict(self, date_s, flag, worker, n, ident, value):
        if n in self.devices:
            self.evicted += value
        elif n in self.mains:
            self.swapped += value

    def copy_ends(self, date_s, flag, worker, n, ident, value):
        copy = self.copies.pop(ident, None)
        if copy:
            self.context[worker] = copy[0]
            self.links[copy[1]].end(date_s)

    def bytes_changed(self, date_s, memory, change):
        if memory not in self.memory:
            self.memory[memory] = Steps()
        self.memory[memory].add(date_s, change)

    def allocated(self, date_s, flag, worker, n, ident, value):
        self.bytes_changed(date_s, n, value)

    def freed(self, date_s, flag, worker, n, ident, value):
        self.bytes_changed(date_s, n, -value)

    def request_posted(self, date_s, flag, worker, n, ident, value):
        self.of_graph[e.REQUEST_POSTED](date_s, flag, worker, n, ident, value)
        self.delivered_s.pop(worker, None)
        key = (flag, n, value)
        self.ordinals[key] = ordinal = self.ordinals.get(key, -1) + 1
        # flag, peer, tag, ordinal, posted, ready, moving, moved, bytes, cause
        self.flying[ident] = [flag, n, value - (value >> 63 << 64), ordinal, date_s, None, None,
                              None, 0, (BY_PROGRAM, NOTHING)]

    def request_ready(self, date_s, flag, worker, n, ident, value):
        request = self.flying.get(ident)
        if request:
            request[5], request[9] = date_s, self.cause(worker)
            if flag and request[9][0] == BY_PROGRAM and \
                    date_s - self.delivered_s.get(worker, -HELD_S) < HELD_S:
                # A message has freed its place, such as the end of a send: the network's delay.
                request[5] = request[4]

    def message_received(self, date_s, flag, worker, n, ident, value):
        self.delivered_s[worker] = date_s

    def request_moving(self, date_s, flag, worker, n, ident, value):
        request = self.flying.get(ident)
        if request and request[6] is None:
            request[6] = date_s

    def request_moved(self, date_s, flag, worker, n, ident, value):
        request = self.flying.pop(ident, None)
        if not request:
            return
        flag, peer, tag, ordinal, posted_s, ready_s, moving_s, _, _, (why, by) = request
        ready_s = posted_s if ready_s is None else ready_s
        index = self.requests.add(flag, peer, tag, ordinal, posted_s, ready_s,
                                  date_s if moving_s is None else moving_s, date_s, value, why, by)
        if not flag and self.graph.again and \
                (self.rank, peer, tag & e.MASK, ordinal) in self.graph.again:
            self.nagain += 1
            self.again_bytes += value
        self.context[worker] = self.moved[ident] = (BY_MESSAGE if flag else BY_SEND, index)

    def request_done(self, date_s, flag, worker, n, ident, value):
        done = self.moved.pop(ident, None)
        if done and self.context.get(worker) == done:
            self.leave(worker)

    def leave(self, worker):
        """Back to the task whose end has led to the request."""
        if worker in self.ends:
            self.context[worker] = self.ends[worker]
        else:
            del self.context[worker]


class Run:
    """All nodes."""

    def __init__(self, source, progress=None):
        """source: a directory, or nodes that have been opened."""
        nodes = source if isinstance(source, list) else e.read_nodes(source)
        self.directory = os.path.dirname(nodes[0].path)
        self.names, self.nodes, self.graph = {}, [], Graph()
        self.found_chain = None
        self.setup = Setup(nodes[0].settings)
        for count, node in enumerate(nodes):
            self.nodes.append(NodeRun(node, self.names, self.graph))
            if progress:
                progress(count + 1, len(nodes))
        self.graph.messages()
        self.sends = {}
        for node in self.nodes:
            self.index_sends(node)
        for node in self.nodes:
            node.run, node.begun_s = self, array("d")
            for i in range(len(node.requests)):
                node.begun_s.append(self.begun_s(node, i))
        self.codelets = list(self.names)
        self.nevents = sum(node.nevents for node in self.nodes)
        # The first task is submitted, the last one ends.
        self.begin_s = min((node.first_s for node in self.nodes if node.first_s is not None),
                           default=0.0)
        self.end_s = max((max(node.tasks.ended) for node in self.nodes if len(node.tasks)),
                         default=max(node.last_s for node in self.nodes))
        self.kinds = [kind for kind in KINDS
                      if any(kind == worker[2] for node in self.nodes for worker in node.workers)]

    def index_sends(self, node):
        requests = node.requests
        for i in range(len(requests)):
            if not requests.is_receive[i]:
                self.sends[node.rank, requests.peer[i], requests.tag[i],
                           requests.ordinal[i]] = node, i

    def send_of(self, node, i):
        """(node, request) that a receive of a node is for, or None."""
        r = node.requests
        return self.sends.get((r.peer[i], node.rank, r.tag[i], r.ordinal[i]))

    def start_of(self, node, i):
        """(node, request): the send, or the receive when its place was in use for longer."""
        r, found = node.requests, self.send_of(node, i) if node.requests.is_receive[i] else None
        return found if found and found[0].requests.ready[found[1]] >= r.ready[i] else (node, i)

    def begun_s(self, node, i):
        """A message is under way once its sender has the value, and its receiver the place."""
        other, start = self.start_of(node, i)
        return min(other.requests.ready[start], node.requests.moved[i])

    def seconds(self):
        """By vertex of the graph."""
        seconds = array("d", bytes(8 * len(self.graph.task)))
        for node in self.nodes:
            for i, vertex in enumerate(node.vertices):
                if vertex >= 0:
                    seconds[vertex] = node.tasks.ended[i] - node.tasks.started[i]
        return seconds

    def places(self, vertices):
        """[(node, task)] of those that are tasks."""
        wanted = set(vertices)
        places = {vertex: (node, i) for node in self.nodes
                  for i, vertex in enumerate(node.vertices) if vertex in wanted}
        return [places[vertex] for vertex in vertices if vertex in places]

    def chain(self):
        """(seconds, [(node, task)]) of the tasks that wait for each other longest."""
        if self.found_chain is None:
            length, chain = self.graph.longest(self.seconds())
            self.found_chain = length, self.places(chain)
            tasks = {vertex for vertex in chain if self.graph.task[vertex] >= 0}
            self.nwriters, self.nmovers = (
                max((len(tasks.intersection(writers)) for writers in groups), default=0)
                for groups in (self.graph.written, self.graph.moved_on.values()))
            self.nhanded = sum(self.graph.task[vertex] == HANDED for vertex in chain)
            self.noverwrites = self.graph.nwaits_to_overwrite(chain)
        return self.found_chain

    def writers_in_chain(self):
        """How many tasks of the longest chain write one and the same datum."""
        self.chain()
        return self.nwriters

    def movers_in_chain(self):
        """The same of a datum that goes from node to node."""
        self.chain()
        return self.nmovers

    def handed_in_chain(self):
        """How often data are partitioned, or put together again, in it."""
        self.chain()
        return self.nhanded

    def waits_for(self):
        """{enum wait_kind: seconds} that programs waited between submissions."""
        seconds_of = {}
        for node in self.nodes:
            for kind, seconds in node.waited_for_s.items():
                seconds_of[kind] = seconds_of.get(kind, 0.0) + seconds
        return seconds_of

    def overwrites_in_chain(self):
        """How many of its vertices only wait until a value is not in use any more."""
        self.chain()
        return self.noverwrites

    def left_by_waits(self):
        """How many tasks were left each time when programs had waited between submissions, or
        None."""
        waited_s = {}
        for node in self.nodes:
            for left, seconds in node.waited_s.items():
                waited_s[left] = waited_s.get(left, 0.0) + seconds
        whole_s = sum(waited_s.values())
        left = max(waited_s, key=waited_s.get, default=None)
        return left if left is not None and waited_s[left] >= ALIKE * whole_s else None

    def turns(self):
        """(seconds, [(node, task)]) of those that exclude each other longest: they commute."""
        seconds = self.seconds()
        length, vertices = max(((sum(seconds[v] for v in group), group)
                                for group in self.graph.commuting.values()), default=(0.0, ()),
                               key=lambda found: found[0])
        return length, self.places(vertices)

    def longest_chain(self):
        """(seconds, [(name, tasks, seconds)]), where tasks that take turns are in it, too."""
        length, vertices = self.graph.longest(self.seconds(), turns=True)
        chain = self.places(vertices)
        sums = {}
        for node, i in chain:
            row = sums.setdefault(self.codelets[node.tasks.name[i]], [0, 0.0])
            row[0] += 1
            row[1] += node.tasks.ended[i] - node.tasks.started[i]
        return length, sorted(((name, n, total) for name, (n, total) in sums.items()),
                              key=lambda row: -row[2])

    def cut(self):
        """A sentence on nodes whose end has not been recorded; "" when all are whole."""
        ranks = [node.rank for node in self.nodes if not node.is_whole]
        if not ranks:
            return ""
        return "This is no whole run: node %d%s did not record %s end, as when it is interrupted or " \
            "killed, when the disk is full, or without starpu_shutdown(); what it had not written " \
            "by then is missing." % (ranks[0], *(("", "its") if len(ranks) == 1 else (
                " and %d more" % (len(ranks) - 1), "their")))

    def around(self):
        """A sentence on what is no part of the run, but takes long beside it: what the program does
        between the start of the library and its first task, and after its last one; or ""."""
        before_s = self.begin_s - max(node.opened_s for node in self.nodes)
        after_s = max(node.last_s for node in self.nodes) - self.end_s
        span_s = self.end_s - self.begin_s
        parts = [part for long_s, part in (
            (before_s, "%s from the start of the library to the first task (starting workers and MPI, "
             "and what the program does before, such as reading its input)" % seconds(before_s)),
            (after_s, "%s from the end of the last task to the end of the library (as when results are "
             "gathered and written)" % seconds(after_s)))
            if long_s >= max(AROUND * span_s, AROUND_S)]
        return "These %s are not all: add %s." % (seconds(span_s), ", and ".join(parts)) if parts else ""

    def ntasks(self):
        return sum(len(node.tasks) for node in self.nodes)
