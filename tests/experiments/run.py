# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The experiments of bench/experiments and bench/metg in their small form."""
import csv
import os
import re
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
RUN = os.path.join(SRC, "bench", "experiments", "run")
sys.path.insert(0, os.path.join(SRC, "bench", "experiments"))
import machines  # noqa: E402
nfailed = 0


def verdict(claim, good, why):
    global nfailed
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    nfailed += not good


def command(*words, **env):
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True,
                          timeout=500, env=dict(os.environ, ORRERY_BUILD=BUILD, **env),
                          check=False)


def experiment(directory, name):
    """(what the command did, rows of its table)"""
    out = command(RUN, "--small", "--output", directory, name)
    path = os.path.join(directory, name + ".csv")
    if not os.path.exists(path):
        return out, []
    with open(path, newline="", encoding="utf-8") as f:
        return out, list(csv.DictReader(f))


def time_of(rows, **key):
    for row in rows:
        if all(row[name] == str(value) for name, value in key.items()) and row["status"] == "ok":
            return float(row["time_s"])
    return float("nan")


def check_jacobi(directory):
    out, rows = experiment(directory, "jacobi")
    times = {variant: time_of(rows, variant=variant, cores=96)
             for variant in ("none", "blocking", "overlapped", "tasks")}
    exact = 3 * 192 ** 3 / 96 * 11.5e-9
    verdict("jacobi: without communication a step takes its points times their time",
            abs(times["none"] / exact - 1) < 1e-3, "%s, expected %g" % (times, exact))
    verdict("jacobi: messages cost, and are hidden by hand and by tasks",
            out.returncode == 0 and times["overlapped"] < times["blocking"] and
            times["none"] < times["tasks"] < times["blocking"], "%s %s" % (times, out.stderr))
    before = os.stat(os.path.join(directory, "jacobi.csv")).st_mtime_ns
    again = command(RUN, "--small", "--output", directory, "jacobi")
    verdict("what is in the table is not run again", again.stdout == out.stdout and
            os.stat(os.path.join(directory, "jacobi.csv")).st_mtime_ns == before, again.stdout)
    out, rows = experiment(directory, "overdecomposition")
    tasks = [time_of(rows, variant="tasks", blocks=24 * d) for d in (1, 8)]
    verdict("over-decomposition: eight tasks for each core hide more than one",
            out.returncode == 0 and tasks[1] < tasks[0], "%s %s" % (tasks, out.stderr))
    out, rows = experiment(directory, "gpu-jacobi")
    tasks = [time_of(rows, variant="tasks", cores=8, blocks=b) for b in (1, 4)]
    verdict("jacobi on GPUs: four tasks for each hide more than one",
            out.returncode == 0 and tasks[1] < tasks[0], "%s %s" % (tasks, out.stderr))


def check_proxy(directory):
    out, rows = experiment(directory, "proxy-core")
    size = {"n": "192x192x192"}
    none, blocking = [time_of(rows, variant=v, cores=32, **size) for v in ("none", "blocking")]
    tasks = time_of(rows, variant="tasks", reserved=1, cores=24, **size)
    model = none / blocking * 4 / 3
    verdict("a core for communication: model and simulation within 5 %",
            out.returncode == 0 and abs(tasks / blocking / model - 1) < 0.05,
            "%g and %g %s" % (tasks / blocking, model, out.stderr))


def check_products(directory):
    out, rows = experiment(directory, "cannon")
    times = {variant: time_of(rows, variant=variant, cores=256, strips=strips)
             for variant, strips in (("none", ""), ("blocking", ""), ("tasks", 4))}
    verdict("cannon: tasks hide what blocking messages cost",
            out.returncode == 0 and times["none"] < times["tasks"] < times["blocking"],
            "%s %s" % (times, out.stderr))
    out, rows = experiment(directory, "lu")
    good = [row for row in rows if row["status"] == "ok"]
    verdict("lu: both schedulers, with and without priorities",
            out.returncode == 0 and len(good) == 8, out.stderr)
    platform = os.path.join(directory, "two-cores.xml")
    machines.switch(platform, 8, 2, 0)
    times = []
    for priorities in (0, 1):
        out = simulate(platform, 8, "bench/experiments/lu-sim", "--nb", 16, "--tile", 960,
                       "--priorities", priorities)
        found = re.search(r"^time: (\S+)", out.stdout, re.M)
        times.append(float(found.group(1)) if found else float("nan"))
    verdict("lu: priorities make it faster where cores are few", times[1] < times[0], times)


def check_scaling(directory):
    out, rows = experiment(directory, "scaling")
    strong = [time_of(rows, program="cholesky", kind="strong", nodes=n) for n in (1, 2, 8)]
    weak = [time_of(rows, program="stencil", kind="weak", nodes=n) for n in (1, 8)]
    verdict("scaling: more nodes are faster, and a stencil's nodes stay as fast",
            out.returncode == 0 and strong[0] > strong[1] > strong[2] and
            weak[1] < 1.1 * weak[0], "%s %s %s" % (strong, weak, out.stderr))


def simulate(platform, nodes, program, *words):
    return command(ORRERY, "run", "--quiet", "--sim", platform, "-n", nodes, "--no-privatize",
                   os.path.join(BUILD, program), *words, STARPU_SCHED="prio")


def check_values(directory):
    """The programs' own check: each task reads what the step before has written."""
    platform = os.path.join(SRC, "platforms", "xml", "gpu64.xml")
    for name, nodes, words in (
            ("jacobi", 8, "--px 2 --py 2 --pz 2 --bx 2 --by 1 --bz 3 --nx 24 --ny 24 --nz 24 "
             "--steps 6"), ("cannon", 16, "--p 4 --n 64 --steps 4 --strips 3")):
        out = command(ORRERY, "run", "--quiet", "--execute", "--sim", platform, "-n", nodes,
                      "--no-privatize", os.path.join(BUILD, "bench", "experiments", name + "-sim"),
                      *words.split())
        verdict("%s: tasks read what they should" % name,
                out.returncode == 0 and "wrong: 0" in out.stdout, out.stdout + out.stderr)
        out = simulate(platform, 4, "bench/experiments/%s-sim" % name, "--nodes", 4)
        verdict("%s: an option that it does not have" % name, out.returncode == 2 and
                "--nodes is not an option" in out.stderr and "--steps" in out.stderr, out.stderr)
        out = simulate(platform, 3, "bench/experiments/%s-sim" % name)
        verdict("%s: ranks that make no grid" % name, out.returncode == 2 and
                "expected as many ranks as the grid has places" in out.stderr, out.stderr)
    out = command(RUN, "--small", "--output", "/dev/null/there", "jacobi")
    verdict("a folder that cannot be made", out.returncode == 1 and
            "give --output a folder with room" in out.stderr, out.stderr)


def check_metg():
    out = command(os.path.join(SRC, "bench", "metg", "run"), "--simulated", "--small")
    rows = list(csv.DictReader(out.stdout.split("\n")))
    metg = {(row["ranks"], row["pattern"]): float(row["metg_us"]) for row in rows
            if row["inputs"] != "2"}
    verdict("metg: at most 10 us on a simulated node of two cores, and more on more nodes",
            out.returncode == 0 and metg["1", "stencil"] <= 10 and
            metg["16", "stencil"] > metg["1", "stencil"], "%s %s" % (metg, out.stderr))


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-experiments-") as directory:
        check_jacobi(directory)
        check_proxy(directory)
        check_products(directory)
        check_scaling(directory)
        check_values(directory)
    check_metg()
    sys.exit(1 if nfailed else 0)


if __name__ == "__main__":
    main()
