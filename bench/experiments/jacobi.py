# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Jacobi's method on a cube: four variants, over-decomposition, GPUs, the proxy core."""
import machines
from runner import milliseconds, percent, table

MPI = "bench/experiments/jacobi_mpi-sim"
TASKS = "bench/experiments/jacobi-sim"
VARIANTS = ("none", "blocking", "overlapped", "tasks")
# Blocks of a node of 24 cores: tasks for each core in a step.
BLOCKS = {1: (2, 3, 4), 2: (4, 3, 4), 4: (4, 6, 4), 8: (4, 6, 8)}
KEYS = ("variant", "cores", "n", "steps", "blocks")


def numbers(names, values):
    return [word for name, value in zip(names, values) for word in ("--" + name, value)]


class Cube:
    """A cube on a machine: what the programs are told in all variants."""

    def __init__(self, runs, platform, nodes, n, steps):
        self.runs, self.platform, self.nodes, self.steps = runs, platform, nodes, steps
        grid = machines.cubic(nodes)
        self.extent = n if isinstance(n, tuple) else (n, n, n)
        self.common = numbers(("px", "py", "pz"), grid)
        self.common += numbers(("nx", "ny", "nz"), self.extent)
        self.common += ["--steps", steps]

    def key(self, variant, cores, blocks):
        return {"variant": variant, "cores": cores, "n": "x".join(map(str, self.extent)),
                "steps": self.steps, "blocks": blocks}

    def mpi(self, variant, cores, point_ns, *more):
        return self.runs.time_s(self.key(variant, cores * self.nodes, ""), self.platform,
                                self.nodes, MPI, "--variant", VARIANTS.index(variant), *self.common,
                                "--cores", cores, "--point-ns", point_ns, *more)

    def tasks(self, blocks, cores, point_ns, *more):
        count = blocks[0] * blocks[1] * blocks[2]
        return self.runs.time_s(self.key("tasks", cores * self.nodes, count), self.platform,
                                self.nodes, TASKS, *self.common,
                                *numbers(("bx", "by", "bz"), blocks), "--point-ns", point_ns,
                                *more)


def four(experiment):
    """12,288 to 98,304 cores: one cube, ever more nodes."""
    nodes = (4, 8) if experiment.small else (512, 1024, 2048, 4096)
    n, steps = (192, 3) if experiment.small else (3072, 3)
    runs, rows = experiment.runs("jacobi", KEYS), []
    for count in nodes:
        cube = Cube(runs, machines.xe6(experiment.directory, count), count, n, steps)
        times = [cube.mpi(variant, 24, machines.XE6_POINT_NS) for variant in VARIANTS[:3]]
        times.append(cube.tasks(BLOCKS[2], 24, machines.XE6_POINT_NS))
        rows.append((24 * count, times))
    shown = [["{:,}".format(cores)] + [milliseconds(t) for t in times] +
             ([percent(1 - times[0] / times[1]), percent(1 - times[3] / times[1])]
              if all(times) else ["-", "-"]) for cores, times in rows]
    table(("cores",) + VARIANTS + ("communication of blocking", "tasks gain"), shown)
    xs = [cores for cores, _ in rows]
    names = {"none": "no communication", "blocking": "blocking MPI",
             "overlapped": "MPI, overlapped by hand", "tasks": "tasks, 2 for each core"}
    lines = [{"label": names[variant], "x": xs, "y": [times[i] and times[i] / times[0]
                                                      for _, times in rows]}
             for i, variant in enumerate(VARIANTS) if all(times[0] for _, times in rows)]
    experiment.picture("jacobi", "Jacobi on a cube of %d points a side, Cray XE6 torus, simulated"
                       % n, [{"title": "time relative to no communication at all", "x": "cores",
                              "y": "relative time", "lines": lines, "log_x": True, "ticks": xs,
                              "y_from": 0.95}])
    return runs.failures


def overdecomposition(experiment):
    """1 to 8 tasks for each core, on 64 nodes with as many points as each of the smallest and
    of the largest machine of four() has."""
    nodes = 8 if experiment.small else 64
    sizes = (192,) if experiment.small else (768, 1536)
    runs = experiment.runs("overdecomposition", KEYS)
    platform, shown, charts = machines.xe6(experiment.directory, nodes), [], []
    for n in sizes:
        cube = Cube(runs, platform, nodes, n, 3)
        none, blocking, overlapped = [cube.mpi(variant, 24, machines.XE6_POINT_NS)
                                      for variant in VARIANTS[:3]]
        times = {d: cube.tasks(blocks, 24, machines.XE6_POINT_NS)
                 for d, blocks in BLOCKS.items()}
        if not none or not blocking or not all(times.values()):
            continue
        for d, time_s in times.items():
            hidden = (blocking - time_s) / (blocking - none)
            shown.append([str(n), str(d), milliseconds(time_s), milliseconds(blocking),
                          milliseconds(none), percent(hidden)])
        xs = list(times)
        lines = [{"label": label, "x": xs, "y": [t / none for t in values]} for label, values in (
            ("tasks", times.values()), ("blocking MPI", [blocking] * len(xs)),
            ("MPI, overlapped by hand", [overlapped] * len(xs)))]
        charts.append({"title": "%d points a side" % n, "x": "tasks for each core in a step",
                       "y": "time, no communication = 1", "ticks": xs, "log_x": True,
                       "lines": lines, "y_from": 0.95})
    table(("n", "tasks for each core", "tasks", "blocking", "none",
           "part of the communication hidden"), shown)
    experiment.picture("overdecomposition", "Over-decomposition: Jacobi on {:,} cores of a Cray "
                       "XE6, simulated".format(24 * nodes), charts)
    return runs.failures


