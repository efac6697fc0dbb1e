# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: where the time of the workers went.

Between two tasks a worker ends the earlier one, calling its callback, and waits for the later
one.  Until that task is ready, for what
makes it ready; then until the worker takes it, for the scheduler; then until it starts,
for its data.  So each second of each worker has one cause.
"""
from array import array
from bisect import bisect_left

from orrery_tool.report_read import BY_MESSAGE, BY_SEND, BY_TASK, KINDS

BINS = 256
SOME = 0.05                # of the work, or of the tasks: what makes a kind of worker count
MAX_BACK = 16              # tasks and messages that a wait is followed through
BUSY, DATA, NETWORK, DEPENDENCY, SUBMISSION, SCHEDULING, CALLBACKS, END = range(8)
CAUSES = ["busy", "data", "network", "dependencies", "submission", "scheduling", "callbacks",
          "end"]
MEANING = {
    BUSY: "runs tasks",
    DATA: "has a task, waits for copies into its memory",
    NETWORK: "waits for a task that waits for a message on its way",
    DEPENDENCY: "waits for a task that waits for other tasks",
    SUBMISSION: "waits for a task that the program has not submitted yet",
    SCHEDULING: "waits while a task is ready that has not been given to it yet",
    CALLBACKS: "ends a task: calls its callback, releases its data, wakes who waits for it",
    END: "has nothing left to do: all tasks of its kind on the node have begun",
}
REMEDY = {
    DATA: "prefetch (a dm scheduler does), larger tasks for GPUs, or fewer changes of memory; "
          "look whether GPU memory is full",
    NETWORK: "a distribution with fewer messages, larger tiles, priorities along the critical "
             "path, or a faster network: \"orrery study --sensitivity\" says how much that gains",
    DEPENDENCY: "more parallelism: smaller tiles, priorities along the critical path",
    SUBMISSION: "larger tasks, pruned insertion, fewer waits for all in the program",
    SCHEDULING: "another scheduler (STARPU_SCHED): its choices keep ready tasks from idle "
                "workers, or cost too much",
    CALLBACKS: "shorter callbacks (make tasks of what they do), or larger tasks",
    END: "a more even distribution of the work, or smaller tasks at the end",
}
REMEDY_OF_CORES = "more main memory, fewer data in use at a time, or tasks near their data; look " \
    "whether main memory is full, and whether GPUs wrote what cores read"


class Shares:
    """Seconds by cause in equal bins of the run; and of the waits, before which codelet."""

    many = 1 # workers that what is added is of, each

    def __init__(self, begin_s, end_s):
        self.begin_s = begin_s
        self.width_s = max(end_s - begin_s, 1e-12) / BINS
        self.bins = [array("d", bytes(8 * BINS)) for _ in CAUSES]
        self.total = [0.0] * len(CAUSES)
        self.waits = {} # by index of the codelet whose task was waited for

    def add(self, cause, from_s, to_s):
        if to_s <= from_s:
            return
        self.total[cause] += self.many * (to_s - from_s)
        bins, width_s, many = self.bins[cause], self.width_s, self.many
        first = (from_s - self.begin_s) / width_s
        last = (to_s - self.begin_s) / width_s
        at, until = int(first), min(int(last), BINS - 1)
        if at >= until:
            bins[min(max(at, 0), BINS - 1)] += many * (to_s - from_s)
            return
        width_s *= many
        bins[at] += (at + 1 - first) * width_s
        for i in range(at + 1, until):
            bins[i] += width_s
        bins[until] += (last - until) * width_s

    def wait(self, cause, name, from_s, to_s):
        """For a task of the codelet with that index."""
        if to_s > from_s:
            self.add(cause, from_s, to_s)
            if name not in self.waits:
                self.waits[name] = [0.0] * len(CAUSES)
            self.waits[name][cause] += self.many * (to_s - from_s)

    def merge(self, other):
        for mine, theirs in zip(self.bins, other.bins):
            for i, seconds in enumerate(theirs):
                mine[i] += seconds
        self.total = [a + b for a, b in zip(self.total, other.total)]
        for name, wait in other.waits.items():
            mine = self.waits.get(name, [0.0] * len(CAUSES))
            self.waits[name] = [a + b for a, b in zip(mine, wait)]


class SharesOfMany(Shares):
    """What several workers do alike."""

    def begin(self, many):
        self.many, self.alone = many, [0.0] * len(CAUSES)

    def add(self, cause, from_s, to_s):
        if to_s > from_s:
            self.alone[cause] += to_s - from_s
            super().add(cause, from_s, to_s)

    def give(self, total):
        """What each has done since begin() is a worker's, too."""
        for cause, seconds in enumerate(self.alone):
            total[cause] += seconds


CAUSE_OF = {BY_TASK: DEPENDENCY, BY_MESSAGE: NETWORK, BY_SEND: NETWORK}


