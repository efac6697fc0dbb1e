#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Descriptions of laboratories, and the mistakes that somebody makes who writes the first one:
each is refused in one sentence with line and remedy, or taken and spoken of."""
import contextlib
import io
import os
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool.platform_command import command_platform   # noqa: E402
from orrery_tool.words import Refusal                       # noqa: E402

LABS = {
    "gpus": """nodes = 32
network = "fat tree"
link = "HDR"
[node]
cpu = "epyc-7763"
sockets = 2
memory = "512 GB"
gpu = "A100-SXM4-80GB"
gpus = 4
""",
    "ethernet": """nodes = 8
network = "switch"
bandwidth = "10 Gbit/s"
latency = "20 us"
[node]
cpu_dp = "39.2 GFlop/s"
sockets = 2
cores = 12
memory = "64 GB"
""",
    "torus": """nodes = 128
network = "torus"
shape = [4, 4, 8]
bandwidth = "8 GB/s"
latency = "1.5 us"
[node]
cores = 24
""",
    "dragonfly": """nodes = 384
network = "dragonfly"
link = "Aries"
nodes_per_router = 4
routers = 16
chassis = 6
[node]
cores = 24
""",
    "mixed": """link = "EDR"
[node]
cpu = "epyc-7763"
[[partition]]
name = "cpu"
nodes = 100
[[partition]]
name = "gpu"
nodes = 12
[partition.node]
gpu = "H100-SXM5-80GB"
gpus = 4
""",
    "desk": """nodes = 1
bandwidth = "1 GB/s"
latency = "30 us"
[node]
cores = 8
memory = "32 GB"
gpus = 1
gpu_model = "RTX3090"
gpu_memory = "24 GB"
gpu_sp = "35 TFlop/s"
gpu_dp = "0.5 TFlop/s"
pcie_bandwidth = "12 GB/s"
pcie_latency = "10 us"
""",
    "like": """like = "h100"
nodes = 16
[node]
gpus = 4
""",
    "tree": """nodes = 64
network = "fat tree"
tree = "2;16,4;1,4;1,4"
link = "EDR"
[node]
cores = 16
""",
    "numa": """nodes = 2
link = "HDR"
[node]
cores = 32
sockets = 2
numa_per_socket = 4
numa_bandwidth = "40 GB/s"
memory = "256 GB"
disks = 2
disk_read_bandwidth = "3 GB/s"
disk_latency = "80 us"
""",
    "backbone": """nodes = 20
bandwidth = "1 Gbit/s"
latency = "50 us"
backbone_bandwidth = "10 Gbit/s"
loopback_bandwidth = "5 GB/s"
loopback_latency = "300 ns"
[node]
cores = 4
""",
    "ports": """nodes = 500
network = "fat tree"
switch_ports = 36
oversubscription = 2
link = "FDR"
hop_latency = "100 ns"
[node]
cores = 16
""",
    "measured": """nodes = 2
