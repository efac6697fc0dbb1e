# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: the critical path, from the last task back to the first.

A task started when the last of these was over: the task that its worker ran before, or
what made it ready, and then the copies of its data.
"""
from bisect import bisect_right

from orrery_tool.report_read import BY_MESSAGE, BY_SEND, BY_TASK
from orrery_tool.report_time import previous
from orrery_tool.report_words import gigabytes

RUNS, COPIES, TRANSFER, QUEUE, SCHEDULER, PROGRAM, CALLS = range(7)
PARTS = ["tasks run", "copies of data in a node", "messages on their way",
         "messages that wait for their turn", "scheduling", "the program submits",
         "callbacks and what else ends tasks"]
MAX_STEPS = 1000000


class Step:
    __slots__ = ("part", "rank", "begin_s", "end_s", "what", "worker", "kind", "holds", "between")

    def __init__(self, part, rank, begin_s, end_s, what):
        self.part, self.rank, self.begin_s, self.end_s, self.what = part, rank, begin_s, end_s, what
        # Of a task: who ran it, and for which task that was ready it kept the worker.
        self.worker = self.kind = self.holds = None
        self.between = () # of a message: its ranks


class Path:
    def __init__(self, run, accounts):
        self.run, self.orders = run, accounts.orders
        self.names = {(node.rank, worker): (name, kind)
                      for node in run.nodes for worker, name, kind in node.workers}
        self.steps = []
        self.walk()
        self.steps.reverse()
        self.seconds = [0.0] * len(PARTS)
        for step in self.steps:
            self.seconds[step.part] += step.end_s - step.begin_s

    def last_task(self):
        best = None
        for node in self.run.nodes:
            for i, ended_s in enumerate(node.tasks.ended):
                if best is None or ended_s > best[0]:
                    best = (ended_s, node, i)
        return best

    def add(self, part, rank, begin_s, end_s, what, between=()):
        if end_s > begin_s:
            self.steps.append(Step(part, rank, begin_s, end_s, what))
            self.steps[-1].between = between

    def add_task(self, node, i, holds):
        tasks = node.tasks
        step = Step(RUNS, node.rank, tasks.started[i], tasks.ended[i], self.name(node, i))
        step.worker, step.kind = self.names.get((node.rank, tasks.worker[i]), ("?", "cpu"))
        step.holds = holds
        if step.end_s > step.begin_s:
            self.steps.append(step)

    def walk(self):
        last = self.last_task()
        if not last:
            return
        place = ("task", last[1], last[2], last[0], None)
        while place and len(self.steps) < MAX_STEPS:
            kind, node, i, until_s, holds = place
            place = self.before_task(node, i, holds) if kind == "task" else \
                self.before_receive(node, i, until_s) if kind == "receive" else \
                self.before_send(node, i, until_s)
        self.is_cut = place is not None

    def name(self, node, i):
        return self.run.codelets[node.tasks.name[i]]

    def before_task(self, node, i, holds):
        tasks = node.tasks
        worker = tasks.worker[i]
        name = self.name(node, i)
        started_s = tasks.started[i]
        self.add_task(node, i, holds)
        before = previous(self.orders.get((node.rank, worker), []), tasks.started, started_s)
        free_s = self.free_s(tasks, before, started_s)
        pushed_s = min(tasks.pushed[i], started_s)
        fetched_s = min(max(tasks.fetched[i], pushed_s), started_s)
        if before is not None and free_s > fetched_s:
            # Its data were there or on their way while the worker ran another task.
            self.add(COPIES, node.rank, min(free_s, started_s), started_s, "for " + name)
            return self.before_free(node, before, free_s, name)
        self.add(COPIES, node.rank, fetched_s, started_s, "for " + name)
        if before is not None and free_s > pushed_s:
            self.add(SCHEDULER, node.rank, free_s, fetched_s, name)
            return self.before_free(node, before, free_s, name)
        self.add(SCHEDULER, node.rank, pushed_s, fetched_s, name)
        return self.cause(node, tasks.cause[i], tasks.by[i], pushed_s, name)

    @staticmethod
    def free_s(tasks, before, started_s):
        """When a worker had ended the task before one that started then."""
        if before is None:
            return 0.0
        ended_s = tasks.ended[before]
        return max(min(ended_s + tasks.after[before], started_s), ended_s)

    def before_free(self, node, before, free_s, holds):
        self.add(CALLS, node.rank, node.tasks.ended[before], free_s,
                 "of " + self.name(node, before))
        return "task", node, before, free_s, holds

    def cause(self, node, why, by, date_s, name):
        if why == BY_TASK and by >= 0:
            # What its end has started, such as a copy to main memory, ended at date_s.
            over_s = min(node.tasks.ended[by] + node.tasks.after[by], date_s)
            self.add(COPIES, node.rank, over_s, date_s, "of what %s wrote" % self.name(node, by))
            self.add(CALLS, node.rank, node.tasks.ended[by], over_s,
                     "of " + self.name(node, by))
            return "task", node, by, date_s, None
        if why == BY_MESSAGE and by >= 0:
            return "receive", node, by, date_s, None
        if why == BY_SEND and by >= 0:
            return "send", node, by, date_s, None
        at = bisect_right(node.awaited, (date_s, len(node.tasks)))
        if at == 0:
            self.add(PROGRAM, node.rank, self.run.begin_s, date_s, "until " + name)
            return None
        by = node.awaited[at - 1][1]
        self.add(PROGRAM, node.rank, node.tasks.ended[by], date_s, "until " + name)
        return "task", node, by, node.tasks.ended[by], None

    def before_receive(self, node, i, until_s):
        """until_s: it had arrived, and what waited for it was told."""
        r = node.requests
        what = "%d to %d, tag %d, %s" % (r.peer[i], node.rank, r.tag[i], gigabytes(r.bytes[i]))
        found, begun_s = self.run.send_of(node, i), node.begun_s[i]
        if found is None:
            self.add(TRANSFER, node.rank, self.run.begin_s, until_s, what)
            return None
        moving_s = max(min(r.moving[i], r.moved[i]), begun_s)
        if moving_s == r.moved[i]: # a small one came as a whole
            moving_s = begun_s
        between = r.peer[i], node.rank
        self.add(TRANSFER, node.rank, moving_s, until_s, what, between)
        self.add(QUEUE, node.rank, begun_s, moving_s, what, between)
        start, at = self.run.start_of(node, i)
        return self.cause(start, start.requests.cause[at], start.requests.by[at], begun_s,
                          "the message of tag %d" % r.tag[i])

    def before_send(self, node, i, until_s):
        """until_s: it had left, and what waited to write the value was told."""
        r = node.requests
        what = "%d to %d, tag %d, %s" % (node.rank, r.peer[i], r.tag[i], gigabytes(r.bytes[i]))
        ready_s = min(r.ready[i], until_s)
        moving_s = max(min(r.moving[i], until_s), ready_s)
        between = node.rank, r.peer[i]
        self.add(TRANSFER, node.rank, moving_s, until_s, what, between)
        self.add(QUEUE, node.rank, ready_s, moving_s, what, between)
        return self.cause(node, r.cause[i], r.by[i], ready_s, "the send of tag %d" % r.tag[i])

    def by_codelet(self):
        """(name, steps, seconds) of the tasks on the path, the longest first."""
        sums = {}
        for step in self.steps:
            if step.part == RUNS:
                row = sums.setdefault(step.what, [0, 0.0])
                row[0] += 1
                row[1] += step.end_s - step.begin_s
        return sorted(((name, n, seconds) for name, (n, seconds) in sums.items()),
                      key=lambda row: -row[2])