def wait_until_ready(node, i, shares, at, pushed_s):
    """For what made it ready: back through the tasks and messages before, which that waited
    for itself.  What lies further back is taken for more of the same."""
    name, until_s = node.tasks.name[i], pushed_s
    why, by, found_s = node.tasks.cause[i], node.tasks.by[i], {}
    for _ in range(MAX_BACK):
        if by < 0 or until_s <= at:
            break
        cause = CAUSE_OF[why]
        if why == BY_TASK:
            tasks, begun_s = node.tasks, node.tasks.pushed[by]
            why, by = tasks.cause[by], tasks.by[by]
        else:
            begun_s = node.begun_s[by]
            node, by = node.run.start_of(node, by)
            why, by = node.requests.cause[by], node.requests.by[by]
        begun_s = min(max(begun_s, at), until_s)
        shares.wait(cause, name, begun_s, until_s)
        found_s[cause] = found_s.get(cause, 0.0) + until_s - begun_s
        until_s = begun_s
    rest_s, whole_s = max(until_s - at, 0.0), sum(found_s.values())
    if by >= 0 and whole_s > 0:
        for cause, seconds in found_s.items():
            shares.wait(cause, name, at, at + seconds / whole_s * rest_s)
            at += seconds / whole_s * rest_s
        at = until_s
    shares.wait(CAUSE_OF.get(why, SUBMISSION), name, at, until_s)


def wait_for_start(node, i, shares, at):
    """As those do that could run it.  One that is ready, and in the line of another worker,
    could run here."""
    tasks = node.tasks
    pushed_s = min(max(tasks.pushed[i], at), tasks.started[i])
    wait_until_ready(node, i, shares, at, pushed_s)
    shares.wait(SCHEDULING, tasks.name[i], pushed_s, tasks.started[i])


def account_rests(node, later, rests, shares, end_s):
    """The time of workers of a kind after their last tasks.  While tasks of their node and kind
    are still to start, they wait as these do; later: those, in the order of their starts;
    rests: (date, seconds by cause) of each worker.  From the start of the first of those on
    all wait alike, which is added up once."""
    started, joining = node.tasks.started, {}
    for at, total in rests:
        first = bisect_left(later, at, key=started.__getitem__)
        shares.begin(1)
        if first < len(later):
            wait_for_start(node, later[first], shares, at)
            joining.setdefault(first, []).append(total)
            at = started[later[-1]]
        shares.add(END, at, end_s)
        shares.give(total)
    shares.begin(sum(map(len, joining.values())))
    for place in range(len(later) - 1, min(joining, default=len(later)) - 1, -1):
        for total in joining.get(place, ()):
            shares.many -= 1
            shares.give(total)
        if shares.many:
            wait_for_start(node, later[place], shares, started[later[place - 1]])


def account(node, worker, order, shares, end_s):
    """The time of one worker, whose tasks are given in their order, until the date that is
    returned: the end of its last one."""
    tasks, at = node.tasks, shares.begin_s
    starts = [tasks.started[i] for i in order[1:]] + [end_s]
    for i, next_s in zip(order, starts):
        started_s = tasks.started[i]
        if started_s > at:
            pushed_s = min(max(tasks.pushed[i], at), started_s)
            fetched_s = min(max(tasks.fetched[i], pushed_s), started_s)
            name = tasks.name[i]
            wait_until_ready(node, i, shares, at, pushed_s)
            shares.wait(SCHEDULING, name, pushed_s, fetched_s)
            shares.wait(DATA, name, fetched_s, started_s)
            at = started_s
        shares.add(BUSY, at, tasks.ended[i])
        at = max(at, tasks.ended[i])
        after_s = tasks.after[i] if tasks.worker[i] == worker else 0.0 # or it only helped
        over_s = min(tasks.ended[i] + after_s, next_s)
        shares.add(CALLBACKS, at, over_s)
        at = max(at, over_s)
    return at


