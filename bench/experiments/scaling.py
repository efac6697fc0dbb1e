# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Weak and strong scaling of Cholesky, LU and a stencil to 4,096 nodes.

The factorisations have nodes of 16 cores and a GPU, the stencil computes on the cores alone.
"""
import machines
from jacobi import TASKS, numbers
from runner import table

TILE = 1920
KEYS = ("program", "kind", "nodes", "size")
STENCIL_BLOCKS = (4, 4, 4)
# Two steps of tasks at a time: all of them at once take a third more memory, and no less time.
WINDOW = {"STARPU_LIMIT_MAX_SUBMITTED_TASKS": "128"}
POINT_NS = 3.0  # 24 bytes of a point over 1/16 of a socket's 130 GB/s; an estimate


def factorisation(runs, program, kind, nodes, nb, platform):
    words = ["--nb", nb, "--tile", TILE]
    if program == "cholesky":
        path, words = "examples/cholesky/cholesky-sim", words + ["--double", "--prune"]
    else:
        path = "bench/experiments/lu-sim"
    return runs.time_s({"program": program, "kind": kind, "nodes": nodes, "size": nb}, platform,
                       nodes, path, *words, env={"STARPU_SCHED": "dmdas"})


def stencil(runs, kind, nodes, extent, platform):
    size = "x".join(map(str, extent))
    return runs.time_s({"program": "stencil", "kind": kind, "nodes": nodes, "size": size},
                       platform, nodes, TASKS, *numbers(("px", "py", "pz"), machines.cubic(nodes)),
                       *numbers(("nx", "ny", "nz"), extent),
                       *numbers(("bx", "by", "bz"), STENCIL_BLOCKS), "--steps", 4,
                       "--point-ns", POINT_NS, env=WINDOW)


def operations(program, size):
    """Of the whole run: floating point, or points for the stencil."""
    if program == "stencil":
        return 4 * size[0] * size[1] * size[2]
    return (size * TILE) ** 3 * (1 / 3 if program == "cholesky" else 2 / 3)


# Tiles a side on one node's share of a weak run, and of the strong ones.
SIZES = {"cholesky": (6, 64), "lu": (4, 48)}


def size_of(program, kind, nodes, small):
    if program == "stencil":
        if kind == "strong":
            side = 128 if small else 1024
            return (side, side, side)
        return tuple((64 if small else 256) * p for p in machines.cubic(nodes))
    weak, strong = SIZES[program]
    if kind == "strong":
        return 12 if small else strong
    return round(weak * nodes ** (1 / 3))


def scaling(experiment):
    counts = (1, 2, 8) if experiment.small else (1, 4, 16, 64, 256, 1024, 4096)
    runs, shown, charts = experiment.runs("scaling", KEYS), [], []
    for kind in ("strong", "weak"):
        lines = []
        for program in ("cholesky", "lu", "stencil"):
            speeds = []
            for nodes in counts:
                size = size_of(program, kind, nodes, experiment.small)
                platform = machines.flat(experiment.directory, nodes, program != "stencil")
                time_s = (stencil(runs, kind, nodes, size, platform) if program == "stencil" else
                          factorisation(runs, program, kind, nodes, size, platform))
                speeds.append(time_s and operations(program, size) / time_s)
                shown.append([program, kind, "{:,}".format(nodes), str(size),
                              "-" if not time_s else "%.4g s" % time_s,
                              efficiency(speeds, counts)])
            lines.append({"label": program, "x": counts, "y": relative(speeds, counts, kind)})
        charts.append(chart(kind, counts, lines))
    table(("program", "scaling", "nodes", "size", "time", "efficiency"), shown)
    experiment.picture("scaling", "Scaling to {:,} nodes, simulated".format(
        counts[-1]), charts)
    return runs.failures


def efficiency(speeds, counts):
    """Of the last run, against the first."""
    if not speeds[0] or not speeds[-1]:
        return "-"
    return "%.0f %%" % (100 * speeds[-1] / speeds[0] * counts[0] / counts[len(speeds) - 1])


def relative(speeds, counts, kind):
    """Times as fast as the first; for weak scaling, per node."""
    return [speed and speed / speeds[0] / (count / counts[0] if kind == "weak" else 1)
            for speed, count in zip(speeds, counts)]


def chart(kind, counts, lines):
    if kind == "strong":
        lines.append({"label": "ideal", "x": counts, "y": [n / counts[0] for n in counts],
                      "style": "reference"})
        return {"title": "strong: the same work on more nodes", "x": "nodes", "y": "speed-up",
                "log_x": True, "log_y": True, "ticks": counts, "lines": lines}
    return {"title": "weak: the same work on each node", "x": "nodes", "log_x": True,
            "y": "speed of a node, relative", "ticks": counts, "lines": lines + [
                {"label": "ideal", "x": counts, "y": [1] * len(counts), "style": "reference"}]}
