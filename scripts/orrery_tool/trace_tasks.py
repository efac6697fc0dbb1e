# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery trace --tasks, --comms, --dot: what StarPU's tools call tasks.rec and comms.rec, in
the format of GNU recutils, and the graph of the tasks for Graphviz."""
from orrery_tool import events as e
from orrery_tool.graph import Graph


class Task:
    __slots__ = ("number", "rank", "vertex", "order", "priority", "submit_s", "tag", "uses",
                 "worker", "memory", "name", "model", "footprint", "start_s", "end_s")

    def __init__(self, number, rank):
        self.number, self.rank, self.uses = number, rank, []
        self.vertex = self.tag = self.start_s = self.end_s = self.worker = self.model = None
        self.name, self.footprint, self.memory = "?", 0, 0
        self.order, self.priority, self.submit_s = 0, 0, 0.0


class NodeTasks:
    """The tasks of one node, in the order of their submission."""

    def __init__(self, node, graph):
        self.node, self.graph, self.tasks, self.models = node, graph, {}, {}
        graph.begin_node(node.rank)
        others = graph.handlers()
        mine = {e.TASK_SUBMITTED: self.submitted, e.TASK_USES: self.uses,
                e.TASK_TAGGED: self.tagged, e.TASK_STARTED: self.started,
                e.TASK_ENDED: self.ended, e.MODEL: self.model}
        for date_s, kind, flag, worker, n, ident, value in node.records():
            date_s -= node.origin_s
            for handler in (others.get(kind), mine.get(kind)):
                if handler:
                    handler(date_s, flag, worker, n, ident, value)

    def task(self, ident):
        if ident not in self.tasks:
            self.tasks[ident] = Task(ident, self.node.rank)
        return self.tasks[ident]

    def submitted(self, date_s, flag, worker, n, ident, value):
        task = self.task(ident)
        task.submit_s, task.order = date_s, len(self.tasks)
        task.priority = n - (n >> 31 << 32)
        task.vertex = self.graph.vertices[ident]

    def uses(self, date_s, flag, worker, n, ident, value):
        if not flag & (e.OTHER | e.OWN):
            self.task(ident).uses.append((value, flag, n))

    def tagged(self, date_s, flag, worker, n, ident, value):
        self.task(ident).tag = value

    def model(self, date_s, flag, worker, n, ident, value):
        self.models[n] = self.node.text(value)

    def started(self, date_s, flag, worker, n, ident, value):
        task = self.task(ident)
        task.start_s, task.worker, task.footprint = date_s, worker, n
        task.memory = self.node.workers.get(worker, ("", 0))[1]
        task.name, task.model = self.node.text(value), self.models.get(flag)

    def ended(self, date_s, flag, worker, n, ident, value):
        task = self.task(ident)
        task.start_s, task.end_s = e.date_of(value) - self.node.origin_s, date_s


class Everything:
    """All tasks of a run, and what they wait for."""

    def __init__(self, nodes):
        self.graph, self.tasks, self.by_vertex = Graph(), [], {}
        self.many = len(nodes) > 1
        for node in nodes:
            self.tasks += NodeTasks(node, self.graph).tasks.values()
        self.graph.messages()
        for task in self.tasks:
            if task.vertex is not None:
                self.by_vertex[task.vertex] = task
        self.before = {}
        for source, target in zip(self.graph.source, self.graph.target):
            self.before.setdefault(target, []).append(source)

    def name(self, task):
        return "%d_%d" % (task.rank, task.number) if self.many else "%d" % task.number

    def waits_for(self, task):
        """The tasks right before one, in the order of their numbers."""
        found, seen, stack = set(), set(), list(self.before.get(task.vertex, ()))
        while stack:
            vertex = stack.pop()
            if vertex in seen:
                continue
            seen.add(vertex)
            if vertex in self.by_vertex:
                found.add(vertex)
            else:
                stack += self.before.get(vertex, ())
        return [self.by_vertex[vertex] for vertex in sorted(found)]


def mode_of(flag):
    text = "R" if flag & e.READS else "W" if flag & e.WRITES else "RW" if flag & e.UPDATES else ""
    if flag & e.REDUCES:
        return "REDUX"
    return (text or "R") + ("|COMMUTE" if flag & e.COMMUTES else "")


def task_fields(everything, task):
    yield "Name", task.name
    if task.model:
        yield "Model", task.model
    yield "JobId", everything.name(task)
    yield "SubmitOrder", "%d" % task.order
    before = everything.waits_for(task)
    if before:
        yield "DependsOn", " ".join(map(everything.name, before))
    if task.tag is not None:
        yield "Tag", "%d" % task.tag
    yield "Priority", "%d" % task.priority
    if task.worker is not None:
        yield "WorkerId", "%d" % task.worker
        yield "MemoryNode", "%d" % task.memory
    yield "SubmitTime", "%.6f" % (1e3 * task.submit_s)
    if task.start_s is not None:
        yield "StartTime", "%.6f" % (1e3 * task.start_s)
    if task.end_s is not None:
        yield "EndTime", "%.6f" % (1e3 * task.end_s)
    if task.footprint:
        yield "Footprint", "%08x" % task.footprint
    if task.uses:
        yield "Handles", " ".join("0x%x" % datum for datum, _, _ in task.uses)
        yield "Modes", " ".join(mode_of(flag) for _, flag, _ in task.uses)
        yield "Sizes", " ".join("%d" % size for _, _, size in task.uses)
    yield "MPIRank", "%d" % task.rank


def write_tasks(nodes, file):
    everything = Everything(nodes)
    for task in everything.tasks:
        for name, text in task_fields(everything, task):
            file.write("%s: %s\n" % (name, text.replace("\n", " ")))
        file.write("\n")


# ---- messages ----

class NodeMessages:
    """Requests of a node: both halves of a transfer have the same place."""

    def __init__(self, node, sends, receives):
        self.rank, self.sends, self.receives = node.rank, sends, receives
        self.ordinals, self.flying = {}, {}
        handlers = {e.REQUEST_POSTED: self.posted, e.REQUEST_READY: self.ready,
                    e.REQUEST_MOVED: self.moved}
        for date_s, kind, flag, _, n, ident, value in node.records():
            if kind in handlers:
                handlers[kind](date_s - node.origin_s, flag, n, ident, value)

    def posted(self, date_s, flag, n, ident, value):
        key = (flag, n, value)
        k = self.ordinals[key] = self.ordinals.get(key, -1) + 1
        place = (n, self.rank, value, k) if flag else (self.rank, n, value, k)
        self.flying[ident] = [place, date_s]

    def ready(self, date_s, flag, n, ident, value):
        if not flag and ident in self.flying:
            self.flying[ident][1] = date_s

    def moved(self, date_s, flag, n, ident, value):
        place, since_s = self.flying.pop(ident, (None, 0.0))
        if place:
            (self.receives if flag else self.sends)[place] = (since_s, date_s, value)


def write_comms(nodes, file):
    sends, receives = {}, {}
    for node in nodes:
        NodeMessages(node, sends, receives)
    for place, (ready_s, _, size) in sorted(sends.items(), key=lambda item: item[1][0]):
        source, target, tag, _ = place
        rows = [("Src", source), ("Dst", target), ("Tag", tag - (tag >> 63 << 64)),
                ("Size", size), ("SendTime", "%.6f" % (1e3 * ready_s))]
        if place in receives:
            rows.append(("RecvTime", "%.6f" % (1e3 * receives[place][1])))
        file.write("".join("%s: %s\n" % row for row in rows) + "\n")


# ---- the graph ----

def write_dot(nodes, file):
    everything = Everything(nodes)
    graph, names = everything.graph, {}
    file.write("strict digraph tasks {\n")
    for vertex, number in enumerate(graph.task):
        task = everything.by_vertex.get(vertex)
        names[vertex] = '"%s"' % everything.name(task) if task else '"p%d"' % vertex
        if number < 0:
            file.write("\t%s [shape=point]\n" % names[vertex])
        else:
            text = task.name.replace("\\", "\\\\").replace('"', '\\"')
            file.write('\t%s [label="%s: %s"]\n' % (names[vertex], everything.name(task), text))
    for source, target in zip(graph.source, graph.target):
        file.write("\t%s -> %s\n" % (names[source], names[target]))
    file.write("}\n")
