#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A GPU of which only a data sheet and gpu_kernels are known, beside the same one measured.

usage: declared_gpu.py [--table]

Cholesky on three Tesla K40 with StarPU's sample calibration of them, and with what
platforms/parts.toml says of a K40.  Reads $ORR_TEST_DATA, else ../shared/data beside the
sources; without it is skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
DATA = os.environ.get("ORR_TEST_DATA", os.path.join(SRC, "..", "shared", "data"))
MODELS = os.path.join(DATA, "starpu-sampling", "codelets", "45")
PROGRAM = os.path.join(BUILD, "examples", "cholesky", "cholesky-sim")
TOLERANCE = 0.15           # and the bare roofline is further off, in the mean
MACHINE = """nodes = 1
link = "QDR"
[node]
gpu = "Tesla-K40"
gpus = 3
gpu_model = "sirocco"
workers = 9
cpu_sp = "57 GFlop/s"
host_bandwidth = "10.5 GB/s"
%s
"""


def makespan(directory, machine, models, nb, tile):
    """Of Cholesky, or None."""
    path = os.path.join(directory, "machine.toml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MACHINE % machine)
    out = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", path, "-n", "1", PROGRAM,
                          "--nb", str(nb), "--tile", str(tile)], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=200, check=False,
                         env=dict(os.environ, ORRERY_BUILD=BUILD, STARPU_PERF_MODEL_DIR=models))
    found = re.search(r"^makespan: (\S+) s", out.stdout, re.MULTILINE)
    if not found:
        print(out.stdout)
    return float(found.group(1)) if found else None


def main():
    if not os.path.isdir(MODELS):
        print("no %s: set ORR_TEST_DATA" % MODELS)
        return 77
    with tempfile.TemporaryDirectory() as directory:
        # The example's kernels have other names, and cores take as long in all three.
        sampled, cores = os.path.join(directory, "sampled"), os.path.join(directory, "cores")
        for base in (sampled, cores):
            os.makedirs(os.path.join(base, "codelets", "45"))
        for kernel in ("potrf", "trsm", "syrk", "gemm"):
            shutil.copy(os.path.join(MODELS, "chol_model_%s.sirocco" % kernel),
                        os.path.join(sampled, "codelets", "45", "orrery_s%s.sirocco" % kernel))
        ratios = []
        for nb, tile in ((8, 640), (16, 640), (10, 960), (20, 960), (20, 320), (40, 320), (40, 960)):
            measured = makespan(directory, "cpu_model = \"none\"", sampled, nb, tile)
            declared = makespan(directory, "cpu_model = \"none\"", cores, nb, tile)
            bare = makespan(directory, "cpu_model = \"none\"\ngpu_kernels = \"alike\"", cores, nb, tile)
            if not measured or not declared or not bare:
                print("FAIL %d x %d tiles of %d run" % (nb, nb, tile))
                return 1
            ratios.append((declared / measured - 1, bare / measured - 1))
            if "--table" in sys.argv:
                print("%2d x %2d tiles of %4d: measured %.4f s, declared %+.1f %%, bare roofline %+.1f %%"
                      % (nb, nb, tile, measured, 100 * ratios[-1][0], 100 * ratios[-1][1]))
    worst = max(abs(declared) for declared, _ in ratios)
    bare = sum(abs(bare) for _, bare in ratios) / len(ratios)
    good = worst < TOLERANCE < bare
    print("%s a declared GPU is as fast as the measured one%s" % (
        "PASS" if good else "FAIL", "" if good else ": worst %.3f, bare roofline %.3f in the mean"
        % (worst, bare)))
    return not good


if __name__ == "__main__":
    sys.exit(main())
