#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: what workers wait for after their last tasks, as one after the other would add it
up, and in a number of steps that does not grow with workers times tasks."""
import os
import random
import sys
from types import SimpleNamespace

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import report_time  # noqa: E402
from orrery_tool.report_read import BY_PROGRAM, BY_TASK  # noqa: E402

END_S = 1000.0
NTASKS, NWORKERS = 300, 40


def scene(rng):
    """Tasks in the order of their starts, each after the one before or from the program."""
    started = sorted(rng.uniform(0, END_S) for _ in range(NTASKS))
    tasks = SimpleNamespace(
        started=started, pushed=[max(0.0, at - rng.choice((0.0, 0.5, 40.0))) for at in started],
        name=[rng.randrange(3) for _ in started], cause=[], by=[])
    for i in range(NTASKS):
        chained = i > 0 and rng.random() < 0.8
        tasks.cause.append(BY_TASK if chained else BY_PROGRAM)
        tasks.by.append(i - 1 if chained else -1)
    return SimpleNamespace(tasks=tasks)


def one_by_one(node, at):
    shares, tasks = report_time.Shares(0.0, END_S), node.tasks
    for i in range(NTASKS):
        if tasks.started[i] >= at:
            report_time.wait_for_start(node, i, shares, at)
            at = max(at, tasks.started[i])
    shares.add(report_time.END, at, END_S)
    return shares


def near(a, b):
    return all(abs(x - y) < 1e-6 for x, y in zip(a, b))


def alike(a, b):
    return (near(a.total, b.total) and all(map(near, a.bins, b.bins)) and
            a.waits.keys() == b.waits.keys() and
            all(near(a.waits[name], b.waits[name]) for name in a.waits))


def main():
    wrong, steps = [], 0
    wait = report_time.wait_until_ready

    def counted(*args):
        nonlocal steps
        steps += 1
        wait(*args)

    for seed in range(20):
        rng = random.Random(seed)
        node = scene(rng)
        dates = [rng.choice((0.0, END_S, rng.uniform(0, END_S), rng.choice(node.tasks.started)))
                 for _ in range(NWORKERS)]
        expected, totals = report_time.Shares(0.0, END_S), []
        for at in dates:
            alone = one_by_one(node, at)
            expected.merge(alone)
            totals.append(alone.total)
        rests = [(at, [0.0] * len(report_time.CAUSES)) for at in dates]
        together = report_time.SharesOfMany(0.0, END_S)
        report_time.wait_until_ready = counted
        report_time.account_rests(node, list(range(NTASKS)), rests, together, END_S)
        report_time.wait_until_ready = wait
        if not alike(together, expected) or not all(
                near(total, alone) for (_, total), alone in zip(rests, totals)):
            wrong.append(seed)
    print("%s each worker waits for what it would alone%s" % (
        "FAIL" if wrong else "PASS", ": not with seeds %s" % wrong if wrong else ""))
    few = steps <= 20 * (NTASKS + NWORKERS)
    print("%s each task is looked at once for all%s" % (
        "PASS" if few else "FAIL", "" if few else ": %d steps" % steps))
    return 1 if wrong or not few else 0


if __name__ == "__main__":
    sys.exit(main())
