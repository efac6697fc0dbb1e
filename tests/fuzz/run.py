#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Runs random programs on a backend and compares what they compute with the oracle.

usage: run.py [--build DIR] [--backend NAME] [--seeds A..B] [--with NAME,...]
              [--without NAME,...] [--set NAME=VALUE,...] [--seconds LIMIT]
              [--shrink SECONDS] [--jobs N]

Backends: fake, fake-mpi (2 to 5 ranks and schedules drawn from the seed), fake-mpi-N (of N
ranks), threads, cuda and cuda-2 (threads and mpi-2 with GPUs of tests/cuda/standin.c, other
ones for each batch), mpi-N, ucx-N (with transport ucx), sim, sim-routes, sim-mpi, sim-flows,
sim-none (4 nodes), sim-routes-N and so on (of N, up to 64, as all of these); fake-slaves,
slaves-2 to slaves-5 and sim-slaves: fake, threads and sim on a master and its slaves, one
program a process.  A seed that fails is printed with the command
that repeats it and its program, from which operations were dropped while it still
failed.  With --seconds, as many of the seeds as fit are run.  Prints one PASS or FAIL
line; the status is 0 when all seeds that ran were right.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = [sys.executable, os.path.join(SRC, "scripts", "orrery"), "run"]
MAX_SHOWN = 3
SHRINK_TIMEOUT_S = 8 # of one program while it is shrunk


def backend_command(name, build):
    """(argv before the options of fuzz, seeds in a batch, tries of a program)."""
    program = os.path.join(build, "tests", "fuzz", "fuzz")
    match = re.fullmatch(r"slaves-(\d)", name)
    if match:
        return ORRERY + ["-n", match.group(1), program, "--slaves",
                         str(int(match.group(1)) - 1)], 1, 3
    match = re.fullmatch(r"(mpi|cuda|ucx)-(\d+)", name)
    if name == "fake-slaves":
        return [program + "_fake", "--slaves", "3"], 50, 1
    if name == "sim-slaves":
        return ORRERY + ["--sim", "small4", "-n", "4", "--execute", program + "-sim",
                         "--slaves", "3"], 1, 1
    if name == "fake":
        return [program + "_fake"], 50, 1
    if name == "fake-mpi":
        return [program + "_fake", "--mpi"], 25, 1
    if name.startswith("fake-mpi-"):
        return [program + "_fake", "--ranks", name[9:]], 25, 1
    if name in ("threads", "cuda"):
        return [program], 50 if name == "threads" else 10, 4
    if match:
        options = ["--transport", "ucx"] * (match.group(1) == "ucx")
        return ORRERY + ["-n", match.group(2)] + options + [program, "--mpi"], 10, 3
    if name == "sim":
        return ORRERY + ["--sim", "small4", "-n", "1", "--execute", program + "-sim"], 50, 1
    match = re.fullmatch(r"sim-(routes|mpi|flows|none)(?:-(\d+))?", name)
    if match:
        nodes, cluster = match.group(2) or "4", "gpu1024:%s" if match.group(2) else "small4"
        return ORRERY + ["--sim", cluster.replace("%s", nodes), "-n", nodes, "--execute",
                         "--transport", match.group(1), program + "-sim", "--mpi"], 20, 1
    sys.exit("run.py: there is no backend %s; --help lists them" % name)


