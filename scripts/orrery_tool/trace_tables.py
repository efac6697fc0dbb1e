# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery trace --tasks and --comms into files whose names end in .csv: a row for each task and
message, a number or a name in each column, dates in seconds."""
import csv

from orrery_tool import events as e
from orrery_tool.trace_tasks import NodeMessages

OF_TASKS = ("rank", "task", "codelet", "kind", "worker", "worker_name", "memory", "priority",
            "submitted_s", "ready_s", "started_s", "ended_s", "expected_s", "footprint", "data",
            "bytes")
OF_MESSAGES = ("source", "destination", "tag", "bytes", "ready_s", "sent_s", "received_s")


class Row:
    """A task that has not ended."""
    __slots__ = ("priority", "submitted_s", "ready_s", "ndata", "nbytes", "footprint", "name")

    def __init__(self):
        self.priority = self.ndata = self.nbytes = self.footprint = self.name = 0
        self.submitted_s = self.ready_s = None


def said(date_s):
    return "" if date_s is None else "%.9f" % date_s


class NodeTable:
    """Its tasks are written as they end, so that memory does not grow with the run."""

    def __init__(self, node, writer):
        self.node, self.writer, self.rows = node, writer, {}
        handlers = {e.TASK_SUBMITTED: self.submitted, e.TASK_PUSHED: self.ready,
                    e.TASK_USES: self.uses, e.TASK_STARTED: self.started,
                    e.TASK_ENDED: self.ended, e.TASK_TERMINATED: self.terminated}
        for date_s, kind, flag, worker, n, ident, value in node.records():
            if kind in handlers:
                handlers[kind](date_s - node.origin_s, flag, worker, n, ident, value)

    def row(self, ident):
        if ident not in self.rows:
            self.rows[ident] = Row()
        return self.rows[ident]

    def submitted(self, date_s, flag, worker, n, ident, value):
        row = self.row(ident)
        row.submitted_s, row.priority = date_s, n - (n >> 31 << 32)

    def ready(self, date_s, flag, worker, n, ident, value):
        self.row(ident).ready_s = date_s

    def uses(self, date_s, flag, worker, n, ident, value):
        if not flag & (e.OTHER | e.OWN):
            row = self.row(ident)
            row.ndata, row.nbytes = row.ndata + 1, row.nbytes + n

    def started(self, date_s, flag, worker, n, ident, value):
        row = self.row(ident)
        row.footprint, row.name = n, value

    def ended(self, date_s, flag, worker, n, ident, value):
        row = self.rows.pop(ident, None) or Row()
        name, memory = self.node.workers.get(worker, ("", 0))
        self.writer.writerow((
            self.node.rank, ident, self.node.text(row.name), self.node.kind_of(worker), worker, name,
            memory, row.priority, said(row.submitted_s), said(row.ready_s),
            said(e.date_of(value) - self.node.origin_s), said(date_s),
            "%.9f" % (1e-6 * e.float_of(n)) if n else "", "%08x" % row.footprint
            if row.footprint else "", row.ndata, row.nbytes))

    def terminated(self, date_s, flag, worker, n, ident, value):
        self.rows.pop(ident, None) # one without a kernel has not ended


def write_task_table(nodes, file):
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(OF_TASKS)
    for node in nodes:
        NodeTable(node, writer)


def write_message_table(nodes, file):
    writer, sends, receives = csv.writer(file, lineterminator="\n"), {}, {}
    for node in nodes:
        NodeMessages(node, sends, receives)
    writer.writerow(OF_MESSAGES)
    for place, (ready_s, sent_s, size) in sorted(sends.items(), key=lambda item: item[1][0]):
        source, target, tag, _ = place
        writer.writerow((source, target, tag - (tag >> 63 << 64), size, said(ready_s), said(sent_s),
                         said(receives[place][1]) if place in receives else ""))
