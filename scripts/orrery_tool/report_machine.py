# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: reasons why equal tasks take more and less time: nodes, workers, other programs."""
from array import array
from statistics import median, median_low

from orrery_tool.report_words import percent, plain, seconds, several, times

SLOW, NOISY = 1.25, 1.5
LEAST_TASKS = 3
MOST_AT_ONE = 0.8          # of the seconds of late tasks, what one worker has
KEPT = 0.05                # of the workers' time without a core: below, it is hardly felt
KEPT_MAKES = 2.0           # seconds that tasks miss, for each second that Linux counts


class Durations:
    """Of equal tasks, those with the same codelet, footprint, flops and kind of worker."""

    def __init__(self, run):
        self.kinds = {(node.rank, worker): kind for node in run.nodes
                      for worker, _, kind in node.workers}
        self.usual = {}
        self.of = {} # by equality: by (rank, worker): seconds of each
        for node in run.nodes:
            tasks = node.tasks
            for i, worker in enumerate(tasks.worker):
                key = self.key(node, i)
                row = self.of.setdefault(key, {}).setdefault((node.rank, worker), array("d"))
                row.append(tasks.ended[i] - tasks.started[i])

    def key(self, node, i):
        """(codelet, whatever else equal tasks share, kind of worker)"""
        tasks = node.tasks
        return (tasks.name[i], (tasks.size[i], tasks.flops[i]),
                self.kinds.get((node.rank, tasks.worker[i]), "cpu"))

    def usual_s(self, key, place):
        """What such a task takes at the median, where it ran if several did there."""
        if (key, place) not in self.usual:
            row = self.of[key].get(place, ())
            if len(row) < LEAST_TASKS:
                row = [s for others in self.of[key].values() for s in others]
            self.usual[key, place] = median(row)
        return self.usual[key, place]

    def mean_s(self, key):
        rows = self.of[key].values()
        return sum(map(sum, rows)) / sum(map(len, rows))

    def against_others(self, group_of):
        """{group: (seconds, what they would be as in other groups)}, by medians, of tasks that
        several groups ran."""
        result = {}
        for rows in self.of.values():
            groups = {}
            for place, row in rows.items():
                groups.setdefault(group_of(place), array("d")).extend(row)
            usual = {g: (len(row), median(row)) for g, row in groups.items()
                     if len(row) >= LEAST_TASKS}
            if len(usual) < 2:
                continue
            all_s = median_low(s for _, s in usual.values())
            for g, (n, s) in usual.items():
                mine = result.setdefault(g, [0.0, 0.0])
                mine[0] += n * s
                mine[1] += n * all_s
        return result


