# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The simulated machines of the experiments, as SimGrid platforms.

Figures are of public data sheets where "data sheet" stands beside them, else estimates; what
an experiment compares does not depend on one figure, and each is a place to try another.
"""
import os
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Cray XE6: nodes of two twelve-core processors at 2.1 GHz on a Gemini torus.
XE6_CORES = 24
XE6_POINT_NS = 11.5  # 24 bytes of a point over 1/24 of 50 GB/s that a node's memory reaches
XE6_CORE_GFLOPS = 7.1  # of a large matrix product: 85 % of the peak of 8.4
XE6 = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <!-- Exact sharing of links for SMPI's own messages, too; and no messages of TCP that say
       what has come, which this network does not have. -->
  <config>
    <prop id="network/optim" value="Full"/>
    <prop id="network/crosstraffic" value="0"/>
  </config>
  <!-- bw: a link of the torus, one direction: 4.7 GB/s.  lat: a hop, an estimate.
       limiter_link: what a node can send and receive at a time: 6 GB/s.
       Each node has its own place in the torus, which is a simplification: two share one
       router in the real machine.  speed: peak of a core, data sheet. -->
  <cluster id="xe6" prefix="node-" suffix="" radical="0-%d" topology="TORUS"
           topo_parameters="%s" speed="8.4Gf" core="%d" bw="4.7GBps" lat="100ns"
           limiter_link="6GBps" loopback_bw="10GBps" loopback_lat="500ns">
    <prop id="cpus" value="%d"/>
  </cluster>
</platform>
"""

# GPUs: NVIDIA A100, as those of platforms/small4.toml.
A100_POINT_NS = 0.017  # 24 bytes of a point over the 1.4 TB/s that its memory reaches
A100_COPY = ("--copy-bw", "25e9", "--copy-us", "8")  # as pcie_bw and pcie_lat there


def cubic(nodes):
    """nodes as a product of three whole numbers, the most equal, the largest first."""
    best = (nodes, 1, 1)
    for z in range(1, round(nodes ** (1 / 3)) + 1):
        for y in range(z, nodes // z + 1):
            if nodes % (y * z) == 0 and y <= nodes // (y * z) < best[0]:
                best = (nodes // (y * z), y, z)
    return best


def xe6(directory, nodes, cores=XE6_CORES):
    path = os.path.join(directory, "xe6-%d-%d.xml" % (nodes, cores))
    with open(path, "w", encoding="ascii") as f:
        f.write(XE6 % (nodes - 1, ",".join(map(str, cubic(nodes))), cores, cores))
    return path


def switch(path, nodes, cores, gpus):
    """Nodes like those of platforms/small4.toml, with other numbers of cores and GPUs."""
    subprocess.run([sys.executable, os.path.join(SRC, "scripts", "orrery"), "platform",
                    "small4:%d" % nodes, "node.cores=%d" % cores, "node.workers=%d" % cores,
                    "node.gpus=%d" % gpus, "-o", path], stdout=subprocess.DEVNULL, check=True)


def flat(directory, nodes, gpus):
    """Nodes of 16 cores and some A100, each with one link to a switch that never is full."""
    path = os.path.join(directory, "flat-%d-%d.xml" % (nodes, int(gpus)))
    switch(path, nodes, 16, int(gpus))
    return path