def standin_env(build, first):
    """GPUs, for the batch that begins with a seed."""
    rng = random.Random(first)
    direct = rng.choice([0, 1])
    env = {"STARPU_MPI_GPUDIRECT": str(direct),
           "ORRERY_MPI_EAGER_BYTES": "32" if direct else "16384",
           "ORRERY_CUDA_LIBRARY": os.path.join(build, "tests/cuda/libcuda-standin.so"),
           "STANDIN_SEEN": "1", "STANDIN_SEED": str(first),
           "STANDIN_DEVICES": str(rng.choice([1, 2, 3])),
           "STANDIN_PEERS": str(rng.choice([0, 1])),
           "STANDIN_MIB": str(rng.choice([1, 4, 64])),
           "STANDIN_DELAY_US": str(rng.choice([0, 20, 200])),
           "STARPU_CUDA_PIPELINE": str(rng.choice([0, 1, 2, 3])),
           "STARPU_NWORKER_PER_CUDA": str(rng.choice([1, 1, 2, 3])),
           "STARPU_CUDA_THREAD_PER_DEV": str(rng.choice([-1, -1, 0, 1])),
           "STANDIN_PITCH": str(rng.choice([64, 2**31 - 1]))}
    kib = 1024 * int(env["STANDIN_MIB"])
    if rng.random() < 0.5: # What is left holds the data of any task.
        env["STANDIN_OTHERS"] = "%d:%d" % (rng.choice([5, 50]), kib - 192)
    return env


