#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A GPU that was measured: doc/accuracy-h200-node.csv is what simulations with the shipped
models and platform say, and how far they are from the real runs is told there."""
import csv
import os
import re
import statistics
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
TABLE = os.path.join(SRC, "doc", "accuracy-h200-node.csv")
PLATFORM = os.path.join(SRC, "platforms", "h200-node.toml")
LARGEST_ROWS = 12288       # the others take longer
MEDIAN_PERCENT = 13        # of the table's rows up to that
nfailed = 0


def claim(name, holds, why=""):
    global nfailed
    print("PASS %s" % name if holds else "FAIL %s: %s" % (name, why), flush=True)
    nfailed += not holds


def simulated(rows, tile, **environment):
    """Seconds, and tasks without a model."""
    env = dict(os.environ, ORRERY_BUILD=BUILD, STARPU_SCHED="dmdas", STARPU_NCPU="0",
               STARPU_PERF_MODEL_DIR=os.path.join(SRC, "perfmodels"), **environment)
    env.pop("STARPU_HOSTNAME", None)
    said = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", PLATFORM, "-n", "1",
                           os.path.join(BUILD, "bench", "gpu_cholesky-sim"), rows, tile, "1"],
                          text=True, env=env, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=200).stdout
    found = re.search(r"^%s,%s,([^,]*),.*,(\d+)$" % (rows, tile), said, re.MULTILINE)
    if not found:
        print(said)
    return (float(found.group(1)), int(found.group(2))) if found else (0.0, -1)


def main():
    with open(TABLE, encoding="utf-8") as f:
        table = [row for row in csv.DictReader(line for line in f if not line.startswith("#"))
                 if int(row["rows"]) <= LARGEST_ROWS]
    found = [(row, simulated(row["rows"], row["tile"])) for row in table]
    claim("all kernels have a model", found and all(said[1] == 0 for _, said in found), str(found))
    claim("the table is what simulations say", all(
        abs(said[0] / float(row["simulated_s"]) - 1) < 1e-4 for row, said in found), str(found))
    errors = [100 * abs(said[0] / float(row["real_s"]) - 1) for row, said in found]
    claim("they are as near to the real runs as it tells", statistics.median(errors)
          <= MEDIAN_PERCENT, str(errors))
    deep, flat = (simulated("4096", "512", STARPU_CUDA_PIPELINE=n)[0] for n in "20")
    claim("without a pipeline launches show", flat > 1.1 * deep, "%g and %g" % (flat, deep))
    return 1 if nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