bandwidth = "11 GB/s"
latency = "1.4 us"
message_cost = "300 ns"
bandwidth_factors = "0:0.5;4096:0.7;65536:1"
[node]
cores = 16
push_costs = "dmda:1e-6"
copy_factors = "0:1;65536:0.6"
copies_messages = 1
cold_costs = "0:4e-7;98304:1e-6"
""",
}
# laboratory: (what is replaced, by what, words of the refusal)
MISTAKES = {
    "gpus": (
        ("\"HDR\"", "\"HDR InfiniBand\"", [":3:", "did you mean \"HDR\"?"]),
        ("gpus = 4", "gpus = 4\nnvlink_latency = \"1 us\"", [":10:", "take pcie_latency, too"]),
        ("gpus = 4", "nics = 4", [":9:", "all ports of a node together"]),
        ("sockets = 2", "hyperthreading = true", [":6:", "cores are those that workers run on"]),
        ("nodes = 32", "nodes = 32 nodes", [":1:", "has no unit: nodes = 32"]),
        ("nodes = 32", "nodes = \"32 nodes\"", [":1:", "a whole number; did you mean 32?"]),
        ("nodes = 32", "Nodes = 32", [":1:", "did you mean nodes?"]),
        ("nodes = 32", "nodes = -4", [":1:", "nodes is -4, expected 1 to 1048576"]),
        ("nodes = 32", "nodes = true", [":1:", "nodes is true"]),
        ("nodes = 32", "nodes = 32;", [":1:", "leave the \";\" at its end out"]),
        ("nodes = 32", "// our lab", [":1:", "comments begin with #"]),
        ("nodes = 32", "nodes\u00a0= 32", [":1:", "U+00A0", "a plain space"]),
        ("\"HDR\"", "\u201cHDR\u201d", [":3:", "U+201C", "type a plain \""]),
        ("nodes = 32", "nodes =", [":1:", "say its value"]),
        ("fat tree", "star", [":2:", "network is \"star\", expected \"switch\""]),
        ("[node]", "[node", [":4:", "write [node]"]),
        ("[node]", "[Node]", [":4:", "did you mean [node]?"]),
        ("[node]", "[[node]]", [":4:", "node is a list of tables", "[node]"]),
        ("[node]", "[node]\n[node]", [":5:", "put all in one [node]"]),
        ("sockets = 2", "sockets = 0", [":6:", "sockets is 0, expected 1"]),
        ("512 GB", "0 GB", [":7:", "memory is 0", "leave it out"]),
        ("512 GB", "512 gb", [":7:", "did you mean \"512 GB\"?"]),
        ("512 GB", "512G", [":7:", "did you mean \"512 GB\"?"]),
        ("512 GB", "0,5 TB", [":7:", "did you mean \"0.5 TB\"?"]),
        ("512 GB", "512e30 GB", [":7:", "more than a machine has"]),
        ("\"512 GB\"", "512", [":7:", "memory is 512, without a unit bytes", "\"64 GB\""]),
        ("\"512 GB\"", "inf", [":7:", "memory is inf"]),
        ("\"512 GB\"", "nan", [":7:", "memory is nan"]),
        ("gpus = 4", "gpus = 400", [":9:", "gpus is 400, expected 0 to 16"]),
        ("gpus = 4", "gpsu = 4", [":9:", "did you mean gpus?"]),
        ("gpus = 4", "gpu_count = 4", [":9:", "did you mean gpus?"]),
        ("gpus = 4", "latency = \"1 us\"", [":9:", "above the first [table]"]),
        ("gpus = 4", "[network]\nx = 1", [":9:", "no such table", "[[partition]]"]),
    ),
    "ethernet": (
        ("10 Gbit/s", "10GbE", [":3:", "did you mean \"10 Gbit/s\"?"]),
        ("10 Gbit/s", "10 GB", [":3:", "did you mean \"10 GB/s\"?"]),
        ("10 Gbit/s", "10 GiB", [":3:", "did you mean \"10 GiB/s\"?"]),
        ("10 Gbit/s", "10 Gbit", [":3:", "did you mean \"10 Gbit/s\"?"]),
        ("10 Gbit/s", "10Gb", [":3:", "did you mean \"10 Gbit/s\" or \"10 GB/s\"?"]),
        ("10 Gbit/s", "10 gbps", [":3:", "did you mean \"10 Gbit/s\" or"]),
        ("10 Gbit/s", "10 Gigabit", [":3:", "did you mean \"10 Gbit/s\"?"]),
        ("10 Gbit/s", "10,5 Gbit/s", [":3:", "did you mean \"10.5 Gbit/s\"?"]),
        ("10 Gbit/s", "20 us", [":3:", "expected a bandwidth"]),
        ("10 Gbit/s", "0 GB/s", [":3:", "bandwidth is 0"]),
        ("\"10 Gbit/s\"", "10", [":3:", "without a unit bytes per second", "\"10 GB/s\""]),
        ("\"10 Gbit/s\"", "10 Gbit/s", [":3:", "need quotes: bandwidth = \"10 Gbit/s\""]),
        ("20 us", "20 usec", [":4:", "did you mean \"20 us\"?"]),
        ("20 us", "20 milliseconds", [":4:", "did you mean \"20 ms\"?"]),
        ("\"20 us\"", "20", [":4:", "without a unit seconds", "\"1.5 us\""]),
        ("39.2 GFlop/s", "2.45 GHz", [":6:", "cycles per second times"]),
        ("39.2 GFlop/s", "39.2", [":6:", "did you mean \"39.2 GFlop/s\"?"]),
        ("\"39.2 GFlop/s\"", "39.2e9", [":6:", "is 39200000000, without a unit GFlop/s"]),
        ("cores = 12", "cores = 12\nworkers = 0", [":9:", "workers is 0"]),
        ("cores", "threads", [":8:", "did you mean cores?"]),
        ("memory", "ram", [":9:", "did you mean memory?"]),
        ("nodes", "hosts", [":1:", "did you mean nodes?"]),
        ("network", "topology", [":2:", "did you mean network?"]),
        ("bandwidth", "bw", [":3:", "did you mean bandwidth?"]),
        ("network = \"switch\"", "network = \"InfiniBand\"",
         [":2:", "expected \"switch\" or", "said by link = \"HDR\""]),
        ("network = \"switch\"", "prefix = \"lab\"", [":2:", "node-0"]),
        ("cores = 12", "switch_ports = 4", [":8:", "above the first [table]"]),
        ("network = \"switch\"", "switch_ports = 4",
         [":2:", "is of a network = \"fat tree\"", "without network"]),
        ("[node]", "hop_latency = \"30 us\"\n[node]", [":5:", "more than the latency of 20 us"]),
        ("cores = 12", "gpu_memory = \"12 GB\"", [":8:", "how many GPUs", "gpus = 1"]),
        ("cores = 12", "disk_latency = \"1 us\"", [":8:", "how many disks", "disks = 1"]),
    ),
    "torus": (
        ("[4, 4, 8]", "[4, 4, 4]", [":3:", "has 64 nodes, and nodes is 128"]),
        ("[4, 4, 8]", "[0, 4, 8]", [":3:", "expected lengths"]),
        ("[4, 4, 8]", "[4.0, 4, 8]", [":3:", "did you mean [4, 4, 8]?"]),
        ("[4, 4, 8]", "[4, 4, 8", [":4:", "a \"]\" is missing before it"]),
        ("shape", "dims", [":3:", "did you mean shape?"]),
        ("nodes = 128", "nodes = 127", [":3:", "nodes is 127"]),
        ("[node]", "routers = 4\n[node]", [":6:", "network is \"torus\""]),
        ("[node]", "backbone_bandwidth = \"1 GB/s\"\n[node]", [":6:", "a network = \"switch\""]),
    ),
    "dragonfly": (
        ("routers = 16", "routers = 0", [":5:", "routers is 0, expected 1"]),
        ("chassis = 6", "groups = 6", [":6:", "groups follows from nodes"]),
        ("chassis = 6", "group_links = 0", [":6:", "group_links is 0, expected 1"]),
        ("chassis = 6", "chassis = -1", [":6:", "chassis is -1, expected 1"]),
        ("chassis = 6", "chassis = 6.5", [":6:", "a whole number"]),
        ("chassis = 6", "shape = [2, 3]", [":6:", "network is \"dragonfly\""]),
        ("nodes_per", "hosts_per", [":4:", "did you mean nodes_per_router?"]),
        ("dragonfly", "dragon fly", [":2:", "did you mean \"dragonfly\"?"]),
    ),
    "mixed": (
        ("nodes = 12", "nodes = 12\nbandwidth = \"1 GB/s\"", [":10:", "above the first [table]", "<cluster>s"]),
        ("link = \"EDR\"", "uplink_bandwidth = \"1 GB/s\"", [":1:", "are of one network", "<cluster>s"]),
        ("\"gpu\"", "\"cpu\"", [":8:", "two partitions are called \"cpu\""]),
        ("nodes = 12", "nodes = 0", [":9:", "nodes is 0, expected 1"]),
        ("nodes = 100", "node = 100", [":6:", "did you mean nodes = 100?"]),
        ("nodes = 12", "nodes = \"100-111\"", [":9:", "a whole number"]),
        ("nodes = 12", "range = \"90-111\"", [":9:", "say how many"]),
        ("[[partition]]\nname = \"gpu\"", "[partition]\nname = \"gpu\"", [":7:", "[[partition]]"]),
        ("[partition.node]\n", "", [":10:", "belongs in [partition.node]"]),
        ("[partition.node]", "[[partition.node]]", [":10:", "expected a table: [partition.node]"]),
        ("[partition.node]", "[partition.nodes]", [":10:", "[partition.node]"]),
        ("[partition.node]", "[node]", [":10:", "[partition.node] below it"]),
        ("[[partition]]", "[[partitions]]", [":4:", "did you mean [[partition]]?"]),
        ("nodes = 12", "nodes = 12\nlink = \"HDR\"", [":10:", "above the first [table]"]),
    ),
    "desk": (
        ("24 GB", "0 GB", [":9:", "gpu_memory is 0"]),
        ("\"RTX3090\"", "\"\"", [":8:", "gpu_model is empty"]),
        ("gpu_model", "gpu_name", [":8:", "did you mean gpu?"]),
        ("12 GB/s", "gen4 x16", [":12:", "expected a bandwidth"]),
        ("12 GB/s", "0 GB/s", [":12:", "pcie_bandwidth is 0"]),
        ("pcie_latency = \"10 us\"", "host_shared = 2", [":13:", "expected 0 or 1"]),
        ("pcie_latency = \"10 us\"", "host_shared = true", [":13:", "did you mean 1?"]),
        ("pcie_latency = \"10 us\"", "host_peers = 7", [":13:", "expected 0 to 2"]),
        ("pcie_latency = \"10 us\"", "peer_access = 2", [":13:", "expected 0 or 1"]),
        ("\"30 us\"", "\"0.00003\"", [":3:", "did you mean \"30 us\"?"]),
        ("\"35 TFlop/s\"", "\"35,5 TFlop/s\"", [":10:", "did you mean \"35.5 TFlop/s\"?"]),
        ("\"32 GB\"", "\"32 GB", [":6:", "a quotation mark is missing: memory = \"32 GB\""]),
        ("gpus = 1", "gpus = 1 x RTX3090", [":7:", "a number of things has no unit: gpus = 1"]),
        ("gpus = 1", "gpus = one", [":7:", "expected a whole number: gpus = 4"]),
        ("bandwidth = \"1 GB/s\"", "link = \"gigabit\"", [":2:", "did you mean \"1G-Ethernet\"?"]),
        ("nodes = 1\n", "nodes = 1\nnetwork = \"gigabit ethernet\"\n", [":2:", "link = \"1G-Ethernet\""]),
        ("gpus = 1\n", "", [":7:", "how many GPUs", "gpus = 1"]),
    ),
    "like": (
        ("h100", "H100", [":1:", "did you mean \"h100\"?"]),
        ("h100", "h100.toml", [":1:", "did you mean \"h100\"?"]),
        ("h100", "h100:16", [":1:", "did you mean \"h100\"?"]),
        ("h100", os.path.join(SRC, "platforms/xml/small4.xml"), [":1:", "a platform: expected"]),
        ("h100", "lab.toml", [":1:", "in a circle"]),
        ("h100", "..", [":1:", "expected a file or one of"]),
        ("\"h100\"", "100", [":1:", "like is 100"]),
        ("gpus = 4", "gpus = \"four\"", [":4:", "a whole number"]),
    ),
    "tree": (
        ("nodes = 64", "nodes = 63", [":3:", "has 64 nodes, and nodes is 63"]),
        ("2;16,4;1,4", "3;16,4;1,4", [":3:", "LEVELS;"]),
        ("1,4;1,4", "1,0;1,4", [":3:", "LEVELS;"]),
        ("1,4;1,4", "1,4;1,-4", [":3:", "LEVELS;"]),
        ("1,4;1,4", "1,400000;1,4", [":3:", "LEVELS;"]),
        ("2;16,4;1,4;1,4", "", [":3:", "tree is empty"]),
        ("link", "switch_ports = 8\nlink", [":4:", "changes nothing beside tree"]),
        ("fat tree", "torus", [":3:", "tree is of a network = \"fat tree\""]),
    ),
    "numa": (
        ("disks = 2", "disk_size = \"2 TB\"", [":9:", "STARPU_DISK_SWAP_SIZE"]),
        ("sockets = 2", "sockets = 4", [":6:", "16 main memories", "knows 8"]),
        ("numa_per_socket = 4", "numa_per_socket = 0", [":6:", "expected 1 to 8"]),
        ("40 GB/s", "0 GB/s", [":7:", "numa_bandwidth is 0"]),
        ("disks = 2", "disks = [\"/tmp\"]", [":9:", "how many: 1?"]),
        ("disks = 2", "disks = 2.5", [":9:", "a whole number"]),
        ("3 GB/s", "0 GB/s", [":10:", "disk_read_bandwidth is 0"]),
        ("80 us", "80 MB/s", [":11:", "expected a time"]),
        ("disks = 2\n", "", [":9:", "how many disks"]),
    ),
    "backbone": (
        ("backbone_bandwidth", "backbone_latency", [":4:", "takes the latency, whatever it crosses"]),
        ("10 Gbit/s", "0 Gbit/s", [":4:", "backbone_bandwidth is 0"]),
        ("backbone_bandwidth", "bb_bw", [":4:", "did you mean backbone_bandwidth?"]),
        ("5 GB/s", "0 GB/s", [":5:", "loopback_bandwidth is 0"]),
        ("loopback_bandwidth = \"5 GB/s\"\n", "", [":5:", "without loopback_bandwidth"]),
        ("[node]", "network = \"fat tree\"\n[node]", [":4:", "network is \"fat tree\""]),
        ("nodes = 20", "nodes = [\"a\", \"b\"]", [":1:", "how many: 2?"]),
        ("300 ns", "-300 ns", [":6:", "expected a time"]),
        ("latency = \"50 us\"\n", "", ["nothing of the network's latency", "1.2 us"]),
    ),
    "ports": (
        ("36", "1", [":3:", "switch_ports is 1, expected 2"]),
        ("36", "-36", [":3:", "switch_ports is -36, expected 2"]),
        ("36", "3", [":3:", "switch_ports = 14 or more"]),
        ("oversubscription = 2", "oversubscription = 0.5", [":4:", "expected 1 or more"]),
        ("oversubscription = 2", "oversubscription = \"2:1\"", [":4:", "did you mean 2?"]),
        ("switch_ports", "arity", [":3:", "did you mean switch_ports?"]),
        ("100 ns", "100 us", [":6:", "more than the latency"]),
        ("nodes = 500", "nodes = 1000000", [":3:", "switch_ports = "]),
    ),
    "measured": (
        ("300 ns", "3 us", [":4:", "more than the latency"]),
        ("0:0.5;", "0.5;", [":5:", "ABOVE_BYTES:FACTOR"]),
        ("0:0.5", "0:-0.5", [":5:", "factors above 0"]),
        ("0:0.5;4096:0.7", "4096:0.7;0:0.5", [":5:", "bytes in order"]),
        ("[node]", "factors = \"smpi\"\n[node]", [":5:", "changes nothing beside factors"]),
        ("[node]", "link_latency = \"1 us\"\n[node]", [":4:", "changes nothing beside"]),
        ("dmda:1e-6", "fast", [":8:", "POLICY:SECONDS"]),
        ("0:1;65536", "0:1,65536", [":9:", "ABOVE_BYTES:FACTOR"]),
        ("copies_messages = 1", "copies_messages = 5", [":10:", "expected 0 or 1"]),
        ("0:4e-7", "0:4 us", [":11:", "cold_costs is", "ABOVE_BYTES:SECONDS"]),
        ("0:4e-7", "0:-4e-7", [":11:", "cold_costs is", "ABOVE_BYTES:SECONDS"]),
        ("cold_costs = \"0:4e-7;98304:1e-6\"", "gpu_kernels = \"potrf:1.5:1e-6\"",
         [":11:", "gpu_kernels is", "above 0 and at most 1", "\"alike\""]),
    ),
}
# laboratory, what is replaced, by what, words that are said of what is taken nevertheless
REMARKS = (
    ("ethernet", "20 us", "20 ms", "lab.toml:4: latency is 20 ms, as between towns; is that meant?"),
    ("gpus", "512 GB", "512 B", "lab.toml:7: memory is 512 bytes; is that meant?"),
    ("gpus", "512 GB", "512 TB", "lab.toml:7: memory is 5.12e+14 bytes; is that meant?"),
    ("ethernet", "10 Gbit/s", "1 TB/s", "lab.toml:3: bandwidth is 1e+12 bytes per second; is that meant?"),
    ("ethernet", "20 us", "0 us", "lab.toml:4: latency is 0 seconds; is that meant?"),
    ("ethernet", "cores = 12", "cores = 12000", "lab.toml:8: cores is 12000 to a socket; is that meant?"),
    ("numa", "3 GB/s", "3 TB/s", "lab.toml:10: disk_read_bandwidth is 3e+12 bytes per second"),
    ("gpus", "gpus = 4\n", "", "lab.toml:8: nothing says how many GPUs a node has: 1 is taken"),
    ("gpus", "sockets = 2", "cores = 128", "lab.toml:6: cores is 128, and a socket of the epyc-7763 has 64; cores are those of one socket"),
    ("ethernet", "20 us", "20 s", "lab.toml:4: latency is 20 seconds; is that meant?"),
    ("ethernet", "10 Gbit/s", "10 kB/s", "lab.toml:3: bandwidth is 10000 bytes per second"),
    ("ethernet", "cores = 12\n", "", "how many cores a node has: 1 is taken; say cores = 16"),
    ("ethernet", "cores = 12", "cores = 12\nworkers = 48", "workers is 48, and a node has 24"),
    ("ethernet", "cores = 12", "cores = 150", "run CPU workers is 300, and a node has at most 256 CPU"),
    ("desk", "12 GB/s", "12 MB/s", "lab.toml:12: pcie_bandwidth is 1.2e+07"),
    ("desk", "\"1 GB/s\"", "\"200 GB/s\"", "lab.toml:2: bandwidth is 200 GB/s, and all GPUs"),
    ("desk", "0.5 TF", "500 TF", "lab.toml:11: gpu_dp is more than gpu_sp"),
    ("backbone", "10 Gbit/s", "0.1 Gbit/s", "lab.toml:4: all share a backbone of 0.0125 GB/s"),
    ("numa", "sockets = 2\nnuma_per_socket = 4\n", "", "numa_bandwidth changes nothing in a node"),
)
GOOD = (("10 Gbps", "ethernet", "10 Gbit/s"), ("10 GBps", "ethernet", "10 Gbit/s"),
        ("20 \u00b5s", "ethernet", "20 us"), ("39.2 GFLOPS", "ethernet", "39.2 GFlop/s"),
        ("39.2 GFlops", "ethernet", "39.2 GFlop/s"), ("Fat-Tree", "gpus", "fat tree"),
        ("hdr", "gpus", "HDR"), ("512\u00a0GB", "gpus", "512 GB"))

LAB = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="lab" prefix="n" suffix="" radical="0-15" speed="10Gf" bw="12GBps" lat="1us">
    <prop id="smpi/or" value="0:3e-7:0"/>
  </cluster>
</platform>
"""
# The same in XML: what is replaced, by what, words of the refusal
IN_XML = (
    ("12GBps", "100Gb/s", [":4: <cluster>: bw=", "did you mean \"100Gbps\"?"]),
    ("12GBps", "12 GB/s", [":4: <cluster>: bw=", "did you mean \"12GBps\"?"]),
    ("12GBps", "12GBytes/s", [":4: <cluster>: bw=", "did you mean \"12GBps\"?"]),
    ("12GBps", "1us", [":4: <cluster>: bw=", "write it as 1.25GBps or 10Gbps"]),
    ("1us", "1 us", [":4: <cluster>: lat=", "did you mean \"1us\"?"]),
    ("1us", "1usec", [":4: <cluster>: lat=", "did you mean \"1us\"?"]),
    ("1us", "1GBps", [":4: <cluster>: lat=", "write it as 1.2us"]),
    ("0-15", "0..15", [":4: <cluster>: radical=", "\"0-1023\""]),
    ("0-15", "15-0", [":4: <cluster>: radical=", "did you mean \"0-15\"?"]),
    ("prefix=\"n\" ", "", [":4: <cluster>: it lacks prefix"]),
    (" version=\"4.1\"", "", [":3: <platform>: its version is missing"]),
    ("0:3e-7:0", "300ns", [":5: <prop>: smpi/or is", "\"0:3e-7:0;65536:5e-7:0\""]),
    ("bw=", "core=\"16 cores\" bw=", [":4: <cluster>: core=", "did you mean \"16\"?"]),
    ("bw=", "core=\"0\" bw=", [":4: <cluster>: core=\"0\"", "1 or more"]),
    ("bw=", "core=\"2.5\" bw=", [":4: <cluster>: core=\"2.5\"", "a whole number"]),
    ("10Gf", "2.5GHz", [":4: <cluster>: speed=", "such as \"2.5Gf\""]),
    ("10Gf", "10 GFlop/s", [":4: <cluster>: speed=", "did you mean \"10Gf\"?"]),
    ("10Gf", "10Gf,5GFlops", [":4: <cluster>: speed=", "did you mean \"5Gf\"?"]),
    ("lat=", "topo_parameters=\"4,4\" lat=", [":4: <cluster>: topo_parameters", "without topology"]),
    ("lat=", "topology=\"TORUS\" lat=", [":4: <cluster>: topo_parameters", "lengths: \"4,4,8\""]),
    ("lat=", "topology=\"TORUS\" topo_parameters=\"4x4\" lat=", [":4: <cluster>:", "\"4,4,8\""]),
    ("lat=", "topology=\"TORUS\" topo_parameters=\"4,2\" lat=",
     [":4: <cluster>:", "names 16 hosts", "has 8 places"]),
    ("lat=", "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2\" lat=",
     [":4: <cluster>:", "\"2;16,4;1,4;1,4\""]),
    ("lat=", "topology=\"DRAGONFLY\" topo_parameters=\"4,4;2\" lat=",
     [":4: <cluster>:", "\"3,4;4,3;5,1;2\""]),
    ("lat=", "bb_lat=\"1us\" lat=", [":4: <cluster>: bb_lat without bb_bw"]),
    ("smpi/or\" value=\"0:3e-7:0", "num_gpus\" value=\"4", [":5: <prop>:", "did you mean \"gpus\"?"]),
    ("smpi/or\" value=\"0:3e-7:0", "nb-cores\" value=\"4", [":5: <prop>:", "did you mean \"cpus\"?"]),
    ("smpi/or\" value=\"0:3e-7:0", "gpu_memory\" value=\"4", [":5: <prop>:", "\"gpu_mem_bytes\"?"]),
    ("smpi/or\" value=\"0:3e-7:0", "gpus\" value=\"99", [":5: <prop>:", "from 0 to 16"]),
    ("<prop", "<prop id=\"gpus\" value=\"1\"/><prop id=\"gpus\" value=\"2\"/><prop",
     [":5: <prop>: gpus is said twice"]),
    ("</platform>", "<prop id=\"gpus\" value=\"1\"/></platform>",
     [":7: <prop>: gpus says nothing of a <platform>", "<cluster>"]),
    ("id=\"lab\"", "id=\"R&D\"", [":4:", "line 4: write &amp;"]),
    ("12GBps\"", "12GBps", [":4: platform file", "line 4: a quotation mark is missing"]),
    ("</cluster>", "</Cluster>", [":6:", "</Cluster> stands where </cluster> is expected"]),
    ("<?xml", "nodes = 4\n<?xml", [":1:", "NAME.toml"]),
    ("  <cluster", "<config><prop id=\"network/loopback-bw\" value=\"1GBps\"/></config><cluster",
     [":4: <prop>:", "without a unit"]),
)
PCIE = "smpi/or\" value=\"0:3e-7:0", "pcie_bw\" value=\"25"
REMARKS_IN_XML = (("12GBps", "12.5", "lab.xml:4: <cluster>: bw=\"12.5\" is 12.5 bytes per second; is"),
                  ("1us", "1", "lab.xml:4: <cluster>: lat=\"1\" is 1 seconds; is that meant?"),
                  ("0-15", "16", "lab.xml:4: <cluster>: radical=\"16\" is one host, number 16; for 16"),
                  PCIE + ("lab.xml:5: <prop>: pcie_bw is 25 bytes per second; is that meant?",),
                  PCIE + ("pcie_bw changes nothing while gpus says of no GPU",),
                  PCIE[:1] + ("cpus\" value=\"0", "cpus is 0 and there are no GPUs"),
                  PCIE[:1] + ("cpus\" value=\"300", "cpus is 300, and a node has at most 256 CPU workers"),
                  ("  <cluster", "<config><prop id=\"network/latency-factor\" value=\"3\"/></config><cluster",
                   "lab.xml:4: <prop>: network/latency-factor changes nothing: messages of MPI"))


