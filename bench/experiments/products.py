# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Cannon's product of matrices, and LU with and without priorities."""
import machines
from runner import milliseconds, percent, table

VARIANTS = ("none", "blocking", "overlapped")
# A rank has 16 cores here, so that the numbers of cores are square grids of ranks.
CANNON_CORES = 16


def cannon(experiment):
    """4,096, 16,384 and 65,536 cores: one product, ever more nodes."""
    sides = (2, 4) if experiment.small else (16, 32, 64)
    n, steps = (1024, 2) if experiment.small else (49152, 8)
    runs = experiment.runs("cannon", ("variant", "cores", "n", "steps", "strips"))
    rows = []
    for p in sides:
        cores = CANNON_CORES * p * p
        platform = machines.xe6(experiment.directory, p * p, CANNON_CORES)
        common = ["--p", p, "--n", n, "--steps", steps]
        key = {"cores": cores, "n": n, "steps": steps, "strips": ""}
        times = [runs.time_s(dict(key, variant=variant), platform, p * p,
                             "bench/experiments/cannon_mpi-sim", "--variant", i, *common,
                             "--cores", CANNON_CORES, "--gflops", machines.XE6_CORE_GFLOPS)
                 for i, variant in enumerate(VARIANTS)]
        for strips in (4, 8):
            times.append(runs.time_s(dict(key, variant="tasks", strips=strips), platform, p * p,
                                     "bench/experiments/cannon-sim", *common, "--strips", strips,
                                     "--gflops", machines.XE6_CORE_GFLOPS))
        rows.append((cores, times))
    show_cannon(experiment, rows, n)
    return runs.failures


def show_cannon(experiment, rows, n):
    good = [(cores, times) for cores, times in rows if all(times[:3])]
    table(("cores", "none", "blocking", "overlapped", "tasks, 16", "tasks, 64",
           "communication of blocking", "tasks gain"),
          [["{:,}".format(cores)] + [milliseconds(t) for t in times] +
           ["-"] * (5 - len(times)) +
           [percent(1 - times[0] / times[1]), percent(1 - times[3] / times[1]) if times[3] else "-"]
           for cores, times in good])
    xs = [cores for cores, _ in good]
    gain = [times[3] and 100 * (1 - times[3] / times[1]) for _, times in good]
    hand = [100 * (1 - times[2] / times[1]) for _, times in good]
    share = [100 * (1 - times[0] / times[1]) for _, times in good]
    experiment.picture("cannon", "Cannon's product of matrices of %d rows, Cray XE6 torus, "
                       "simulated" % n,
                       [{"title": "communication", "x": "cores", "log_x": True, "ticks": xs,
                         "y": "percent of blocking MPI's time", "bands":
                         [(11, 39, "published: 11 to 39 %")],
                         "lines": [{"label": "blocking MPI", "x": xs, "y": share}]},
                        {"title": "less time than blocking MPI", "x": "cores", "log_x": True,
                         "ticks": xs, "y": "percent", "bands":
                         [(9, 37, "published, tasks: 9 to 37 %")],
                         "lines": [{"label": "tasks", "x": xs, "y": gain},
                                   {"label": "MPI, overlapped by hand", "x": xs, "y": hand}]}])


def lu(experiment):
    """Priorities or none, several numbers of tiles on one machine of 128 nodes."""
    nodes = 8 if experiment.small else 128
    counts = (8, 12) if experiment.small else (24, 32, 48, 64, 80)
    platform = machines.flat(experiment.directory, nodes, 0)
    runs = experiment.runs("lu", ("nodes", "scheduler", "nb", "tile", "priorities"))
    shown, xs, gains = [], [], {"prio": [], "lws": []}
    for nb in counts:
        for scheduler, gain in gains.items():
            times = [runs.time_s({"nodes": nodes, "scheduler": scheduler, "nb": nb, "tile": 960,
                                  "priorities": on}, platform, nodes, "bench/experiments/lu-sim",
                                 "--nb", nb, "--tile", 960, "--priorities", on,
                                 env={"STARPU_SCHED": scheduler}) for on in (0, 1)]
            gain.append(100 * (1 - times[1] / times[0]) if all(times) else None)
            shown.append([str(nb), scheduler] + [milliseconds(t) for t in times] +
                         ["-" if gain[-1] is None else "%.1f %%" % gain[-1]])
        xs.append(nb)
    table(("tiles a side", "scheduler", "without priorities", "with", "gain"), shown)
    names = {"prio": "one queue for the cores of a node (prio)",
             "lws": "a queue for each core (lws)"}
    experiment.picture("lu", "LU on %d nodes of 16 cores, tiles of 960, simulated" % nodes,
                       [{"title": "less time with priorities than without", "x": "tiles a side",
                         "y": "percent", "ticks": xs, "bands": [(0, 10, "published: up to 10 %")],
                         "lines": [{"label": names[scheduler], "x": xs, "y": gain}
                                   for scheduler, gain in gains.items()]}])
    return runs.failures
