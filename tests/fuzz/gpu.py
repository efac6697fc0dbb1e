#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Random graphs on random platforms whose GPUs have little memory, each run twice.

usage: gpu.py [--build DIR] [--seeds A..B] [--graphs N] [--features LETTERS] [--jobs N]

A seed is a platform, a policy, a depth of the pipelines, a set of features (unless
given) and N graphs.  The second run has another environment; all dates must be the same.
Prints one PASS or FAIL line, and each seed that failed with the command that repeats it.
"""
import argparse
import concurrent.futures
import os
import random
import shlex
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = [sys.executable, os.path.join(SRC, "scripts", "orrery"), "run", "--quiet"]
FEATURES = "spfaiubwqh"
TIMEOUT_S = 120
MAX_SHOWN = 5
XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-%d" speed="1Gf" core="4" bw="1GBps" lat="1us">
%s
  </cluster>
</platform>
"""


class Case:
    """What a seed stands for."""

    def __init__(self, seed, options, directory):
        rng = random.Random(seed)
        self.seed = seed
        self.nodes = rng.choice([1, 2, 4])
        largest = rng.choice([1000, 100000, 10000000])
        properties = self.machine(rng, largest)
        # Of their own, so that a seed's other draws are as ever.
        memories = random.Random("main memories of %d" % seed)
        numa, self.env = self.main_memories(memories, largest) \
            if memories.random() < 0.5 else ({}, {})
        properties.update(numa)
        disk, limits = self.main_limit(seed, largest, numa.get("numa_nodes", 1))
        properties.update(disk)
        properties.update(self.links(seed, properties))
        self.env.update(limits)
        self.platform = os.path.join(directory, "platform-%d.xml" % seed)
        with open(self.platform, "w", encoding="utf-8") as f:
            f.write(XML % (self.nodes - 1, "\n".join(
                '    <prop id="%s" value="%s"/>' % item for item in properties.items())))
        features = "".join(letter for letter in FEATURES if rng.random() < 0.5)
        self.env.update({"STARPU_SCHED": rng.choice(
                        ["eager", "prio", "random", "lws", "ws", "dm", "dmda", "dmdap",
                         "dmdar", "dmdas", "dmdasd", "heteroprio", "graph_test"]),
                    "STARPU_CUDA_PIPELINE": str(rng.choice([0, 1, 2, 3])),
                    "STARPU_PREFETCH": rng.choice(["0", "1"]),
                    "STARPU_MINIMUM_AVAILABLE_MEM": rng.choice(["0", "0", "10", "40"]),
                    "STARPU_TARGET_AVAILABLE_MEM": rng.choice(["0", "20", "60"])})
        self.command = [
            "--sim", self.platform, "-n", str(self.nodes), "--transport",
            rng.choice(["routes", "flows", "none"]),
            os.path.join(options.build, "tests", "fuzz", "gpu-sim"),
            str(seed * 1000), str(options.graphs), str(largest),
            (features + "l" * bool(limits) if options.features is None
             else options.features) or "-"]

    @staticmethod
    def machine(rng, largest):
        properties = {"cpus": rng.choice([0, 1, 2, 4]), "gpus": rng.choice([1, 1, 2, 4]),
                      "gpu_mem_bytes": int(largest * rng.choice([1, 1, 1.25, 2, 3.5]))}
        for name, chance, values in (("pcie_bw", 0.7, (1e6, 1e9, 25e9)),
                                     ("pcie_lat", 0.7, (0, 1e-6, 8e-6, 1e-3)),
                                     ("host_bw", 0.5, (1e6, 1e9, 50e9)),
                                     ("nvlink_bw", 0.5, (1e6, 1e9, 100e9))):
            if rng.random() < chance:
                properties[name] = rng.choice(values)
        return properties

    @staticmethod
    def links(seed, properties):
        """Of some machines whose GPUs have no links that are alike, those of some pairs."""
        rng = random.Random("links of %d" % seed)
        n = properties["gpus"]
        if n == 1 or "nvlink_bw" in properties or rng.random() < 0.3:
            return {}
        gpus = rng.sample(range(n), n)
        groups = [gpus] if n == 2 or rng.random() < 0.4 else [gpus[:2], gpus[2:]] if rng.random() < 0.5 else [gpus[1:]]
        texts = ["%s%s:%g%s" % (rng.choice(["", "switch,"]), ",".join(map(str, group)), rng.choice([1e6, 2e9, 100e9]),
                                rng.choice(["", ":0", ":1e-5", "::2", ":1e-3:1"])) for group in groups]
        return {"gpu_links": ";".join(texts), "peer_access": rng.choice([0, 1])}

    @staticmethod
    def main_memories(rng, largest):
        """Properties and environment of a machine with several, often with limits."""
        properties = {"numa_nodes": rng.choice([2, 2, 3, 4])}
        for name, values in (("numa_bw", (1e6, 2e9, 20e9)),
                             ("numa_lat", (0, 1e-6, 1e-4))):
            if rng.random() < 0.6:
                properties[name] = rng.choice(values)
        env = {"STARPU_USE_NUMA": "1", "STARPU_ENABLE_MAP": rng.choice(["0", "1"])}
        # The first one takes what the others have no room for.
        for i in range(1, properties["numa_nodes"]):
            if rng.random() < 0.5:
                env["STARPU_LIMIT_CPU_NUMA_%d_MEM" % i] = str(
                    int(largest * rng.choice([1, 1.5, 4])) // 2**20 + 1)
        return properties, env

    @staticmethod
    def main_limit(seed, largest, nmains):
        """Of a machine whose main memory holds few tasks, and the rest goes to a disk."""
        rng = random.Random("disk of %d" % seed)
        if rng.random() < 0.6:
            return {}, {}
        each = int(largest * rng.choice([1, 1.5, 4])) // 2**20 + 1
        properties = {name: rng.choice(values) for name, values in (
            ("disk_read_bw", (1e7, 1e9)), ("disk_write_bw", (1e7, 1e9)),
            ("disk_lat", (0, 1e-5, 1e-3))) if rng.random() < 0.7}
        return properties, {"STARPU_LIMIT_CPU_MEM": str(each * nmains),
                            "STARPU_DISK_SWAP": tempfile.gettempdir()}

    def run(self, build, padding):
        env = dict(os.environ, ORRERY_BUILD=build, ORRERY_TEST_FILL="x" * padding, **self.env)
        try:
            result = subprocess.run(ORRERY + self.command, env=env, timeout=TIMEOUT_S,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return "no end within %d s" % TIMEOUT_S, ""
        if result.returncode:
            return "exit status %d" % result.returncode, result.stdout
        return None, result.stdout

    def check(self, build):
        """None, or what is wrong."""
        wrong, first = self.run(build, 0)
        if not wrong:
            wrong, second = self.run(build, 3000 + self.seed % 1000)
            if not wrong and first != second:
                wrong = "two runs differ"
            first = second
        if not wrong:
            return None
        said = [line for line in first.splitlines() if "[orrery]" in line or ": memory" in line]
        with open(self.platform, encoding="utf-8") as f:
            platform = f.read()
        return "seed %d: %s\n%s orrery run %s\n%s%s" % (
            self.seed, wrong, " ".join("%s=%s" % item for item in self.env.items()),
            shlex.join(self.command), platform,
            "".join("  %s\n" % line for line in said[:20]))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.environ.get("ORRERY_BUILD",
                                                          os.path.join(SRC, "build")))
    parser.add_argument("--seeds", default="1..30")
    parser.add_argument("--graphs", type=int, default=5)
    parser.add_argument("--features")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    first, _, last = options.seeds.partition("..")
    seeds = range(int(first), int(last or first) + 1)
    with tempfile.TemporaryDirectory() as directory, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failed = [text for text in pool.map(
            lambda seed: Case(seed, options, directory).check(options.build), seeds) if text]
    for text in failed[:MAX_SHOWN]:
        print(text)
    claim = "random graphs on GPUs with little memory, seeds %s" % options.seeds
    print("FAIL %s: %d of %d failed" % (claim, len(failed), len(seeds)) if failed
          else "PASS " + claim)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
