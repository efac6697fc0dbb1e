#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Programs as users of StarPU write them: built unmodified, run for real and in simulation.

usage: run.py [NAME ...]

The programs use public names of StarPU 1.4 only, check their own results and exit 0, 1, or
77 when they cannot run.  Those below UNTIMED have codelets without a performance model:
in simulation they run with --execute only.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
ORRERY = [sys.executable, os.path.join(SRC, "scripts", "orrery")]
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ALONE = ["acquire_chain", "conditions", "expert_hooks", "fibres", "filters", "hello_task", "nested_contexts", "own_policy", "restart", "tag_pipeline", "vector_scale", "waits",
         "wrapper"]
UNTIMED = ["filters", "hello_task", "insert_args", "lu_tiles", "refinement", "threads", "tree_sum",
           "vector_scale"]
STANDARDS = {"pool": "-std=c++20"}
WARNINGS = ["-O1", "-g", "-Wall", "-Wextra", "-Wno-cast-function-type", "-Werror"]


def read_conf():
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        return dict(line.strip().partition("=")[::2] for line in f if "=" in line)


class Program:
    def __init__(self, source, top):
        self.source, self.top = os.path.join(HERE, source), top
        self.name, extension = os.path.splitext(source)
        self.standard = STANDARDS.get(
            self.name, "-std=c++11" if extension == ".cpp" else "-std=gnu11")

    def call(self, *command, **variables):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("ORRERY", "STARPU"))}
        env.update(variables, ORRERY_BUILD=BUILD, STARPU_HOME=self.top, STARPU_SILENT="1",
                   STARPU_HOSTNAME="here")
        try:
            out = subprocess.run(command, cwd=self.top, env=env, text=True,
                                 capture_output=True, timeout=150)
        except subprocess.TimeoutExpired:
            return 124, "does not end"
        return out.returncode, out.stdout + out.stderr

    def build(self, sim):
        """(claim, status, output)"""
        output = os.path.join(self.top, self.name + ("-sim" if sim else ""))
        flags = ["--sim"] if sim else []
        return ("%s compiles%s" % (self.name, ", simulated" if sim else ""),
                *self.call(*ORRERY, "cc", *flags, self.standard, *WARNINGS, self.source,
                           "-o", output, "-lm"))

    def runs(self, has_mpi, has_sim):
        """Yields (claim, status, output)."""
        alone = self.name in ALONE
        for n in ([1] if alone else [2, 3 if self.name != "pingpong" else 4]):
            if has_mpi:
                yield ("%s on %d" % (self.name, n),
                       *self.call(*ORRERY, "run", "-n", str(n), "./" + self.name))
        n = 1 if alone else 4
        start = [*ORRERY, "run", "--sim", "small4", "-n", str(n)]
        if has_sim:
            yield ("%s on %d, simulated, with values" % (self.name, n),
                   *self.call(*start, "--execute", "./%s-sim" % self.name, CHECK_VALUES="1"))
        if has_sim and self.name not in UNTIMED:
            yield ("%s on %d, simulated" % (self.name, n),
                   *self.call(*start, "./%s-sim" % self.name))


def calibrated(program):
    """What a real run has measured gives the dates of a simulated one."""
    for _ in range(3):
        status, output = program.call(*ORRERY, "run", "-n", "1", "./" + program.name, "lws",
                                      STARPU_HISTORY_MAX_ERROR="1000000")
        if status:
            return "a calibrating run", status, output
    return ("a simulation takes what a real run has measured",
            *program.call(*ORRERY, "run", "--sim", "small4", "-n", "1",
                          "./%s-sim" % program.name))


def verdict(claim, status, output):
    good = status == 0
    lines = [line for line in output.split("\n") if line and "/INFO]" not in line]
    print("PASS " + claim if good else "FAIL %s: status %d, %s"
          % (claim, status, " / ".join(lines[-8:])), flush=True)
    return good


def main():
    conf = read_conf()
    has_mpi, has_sim = conf.get("mpi") != "no", conf.get("sim") != "no"
    if conf.get("sanitize") or conf.get("instrument"):
        return 77 # the programs would have to be instrumented, too
    good = True
    with tempfile.TemporaryDirectory(prefix="orrery-compat-") as top, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        programs = [Program(source, top) for source in sorted(os.listdir(HERE))
                    if source.endswith((".c", ".cpp"))
                    and any(word in source for word in sys.argv[1:] or [""])]
        builds = [(p, sim) for p in programs for sim in
                  [False] * has_mpi + [True] * has_sim]
        for result in pool.map(lambda build: build[0].build(build[1]), builds):
            good &= verdict(*result)
        if not good:
            return 1
        for results in pool.map(lambda p: list(p.runs(has_mpi, has_sim)), programs):
            for result in results:
                good &= verdict(*result)
        scale = [p for p in programs if p.name == "vector_scale"]
        if scale and has_mpi and has_sim:
            good &= verdict(*calibrated(scale[0]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