class Machine:
    """Part of Reasons."""

    # ---- who kept them from their cores ----

    def kept_of(self, place):
        """(seconds without a core, seconds with one) of a worker (rank, number), or of the cores
        of a node (rank,)."""
        node = next(node for node in self.run.nodes if node.rank == place[0])
        workers = place[1:] or [worker for worker, _, kind in node.workers if kind == "cpu"]
        found = [node.kept_s[worker] for worker in workers if worker in node.kept_s]
        return sum(kept for kept, _ in found), sum(ran for _, ran in found)

    def kept_part(self, node):
        """Of the time of the cores of a node."""
        ncores = self.nworkers(node.rank, "cpu")
        return min(self.kept_of((node.rank,))[0] / max(ncores * node.life_s, 1e-12), 1.0)

    def slowed(self, place):
        """How often as long its tasks take since others have its core."""
        kept_s, ran_s = self.kept_of(place)
        return 1 + kept_s / ran_s if ran_s > 0 else 1.0

    def slowed_all(self):
        """The same of all cores."""
        found = [self.kept_of((node.rank,)) for node in self.run.nodes]
        ran_s = sum(ran for _, ran in found)
        return 1 + sum(kept for kept, _ in found) / ran_s if ran_s > 0 else 1.0

    def as_alone(self, place, ratio, places):
        """How often as long as those of other places its tasks would take if all had their cores
        for themselves."""
        others = [self.slowed(other) for other in places if other != place]
        return ratio * median(others) / self.slowed(place) if others else ratio

    def kept_s(self):
        return sum(kept for node in self.run.nodes
                   for worker, (kept, _) in node.kept_s.items() if worker is not None)

    def unquiet(self):
        """Other threads had the cores, as Linux counts it."""
        parts = {node.rank: self.kept_part(node) for node in self.run.nodes}
        share = sum(parts.values()) / len(parts)
        if share < KEPT or any(reason.name == "more workers than cores" for reason in self.found):
            return
        rank = max(parts, key=parts.get)
        self.add("other programs", share,
                 "others had the cores for %s of the time of the CPU workers that could have run%s, so "
                 "tasks start late and seem to take longer, some much.  Run it again on cores that "
                 "nobody else uses, with fewer workers (STARPU_NCPU), or bound to other cores." % (
                     percent(share), ", on node %d for %s" % (rank, percent(parts[rank]))
                     if parts[rank] >= SLOW * share else ""))

    # ---- what is slow ----

    def slow_nodes(self):
        found = self.durations.against_others(lambda place: place[0])
        for rank, (took_s, usual_s) in found.items():
            ratio = took_s / usual_s if usual_s > 0 else 1.0
            nworkers = sum(1 for r, _ in self.durations.kinds if r == rank)
            if ratio >= SLOW and self.as_alone((rank,), ratio, [(r,) for r in found]) >= SLOW:
                self.slow[rank] = ratio
                self.add("slow node", (took_s - usual_s) / nworkers / self.span_s,
                         "the tasks of node %d take %s as long as the same tasks on other "
                         "nodes.  Look for its clock, its cooling, its binding and other programs "
                         "there, or give it less work." % (rank, times(ratio)))

    def slow_workers(self):
        found = self.durations.against_others(lambda place: place)
        names = {(node.rank, worker): name for node in self.run.nodes
                 for worker, name, _ in node.workers}
        slow = [(took_s - usual_s, place, took_s / usual_s)
                for place, (took_s, usual_s) in found.items()
                if place[0] not in self.slow and usual_s > 0 and took_s >= SLOW * usual_s
                and self.as_alone(place, took_s / usual_s, found) >= SLOW]
        if slow:
            more_s, place, ratio = max(slow)
            self.add("slow worker", more_s / self.span_s,
                     "%s of node %d%s: its tasks take %s as long as the same tasks "
                     "on others.  %s" % (
                         names.get(place, "a worker"), place[0],
                         "" if len(slow) == 1 else " and %d more" % (len(slow) - 1), times(ratio),
                         "Look at its clock, its cooling, its way to main memory, and for other "
                         "programs on it." if self.durations.kinds.get(place) == "gpu" else
                         "Look for other programs on its core, and at its binding."))

    def noise(self):
        """Tasks that take much longer than the median of equal ones at the same place."""
        more_s, names, places = 0.0, {}, {}
        for key, rows in self.durations.of.items():
            if key[2] != self.kind or sum(map(len, rows.values())) < 4 * LEAST_TASKS:
                continue
            for place, row in rows.items():
                usual_s = self.durations.usual_s(key, place)
                late = [s for s in row if s > NOISY * usual_s]
                found = names.setdefault(key[0], [0, 0, 0.0, 0.0])
                for at, value in enumerate((len(row), len(late), sum(late) - len(late) * usual_s,
                                            len(late) * usual_s)):
                    found[at] += value
                more_s += sum(late) - len(late) * usual_s
                places[place] = places.get(place, 0.0) + sum(late) - len(late) * usual_s
        if more_s <= KEPT_MAKES * self.kept_s():
            return
        name = max(names, key=lambda name: names[name][2])
        n, nlate, late_s, usual_s = names[name]
        share = max(more_s / self.accounts.capacity_s(self.kind), self.noise_of_chain_s()
                    / self.span_s)
        self.add("noise", share,
                 "%s of the %d tasks of %s take %s as long as equal ones at the median%s.  Look for "
                 "other programs on these cores, for first calls and first touches; if these "
                 "tasks have more to do than others, say so (STARPU_FLOPS, a footprint)." % (
                     percent(nlate / n), n, self.run.codelets[name],
                     times((late_s + usual_s) / usual_s) if usual_s > 0 else "many times",
                     self.most_at(places)))

    def most_at(self, places):
        """The worker at which nearly all of these seconds are lost, where there is such."""
        place = max(places, key=places.get)
        name = next((name for node in self.run.nodes if node.rank == place[0]
                     for worker, name, _ in node.workers if worker == place[1]), "a worker")
        return ", nearly all on %s of node %d" % (name, place[0]) if len(places) > 1 and \
            places[place] >= MOST_AT_ONE * sum(places.values()) else ""

    def noise_of_chain_s(self):
        """Chains are longer by more than the average, since the longest of all is waited for."""
        more_s = 0.0
        for node, i in self.run.chain()[1]:
            key, place = self.durations.key(node, i), (node.rank, node.tasks.worker[i])
            took_s = node.tasks.ended[i] - node.tasks.started[i]
            if sum(map(len, self.durations.of[key].values())) >= 4 * LEAST_TASKS:
                more_s += took_s - self.durations.usual_s(key, place)
        return more_s

    def crowded(self):
        """Workers that share cores slow each other down."""
        cores = self.setup.number("cores") or 0
        each = self.accounts.nworkers["cpu"] / len(self.run.nodes)
        hosts = {}
        for node in self.run.nodes:
            hosts.setdefault(node.host, []).append(node)
        symptoms = [reason for reason in self.found
                    if reason.name in ("slow node", "slow worker", "noise")]
        kept = sum(self.kept_part(node) for node in self.run.nodes) / len(self.run.nodes)
        if not cores or each <= cores or not symptoms and kept < KEPT:
            return
        self.found = [reason for reason in self.found if reason not in symptoms]
        self.add("more workers than cores", max([kept] + [reason.share for reason in symptoms]),
                 "each node has %s workers on %s, so equal tasks take more and less time by "
                 "turns.  Take as many workers as there are cores%s, or fewer ranks on a machine." % (
                     plain(each), several(cores, "core"),
                     " (now %s)" % self.setup.told("STARPU_NCPU", "STARPU_NCPUS")
                     if self.setup.told("STARPU_NCPU", "STARPU_NCPUS") else ""))