class Accounts:
    """Time by cause: of each worker, node and kind of worker."""

    def __init__(self, run):
        self.run = run
        self.by_kind = {kind: Shares(run.begin_s, run.end_s) for kind in run.kinds}
        self.nworkers, self.ntasks = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        self.busy = {} # (rank, kind): busy seconds by bin
        self.workers = [] # (rank, worker, kind, Shares.total)
        self.orders = {}
        for node in run.nodes:
            self.read_node(node)

    def read_node(self, node):
        orders = {worker: [] for worker, _, _ in node.workers}
        for i in range(len(node.tasks)):
            orders.setdefault(node.tasks.worker[i], []).append(i)
        started, all_of = node.tasks.started, {kind: [] for kind in KINDS}
        for worker, _, kind in node.workers:
            all_of[kind] += orders[worker]
            self.ntasks[kind] += len(orders[worker])
        for worker, i in node.helped:
            orders.setdefault(worker, []).append(i)
        for worker, _, _ in node.workers:
            orders[worker].sort(key=started.__getitem__)
        rests = {kind: [] for kind in KINDS}
        for worker, name, kind in node.workers:
            order = orders[worker]
            shares = Shares(self.run.begin_s, self.run.end_s)
            at = account(node, worker, order, shares, self.run.end_s)
            self.by_kind[kind].merge(shares)
            rests[kind].append((at, shares.total))
            self.nworkers[kind] += 1
            self.workers.append((node.rank, name, kind, shares.total))
            busy = self.busy.setdefault((node.rank, kind), array("d", bytes(8 * BINS)))
            for at, seconds in enumerate(shares.bins[BUSY]):
                busy[at] += seconds
            self.orders[node.rank, worker] = order
        for kind, of_kind in rests.items():
            all_of[kind].sort(key=started.__getitem__)
            if of_kind:
                shares = SharesOfMany(self.run.begin_s, self.run.end_s)
                account_rests(node, all_of[kind], of_kind, shares, self.run.end_s)
                self.by_kind[kind].merge(shares)

    def capacity_s(self, kind):
        return self.nworkers[kind] * (self.run.end_s - self.run.begin_s)

    def area_s(self):
        """No schedule of the same tasks on the same kinds of workers ends sooner."""
        return max((self.by_kind[kind].total[BUSY] / self.nworkers[kind]
                    for kind in self.run.kinds if self.nworkers[kind]), default=0.0)

    def main_kind(self):
        """The kind of worker that the run is about: GPUs as soon as they do some of it."""
        busy_s = {kind: self.by_kind[kind].total[BUSY] for kind in self.run.kinds}
        working = [kind for kind in self.run.kinds if busy_s[kind] > 0 and (
            busy_s[kind] >= SOME * sum(busy_s.values()) or
            self.ntasks[kind] >= SOME * sum(self.ntasks.values()))]
        return working[-1] if working else (self.run.kinds or ["cpu"])[-1]


def sampled(steps_of_nodes, begin_s, end_s, most):
    """The sum over nodes (most: the largest node) of quantities, at the ends of bins."""
    width_s = max(end_s - begin_s, 1e-12) / BINS
    result = [0.0] * BINS
    for steps in steps_of_nodes:
        changes = [0.0] * (BINS + 1)
        for date_s, change in zip(steps.dates, steps.changes):
            changes[min(max(int((date_s - begin_s) / width_s), 0), BINS)] += change
        level = 0.0
        for at in range(BINS):
            level += changes[at]
            result[at] = max(result[at], level) if most else result[at] + level
    return result


class Expected:
    """Tasks of a codelet of which models said how long they would take."""

    def __init__(self):
        self.took_s = self.expected_s = self.missed_s = 0.0

    def add(self, seconds, expected_s):
        self.took_s += seconds
        self.expected_s += expected_s
        self.missed_s += abs(seconds - expected_s)

    def errors(self):
        """Of the sum, and of each on average, both relative, and the seconds that they took;
        None: nothing was expected."""
        if self.expected_s <= 0:
            return None
        return (self.took_s / self.expected_s - 1, self.missed_s / self.expected_s,
                self.took_s)


def model_errors(run):
    """{(name, kind): Expected.errors()}"""
    sums = {}
    for node in run.nodes:
        kinds = {worker: kind for worker, _, kind in node.workers}
        tasks = node.tasks
        for i, expected_s in enumerate(tasks.expected):
            if expected_s > 0:
                key = run.codelets[tasks.name[i]], kinds.get(tasks.worker[i], "cpu")
                sums.setdefault(key, Expected()).add(tasks.ended[i] - tasks.started[i],
                                                     expected_s)
    return {key: found.errors() for key, found in sums.items()}


def codelet_rows(run):
    """(name, kind, number, seconds, mean, deviation, least, most) by total time."""
    sums = {}
    for node in run.nodes:
        kinds = {worker: kind for worker, _, kind in node.workers}
        tasks = node.tasks
        for i in range(len(tasks)):
            seconds = tasks.ended[i] - tasks.started[i]
            row = sums.setdefault((tasks.name[i], kinds.get(tasks.worker[i], "cpu")),
                                  [0, 0.0, 0.0, float("inf"), 0.0])
            row[0] += 1
            row[1] += seconds
            row[2] += seconds * seconds
            row[3] = min(row[3], seconds)
            row[4] = max(row[4], seconds)
    rows = []
    for (name, kind), (n, total, squares, least, most) in sums.items():
        mean = total / n
        rows.append((run.codelets[name], kind, n, total, mean,
                     max(squares / n - mean * mean, 0.0) ** 0.5, least, most))
    return sorted(rows, key=lambda row: -row[3])


def previous(order, started, date_s):
    """The last task of a worker that started before a date, or None."""
    at = bisect_left(order, date_s, key=started.__getitem__)
    return order[at - 1] if at > 0 else None
