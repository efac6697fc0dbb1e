#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Simulated makespans of a Cholesky factorisation beside those that StarPU simulates.

usage: starpu_dates.py [--table] [host=NAME] [scheduler=NAME] [tile=N] [nblocks=N] ...

Reads starpu-sim-reference.csv and starpu-sampling/ in $ORR_TEST_DATA, else ../shared/data
beside the sources; without them it is skipped.  --table: all ratios.
"""
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
DATA = os.environ.get("ORR_TEST_DATA", os.path.join(SRC, "..", "shared", "data"))
PROGRAM = os.path.join(BUILD, "tests", "sim", "tile_cholesky-sim")
# The median ratio of a scheduler differs from 1 by less than this, and none by more than the
# second figure: which of several idle workers takes a task is not known of StarPU.
TOLERANCE = {"dmdas": 0.05, "dmda": 0.05, "eager": 0.05, "lws": 0.13,
             "lws as StarPU steals": 0.07}
LARGEST = 0.3
# Makespans in milliseconds, rounded: of shorter ones the ratio says little.
SHORT_MS = 100
MACHINE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-0" speed="1Gf" core="16" bw="1GBps" lat="1us">
    <prop id="cpus" value="{ncpu}"/>
    <prop id="gpus" value="{ncuda}"/>
    <prop id="cpu_model" value="{host}"/>
    <prop id="gpu_model" value="{host}"/>
    <prop id="pcie_bw" value="{pcie}"/>
    <prop id="pcie_lat" value="{latency}"/>
    <prop id="host_bw" value="{host_bw}"/>
    <prop id="host_shared" value="1"/>
    <prop id="host_peers" value="{crossings}"/>
    {peer}
  </cluster>
</platform>
"""


def measured(host, what):
    """The matrix of StarPU's bus file: MB/s or microseconds, from and to memory nodes."""
    with open(os.path.join(DATA, "starpu-sampling", "bus", host + "." + what),
              encoding="utf-8") as f:
        return [[float(x) for x in line.split()] for line in f if line[0] != "#"]


def crossings(host):
    """How often StarPU's route from one GPU to another crosses the link of the host, which
    all copies of both directions share."""
    root = ElementTree.parse(os.path.join(DATA, "starpu-sampling", "bus",
                                          host + ".platform.v4.xml")).getroot()
    for route in root.iter("route"):
        if (route.get("src"), route.get("dst")) == ("CUDA0", "CUDA1"):
            return sum(link.get("id") == "Host" for link in route)
    return 0


def write_machine(path, row):
    bandwidth, latency = measured(row["host"], "bandwidth"), measured(row["host"], "latency")
    to, back = bandwidth[0][1] * 1e6, bandwidth[1][0] * 1e6
    peer = ""
    if int(row["ncuda"]) > 1:
        peer = '<prop id="nvlink_bw" value="%g"/>' % (
            1e6 * (bandwidth[1][2] + bandwidth[2][1]) / 2)
    with open(path, "w", encoding="utf-8") as f:
        f.write(MACHINE.format(pcie="%g" % ((to + back) / 2), host_bw="%g" % max(to, back),
                               latency="%g" % (1e-6 * (latency[0][1] + latency[1][0]) / 2),
                               peer=peer, crossings=crossings(row["host"]), **row))


def ways(row):
    """{name: what is set} of the simulations that are compared with that of a row."""
    found = {row["scheduler"]: {}}
    if row["scheduler"] == "lws":
        found["lws as StarPU steals"] = {"ORRERY_STARPU_STEALING": "1"}
    return found


def simulate(directory, row, **knobs):
    """Makespan in milliseconds, or the output."""
    platform = os.path.join(directory, "machine.xml")
    write_machine(platform, row)
    env = dict(os.environ, ORRERY_BUILD=BUILD, STARPU_SCHED=row["scheduler"],
               STARPU_HOSTNAME=row["host"],
               STARPU_PERF_MODEL_DIR=os.path.join(DATA, "starpu-sampling"), **knobs)
    out = subprocess.run([sys.executable, ORRERY, "run", "--quiet", "--sim", platform,
                          "-n", "1", PROGRAM, row["tile"], row["nblocks"]], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200,
                         env=env, check=False).stdout
    found = re.search(r"^makespan: (\S+) s", out, re.MULTILINE)
    return 1e3 * float(found.group(1)) if found else out


def chosen(row, words):
    return all(row[name] == value for name, value in (word.split("=") for word in words))


def main():
    reference = os.path.join(DATA, "starpu-sim-reference.csv")
    words = [word for word in sys.argv[1:] if "=" in word]
    if not os.path.exists(reference):
        print("no %s: set ORR_TEST_DATA" % reference)
        return 77
    with open(reference, encoding="utf-8") as f:
        rows = [row for row in csv.DictReader(f) if chosen(row, words)]
    ratios, failed = {}, 0
    with tempfile.TemporaryDirectory() as directory:
        for row, name, knobs in ((row, name, knobs) for row in rows
                                 for name, knobs in ways(row).items()):
            ours = simulate(directory, row, **knobs)
            if isinstance(ours, str):
                print("FAIL %s runs: %s" % (row, ours))
                return 1
            ratio = ours / float(row["time_ms"])
            if float(row["time_ms"]) >= SHORT_MS:
                ratios.setdefault(name, []).append(ratio)
            if "--table" in sys.argv:
                print("%-8s %-6s tile %4s nblocks %2s cpu %s cuda %s: %9.2f ms, StarPU %6s: %.3f"
                      % (row["host"], name, row["tile"], row["nblocks"],
                         row["ncpu"], row["ncuda"], ours, row["time_ms"], ratio))
    for scheduler, those in sorted(ratios.items()):
        median = statistics.median(those)
        figures = "median %.3f, least %.3f, most %.3f" % (median, min(those), max(those))
        good = (abs(median - 1) < TOLERANCE[scheduler] and
                max(abs(ratio - 1) for ratio in those) < LARGEST)
        failed += not good
        if good:
            print("PASS %s takes as long as StarPU's" % scheduler)
        else:
            print("FAIL %s takes as long as StarPU's: %s" % (scheduler, figures))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
