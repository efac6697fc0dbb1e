# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: reasons behind the causes that workers wait for.

Each reason has a name, the share of the run that it may explain, and a sentence with what was
measured and what helps.  Shares of several reasons may overlap.
"""
from bisect import bisect_left
from statistics import median

from orrery_tool.report_kinds import LEAST_WAIT, Kinds
from orrery_tool.report_machine import LEAST_TASKS, Durations, Machine
from orrery_tool.report_path import QUEUE, RUNS, TRANSFER
from orrery_tool.report_submission import LEAST_SHARE, SMALL_S, Submission
from orrery_tool.report_time import (BINS, BUSY, CALLBACKS, DATA, DEPENDENCY, END, NETWORK, SCHEDULING,
                                     SUBMISSION, model_errors)
from orrery_tool.report_words import gigabytes, percent, plain, seconds, several, times

UNEVEN, FASTER = 1.15, 2.0
SLOW_LINK = 2.0
ONE_DATUM = 0.8            # of a chain of tasks, who write it
HANDED = 0.5               # of a chain of tasks, how often data change hands for it
OVERWRITTEN = 0.3          # of a chain of tasks, who only wait to write anew
CHAINED = 0.7              # of the run: a chain as long as this is what it takes
HOT = 0.8                  # of all bytes, what one of several nodes sends or receives
LEAST_PART = 0.1           # of all bytes: what one node has to do with, to be named
FEW = 3                    # tasks for each worker: below, they do not hide what they wait for
SHORT_BYTES = 16384        # of a message, which then takes as long as the way does
REDUCES = "redux_task_between_replicates"
LEAST_CALLBACK_S = 2e-5    # what ends a task by itself takes less
HIDDEN = 0.02              # of the time of copies, behind kernels: nothing fetches ahead
LEAST_MISSED = 0.1         # of the workers' time: what wrong models must cost
MISSED = 2.0               # how often models expect what tasks take, or they what these say
BUSIEST = 0.9              # of the workers' time: who runs tasks that long hardly waits
NAMES = {"cpu": "CPU core", "gpu": "GPU"}


class Reason:
    def __init__(self, name, share, text):
        self.name, self.share, self.text = name, share, text

    def sentence(self):
        return "Reason (%s): %s" % (self.name, self.text)



class Reasons(Submission, Machine, Kinds):
    def __init__(self, run, accounts, path, kind):
        self.run, self.accounts, self.path, self.kind = run, accounts, path, kind
        self.setup = run.setup
        self.span_s = max(run.end_s - run.begin_s, 1e-12)
        self.durations = Durations(run)
        self.found, self.slow, self.are_few = [], {}, False
        for look in (self.slow_nodes, self.slow_workers, self.uneven, self.placement,
                     self.noise, self.chained, self.few, self.reductions, self.turns,
                     self.cores_are_full, self.no_kernel, self.alone, self.priorities,
                     self.memory, self.swap, self.copies, self.small, self.callbacks, self.models,
                     self.together, self.bound_to_workers, self.late, self.submission, self.slow_link,
                     self.again, self.network, self.last_task, self.crowded,
                     self.unquiet, self.full):
            look()
        self.found = sorted((reason for reason in self.found if reason.share >= LEAST_SHARE),
                            key=lambda reason: -reason.share)

    def add(self, name, share, text):
        self.found.append(Reason(name, share, text))

    def lost(self, *causes):
        """Share of the time of the main kind."""
        total = self.accounts.by_kind[self.kind].total
        return sum(total[cause] for cause in causes) / max(self.accounts.capacity_s(self.kind),
                                                           1e-12)

    def nworkers(self, rank, kind):
        return sum(1 for node in self.run.nodes if node.rank == rank
                   for worker in node.workers if worker[2] == kind)

    # ---- who does what ----

    def uneven(self):
        work = {}
        for node in self.run.nodes:
            nworkers = self.nworkers(node.rank, self.kind)
            busy = self.accounts.busy.get((node.rank, self.kind))
            if nworkers and busy:
                work[node.rank] = sum(busy) / nworkers / self.slow.get(node.rank, 1.0)
        mean_s = sum(work.values()) / len(work) if work else 0.0
        if len(work) < 2 or mean_s <= 0:
            return
        rank = max(work, key=work.get)
        if work[rank] >= UNEVEN * mean_s and self.lost(END, NETWORK) >= LEAST_SHARE:
            self.add("uneven distribution", (work[rank] - mean_s) / self.span_s,
                     "node %d has %s the work of the average node (%s for each worker, on "
                     "average %s).  Distribute the data, or the tasks, more evenly." % (
                         rank, times(work[rank] / mean_s), seconds(work[rank]), seconds(mean_s)))

    def faster_on_gpus(self):
        """{codelet: how often a GPU runs one of its tasks while a core runs the same one}"""
        ratios = {}
        for name, size, kind in self.durations.of:
            if kind == "cpu" and (name, size, "gpu") in self.durations.of:
                gpu_s = self.durations.mean_s((name, size, "gpu"))
                if gpu_s > 0:
                    ratio = self.durations.mean_s((name, size, "cpu")) / gpu_s
                    ratios[self.run.codelets[name]] = max(
                        ratio, ratios.get(self.run.codelets[name], 0.0))
        return ratios

    def placement(self):
        ratios = {name: ratio for name, ratio in self.faster_on_gpus().items()
                  if ratio >= FASTER}
        if not ratios or self.lost(BUSY) > 0.9:
            return
        gains = {}
        for step in self.path.steps:
            if step.part == RUNS and step.kind == "cpu" and step.what in ratios:
                row = gains.setdefault(step.what, [0, 0.0])
                row[0] += 1
                row[1] += (step.end_s - step.begin_s) * (1 - 1 / ratios[step.what])
        if gains:
            name = max(gains, key=lambda name: gains[name][1])
            self.add("placement", sum(gain for _, gain in gains.values()) / self.span_s,
                     "%d tasks of %s on the critical path ran on cores, where they take %s "
                     "as long as on GPUs, which wait %s of their time.  %s" % (
                         gains[name][0], name, times(ratios[name]), percent(1 - self.lost(BUSY)),
                         "Calibrate its models (STARPU_CALIBRATE=2): %s believes them."
                         % self.setup.scheduler if self.setup.knows_durations() else
                         "Take a scheduler that knows durations (STARPU_SCHED=dmdas), and "
                         "calibrate its models."))

    def priorities(self):
        length_s, chain = self.run.chain()
        least_s = max(length_s, self.most_of_a_node_s())
        queued = [self.queued_s(node, i) for node, i in chain]
        waited_s = sum(waited for waited, _ in queued)
        # Another order does not help workers that wait for their data, or for the program.
        share = min(min(waited_s, self.span_s - least_s, self.idle_beside_s(chain)) / self.span_s,
                    self.lost(NETWORK, DEPENDENCY, SCHEDULING, END))
        if share > 0 and len(chain) >= LEAST_TASKS:
            self.add("priorities", share,
                     "the %d tasks of the longest chain were ready and waited for a worker that ran "
                     "others, for %s of the run in sum.  %s"
                     % (len(chain), percent(waited_s / self.span_s),
                        self.better_order(waited_s, sum(lower for _, lower in queued))))

    def idle_beside_s(self, tasks):
        """How long on average a worker has nothing to do while these run one after the other: so
        much of what it does then or before could be done beside them."""
        shares = self.accounts.by_kind[self.kind]
        idle = [sum(shares.bins[cause][at] for cause in (NETWORK, DEPENDENCY, SCHEDULING, END))
                / (max(self.accounts.nworkers[self.kind], 1) * shares.width_s)
                for at in range(BINS)]
        sum_s = 0.0
        for node, i in tasks:
            first, last = ((date_s - shares.begin_s) / shares.width_s for date_s in (
                node.tasks.started[i], node.tasks.ended[i]))
            for at in range(max(int(first), 0), min(int(last), BINS - 1) + 1):
                sum_s += idle[at] * (min(at + 1, last) - max(at, first)) * shares.width_s
        return sum_s

    def better_order(self, waited_s, behind_lower_s):
        """behind_lower_s: tasks of lower priority ran."""
        name, looks = self.setup.scheduler, self.setup.looks_at_priorities()
        if not any(any(node.tasks.priority) for node in self.run.nodes):
            return "Give them higher priorities (STARPU_PRIORITY)%s." % (
                "" if looks else ", and take a scheduler that looks at these (prio, dmdas)")
        if name and not looks:
            return "%s does not look at the priorities that the tasks have: take a scheduler " \
                "that does (prio, dmdas)." % name
        if behind_lower_s >= 0.5 * waited_s:
            return "Most of these others have lower priorities, and had begun or been given to " \
                "the worker before: make them smaller, or keep workers free for the chain (a " \
                "scheduling context)."
        return "Most of these others have the same or higher priorities: give the tasks of the " \
            "chain higher ones (STARPU_PRIORITY)."

    def most_of_a_node_s(self):
        """The work of the node that has most for each of its workers: no order makes it less."""
        return max((sum(busy) / max(self.nworkers(rank, kind), 1)
                    for (rank, kind), busy in self.accounts.busy.items()), default=0.0)

    def queued_s(self, node, i):
        """(seconds, those of them behind tasks of lower priority) that a task was ready and its
        worker still ran others."""
        tasks, waited_s, lower_s = node.tasks, 0.0, 0.0
        order = self.accounts.orders.get((node.rank, tasks.worker[i]), [])
        at = bisect_left(order, tasks.started[i], key=tasks.started.__getitem__)
        while at > 0 and tasks.ended[order[at - 1]] > tasks.pushed[i]:
            at -= 1
            before = order[at]
            behind_s = max(min(tasks.started[i], tasks.ended[before])
                           - max(tasks.started[before], tasks.pushed[i]), 0.0)
            waited_s += behind_s
            lower_s += behind_s if tasks.priority[before] < tasks.priority[i] else 0.0
        return waited_s, lower_s

    def chained(self):
        length_s, chain = self.run.chain()
        area_s = self.accounts.area_s()
        if len(chain) < 2 or length_s < CHAINED * self.span_s or length_s <= area_s:
            return
        busy_s = {kind: self.accounts.by_kind[kind].total[BUSY] for kind in self.run.kinds}
        self.add("too few tasks at a time", (length_s - area_s) / self.span_s,
                 "a chain of %d tasks that wait for each other takes %s, and all tasks together are "
                 "work for %s of the workers in that time; there are %d.  %s" % (
                     len(chain), seconds(length_s), plain(sum(busy_s.values()) / length_s),
                     sum(self.accounts.nworkers[kind] for kind in busy_s if busy_s[kind] > 0),
                     self.shorter_chain(len(chain))))

    def few(self):
        """Hardly more tasks than workers: each waits for others, their copies and messages."""
        ntasks, nworkers = self.accounts.ntasks[self.kind], self.accounts.nworkers[self.kind]
        held_s = sum(step.end_s - step.begin_s for step in self.path.steps
                     if step.holds is not None)
        share = self.lost(DEPENDENCY, DATA)
        if ntasks < nworkers and self.lost(END) >= LEAST_WAIT:
            self.fewer_than_workers(ntasks, nworkers)
            return
        if ntasks < FEW * nworkers and self.lost(END) >= LEAST_WAIT and self.are_alike():
            self.unlike_workers(ntasks, nworkers)
            return
        if ntasks >= FEW * nworkers or held_s > 0.1 * self.span_s or \
                share + self.lost(NETWORK) < LEAST_WAIT or \
                any(reason.name == "too few tasks at a time" for reason in self.found):
            return
        busy_s = self.accounts.by_kind[self.kind].total[BUSY]
        self.are_few = True
        self.add("too few tasks", share,
                 "there are %s for %s, and %s of them run at a time on average; each waits for "
                 "others, for their messages and copies.  %s" % (
                     several(ntasks, "task"), several(nworkers, NAMES[self.kind]),
                     plain(busy_s / self.span_s, 2),
                     "They last %s on average, too little to be cut: take fewer workers, or a larger "
                     "problem." % seconds(busy_s / ntasks) if busy_s < SMALL_S * ntasks else
                     "Cut them into smaller ones (smaller tiles) while they stay longer than %s, so "
                     "that some run while others are copied, or take fewer nodes." % seconds(SMALL_S)))

    def fewer_than_workers(self, ntasks, nworkers):
        """Some never have one."""
        self.are_few = True
        self.add("too few tasks", self.lost(END),
                 "there are %s for %s, so some never run one.  Cut them into smaller ones (smaller "
                 "tiles) while they stay longer than %s, or take fewer nodes." % (
                     several(ntasks, "task"), several(nworkers, NAMES[self.kind]),
                     seconds(SMALL_S)))

    def are_alike(self):
        """The last task is as long as most, and no node has much more than others."""
        last = self.path.steps[-1] if self.path.steps else None
        if not last or last.part != RUNS or \
                any(reason.name in ("uneven distribution", "slow node", "slow worker", "placement")
                    for reason in self.found):
            return False
        mean_s = self.accounts.by_kind[self.kind].total[BUSY] / self.accounts.ntasks[self.kind]
        return last.end_s - last.begin_s < FEW / 2 * mean_s

    def unlike_workers(self, ntasks, nworkers):
        """The last round is not for all."""
        self.are_few = True
        self.add("too few tasks", self.lost(END),
                 "there are %s for %s, so in the end some run one more and others have nothing to do.  "
                 "Cut them into smaller ones (smaller tiles) while they stay longer than %s, or take "
                 "so many workers that their number divides that of the tasks." % (
                     several(ntasks, "task"), several(nworkers, NAMES[self.kind]),
                     seconds(SMALL_S)))

    def larger(self, text):
        """Advice to take larger tiles, unless they are too few already, or in a chain."""
        return "" if self.are_few or any(
            reason.name == "too few tasks at a time" and reason.share >= LEAST_SHARE
            for reason in self.found) else text

    def reductions(self):
        """Of contributions of workers to one datum (STARPU_REDUX), on the critical path."""
        steps = [step for step in self.path.steps if step.part == RUNS and step.what == REDUCES]
        length_s = sum(step.end_s - step.begin_s for step in steps)
        self.add("reductions", length_s / self.span_s,
                 "%s on the critical path add what the workers of a node have contributed "
                 "(STARPU_REDUX), for %s in sum.  Contribute to several smaller data instead of a large "
                 "one, more with each task, or in turn (STARPU_COMMUTE)." % (
                     several(len(steps), "task"), seconds(length_s)))

    def shorter_chain(self, ntasks):
        noverwrites = self.run.overwrites_in_chain()
        if noverwrites >= OVERWRITTEN * ntasks:
            return "%d of them only wait until others have done with a datum that they write anew " \
                "(STARPU_W): give each a datum of its own, as temporary ones with home node -1, or " \
                "STARPU_SCRATCH." % noverwrites
        if self.run.handed_in_chain() >= HANDED * ntasks:
            return "Between them data are partitioned or put together again %d times, which all users " \
                "of the datum and of its parts wait for: partition once for many tasks, and let " \
                "tasks use the parts only." % self.run.handed_in_chain()
        nmovers, nwriters = self.run.movers_in_chain(), self.run.writers_in_chain()
        if nmovers >= ONE_DATUM * ntasks:
            return "%d of them write one and the same datum, which goes from node to node for it: let " \
                "each node contribute to it instead (STARPU_MPI_REDUX), so that they combine what " \
                "they have in a tree (STARPU_MPI_REDUX_ARITY_THRESHOLD), or, where their order matters, run " \
                "them where the datum is (without STARPU_EXECUTE_ON_NODE)." % nmovers
        if nwriters >= ONE_DATUM * ntasks:
            return "%d of them write one and the same datum: where they only read it, say so " \
                "(STARPU_R); where their order does not matter, too (STARPU_COMMUTE); else let each " \
                "write a part of it, or contribute (STARPU_REDUX)." % nwriters
        return "Cut the tasks of the chain into smaller ones, make their kernels faster, or take " \
            "fewer workers."

    def together(self):
        """Workers that wait for the others that run a task with them."""
        teams = {}
        for node in self.run.nodes:
            for _, i in node.helped:
                team = teams.setdefault(node.tasks.name[i], {})
                team[node.rank, i] = team.get((node.rank, i), 1) + 1
        waits = self.accounts.by_kind[self.kind].waits
        waited = [(waits[name][SCHEDULING], name) for name in teams if name in waits]
        share = sum(seconds_of for seconds_of, _ in waited) / max(
            self.accounts.capacity_s(self.kind), 1e-12)
        if share < LEAST_SHARE or share < 0.5 * self.lost(SCHEDULING):
            return
        name = max(waited)[1]
        self.add("parallel tasks", share, "for %s of the time workers wait until the others that "
                 "run a task with them are free, such as those of %s, which %d run together.  Let fewer run "
                 "one (max_parallelism, STARPU_MAX_WORKERSIZE), or give tasks of one worker to workers "
                 "that run no such tasks, as in a scheduling context of their own."
                 % (percent(share), self.run.codelets[name], max(teams[name].values())))

    def bound_to_workers(self):
        """Ready tasks that wait for a busy worker while others of its kind have none."""
        share = self.lost(SCHEDULING)
        if share < LEAST_SHARE or any(reason.name in ("small tasks", "placement", "too few tasks",
                                                       "parallel tasks")
                                      for reason in self.found):
            return
        busy = {}
        for rank, name, kind, total in self.accounts.workers:
            if kind == self.kind:
                busy.setdefault(rank, []).append((total[BUSY], name))
        rank, rows = max(busy.items(), key=lambda row: max(row[1])[0] * len(row[1])
                         - sum(s for s, _ in row[1]))
        (most_s, name), mean_s = max(rows), sum(s for s, _ in rows) / len(rows)
        if len(rows) > 1 and most_s >= UNEVEN * mean_s:
            share = min(share, (most_s - mean_s) / self.span_s)
            # In no other order would that worker have less to do.
            self.found = [reason for reason in self.found if reason.name != "priorities"
                          or reason.share > UNEVEN * share]
            self.add("tasks tied to a worker", share,
                     "tasks are ready while %ss that could run them have none, for %s of the time: "
                     "%s of node %d runs tasks for %s, its average %s for %s.  Bind fewer tasks to "
                     "workers (STARPU_EXECUTE_ON_WORKER), "
                     "give their scheduling context more of these, if it has few%s." % (
                         NAMES[self.kind], percent(share), name, rank, seconds(most_s),
                         NAMES[self.kind], seconds(mean_s), self.untied()))

    def untied(self):
        name = self.setup.scheduler
        if self.kind == "gpu" and name == "eager":
            return "; where none are, GPUs fetch tasks ahead (STARPU_CUDA_PIPELINE) that idle ones " \
                "would run at once: take a scheduler that places tasks (dmdas), or fetch fewer"
        if self.setup.counts_copies():
            return "; where none are, %s leaves tasks where their data lie: let it count copies " \
                "less (STARPU_SCHED_BETA), or spread the data" % name
        if name == "random" or self.setup.places_early() or not name:
            return ", or take a scheduler in which idle workers get the tasks of others (%s)" % (
                "lws, dmdas" if self.kind == "gpu" or not name else "lws, ws")
        return ""

    def turns(self):
        """Tasks that commute on one datum, and so exclude each other."""
        length_s, tasks = self.run.turns()
        least_s = max(self.accounts.area_s(), self.run.chain()[0])
        if len(tasks) < LEAST_TASKS or length_s <= least_s:
            return
        node, i = tasks[0]
        self.add("commuting tasks take turns", (length_s - least_s) / self.span_s,
                 "%d tasks of node %d, such as %s, update one datum in any order "
                 "(STARPU_COMMUTE), but one at a time: %s in sum.  Let them contribute "
                 "(STARPU_REDUX), let each update a part of the datum, or only a short task at "
                 "the end of the work." % (len(tasks), node.rank,
                                           self.run.codelets[node.tasks.name[i]],
                                           seconds(length_s)))

    def full(self):
        """Nothing but more or faster workers would help."""
        busy, chain_s = self.lost(BUSY), self.run.chain()[0]
        share = busy - chain_s / self.span_s
        if busy < BUSIEST or any(reason.share >= LEAST_SHARE for reason in self.found):
            return
        busy_s = self.accounts.by_kind[self.kind].total[BUSY]
        nworkers, name = self.accounts.nworkers[self.kind], NAMES[self.kind]
        self.add("too few " + name + "s", share,
                 "%s tasks for %s of the run, and the longest chain of tasks would keep as many "
                 "as %.0f busy%s.  %s" % (
                     "the only %s runs" % name if nworkers == 1 else several(nworkers, name)
                     + " run", percent(busy), busy_s / max(chain_s, 1e-12),
                     self.unused_cores(), self.idle_gpus() or
                     "Take more or faster ones, make the kernels faster, or let other workers run "
                     "some of the tasks."))

    def idle_gpus(self):
        """Who could run tasks, and runs none."""
        number = self.accounts.nworkers["gpu"]
        if self.kind == "gpu":
            return self.idle_cores()
        if not number or self.accounts.ntasks["gpu"]:
            return ""
        return "%s run%s no task: give the codelets kernels for %s (cuda_funcs), and models to " \
            "both if they have some, or take more cores." % (
                several(number, "GPU"), "s" if number == 1 else "",
                "it" if number == 1 else "these")

    def idle_cores(self):
        number = self.accounts.nworkers["cpu"]
        if not number or self.accounts.ntasks["cpu"]:
            return ""
        return "%s run%s no task: give the codelets kernels for cores, too (cpu_funcs), and models to " \
            "both, or take more GPUs." % (several(number, "CPU core"), "s" if number == 1 else "")

    def unused_cores(self):
        """That the environment keeps from running tasks."""
        told, cores = self.setup.told("STARPU_NCPU", "STARPU_NCPUS"), self.setup.number("cores")
        each = self.accounts.nworkers["cpu"] / len(self.run.nodes)
        if self.kind != "cpu" or not told or not cores or cores < each + 2:
            return ""
        return "; %s leaves %d of the %d cores of each node without a worker" % (
            told, cores - each, cores)

    # ---- what they wait for ----

    def memory(self):
        evicted = sum(node.evicted for node in self.run.nodes)
        if evicted and self.lost(DATA) >= LEAST_SHARE and self.kind == "gpu":
            copied = sum(node.copied for node in self.run.nodes)
            self.add("GPU memory is full", self.lost(DATA),
                     "%s had to leave it for other data, and %s were copied into it%s.  Keep "
                     "fewer data in use at a time (STARPU_LIMIT_MAX_SUBMITTED_TASKS, smaller tiles)"
                     "%s submit tasks on the same data one after the other%s." % (
                         gigabytes(evicted), gigabytes(copied),
                         self.limited("STARPU_LIMIT_CUDA_MEM", "STARPU_LIMIT_CUDA_0_MEM"),
                         *((" or", "") if self.setup.looks_for_data() else
                           (",", ", or take a scheduler that looks for them (dmdar, dmdas)"))))

    def limited(self, *names):
        """By the environment, in MiB."""
        told = self.setup.told(*names)
        return "; %s leaves no more room: allow more where there is some" % told if told else ""

    def swap(self):
        """Out of main memory, to disks or to the memories of others."""
        swapped, share = sum(node.swapped for node in self.run.nodes), self.lost(DATA)
        if not swapped or share < LEAST_SHARE or \
                any(reason.name == "GPU memory is full" for reason in self.found):
            return
        back = [(link.busy_s, link, node) for node in self.run.nodes
                for (source, to), link in node.links.items()
                if to in node.mains and source not in node.mains | node.devices]
        text = "%s had to leave it for other data" % gigabytes(swapped)
        if back:
            busy_s, link, node = max(back, key=lambda found: found[0])
            text += "; from its disk, node %d reads for %s of the run, at %s/s" % (
                node.rank, percent(busy_s / self.span_s), gigabytes(link.bytes / max(busy_s, 1e-12)))
        text += self.limited("STARPU_LIMIT_CPU_MEM", "STARPU_LIMIT_CPU_NUMA_MEM")
        self.add("main memory is full", share, text + ".  Take more nodes or more memory "
                 "(STARPU_LIMIT_CPU_MEM), submit tasks on the same data one after the other, do more "
                 "work for each byte, or take a faster disk.")

    def copies(self):
        """Into and out of memories of GPUs, by the busiest direction between two memories."""
        share = self.lost(DATA)
        links = [(link.busy_s, link, ends, node) for node in self.run.nodes
                 for ends, link in node.links.items() if node.devices.intersection(ends)]
        if self.kind != "gpu" or share < LEAST_SHARE or not links or \
                any(reason.name.endswith("memory is full") for reason in self.found):
            return
        count = sum(link.count for _, link, _, _ in links)
        whole = sum(link.bytes for _, link, _, _ in links)
        busy_s, link, ends, node = max(links, key=lambda found: found[0])
        self.add("copies", share,
                 "%d copies of %s on average to and from GPUs; those from memory %d to memory %d of "
                 "node %d are under way for %s of the run, at %s/s%s.  Use data more often while they "
                 "are there: more work for each byte%s, tasks that write data on the "
                 "GPU that reads them next%s." % (
                     count, gigabytes(whole / count), *ends, node.rank,
                     percent(busy_s / self.span_s), gigabytes(link.bytes / max(busy_s, 1e-12)),
                     self.hardly_hidden(), self.larger(" (larger tiles)"), "" if self.setup.counts_copies() else
                     ", a scheduler that counts copies (dmda, dmdas)"))

    def hardly_hidden(self):
        """Where data come while their GPUs run other tasks, they cost less."""
        into_s = sum(link.busy_s for node in self.run.nodes
                     for (_, to), link in node.links.items() if to in node.devices)
        hidden_s = sum(node.hidden_s for node in self.run.nodes)
        if hidden_s > HIDDEN * into_s or self.lost(BUSY) < LEAST_SHARE:
            return ""
        if self.setup.is_off("STARPU_PREFETCH"):
            return ", and none while their GPU runs a task, since STARPU_PREFETCH=0 forbids to fetch " \
                "data ahead: take that away"
        return ", and none while their GPU runs a task: look whether %s" % (
            "tasks are ready before their GPU needs them" if self.setup.places_early() else
            "data are fetched ahead (STARPU_PREFETCH=1, a scheduler that places tasks early: "
            "dmda, dmdas)")

    def small(self):
        ntasks = self.ntasks()
        share = self.lost(SCHEDULING) if self.pauses() else self.lost(SCHEDULING, SUBMISSION)
        share += self.lost(CALLBACKS) if self.callback_s() < LEAST_CALLBACK_S else 0.0
        if not ntasks or share < LEAST_WAIT:
            return
        mean_s = self.accounts.by_kind[self.kind].total[BUSY] / ntasks
        if mean_s < SMALL_S:
            share *= self.part_of_short_waits()
        period_s = mean_s + share * self.accounts.capacity_s(self.kind) / ntasks
        if mean_s < SMALL_S and share >= LEAST_WAIT:
            self.add("small tasks", share,
                     "a task lasts %s on average, and a worker gets one each %s: that is what it "
                     "costs to submit and to schedule it.  Make tasks at least %s as large."
                     % (seconds(mean_s), seconds(period_s), times(
                         max(period_s / mean_s, 2.0) if mean_s > 0 else 2.0, 2)))

    def part_of_short_waits(self):
        """Of what workers do between two tasks.  What takes much longer once is no cost of each
        task: a worker that was asleep, or whose core others had."""
        short_s = whole_s = 0.0
        for node in self.run.nodes:
            started, ended = node.tasks.started, node.tasks.ended
            for worker, _, kind in node.workers:
                order = self.accounts.orders[node.rank, worker] if kind == self.kind else ()
                for before, after in zip(order, order[1:]):
                    gap_s = max(started[after] - ended[before], 0.0)
                    whole_s += gap_s
                    short_s += min(gap_s, SMALL_S)
        return short_s / whole_s if whole_s > 0 else 1.0

    def ntasks(self):
        return sum(len(row) for key, rows in self.durations.of.items() if key[2] == self.kind
                   for row in rows.values())

    def callback_s(self):
        """On average."""
        return self.accounts.by_kind[self.kind].total[CALLBACKS] / max(self.ntasks(), 1)

    def callbacks(self):
        share, mean_s = self.lost(CALLBACKS), self.callback_s()
        if share >= LEAST_SHARE and mean_s >= LEAST_CALLBACK_S:
            self.add("callbacks", share,
                     "%ss call callbacks of tasks and do what else ends them for %s of their time, "
                     "for %s after each task.  Give the work to tasks of their own, or to a thread of "
                     "the program, and only wake that." % (NAMES[self.kind], percent(share),
                                                           seconds(mean_s)))

    def models(self):
        """Of real runs: what schedulers believe."""
        share, worst = self.lost(SCHEDULING, END), (0.0, None)
        whole_s = sum(self.accounts.by_kind[kind].total[BUSY] for kind in self.run.kinds)
        for (name, kind), found in model_errors(self.run).items():
            ratio = max(1 + found[0], 1e-9) / (self.slowed_all() if kind == "cpu" else 1.0)
            miss = max(ratio, 1 / ratio)
            if miss >= MISSED and found[2] >= LEAST_WAIT * whole_s:
                worst = max(worst, (miss, (name, kind, found)), key=lambda row: row[0])
        if worst[1] is None or share < LEAST_MISSED or \
                self.setup.scheduler and not self.setup.knows_durations():
            return
        name, kind, found = worst[1]
        self.add("models", share,
                 "the tasks of %s on %ss take %s as long as their model expects: a scheduler "
                 "that believes it (dm, dmda, dmdas) gives tasks to the wrong workers.  Measure the "
                 "model again (STARPU_CALIBRATE=2)." % (name, NAMES[kind], times(1 + found[0])))

    def fastest(self):
        """{rank: bytes per second of the fastest large message to or from it}, and the same of the
        most that moved at a time.  Where many share a link the former is low, where others
        share it the latter."""
        alone, changes = {}, {}
        sizes = [size for node in self.run.nodes for size in node.requests.bytes]
        least = sum(sizes) / max(len(sizes), 1)
        for node in self.run.nodes:
            r = node.requests
            for i in range(len(r)):
                begin_s = max(r.moving[i], node.begun_s[i])
                if not r.is_receive[i] or r.moved[i] <= begin_s or r.bytes[i] < least:
                    continue
                rate = r.bytes[i] / (r.moved[i] - begin_s)
                for place in ((node.rank, True), (r.peer[i], False)):
                    alone[place[0]] = max(alone.get(place[0], 0.0), rate)
                    changes.setdefault(place, []).extend(((begin_s, rate), (r.moved[i], -rate)))
        together = {}
        for (rank, _), rows in changes.items():
            rate = 0.0
            for _, change in sorted(rows): # ends before beginnings
                rate += change
                together[rank] = max(together.get(rank, 0.0), rate)
        return together, alone

    def slow_link(self):
        """Where even the fastest of its messages is slow, a node's link is."""
        slow = None
        for rates in self.fastest(): # by each measure
            usual = median(rates.values()) if rates else 0.0
            found = {rank for rank, rate in rates.items() if rate * SLOW_LINK <= usual}
            slow = found if slow is None else slow & found
        share = min(self.lost(NETWORK), self.path_through_s(slow or ()) / self.span_s)
        if slow and share >= LEAST_SHARE:
            rank = min(slow, key=rates.get)
            self.add("slow link", share,
                     "the fastest message to or from node %d%s moved at %s/s, those of the other "
                     "nodes at %s/s.  Look at its cable, its adapter and its way through the network, "
                     "or place less there." % (
                         rank, "" if len(slow) == 1 else " (and %d more)" % (len(slow) - 1),
                         gigabytes(rates[rank]), gigabytes(usual)))

    def path_through_s(self, ranks):
        """Seconds of the critical path in messages to and from these nodes."""
        return sum(step.end_s - step.begin_s for step in self.path.steps
                   if step.part in (QUEUE, TRANSFER) and ranks.intersection(step.between)) \
            if ranks else 0.0

    def again_part(self):
        """(messages, bytes) of values that their receivers have had already, and the part of all
        bytes that they are."""
        count = sum(node.nagain for node in self.run.nodes)
        again = sum(node.again_bytes for node in self.run.nodes)
        whole = sum(size for node in self.run.nodes
                    for is_receive, size in zip(node.requests.is_receive, node.requests.bytes)
                    if not is_receive)
        return count, again, again / max(whole, 1)

    def again(self):
        count, again, part = self.again_part()
        share = part * self.lost(NETWORK, DEPENDENCY, SUBMISSION)
        if part < LEAST_WAIT or share < LEAST_SHARE:
            return
        self.add("values sent again", share,
                 "%s (%s, %s of all bytes) bring what their receiver has had before.  %s" % (
                     several(count, "message"), gigabytes(again), percent(part),
                     "STARPU_MPI_CACHE=0 makes ranks forget what they got: take that away."
                     if self.setup.is_off("STARPU_MPI_CACHE") else
                     "Flush data only after their last use (starpu_mpi_cache_flush(), "
                     "starpu_mpi_cache_flush_all_data()), and let tasks read them instead of "
                     "sending them by hand."))

    def network(self):
        share = self.lost(NETWORK) * (1 - self.again_part()[2])
        if share < LEAST_SHARE:
            return
        bytes_of, received, queued_s, moving_s, count = {}, {}, 0.0, 0.0, 0
        for node in self.run.nodes:
            r = node.requests
            for i in range(len(r)):
                found = r.is_receive[i] and self.run.send_of(node, i)
                if r.is_receive[i]:
                    received[node.rank] = received.get(node.rank, 0) + r.bytes[i]
                if found:
                    left_s = min(max(self.left_s(found, r.moving[i]), node.begun_s[i]),
                                 r.moved[i])
                    queued_s += left_s - node.begun_s[i]
                    moving_s += r.moved[i] - left_s
                elif not r.is_receive[i]:
                    count += 1
                    bytes_of[node.rank] = bytes_of.get(node.rank, 0) + r.bytes[i]
        if not count:
            return
        whole = sum(bytes_of.values())
        text = "%s of %s on average are under way for %s each, %s of it in line " \
            "behind others.  " % (several(count, "message"), gigabytes(whole / count), seconds(
                (queued_s + moving_s) / count), percent(queued_s / max(queued_s + moving_s,
                                                                       1e-12)))
        rank = max(bytes_of, key=bytes_of.get)
        spot = self.hot_spot(bytes_of, received, whole)
        if spot is not None:
            text += "Node %d sends or receives %s of all bytes, a hot spot: let the others exchange " \
                "values among themselves, spread what it has, and combine what it collects on the way " \
                "or in a tree (STARPU_MPI_REDUX, STARPU_MPI_REDUX_ARITY_THRESHOLD).  " % (
                    spot, percent((bytes_of.get(spot, 0) + received.get(spot, 0)) / whole))
        elif bytes_of[rank] > max(2 / len(self.run.nodes), LEAST_PART) * whole:
            text += "Node %d alone sends %s of all bytes: spread what it has.  " % (
                rank, percent(bytes_of[rank] / whole))
        rank = max(received, key=received.get, default=None)
        if rank is not None and spot is None and \
                received[rank] > max(2 / len(self.run.nodes), LEAST_PART) * whole:
            text += "Node %d alone receives %s of all bytes: let other nodes do some of what it " \
                "collects them for, or combine them on the way or in a tree (STARPU_MPI_REDUX, " \
                "STARPU_MPI_REDUX_ARITY_THRESHOLD).  " % (
                    rank, percent(received[rank] / max(whole, 1)))
        self.add("messages", share, text + self.fewer_messages(whole / count))

    def hot_spot(self, sent, received, whole):
        """A node that has to do with nearly all bytes, both ways, where several have some."""
        both = {rank: min(sent.get(rank, 0), received.get(rank, 0)) for rank in sent}
        rank = max(both, key=both.get)
        return rank if len(self.run.nodes) > 2 and whole > 0 and both[rank] >= 0.1 * whole and \
            sent[rank] + received.get(rank, 0) >= HOT * whole else None

    def width(self):
        """How many tasks could run at a time on average if all else took no time."""
        busy_s = sum(self.accounts.by_kind[kind].total[BUSY] for kind in self.run.kinds)
        return busy_s / max(self.run.chain()[0], 1e-12)

    @staticmethod
    def left_s(send, moving_s):
        """When it did, or the receiver read it, whose date that is."""
        requests, i = send[0].requests, send[1]
        return moving_s if requests.moving[i] == requests.moved[i] else requests.moving[i]

    def fewer_messages(self, mean_bytes):
        text = "a distribution with fewer neighbours%s; so do priorities of what others wait for." \
            % self.larger(", larger tiles")
        if mean_bytes <= SHORT_BYTES:
            return "They are short, so the way and its latency take this long, not their bytes: " \
                "fewer ones with more in each help, " + text
        nworkers = sum(self.accounts.nworkers[kind] for kind in self.run.kinds
                       if self.accounts.ntasks[kind])
        if self.width() < nworkers and not self.are_few:
            return "Little else can run meanwhile: without any wait %s tasks would run at a time, and there " \
                "are %d workers.  Smaller tiles let some run while others are under way; send values " \
                "as soon as they are made, or take fewer nodes." % (plain(self.width(), 2), nworkers)
        return "Fewer or smaller messages help: " + text

    def last_task(self):
        share, steps = self.lost(END), self.path.steps
        last = steps[-1] if steps else None
        if not last or last.part != RUNS or share < LEAST_SHARE or self.are_few:
            return
        length_s = last.end_s - last.begin_s
        if length_s >= 0.5 * share * self.span_s:
            self.add("a long last task", share,
                     "one of %s on node %d runs for %s at the end while others have nothing to do.  "
                     "Cut it into smaller tasks, or start it earlier by a higher priority." % (
                         last.what, last.rank, seconds(length_s)))