class Fuzz:
    def __init__(self, args):
        self.args = args
        self.build = os.path.abspath(args.build)
        self.argv, self.batch, self.tries = backend_command(args.backend, self.build)
        self.options = ["--timeout", str(args.timeout)]
        for option, names in (("--with", args.with_), ("--without", args.without),
                              ("--set", args.set_)):
            if names:
                self.options += [option, names]
        if "slaves" in args.backend: # Their teams are processors of the master's.
            self.options += ["--without", "teams"]
        self.home = tempfile.TemporaryDirectory(prefix="orrery-fuzz-")
        self.env = dict(os.environ, ORRERY_BUILD=self.build, STARPU_HOME=self.home.name,
                        ORRERY_MPI_WATCHDOG="20")
        self.first = 0
        self.running = {} # processes, and the seed that each began with
        self.failures = []
        self.nrun = 0
        self.deadline = time.monotonic() + args.seconds if args.seconds else None

    def env_of(self, seed):
        """Beyond that of all seeds: the batch's, when one seed is run again, too."""
        if not self.args.backend.startswith("cuda"):
            return {}
        return standin_env(self.build, seed - (seed - self.first) % self.batch)

    def run(self, options, first, count):
        """(status or None when it was stopped, output)."""
        argv = self.argv + self.options + options + [str(first), str(count)]
        process = subprocess.Popen(argv, env=dict(self.env, **self.env_of(first)), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   text=True, errors="replace", start_new_session=True)
        self.running[process] = first
        try:
            output, _ = process.communicate(timeout=self.args.timeout * (count + 1) + 30)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        finally:
            self.running.pop(process, None)

    def stopped(self, number, _frame):
        """Who limits the time of a run is told how far it has come."""
        running = dict(self.running)
        for process in running:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        print("FAIL random programs of seeds %s on %s: stopped by %s, %d have run, of which "
              "wrong: %s; in the batches from: %s" % (
                  self.args.seeds, self.args.backend, signal.Signals(number).name, self.nrun,
                  " ".join(str(seed) for seed, _, _ in self.failures[:40]) or "none",
                  " ".join(str(seed) for seed in sorted(running.values())) or "none"), flush=True)
        os._exit(1)

    def late(self):
        return self.deadline and time.monotonic() > self.deadline

    def run_batch(self, first, count):
        """Runs count seeds, again after each that ended the process."""
        last = first + count - 1
        while first <= last and not self.late():
            status, output = self.run([], first, last - first + 1)
            started = [int(n) for n in re.findall(r"^seed (\d+)$", output, re.M)]
            bad = sorted({int(n) for n in re.findall(r"^BAD seed (\d+)", output, re.M)})
            if status == 77:
                return
            at = started[-1] if started else first
            ended = re.search(r"^fuzz: \d+ programs", output, re.M)
            if status != 0 and not bad:
                bad = [at]
            self.failures += [(seed, status, output) for seed in bad]
            self.nrun += at - first + 1
            if ended and status in (0, 1):
                return
            first = at + 1

    def fails(self, seed, kept):
        keep = ["--keep", ",".join(str(n) for n in kept)] if kept is not None else []
        keep += ["--timeout", str(min(self.args.timeout, SHRINK_TIMEOUT_S))]
        for _ in range(self.tries):
            if self.run(keep, seed, 1)[0] != 0:
                return True
        return False

    def shrink(self, seed):
        """The operations that still fail; None when it does not fail again."""
        if not self.fails(seed, None):
            return None
        text = self.print_program(seed, None)
        kept = [int(n) for n in re.findall(r"^ +(\d+)  lane", text, re.M)]
        end = time.monotonic() + self.args.shrink
        size = len(kept)
        while size >= 1 and time.monotonic() < end:
            start = 0
            while start < len(kept) and time.monotonic() < end:
                fewer = kept[:start] + kept[start + size:]
                if fewer and self.fails(seed, fewer):
                    kept = fewer
                else:
                    start += size
            size = size // 2 if size < len(kept) else len(kept) // 2
        return kept

    def print_program(self, seed, kept):
        keep = ["--keep", ",".join(str(n) for n in kept)] if kept is not None else []
        return self.run(keep + ["--print"], seed, 1)[1]

    def show(self, seed, status, output):
        print("seed %d on %s: %s" % (seed, self.args.backend,
                                     "stopped" if status is None else "status %d" % status))
        lines = [line for line in output.split("\n") if not re.match(r"seed \d+$", line)]
        for line in lines[-25:]:
            print("    | " + line)
        kept = self.shrink(seed) if self.args.shrink > 0 else None
        options = self.options + (["--keep", ",".join(map(str, kept))] if kept else [])
        print("  repeat: %s%s" % (
            "".join("%s=%s " % item for item in self.env_of(seed).items()),
            shlex.join(self.argv + options + [str(seed), "1"])))
        if self.args.shrink > 0 and kept is None:
            print("  (it did not fail again)")
        elif kept:
            for line in self.print_program(seed, kept).split("\n"):
                print("  " + line)

    def main(self):
        first, _, last = self.args.seeds.partition("..")
        first, last = int(first), int(last or first)
        self.first = first
        signal.signal(signal.SIGTERM, self.stopped)
        if not os.path.exists([word for word in self.argv if "tests/fuzz" in word][0]):
            print("%s has not been built here" % self.args.backend)
            return 77
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(lambda n: self.run_batch(n, min(self.batch, last - n + 1)),
                          range(first, last + 1, self.batch)))
        for seed, status, output in self.failures[:MAX_SHOWN]:
            self.show(seed, status, output)
        claim = "random programs of seeds %s compute what the oracle does on %s" % (
            self.args.seeds, self.args.backend)
        if self.failures:
            print("FAIL %s: %d of %d are wrong: %s" % (
                claim, len(self.failures), self.nrun,
                " ".join(str(seed) for seed, _, _ in self.failures[:40])))
            return 1
        if not self.nrun:
            print("FAIL %s: none ran" % claim)
            return 1
        print("PASS %d %s" % (self.nrun, claim))
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.environ.get("ORRERY_BUILD",
                                                          os.path.join(SRC, "build")))
    parser.add_argument("--backend", default="threads")
    parser.add_argument("--seeds", default="1..300")
    parser.add_argument("--with", dest="with_", default=os.environ.get("FUZZ_WITH", ""),
                        help="features of program.h to turn on: names, or all")
    parser.add_argument("--without", default=os.environ.get("FUZZ_WITHOUT", ""))
    parser.add_argument("--set", dest="set_", default="",
                        help="environment variables, before what programs have drawn")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--timeout", type=int, default=60, help="of one program, seconds")
    parser.add_argument("--shrink", type=float, default=60, help="at most, seconds a seed")
    parser.add_argument("--jobs", type=int, default=1)
    return Fuzz(parser.parse_args()).main()


if __name__ == "__main__":
    sys.exit(main())