class Place:
    share = SRC


def attempt(data, *changes):
    """(the refusal or None, what was said beside, the platform) of a description."""
    with open("lab.toml", "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return start(["lab.toml", *changes], True)


def start(arguments, with_platform=False):
    """The same of a command; without the platform, where nobody asks."""
    out, said = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            command_platform(Place, arguments)
    except Refusal as refusal:
        return (str(refusal), said.getvalue(), None)[:2 + with_platform]
    return (None, said.getvalue(), out.getvalue())[:2 + with_platform]


class Claims:
    def __init__(self):
        self.nfailed = 0

    def verdict(self, claim, good, why):
        print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
        self.nfailed += not good


def mistakes(claims):
    for lab, rows in MISTAKES.items():
        wrong = []
        for old, new, words in rows:
            assert old in LABS[lab], (lab, old)
            refusal = attempt(LABS[lab].replace(old, new, 1 + (old == "[[partition]]")))[0]
            words = ["lab.toml" + words[0]] + words[1:] if words[0][0] == ":" else words
            if not refusal or "\n" in refusal or not all(word in refusal for word in words):
                wrong.append("%s for %s: %s" % (new, old, refusal))
        claims.verdict("%d_mistakes_of_%s" % (len(rows), lab), not wrong, "; ".join(wrong))


def good(claims):
    wrong = []
    for lab, text in LABS.items():
        refusal, said, _ = attempt(text)
        wrong += ["%s: %s%s" % (lab, refusal, said)] if refusal or said else []
    for new, lab, old in GOOD:
        refusal, said, _ = attempt(LABS[lab].replace(old, new))
        wrong += ["%s: %s%s" % (new, refusal, said)] if refusal or said else []
    claims.verdict("good_descriptions_are_taken", not wrong, "; ".join(wrong))
    wrong = []
    for lab, old, new, words in REMARKS:
        assert old in LABS[lab], (lab, old)
        refusal, said, _ = attempt(LABS[lab].replace(old, new, 1))
        wrong += ["%s: %s, %s" % (new, refusal, said)] if refusal or words not in said else []
    claims.verdict("what_is_hardly_meant_is_spoken_of", not wrong, "; ".join(wrong))


def in_xml(claims):
    def check(old, new):
        assert old in LAB, old
        with open("lab.xml", "w", encoding="utf-8") as f:
            f.write(LAB.replace(old, new, 1))
        return start(["--check", "lab.xml"])

    wrong = [] if check("", "") == (None, "") else ["good: %s, %s" % check("", "")]
    for old, new, words in IN_XML:
        refusal = check(old, new)[0]
        if not refusal or "\n" in refusal or not all(
                word in refusal for word in ["lab.xml" + words[0]] + words[1:]):
            wrong.append("%s for %s: %s" % (new, old, refusal))
    for old, new, words in REMARKS_IN_XML:
        refusal, said = check(old, new)
        wrong += ["%s: %s, %s" % (new, refusal, said)] if refusal or words not in said else []
    claims.verdict("%d_mistakes_in_xml" % len(IN_XML), not wrong, "; ".join(wrong))
    open("empty.xml", "w", encoding="utf-8").close()
    for arguments, words in ((["--check", "empty.xml"], "empty.xml is empty; expected a SimGrid platform"),
                             (["lab.yaml"], "is no file and no ready machine"),
                             (["lab"], "did you mean lab.toml or lab.xml?")):
        refusal = start(arguments)[0]
        claims.verdict("of_files_" + arguments[-1], refusal and words in refusal, refusal)


def two_networks(claims):
    """The platform of two clusters that the manual shows is taken as it stands."""
    with open(os.path.join(SRC, "doc", "platforms.md"), encoding="utf-8") as f:
        text = f.read()
    start_at = text.index("    <?xml")
    shown = text[start_at:text.index("</platform>", start_at)] + "</platform>\n"
    with open("two.xml", "w", encoding="utf-8") as f:
        f.write("\n".join(line[4:] for line in shown.split("\n")))
    refusal, said = start(["--check", "two.xml"])
    claims.verdict("two_networks", (refusal, said) == (None, ""), "%s %s" % (refusal, said))
    with open("two.xml", encoding="utf-8") as f:
        text = f.read()
    with open("two.xml", "w", encoding="utf-8") as f:
        f.write(text[:text.index("<zoneRoute")] + text[text.index("</zoneRoute>") + len("</zoneRoute>"):])
    refusal = start(["--check", "two.xml"])[0]
    claims.verdict("two_networks_apart", refusal and "No route from 'new' to 'old'; add a <zoneRoute>" in refusal
                   and "xception" not in refusal, refusal)


def encodings(claims):
    text = LABS["gpus"]
    expected = attempt(text)
    claims.verdict("editors_of_others", all(attempt(data) == expected for data in (
        b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n"), text.replace("\n", "\r"),
        text.replace(" = ", "\t=\t"))), "a platform differs")
    for name, data, words in (
            ("utf16", text.encode("utf-16"), "lab.toml is UTF-16: save it as UTF-8"),
            ("latin1", b"nodes = 3\n# caf\xe9\n", "lab.toml:2: byte 0xe9 is no UTF-8")):
        refusal = attempt(data)[0]
        claims.verdict(name + "_is_refused", refusal and words in refusal, refusal)


def changes(claims):
    """What is said last goes before what was said of another shape."""
    for name, lab, words in (
            ("torus_in_place_of_ports", "ports", ["network=torus"]),
            ("ports_in_place_of_a_tree", "tree", ["switch_ports=36"]),
            ("fewer_nodes_than_a_shape", "torus", ["nodes=64"])):
        refusal, said, _ = attempt(LABS[lab], *words)
        claims.verdict(name, not refusal and "lab.toml" not in said, "%s %s" % (refusal, said))
    refusal = attempt(LABS["ethernet"], "gpus=4")[0]
    claims.verdict("figures_of_a_node", refusal and "say node.gpus=4" in refusal, refusal)
    for word, remedy in (("lab.xml", "did you mean -o lab.xml?"), ("nodes", "did you mean nodes=VALUE?"),
                         ("gpus", "did you mean node.gpus=VALUE?")):
        refusal = attempt(LABS["ethernet"], word)[0]
        claims.verdict("a_change_that_is_none_" + word, refusal and remedy in refusal, refusal)
    refusal, said, _ = attempt(LABS["mixed"], "nodes=10")
    claims.verdict("nodes_in_place_of_partitions", not refusal and "nodes=10 takes the place of the "
                   "partitions" in said, "%s %s" % (refusal, said))


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        good(claims)
        mistakes(claims)
        in_xml(claims)
        two_networks(claims)
        encodings(claims)
        changes(claims)
        os.chdir("/")
    return 1 if claims.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
