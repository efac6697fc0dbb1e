# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: reasons why one kind of worker waits for another, or all for one task."""
from orrery_tool.report_path import RUNS
from orrery_tool.report_submission import LEAST_SHARE
from orrery_tool.report_time import BUSY, DATA, DEPENDENCY, END, NETWORK
from orrery_tool.report_words import percent, seconds, several

LEAST_WAIT = 0.2           # of the workers' time, for what needs no more than a cause
FULL = 0.85                # of the time of cores: who waits for their tasks waits for them
ALONE = 0.1                # of the run: a single task runs, and all others wait for it
# Reasons why few tasks run at a time.
SERIAL = ("too few tasks at a time", "commuting tasks take turns", "too few tasks", "reductions",
          "no kernel for GPUs", "too few CPU cores", "one task at a time")


class Kinds:
    """Part of Reasons."""

    def cores_are_full(self):
        """GPUs wait for tasks that only cores can run, and these have no more time for them."""
        share, cores = self.lost(DEPENDENCY, NETWORK), self.accounts.by_kind.get("cpu")
        if self.kind != "gpu" or share < LEAST_WAIT or not cores:
            return
        busy = cores.total[BUSY] / max(self.accounts.capacity_s("cpu"), 1e-12)
        names = self.only_on_cores()
        if busy < FULL or not names:
            return
        self.add("too few CPU cores", share,
                 "GPUs wait for tasks that only cores can run, and %s run tasks for %s of the run, most "
                 "of that those of %s.  Give it a kernel for GPUs (cuda_funcs) and a model, make its "
                 "kernel for cores faster, or take more cores for each GPU." % (
                     several(self.accounts.nworkers["cpu"], "CPU core"), percent(busy),
                     max(names, key=names.get)))

    def only_on_cores(self):
        """{codelet: seconds} of those that no GPU has run."""
        found, others = {}, set()
        for (name, _, kind), rows in self.durations.of.items():
            if kind == "cpu":
                found[name] = found.get(name, 0.0) + sum(map(sum, rows.values()))
            else:
                others.add(name)
        return {self.run.codelets[name]: total for name, total in found.items()
                if name not in others}

    def no_kernel(self):
        """On the critical path cores run what no GPU has run, and GPUs have nothing to do."""
        if self.kind != "gpu" or any(reason.name == "too few CPU cores" for reason in self.found):
            return
        names, rows = self.only_on_cores(), {}
        for step in self.path.steps:
            if step.part == RUNS and step.kind == "cpu" and step.what in names:
                row = rows.setdefault(step.what, [0, 0.0])
                row[0] += 1
                row[1] += step.end_s - step.begin_s
        idle = self.lost(DATA, NETWORK, DEPENDENCY, END)
        share = min(sum(total for _, total in rows.values()) / self.span_s, idle)
        if share < LEAST_SHARE:
            return
        name = max(rows, key=lambda name: rows[name][1])
        self.add("no kernel for GPUs", share,
                 "%s of %s on the critical path ran on CPU cores, %s in sum, and none of its tasks on a "
                 "GPU; GPUs have nothing to do for %s of their time.  Give it a kernel for GPUs "
                 "(cuda_funcs) and a model, make that for cores faster (smaller tiles, a parallel "
                 "task), or start these tasks earlier by a higher priority." % (
                     several(rows[name][0], "task"), name, seconds(rows[name][1]), percent(idle)))

    def alone(self):
        """Rounds between which a single task runs.  The longest chain need not show it."""
        nworkers = sum(self.accounts.nworkers[kind] for kind in self.run.kinds
                       if self.accounts.ntasks[kind])
        limit = self.lost(DEPENDENCY)
        if nworkers < 2 or limit < max(LEAST_SHARE, self.lost(NETWORK, DATA)) or any(
                reason.share >= LEAST_SHARE and reason.name in SERIAL for reason in self.found):
            return
        names = self.seconds_alone()
        whole_s = sum(names.values())
        share = min(whole_s / self.span_s * (1 - 1 / nworkers), limit)
        if share < ALONE:
            return
        name = max(names, key=names.get)
        self.add("one task at a time", share,
                 "for %s of the run one task alone runs, most of it one of %s, and all other workers "
                 "wait for it.  Cut these tasks into smaller ones, make their kernel faster, or let "
                 "tasks of the next round that do not need them begin before." % (
                     percent(whole_s / self.span_s), self.run.codelets[name]))

    def seconds_alone(self):
        """{index of a codelet: seconds for which one of its tasks ran, and no other in the run}"""
        changes = []
        for node in self.run.nodes:
            tasks = node.tasks
            changes.extend((started_s, 1, name) for started_s, name in zip(
                tasks.started, tasks.name))
            changes.extend((ended_s, -1, name) for ended_s, name in zip(tasks.ended, tasks.name))
        changes.sort() # ends before beginnings
        running, names, since_s, counts = 0, {}, 0.0, {}
        for date_s, change, name in changes:
            if running == 1:
                only = next(iter(counts))
                names[only] = names.get(only, 0.0) + date_s - since_s
            running += change
            counts[name] = counts.get(name, 0) + change
            if counts[name] == 0:
                del counts[name]
            since_s = date_s
        return names