GPU_BLOCKS = {1: (1, 1, 1), 2: (1, 1, 2), 4: (1, 2, 2), 8: (2, 2, 2)}


def gpus(experiment):
    """A cube of 512 points a side on each of 4 to 32 GPUs."""
    counts = (4, 8) if experiment.small else (4, 8, 16, 32)
    local, steps = (64, 4) if experiment.small else (512, 10)
    runs, rows = experiment.runs("gpu-jacobi", KEYS), []
    for count in counts:
        extent = tuple(local * p for p in machines.cubic(count))
        cube = Cube(runs, machines.flat(experiment.directory, count, 1), count, extent, steps)
        times = [cube.mpi(variant, 1, machines.A100_POINT_NS, *machines.A100_COPY)
                 for variant in VARIANTS[:3]]
        times += [cube.tasks(blocks, 1, machines.A100_POINT_NS, "--gpu", 1)
                  for blocks in GPU_BLOCKS.values()]
        rows.append((count, times))
    table(("GPUs",) + VARIANTS[:3] + tuple("tasks, %d blocks" % b for b in GPU_BLOCKS),
          [[str(count)] + [milliseconds(t) for t in times] for count, times in rows])
    xs = [count for count, _ in rows]
    labels = ("no communication", "blocking MPI", "MPI, overlapped by hand") + tuple(
        "tasks, %d for each GPU" % b for b in GPU_BLOCKS)
    lines = [{"label": label, "x": xs, "y": [t[i] and 1e3 * t[i] / steps for _, t in rows]}
             for i, label in enumerate(labels) if label != "no communication"]
    lines.append({"label": "no communication", "x": xs, "style": "reference",
                  "y": [t[0] and 1e3 * t[0] / steps for _, t in rows]})
    experiment.picture("gpu-jacobi", "Jacobi on GPUs, %d points a side on each, simulated"
                       % local, [{"title": "time of a step", "x": "GPUs, one in each node",
                                  "y": "milliseconds", "lines": lines, "log_x": True,
                                  "ticks": xs}])
    return runs.failures


def proxy(experiment):
    """One core of p for communication: (1 - f) p / (p - 1) of the blocking program's time."""
    nodes = 8 if experiment.small else 64
    sizes = (48, 96) if experiment.small else (48, 96, 192)
    cores = (4, 24) if experiment.small else (4, 8, 12, 24)
    runs, shown, charts = experiment.runs("proxy-core", KEYS + ("reserved",)), [], []
    side = machines.cubic(nodes)
    for p in cores:
        modelled, simulated, shares = [], [], []
        for local in sizes:
            extent = tuple(local * s for s in side)
            whole = Proxy(runs, machines.xe6(experiment.directory, nodes, p), nodes, extent, 3)
            less = Proxy(runs, machines.xe6(experiment.directory, nodes, p - 1), nodes, extent, 3)
            none, blocking = [whole.mpi(variant, p, machines.XE6_POINT_NS)
                              for variant in VARIANTS[:2]]
            tasks = less.tasks(BLOCKS[8], p - 1, machines.XE6_POINT_NS)
            if not none or not blocking or not tasks:
                continue
            f = 1 - none / blocking
            shares.append(100 * f)
            modelled.append((1 - f) * p / (p - 1))
            simulated.append(tasks / blocking)
            shown.append([str(p), str(local), percent(f), "%.3f" % modelled[-1],
                          "%.3f" % simulated[-1],
                          "%+.1f %%" % (100 * (simulated[-1] / modelled[-1] - 1))])
        charts.append({"title": "%d cores in a node" % p, "y": "time, blocking MPI = 1",
                       "x": "percent of blocking MPI's time in communication", "lines": [
                           {"label": "simulation: tasks on %d cores" % (p - 1), "x": shares,
                            "y": simulated},
                           {"label": "model: (1 - f) p / (p - 1)", "x": shares, "y": modelled,
                            "style": "reference"}]})
    table(("p", "points a side and node", "f", "model", "simulation", "difference"), shown)
    experiment.picture("proxy-core", "A core for communication: model and simulation, Jacobi on "
                       "%d nodes" % nodes, charts)
    return runs.failures


class Proxy(Cube):
    def key(self, variant, cores, blocks):
        return dict(super().key(variant, cores, blocks), reserved=int(variant == "tasks"))
