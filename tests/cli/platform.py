#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: what it writes is what SimGrid loads, and a mistake gets line and remedy."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest.mock
import xml.etree.ElementTree as ElementTree

from run import BUILD, HELLO, SMALL, SRC, Suite, configured

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import platform_simgrid          # noqa: E402
from orrery_tool.platform import platform_nodes   # noqa: E402
from orrery_tool.platform_check import NUMBERS    # noqa: E402
from orrery_tool.platform_shape import routable   # noqa: E402

DATA = os.environ.get("ORR_TEST_DATA", os.path.join(SRC, "..", "shared", "data"))
CHOLESKY = os.path.join(BUILD, "examples", "cholesky", "cholesky-sim")
RING = os.path.join(BUILD, "examples", "ring-sim")
BUS = os.path.join(DATA, "starpu-sampling", "bus")
LAB = """nodes = 32
network = "fat tree"
link = "HDR"                    # our fabric
[node]
cpu = "epyc-7763"
sockets = 2
memory = "512 GB"
gpu = "A100-SXM4-80GB"
gpus = 4
"""
MIXED = """link = "EDR"
[node]
cpu = "epyc-7763"
[[partition]]
name = "cpu"
nodes = 3
[[partition]]
name = "gpu"
nodes = 2
[partition.node]
gpu = "H100-SXM5-80GB"
gpus = 4
"""
ODD = """nodes = 2
link = "HDR"
[node]
cpu = "epyc-7763"
[[node.device]]
gpu = "A100-SXM4-80GB"
gpus = 2
[[node.device]]
gpu = "H100-SXM5-80GB"
pcie_bandwidth = "50 GB/s"
"""
LINKED = """nodes = 2
link = "HDR"
[node]
cpu = "epyc-7763"
gpu = "A100-SXM4-40GB"
gpus = 4
[[node.link]]
gpus = [0, 1]
bandwidth = "50 GB/s"           # a bridge
[[node.link]]
gpus = [2, 3]
bandwidth = "25 GB/s"
latency = "3 us"
"""
# name: (description, words of the refusal); each as a newcomer would write it
MISTAKES = {
    "no_quotes": (LAB.replace('"HDR"', "HDR"), ["bad.toml:3:", 'link = "HDR"', "quotes"]),
    "misspelt": (LAB.replace("sockets", "socket"), ["bad.toml:6:", "did you mean sockets"]),
    "misplaced": ("gpus = 4\n" + LAB, ["bad.toml:1:", '"gpus"', "belongs in [node]"]),
    "misplaced_below": (LAB + "nodes = 3\n", ["bad.toml:10:", "above the first [table]"]),
    "unknown_part": (LAB.replace("A100-SXM4-80GB", "a100-sxm-80gb"),
                     ["bad.toml:8:", 'did you mean "A100-SXM4-80GB"', "gpu_memory ="]),
    "unknown_link": (LAB.replace("HDR", "25GbE"), ["bad.toml:3:", 'bandwidth = "25 GB/s" and latency =']),
    "unknown_cpu": (LAB.replace("epyc-7763", "i9"), ["bad.toml:5:", "cpu_dp ="]),
    "wrong_unit": (LAB.replace("512 GB", "512 Gbit"), ["bad.toml:7:", 'such as "80 GB"']),
    "unknown_network": (LAB.replace("fat tree", "fattree"), ["bad.toml:2:", 'mean "fat tree"']),
    "no_gpu_named": (LAB.replace('gpu = "A100-SXM4-80GB"', ""), ["bad.toml:9:", "gpu ="]),
    "no_nodes": (LAB.replace("nodes = 32", ""), ["bad.toml", "nodes = 16"]),
    "network_as_a_table": ('nodes = 2\n[node]\ncores = 4\n[network]\nkind = "torus"\n',
                           ["bad.toml:4:", 'network = "torus"']),
    "no_network": (LAB.replace('link = "HDR"', ""), ["bad.toml", "latency", 'link = "HDR"']),
    "twice": ("nodes = 3\n" + LAB, ["bad.toml:2:", "it is said twice"]),
    "unknown_table": (LAB.replace("[node]", "[nodes]"), ["bad.toml", "[node]"]),
    "no_equals": (LAB.replace("nodes = ", "nodes: "), ["bad.toml:1:", "NAME = VALUE"]),
    "shape": ('nodes = 7\nlink = "EDR"\nnetwork = "torus"\nshape = [2, 3]\n',
              ["bad.toml:4:", "2 x 3 has 6 nodes", "leave shape out"]),
    "no_core_left": (LAB.replace("sockets = 2", "cores = 4"), ["bad.toml:9:", "workers"]),
    "too_many_groups": ('nodes = 500\nlink = "Aries"\nnetwork = "dragonfly"\nrouters = 2\n'
                        "nodes_per_router = 1\n", ["bad.toml:4:", "SimGrid 3.32 cannot route"]),
    "partitions": (MIXED.replace('name = "gpu"\n', ""), ["bad.toml:7:", "lacks name"]),
    "devices_and_gpu": (LAB + "[[node.device]]\ngpu = \"A100-SXM4-80GB\"\n",
                        ["bad.toml:8:", "gpu beside [[node.device]]", "leave one of both out"]),
    "device_of_node": (ODD + "host_bandwidth = \"9 GB/s\"\n",
                       ["bad.toml:11:", "[[node.device]] has no \"host_bandwidth\"", "belongs in [node]"]),
    "device_unsaid": (ODD.replace("gpu = \"H100-SXM5-80GB\"\n", ""),
                      ["bad.toml:8:", "nothing says what these GPUs are", "gpu ="]),
    "device_elsewhere": (ODD.replace("[[node.device]]", "[[device]]"), ["bad.toml:5:", "[[node.device]]"]),
    "device_tables": (ODD.replace("[[node.device]]", "[node.device]"),
                      ["bad.toml:8:", "each kind of GPUs begins with [[node.device]]"]),
    "device_table": (ODD.replace("[[node.device]]", "[node.device]", 1).partition("[[")[0],
                     ["bad.toml:5:", "expected one [[node.device]] for each kind of GPUs"]),
    "link_absent": (LINKED.replace("[2, 3]", "[2, 4]"),
                    ["bad.toml:11:", "[2, 4]: GPU 4, and gpus is 4, numbers 0 to 3", "make both agree"]),
    "link_twice": (LINKED.replace("[2, 3]", "[2, 2]"), ["bad.toml:11:", "[2, 2]: GPU 2 twice"]),
    "link_alone": (LINKED.replace("[2, 3]", "[3]"), ["bad.toml:11:", "[3]: GPU 3 alone", "name those"]),
    "link_of_none": (LINKED.replace("[2, 3]", "[]"), ["bad.toml:11:", "[]: no GPU"]),
    "link_pair": (LINKED.replace("[2, 3]", "[3, 1, 0]"),
                  ["bad.toml:11:", "GPUs 0 and 1, which another one has, too", "all links between them reach"]),
    "link_unsaid": (LINKED.replace("bandwidth = \"25 GB/s\"\n", ""),
                    ["bad.toml:10:", "[[node.link]] lacks bandwidth", "50 GB/s"]),
    "link_of_whom": (LINKED.replace("gpus = [2, 3]\n", ""), ["bad.toml:10:", "[[node.link]] lacks gpus", "[0, 1]"]),
    "link_unit": (LINKED.replace("\"25 GB/s\"", "25"), ["bad.toml:12:", "bandwidth is 25, without a unit"]),
    "link_word": (LINKED.replace("[2, 3]", "\"two\""), ["bad.toml:11:", "expected numbers such as [0, 1]"]),
    "link_key": (LINKED.replace("latency", "lat"), ["bad.toml:13:", "[[node.link]] has no \"lat\"", "mean latency"]),
    "link_and_all": (LINKED.replace("gpus = 4", "gpus = 4\nnvlink_bandwidth = \"50 GB/s\""),
                     ["bad.toml:7:", "nvlink_bandwidth beside [[node.link]]", "leave one of both out"]),
    "link_without": (LINKED.replace("gpu = \"A100-SXM4-40GB\"\ngpus = 4\n", ""),
                     ["bad.toml:5:", "while nothing says how many a node has", "gpus = 4"]),
    "link_table": (LINKED.replace("[[node.link]]", "[node.link]", 1).rpartition("[[")[0],
                   ["bad.toml:7:", "expected one [[node.link]] for each group"]),
    "link_above": (LINKED.replace("[[node.link]]", "[[link]]"), ["bad.toml:", "[[node.link]]"]),
    "link_in_node": (LAB.replace("gpus = 4", "gpus = 4\nlink = \"HDR\""),
                     ["bad.toml:10:", "[node] has no \"link\"", "above the first [table]"]),
    "devices_too_many": (ODD + "gpus = 99\n", ["bad.toml:11: gpus is 99"]),
    "kinds_and_nodes": ("nodes = 6\n" + MIXED, ["bad.toml:1:", "partitions have 5"]),
    "part_of_it": (LAB + "lone_copy = 2\n", ["bad.toml:10:", "lone_copy is 2", "expected 0 to 1"]),
    "cold": (LAB + 'cold_costs = "0:100"\n', ["bad.toml:10:", "cold_costs", "less than 1 s"]),
    "more_than_a_tree": (LAB.replace("32", "300000"), ["bad.toml:1:", "300000 nodes", "switch_ports = 120"]),
    "like": ('like = "h300"\n', ["bad.toml:1:", "h200"]),
}
CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us">'
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
%s
<prop id="%s" value="%s"/>
</cluster>
</platform>
"""
XML_MISTAKES = {
    "xml_misspelt": (PLATFORM % (CLUSTER, "pcie_bandwidth", "1e9"),
                     ["bad.xml:5: <prop>", 'did you mean "pcie_bw"']),
    "xml_unit": (PLATFORM % (CLUSTER, "pcie_bw", "25GBps"),
                 ["bad.xml:5: <prop>", "bytes per second", "without a unit"]),
    "xml_attribute": (PLATFORM % (CLUSTER.replace("lat=", "latency="), "cpus", "4"),
                      ["bad.xml:4: <cluster>", "lacks lat"]),
    "xml_open": ((PLATFORM % (CLUSTER, "cpus", "4")).replace("</cluster>", ""),
                 ["bad.xml:7:", "<cluster>", "mismatched tag"]),
    "xml_no_doctype": ("<platform version=\"4.1\"/>\n", ["bad.xml:1: <platform>",
                                                        "<!DOCTYPE platform"]),
    "xml_whole": (PLATFORM % (CLUSTER, "gpus", "1.5"), ["bad.xml:5: <prop>", "a whole number"]),
    "xml_too_many": (PLATFORM % (CLUSTER, "gpu_mem_bytes", "1e30"), ["bad.xml:5:", "1e+18"]),
    "xml_switch": (PLATFORM % (CLUSTER, "host_shared", "yes"), ["bad.xml:5:", "0 or 1"]),
    "xml_memory": (PLATFORM % (CLUSTER, "gpu_memory", "8e9"), ["bad.xml:5:", "gpu_mem_bytes"]),
    "xml_kinds": (PLATFORM % (CLUSTER, "kinds", "cpu:0-1,gpu:2-3"),
                  ["bad.xml:5:", "cpu:0-99;gpu:100-149"]),
    "xml_kind": (PLATFORM % (CLUSTER, 'kinds" value="cpu:0-3"/><prop id="gpu.gpus', "2"),
                 ["bad.xml:5: <prop>", "the kind gpu", "kinds names cpu"]),
    "xml_no_kinds": (PLATFORM % (CLUSTER, "gpu.gpus", "2"), ["bad.xml:5:", "no kinds"]),
    "xml_prefix": (PLATFORM % (CLUSTER, 'kinds" value="cpu:0-3"/><prop id="cpu.gpu_mem_byte', "2"),
                   ["bad.xml:5: <prop>", "did you mean \"cpu.gpu_mem_bytes\""]),
    "xml_gpu_kinds": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds', "fast:0,1"),
                      ["bad.xml:5: <prop>: gpu_kinds is \"fast:0,1\"", "fast:0-1;slow:2-2"]),
    "xml_gpu_absent": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds', "fast:0-1;slow:2-3"),
                       ["bad.xml:5: <prop>", "GPU 3 of \"slow\"", "numbers 0 to 2"]),
    "xml_gpu_twice": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds', "fast:0-1;slow:1-2"),
                      ["bad.xml:5: <prop>", "GPU 1 is in two kinds, \"fast\" and \"slow\""]),
    "xml_gpu_none": (PLATFORM % (CLUSTER, "gpu_kinds", "fast:0-1;slow:1-2"),
                     ["bad.xml:5: <prop>: gpu_kinds changes nothing", "id=\"gpus\""]),
    "xml_gpu_kind": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds" value="fast:0-2"/>'
                                 '<prop id="quick.pcie_bw', "1e9"),
                     ["bad.xml:5: <prop>: id=\"quick.pcie_bw\"", "the kind quick", "kinds names fast"]),
    "xml_gpu_node": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds" value="fast:0-2"/>'
                                 '<prop id="fast.host_bw', "1e9"),
                     ["bad.xml:5: <prop>: id=\"fast.host_bw\"", "host_bw is of a node", "leave \"fast.\" out"]),
    "xml_gpu_typo": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds" value="fast:0-2"/>'
                                 '<prop id="fast.pci_bw', "1e9"),
                     ["bad.xml:5: <prop>: id=\"fast.pci_bw\"", "did you mean \"fast.pcie_bw\""]),
    "xml_gpu_and_node": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="kinds" value="a:0-3"/>'
                                     '<prop id="gpu_kinds', "a:0-2"),
                         ["bad.xml:5: <prop>: gpu_kinds: \"a\" is a kind of nodes, too"]),
    "xml_links": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_links', "0,1:50GBps"),
                  ["bad.xml:5: <prop>: gpu_links: \"0,1:50GBps\" is no group", "without units"]),
    "xml_links_absent": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_links', "0,1:5e9;1,3:5e9"),
                         ["bad.xml:5: <prop>: gpu_links: \"1,3:5e9\" has GPU 3, and gpus is 3, numbers 0 to 2"]),
    "xml_links_twice": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_links', "switch,0,0:5e9"),
                        ["bad.xml:5: <prop>: gpu_links: \"switch,0,0:5e9\" has GPU 0 twice"]),
    "xml_links_alone": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_links', "0:5e9"),
                        ["bad.xml:5: <prop>: gpu_links: \"0:5e9\" has GPU 0 alone"]),
    "xml_links_pair": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_links', "0,1:5e9;2,1,0:6e9:1e-6"),
                       ["bad.xml:5: <prop>: gpu_links: \"2,1,0:6e9:1e-6\" has GPUs 0 and 1", "too", "say once"]),
    "xml_links_and_all": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="nvlink_bw" value="5e9"/><prop '
                                      'id="gpu_links', "0,1:5e9"),
                          ["bad.xml:5: <prop>: gpu_links beside nvlink_bw", "leave one of both out"]),
    "xml_links_none": (PLATFORM % (CLUSTER, "gpu_links", "0,1:5e9"),
                       ["bad.xml:5: <prop>: gpu_links changes nothing", "id=\"gpus\""]),
    "xml_links_of_kind": (PLATFORM % (CLUSTER, 'gpus" value="3"/><prop id="gpu_kinds" value="fast:0-2"/>'
                                      '<prop id="fast.gpu_links', "0,1:5e9"),
                          ["bad.xml:5: <prop>: id=\"fast.gpu_links\"", "of a node", "leave \"fast.\" out"]),
    "xml_peer": (PLATFORM % ('<zone id="z" routing="Vivaldi"><peer id="p" coordinates="1 2 3" speed="1Gf" '
                              'bw_in="1GBps" bw_out="1GBps">', "cpus", "2"),
                 ["bad.xml:5: <peer>: SimGrid allows nothing inside", "STARPU_NCPU", "STARPU_HOSTNAME"]),
    "xml_cabinet": (PLATFORM % ('<cabinet id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" '
                                'lat="1us">', "cpus", "2"),
                    ["bad.xml:5: <cabinet>: SimGrid allows nothing inside", "<cluster> has the same attributes"]),
    "xml_no_bandwidth": (PLATFORM % (CLUSTER.replace("1GBps", "0GBps"), "cpus", "4"),
                         ["bad.xml:4: <cluster>", "more than 0"]),
    "xml_kernels": (PLATFORM % (CLUSTER, "gpu_kernels", "potrf:40%:2e-6"),
                    ["bad.xml:5: <prop>: gpu_kernels", "WORD:PART:SECONDS"]),
    "xml_cost": (PLATFORM % (CLUSTER, "wake_cost", "5"), ["bad.xml:5: <prop>", "seconds from 0 to 1"]),
    "xml_push": (PLATFORM % (CLUSTER, "push_costs", "lws"), ["bad.xml:5: <prop>", "POLICY:SECONDS"]),
    "xml_cold": (PLATFORM % (CLUSTER, "cold_costs", "5"), ["bad.xml:5: <prop>", "ABOVE_BYTES:SECONDS"]),
    "xml_copies": (PLATFORM % (CLUSTER, "copy_factors", "0:-1"), ["bad.xml:5: <prop>", "factors above 0"]),
    "xml_latency": (PLATFORM % (CLUSTER.replace("1us", "-1us"), "cpus", "4"),
                    ["bad.xml:4: <cluster>", 'lat="-1us"']),
    "xml_version": ((PLATFORM % (CLUSTER, "cpus", "4")).replace("4.1", "3"),
                    ["bad.xml:3: <platform>", "simgrid_update_xml bad.xml"]),
    "xml_fails": ("""<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<host id="a" speed="1Gf" state_file="a.trace"/></zone></platform>
""", ["bad.xml:3: <host>", "machines that fail are not simulated"]),
    "xml_wifi": ("""<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="w" routing="Wifi"/></platform>
""", ["bad.xml:3: <zone>", "wireless", "bb_bw"]),
    "xml_mount": ("""<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full"><host id="a" speed="1Gf">
<mount storageId="d" name="c:"/></host></zone></platform>
""", ["bad.xml:3: <mount>", "since version 3.27", "<disk id="]),
    "xml_deployment": ("""<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<actor host="a" function="master"/></platform>
""", ["bad.xml:3: <actor>", "deployment file", "--hostfile"]),
}
ZONE = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="w" routing="%s">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="%s" speed="1Gf"/>
<link id="l" bandwidth="%s" latency="1us"/>
<route src="a" dst="b"><link_ctn id="%s"/></route>
%s
</zone>
</platform>
"""
AROUND = '<route src="b" dst="c"><link_ctn id="l"/></route>'
LINK = AROUND.replace('"l"', '"d"')
SPLIT = 'latency="1us"/><link id="d" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>'
for name, routes, says in (
        ("xml_no_direction", LINK, ["bad.xml:8: <link_ctn>", "SPLITDUPLEX", 'direction="UP"']),
        ("xml_direction", AROUND.replace('"l"', '"l" direction="UP"'),
         ["bad.xml:8: <link_ctn>", '"l" is SHARED', "leave"]),
        ("xml_full_duplex", LINK, ["bad.xml:8: <link_ctn>", "FULLDUPLEX", 'direction="UP"']),
        ("xml_include", '<include file="more.xml"/>', ["bad.xml:8: <include>", "more.xml"])):
    XML_MISTAKES[name] = ((ZONE % ("Floyd", "c", "1GBps", "l", routes)).replace(
        'latency="1us"/>', SPLIT.replace("SPLIT", "FULL" if "full" in name else "SPLIT")), says)
CONFIG = '<config><prop id="%s" value="%s"/></config>\n<zone'
for name, option, value in (("xml_model", "host/model", "ptask_L07"),
                            ("xml_solver", "network/solver", "fairbottleneck"),
                            ("xml_concurrency", "maxmin/concurrency-limit", "100")):
    XML_MISTAKES[name] = ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % (option, value)), ["bad.xml:4: <prop>", option, value, "leave it out"])
for name, option, value, says in (
        ("xml_pieces", "smpi/bw-factor", "65472;0.9", ["ABOVE_BYTES:FACTOR", '"0:0.8;65536:0.95"']),
        ("xml_piece_unit", "smpi/ois", "0:1us", ["ABOVE_BYTES:SECONDS", "3e-7"])):
    XML_MISTAKES[name] = ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % (option, value)), ["bad.xml:4: <prop>", option, value] + says)
XML_MISTAKES["xml_element"] = ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace("<link ", "<lnik "),
                               ["bad.xml:6: <lnik>", "did you mean <link>?"])
XML_MISTAKES["xml_kilo"] = (ZONE % ("Floyd", "c", "900KBps", "l", AROUND),
                            ["bad.xml:6: <link>", 'no unit "KBps"', 'did you mean "900kBps"?'])
XML_MISTAKES["xml_wifi_cell"] = ((ZONE % ("WIFI", "c", "54Mbps,36Mbps", "l", AROUND)),
                                 ["bad.xml:4: <zone>", "wireless", "bb_bw"])
XML_MISTAKES["xml_mark"] = ("\ufeff" + PLATFORM % (CLUSTER, "cpus", "4"), ["bad.xml:1:", "byte order mark"])
XML_MISTAKES["xml_cdata"] = ((PLATFORM % (CLUSTER, "cpus", "4")).replace("<prop", "<![CDATA[ ]]><prop"),
                             ["bad.xml:5: <cluster>", "CDATA", "<!-- "])
XML_MISTAKES["xml_disk"] = ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
    '<host id="a" speed="1Gf"/>', '<host id="a" speed="1Gf"><disk id="d" read_bw="1MBps" '
    'write_bw="1MBps"><prop id="content" value="none.txt"/></disk></host>'),
    ["bad.xml:5: <prop>", "none.txt", "does not exist"])
# What SimGrid finds when it reads a platform, or what it would say in the middle of a run.
ZONE_MISTAKES = {
    "no_route": (ZONE % ("Full", "c", "1GBps", "l", ""), ["no route from host", "host c", "<route>"]),
    "no_routes": ("\n".join(line for line in (ZONE % ("None", "c", "1GBps", "l", "")).split("\n")
                            if not line.startswith(("<link", "<route"))),
                  ["no route from host", "Empty zone"]),
    "unit": (ZONE % ("Floyd", "c", "1GB/s", "l", AROUND), ["bad.xml:6:", 'no unit "GB/s"', 'mean "1GBps"']),
    "no_link": (ZONE % ("Floyd", "c", "1GBps", "m", AROUND), ["bad.xml:7:", "Link not found: m", "write a <link>"]),
    "twice": (ZONE % ("Floyd", "b", "1GBps", "l", ""), ["bad.xml:5:", "named 'b'", "a name of its own"]),
    "misplaced": (ZONE % ("Floyd", "c", "1GBps", "l", AROUND + "<config/>"),
                  ["<config>", "comes first"]),
    "both_ways": (ZONE % ("Full", "c", "1GBps", "l", '<route src="b" dst="a"><link_ctn id="l"/></route>'),
                  ["bad.xml:8:", "already exists", 'symmetrical="NO"']),
    "no_option": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % ("smpi/oss", "0:1e-6")), ["bad.xml:4:", "Bad config key: smpi/oss"]),
    "selective": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % ("network/maxmin-selective-update", "no")),
        ["bad.xml:4:", "leave network/maxmin-selective-update out"]),
    "old_doctype": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "https://simgrid.org", "http://simgrid.gforge.inria.fr"),
        ["bad.xml:2:", 'write <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">']),
    "actor": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "</zone>", "</zone><actor host=\"a\" function=\"master\"/>"), ["bad.xml:9: <actor>", "deployment file", "--hostfile"]),
    "no_latency": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(' latency="1us"', ""),
                   ["bad.xml:6:", "cannot parse number", "bandwidth and latency"]),
    "old_storage": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", "<storage_type id=\"t\" size=\"1GiB\"/><zone"), ["bad.xml:4:", "since version 3.27", "<disk id="]),
    "power": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        'id="a" speed', 'id="a" power'), ["bad.xml:5: <host>: power", "simgrid_update_xml"]),
    "attribute": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(" latency=", " lat="),
                  ["bad.xml:6: <link>", "no attribute lat", "did you mean latency?"]),
    "value": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        'latency="1us"', 'latency="1us" sharing_policy="shared"'),
              ["bad.xml:6: <link>", "sharing_policy", "SHARED, SPLITDUPLEX or FATPIPE"]),
    "link_in_route": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace("<link_ctn", "<link"),
                      ["bad.xml:7: <link>", "<link_ctn id="]),
    "empty_route": ((ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace('<link_ctn id="l"/>', ""),
                    ["bad.xml:7:", "Empty route", "for each link on the way"]),
    "two_clusters": ((PLATFORM % (CLUSTER, "cpus", "4")).replace("</platform>", CLUSTER.replace(
        'id="c" prefix="n"', 'id="d" prefix="m"') + "</cluster></platform>"),
        ["several clusters stand inside one <zone", "<zoneRoute>"]),
    "no_routing": (ZONE % ("Star", "c", "1GBps", "l", AROUND), ["bad.xml:4: <zone>", "one of Full, Floyd"]),
    "routing": (ZONE % ("Dijsktra", "c", "1GBps", "l", AROUND), ["bad.xml:4: <zone>", 'mean "Dijkstra"']),
    "routing_of_a_star": (ZONE % ("CLUSTER", "c", "1GBps", "l", AROUND), ["bad.xml:7:", "<host_link"]),
    "no_such_end": ((ZONE % ("Full", "c", "1GBps", "l", "")).replace('dst="b"', 'dst="e"'),
                    ["file bad.xml:7: ", "Route dst='e' names no host or router; the <route>"]),
}
# All routes of a platform, asked of SimGrid by another process.
ROUTES = """
import ctypes, os, sys
simgrid = ctypes.CDLL("libsimgrid.so")
argv = (ctypes.c_char_p * 2)(b"routes", None)
simgrid.simgrid_init(ctypes.byref(ctypes.c_int(1)), argv)
simgrid.simgrid_load_platform(sys.argv[1].encode())
simgrid.sg_host_by_name.restype = ctypes.c_void_p
latency = simgrid.sg_host_get_route_latency
latency.argtypes, latency.restype = [ctypes.c_void_p] * 2, ctypes.c_double
hosts = [simgrid.sg_host_by_name(name.encode()) for name in sys.argv[2:]]
print(simgrid.sg_host_count(), min(latency(a, b) for a in hosts for b in hosts if a != b))
sys.stdout.flush()
os._exit(0)
"""


def load(path, names):
    """(number of hosts, least latency) that SimGrid finds, or None."""
    out = subprocess.run([sys.executable, "-c", ROUTES, path, *names], text=True,
                         capture_output=True, timeout=100, check=False)
    return tuple(map(float, out.stdout.split())) if out.returncode == 0 else None


def properties(path):
    cluster = ElementTree.parse(path).getroot().find("cluster")
    return cluster, {prop.get("id"): prop.get("value") for prop in cluster.findall("prop")}


def described(suite):
    suite.write("lab.toml", LAB)
    status, said = suite.orrery("platform", "lab.toml", "-o", "lab.xml")
    path = os.path.join(suite.directory, "lab.xml")
    cluster, props = properties(path)
    expected = {"cpus": "124", "gpus": "4", "gpu_mem_bytes": "80000000000",
                "cpu_peak_dp_gflops": "39.2", "pcie_bw": "25000000000",
                "nvlink_bw": "300000000000", "numa_nodes": "2", "numa_mem_bytes": "256000000000"}
    wrong = {name: props.get(name) for name in expected if props.get(name) != expected[name]}
    suite.verdict("ten_lines_are_a_platform", status == 0 and not wrong and
                  cluster.get("radical") == "0-31", "%s %s" % (said, wrong))
    with open(path, encoding="utf-8") as f:
        text = f.read()
    bare = re.findall(r"(?<!-->)\n\s*(<prop .*)", text)
    suite.verdict("each_property_has_its_origin", not bare and "lab.toml:9" in text, bare)
    suite.verdict("kernels_that_go_by_columns_are_named", "potrf:" in props.get("gpu_kernels", ""), props)
    suite.verdict("and_not_where_all_are_alike", "gpu_kernels" not in suite.orrery(
        "platform", "gpu64")[1], "")
    suite.succeeds("check_says_good", "platform", "--check", "lab.toml", says="good: 32 nodes")
    suite.orrery("platform", "lab.toml", "nodes=5", "node.gpus=0", "network=torus",
                 "shape=[5,1,1]", "-o", "lab.xml")
    cluster, props = properties(path)
    suite.verdict("the_command_line_changes_it", "gpu_model" not in props and
                  props["cpus"] == "128" and cluster.get("topo_parameters") == "5",
                  ElementTree.tostring(cluster))
    for name, (text, says) in MISTAKES.items():
        suite.write("bad.toml", text)
        suite.refuses("refuses_" + name, "platform", "bad.toml", says=says)
    for name, (text, says) in XML_MISTAKES.items():
        suite.write("bad.xml", text)
        suite.refuses("refuses_" + name, "platform", "--check", "bad.xml", says=says)
    suite.refuses("refuses_unknown_machine", "platform", "xe7", says=["xe7", "xe6", "xc30"])
    suite.refuses("refuses_a_change", "platform", "xe6", "node.gpu_speed=3",
                  says=["gpu_speed", "did you mean gpu_sp"])


def partitions(suite):
    suite.write("mixed.toml", MIXED)
    suite.orrery("platform", "mixed.toml", "-o", "mixed.xml")
    path = os.path.join(suite.directory, "mixed.xml")
    nodes = [(cores, gpus) for _, cores, gpus in platform_nodes(path)]
    suite.verdict("partitions_have_their_nodes", nodes == [(64, 0)] * 3 + [(60, 4)] * 2, nodes)


def several_gpus(suite):
    """Of two kinds in one node, which partitions and changes on the command line take over or replace."""
    suite.write("odd.toml", ODD)
    status, said = suite.orrery("platform", "odd.toml", "-o", "odd.xml")
    props = properties(os.path.join(suite.directory, "odd.xml"))[1] if status == 0 else {}
    expected = {"gpus": "3", "gpu_kinds": "A100_SXM4_80GB:0-1;H100_SXM5_80GB:2-2", "gpu_model": None,
                "A100_SXM4_80GB.gpu_model": "A100-SXM4-80GB", "A100_SXM4_80GB.pcie_bw": "25000000000",
                "H100_SXM5_80GB.gpu_peak_dp_gflops": "67000", "H100_SXM5_80GB.pcie_bw": "50000000000"}
    wrong = {name: props.get(name) for name in expected if props.get(name) != expected[name]}
    suite.verdict("gpus_of_two_kinds_are_a_platform", not wrong, "%s %s" % (said, wrong))
    suite.succeeds("and_good", "platform", "--check", "odd.xml", says="nothing is wrong")
    suite.orrery("platform", "odd.toml", "node.gpu=Tesla-K40", "node.gpus=2", "-o", "odd.xml")
    props = properties(os.path.join(suite.directory, "odd.xml"))[1]
    suite.verdict("the_command_line_makes_them_alike", props.get("gpu_model") == "Tesla-K40" and props["gpus"] == "2" and
                  "gpu_kinds" not in props, props)
    suite.write("odd.toml", MIXED.replace("[partition.node]\ngpu = \"H100-SXM5-80GB\"\ngpus = 4\n",
                                          ODD[ODD.index("[[node"):].replace("[[", "[[partition.")))
    status, said = suite.orrery("platform", "odd.toml", "-o", "odd.xml")
    props = properties(os.path.join(suite.directory, "odd.xml"))[1] if status == 0 else {}
    suite.verdict("partitions_have_gpus_of_kinds", props.get("gpu.H100_SXM5_80GB.pcie_bw") == "50000000000" and
                  props.get("gpu.gpus") == "3", "%s %s" % (said, props))
    suite.succeeds("which_are_good", "platform", "--check", "odd.xml", says="nothing is wrong")


def linked_gpus(suite):
    """Those whose links differ by pair; what a part says of all goes, and what a change says of all goes before."""
    def props(*words):
        status, said = suite.orrery("platform", "linked.toml", *words, "-o", "linked.xml")
        return properties(os.path.join(suite.directory, "linked.xml"))[1] if status == 0 else {"refused": said}

    suite.write("linked.toml", LINKED)
    found = props()
    suite.verdict("links_by_pair_are_a_platform", found.get("gpu_links") == "0,1:5e+10;2,3:2.5e+10:3e-06"
                  and "nvlink_bw" not in found, found)
    suite.succeeds("and_good_ones", "platform", "--check", "linked.xml", says="nothing is wrong")
    found = props("node.gpus=3")
    suite.verdict("of_fewer_gpus_there_are_fewer", found.get("gpu_links") == "0,1:5e+10" and
                  found.get("gpus") == "3", found)
    found = props("node.nvlink_bandwidth=100GB/s")
    suite.verdict("one_figure_for_all_takes_their_place", "gpu_links" not in found and
                  found.get("nvlink_bw") == "100000000000", found)
    suite.write("linked.toml", LINKED.replace("latency = \"3 us\"", "switch = 1\nhost_peers = 0"))
    found = props()
    suite.verdict("a_switch_is_said", found.get("gpu_links") == "0,1:5e+10;switch,2,3:2.5e+10::0", found)
    suite.succeeds("and_checked", "platform", "--check", "linked.xml", says="nothing is wrong")
    suite.write("linked.toml", LINKED.replace("nodes = 2\n", "").replace("gpu = ", "[[partition]]\nname = \"a\"\nnodes = 2\n"
                                                                        "[partition.node]\ngpu = ")
                .replace("[[node.", "[[partition.node."))
    found = props()
    suite.verdict("partitions_have_links_by_pair", found.get("a.gpu_links") == "0,1:5e+10;2,3:2.5e+10:3e-06", found)
    suite.succeeds("which_are_good_ones", "platform", "--check", "linked.xml", says="nothing is wrong")


def ready(suite):
    """Each ready machine at awkward sizes; all routes between some hosts exist."""
    status, said = suite.orrery("platform", "--list")
    names = re.findall(r"^([\w-]+) +\d+ nodes", said, re.M)
    suite.verdict("there_are_ready_machines", status == 0 and {
        "xe6", "xc30", "a100", "h100", "h200", "h200-node", "ethernet"} <= set(names), said)
    bad, doubted = [], []
    for name in names:
        for nodes in ("", ":1", ":2", ":97", ":1000"):
            path = os.path.join(suite.directory, "ready.xml")
            status, said = suite.orrery("platform", name + nodes, "-o", path)
            doubted += [said] if not nodes and "[orrery]" in said else []
            hosts = len(platform_nodes(path))
            wanted = int(nodes[1:] or hosts)
            ends = ["node-%d" % i for i in {0, wanted // 2, wanted - 1, hosts - 1}]
            found = load(path, ends if len(ends) > 1 else ["node-0", "node-0"]) \
                if wanted > 1 else (hosts, 1)
            if status or not wanted <= hosts <= 1.2 * wanted + 3 or not found \
                    or found[0] != hosts or found[1] <= 0:
                bad.append((name + nodes, hosts, found, said))
    suite.verdict("ready_machines_load_at_any_size", not bad, bad)
    suite.verdict("no_figure_of_a_ready_machine_is_doubted", not doubted, doubted)
    slow = []
    for name in ("xe6", "xc30", "a100", "ethernet"):
        path = os.path.join(suite.directory, "large.xml")
        start = time.monotonic()
        suite.orrery("platform", name + ":10000", "-o", path)
        if not load(path, ["node-0", "node-9999"]):
            slow.append((name, "is not loaded"))
        if time.monotonic() - start > 50: # 2.5 s where nobody disturbs
            slow.append((name, time.monotonic() - start))
    suite.verdict("10000_nodes_load", not slow, slow)


def dragonflies(suite):
    """SimGrid routes those which we take, and dies of those which we do not."""
    bad = []
    for groups, chassis, routers in ((2, 1, 2), (3, 2, 3), (3, 2, 2), (4, 4, 2), (2, 3, 1),
                                     (5, 1, 5), (4, 1, 3)):
        hosts = groups * chassis * routers
        cluster = CLUSTER.replace("0-3", "0-%d" % (hosts - 1)).replace(
            ">", ' topology="DRAGONFLY" topo_parameters="%d,1;%d,1;%d,1;1">'
            % (groups, chassis, routers))
        suite.write("fly.xml", PLATFORM % (cluster, "cpus", "1"))
        found = load(os.path.join(suite.directory, "fly.xml"), ["n%d" % i for i in range(hosts)])
        if bool(found) != routable(groups, chassis, routers):
            bad.append((groups, chassis, routers, found))
    suite.verdict("dragonflies_that_simgrid_routes", not bad, bad)
    status, said = suite.orrery("platform", "xc30:10000", "-o", "fly.xml")
    suite.verdict("dragonflies_are_reshaped", status == 0 and "3 chassis of 32 instead of 6 of 16"
                  in said, said)


def shipped(suite):
    """The platforms in XML are those of the descriptions."""
    for name in ("small4", "gpu64", "gpu1024"):
        status, said = suite.orrery("platform", name)
        with open(os.path.join(SRC, "platforms", "xml", name + ".xml"), encoding="utf-8") as f:
            suite.verdict("%s_is_what_its_description_says" % name,
                          status == 0 and said == f.read(), "write it with: orrery platform "
                          "%s -o platforms/xml/%s.xml" % (name, name))
    with open(os.path.join(SRC, "src", "sim", "machine.c"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(SRC, "src", "sim", "gpus.c"), encoding="utf-8") as f:
        gpus = f.read()
        table = re.findall(r'^\t\t\{"(\w+)", ', gpus, re.M) + re.findall(r'machine_number\(plat, kind, "(\w+)"', gpus) + re.findall(r'^\t\t\{"(\w+)", ', text, re.M) + re.findall(
            r'"(\w+)"', re.search(r"at_most_1\[\] = \{([^}]*)\}", text).group(1)) + re.findall(
            r'read_number\(plat, "(\w+)"', text)
    suite.verdict("the_check_knows_all_properties", sorted(table) == sorted(NUMBERS),
                  set(table) ^ set(NUMBERS))


def starpu(suite):
    for name in ("mirage", "sirocco"):
        figures = []
        for source in (name, name + ".platform.xml", name + ".platform.v4.xml"):
            path = os.path.join(suite.directory, "bus.xml")
            status, said = suite.orrery("platform", os.path.join(BUS, source), "nodes=3",
                                        "link=QDR", "-o", path)
            props = properties(path)[1] if status == 0 else {"said": said}
            figures.append(props)
        same = all(figures[0].get(key) == other.get(key) for other in figures[1:]
                   for key in ("cpus", "gpus", "cpu_model"))
        near = all(abs(float(other.get(key, 0)) / float(figures[0][key]) - 1) < 0.02
                   for other in figures[1:] for key in ("pcie_bw", "host_bw") + ("nvlink_bw",) * (name == "sirocco"))
        suite.verdict("starpu_files_of_%s_agree" % name, same and near, figures)
        suite.verdict("routes_of_%s_tell_of_the_host" % name,
                      all((other.get("host_shared"), other.get("host_peers")) ==
                          ("1", "2" if name == "mirage" else "1") for other in figures[1:]),
                      figures[1:])
        # Of mirage's GPUs two are at one switch, and reach each other without the host.
        links = [[part.split(":") for part in found.get("gpu_links", "none").split(";")] for found in figures]
        suite.verdict("gpus_of_%s_have_their_links" % name, all(
            [part[0] for part in of] == ["0,1", "0,2", "1,2"] and [len(part) for part in of] == [3, 3, 4] and
            of[2][3] == "0" and all(abs(float(part[1]) / 1e9 - speed) < 0.02
                                    for part, speed in zip(of, (3.45, 3.45, 5.3)))
            if name == "mirage" else of == [["none"]] for of in links), links)
    suite.write("broken.config", "2 # Number of CPUs\n1 # Number of CUDA devices\n")
    suite.write("broken.bandwidth", "0 nan\nnan 0\n")
    suite.write("broken.latency", "0 1\n1 0\n")
    suite.refuses("refuses_starpu_without_figures", "platform", "broken",
                  says=["broken.bandwidth", "nan", "measure it again"])


def runs(suite):
    """A description, a ready machine and StarPU's file are taken by orrery run."""
    status, said = suite.orrery("cc", "--sim", HELLO, "-o", "hello-sim")
    suite.verdict("hello_compiles", status == 0, said)
    suite.succeeds("run_takes_a_description", "run", "--quiet", "--sim", "lab.toml", "-n", "2",
                   "./hello-sim", says="of 2, argument none", times=2)
    os.environ["STARPU_WORKERS_CUDAID"] = "1 9"
    suite.succeeds("a_choice_of_gpus_that_are_not_there_is_told", "run", "--sim", "small4", "-n", "2", RING,
                   says="9 is not the number of a CUDA device: expected 0 to")
    del os.environ["STARPU_WORKERS_CUDAID"]
    for name, what in (("STARPU_WORKERS_CPUID", "hardware threads"), ("STARPU_WORKERS_COREID", "cores")):
        os.environ[name] = "0 1-9"
        status, said = suite.orrery("run", "--sim", "small4", "-n", "2", RING)
        suite.verdict("%s_that_are_not_there_end_the_run" % what.replace(" ", "_"), status != 0 and said.count(
            name + " is \"0 1-9\": expected logical %s from 0 to 3, such as \"0 2 4-6\"" % what) == 1, said)
        del os.environ[name]
    suite.succeeds("run_takes_a_ready_machine", "run", "--quiet", "--sim", "xe6:27", "-n", "2",
                   "./hello-sim", says="of 2, argument none", times=2)
    suite.write("bad.xml", XML_MISTAKES["xml_unit"][0])
    suite.refuses("run_names_the_line", "run", "--sim", "bad.xml", "-n", "2", "./hello-sim",
                  says=XML_MISTAKES["xml_unit"][1])
    for name, (text, says) in ZONE_MISTAKES.items():
        suite.write("bad.xml", text)
        suite.refuses("run_refuses_" + name, "run", "--sim", "bad.xml", "-n", "3", "./hello-sim",
                      says=["bad.xml"] + says)
    suite.write("bad.xml", (PLATFORM % (CLUSTER, "cpus", "4")).replace("0-3", "0-35").replace(
        "lat=", 'topology="DRAGONFLY" topo_parameters="3,4;3,2;2,1;2" lat='))
    suite.refuses("run_refuses_few_routers", "run", "--sim", "bad.xml", "-n", "36", "./hello-sim", says=[
        "signal 11", "route from host n", "as many routers in a chassis as it has groups"])
    suite.write("good.xml", ZONE % ("Floyd", "c", "1GBps", "l", AROUND))
    suite.succeeds("run_takes_routes_by_others", "run", "--quiet", "--sim", "good.xml", "-n", "3",
                   "./hello-sim", says="of 3, argument none", times=3)
    suite.write("good.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % ("smpi/or", "0:1e-6:1e-10")))
    suite.succeeds("run_takes_options_of_smpi", "run", "--quiet", "--sim", "good.xml", "-n", "3",
                   "./hello-sim", says="of 3, argument none", times=3)
    # As SimGrid's own example of coordinates has them: a latency, and no links.
    suite.write("far.xml", re.sub("<(link|route) .*\n", "", ZONE % ("Vivaldi", "c", "", "", "")).replace(
        'speed="1Gf"', 'speed="1Gf" coordinates="5.5 -9.4 1.4"'))
    suite.succeeds("run_takes_coordinates", "run", "--quiet", "--sim", "far.xml", "-n", "3",
                   "./hello-sim", says="of 3, argument none", times=3)
    suite.write("disk.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        '<host id="a" speed="1Gf"/>', '<host id="a" speed="1Gf"><prop id="disk" value="80E9"/></host>'))
    suite.succeeds("what_is_no_count_is_of_others", "platform", "--check", "disk.xml",
                   says='disk.xml:5: <prop>: id="disk"')
    suite.write("model.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % ("network/model", "LV08")))
    suite.succeeds("check_says_what_is_not_followed", "platform", "--check", "model.xml",
                   says='model.xml:4: <prop>: network/model is "LV08"')
    suite.write("model.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        "<zone", CONFIG % ("network/model", "Constant"))) # which refuses links
    suite.succeeds("what_is_not_followed_is_not_asked", "platform", "--check", "model.xml", says="takes it: 3")
    suite.write("wide.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        'latency="1us"', 'latency="1us" sharing_policy="FATPIPE"'))
    suite.succeeds("check_says_what_fatpipes_are", "platform", "--check", "wide.xml",
                   says='wide.xml:7: <link_ctn>: link "l" is FATPIPE')
    suite.refuses("run_calls_a_machine_as_its_user", "run", "--sim", "lab.toml", "-n", "99",
                  "./hello-sim", says=["[orrery] lab.toml has 32 hosts, -n asks for 99 ranks"])
    suite.refuses("one_host", "run", "--sim", "ethernet:1", "-n", "2", "./hello-sim",
                  says=["has 1 host, -n"])
    suite.write("slots", "# of Open MPI\na slots=2\nc\n")
    suite.succeeds("run_takes_hosts_with_slots", "run", "--quiet", "--sim", "good.xml", "-n", "3",
                   "--hostfile", "slots", "./hello-sim", says="of 3, argument none", times=3)
    suite.refuses("run_names_a_host_that_is_near", "run", "--sim", "ethernet:12", "-n", "2",
                  "--hostfile", suite.write("near", "node-1\nnodes-2\n"), "./hello-sim",
                  says=["near:2:", "no host nodes-2", "did you mean node-2"])
    suite.write("slots", "\ufeffnode-0 slots=1 max_slots=4 # ours\n# none\nnode-1 # theirs\n")
    suite.succeeds("run_takes_comments_behind_hosts", "run", "--quiet", "--sim", "ethernet:2", "-n",
                   "2", "--hostfile", "slots", "./hello-sim", says="of 2, argument none", times=2)
    for name, line, says in (
            ("none_on_it", "node-0:0", ["host node-0 has 0 ranks"]),
            ("commas", "node-0,node-1", ["one host on each line"]),
            ("counts", "node-0 2", ["did you mean node-0:2?"]),
            ("ranges", "node-[0-3]", ["one host on each line: node-0"]),
            ("domain", "node-1.lab.fr", ["are node-0 to node-3", "did you mean node-1?"])):
        suite.refuses("run_refuses_a_host_" + name, "run", "--sim", "ethernet:4", "-n", "2",
                      "--hostfile", suite.write("bad", line + "\n"), "./hello-sim",
                      says=["bad:1:"] + says)
    suite.write("two", "node-2 # first\nnode-1\n")
    status, said = suite.orrery("map", "--sim", "ethernet:4", "--hostfile", "two", "-n", "2",
                                "--map-by", "node")
    suite.verdict("map_takes_hosts_of_a_platform", status == 0 and
                  re.findall(r"^node-\d", said, re.M) == ["node-2", "node-1"], said)
    suite.refuses("map_names_a_host_that_is_near", "map", "--sim", "ethernet:4", "--hostfile",
                  suite.write("near", "node-1\nnodes-2\n"), "-n", "2",
                  says=["near:2:", "no host nodes-2", "did you mean node-2"])
    for option, says in (("-platform", "--sim PLATFORM"), ("-machinefile", "--hostfile FILE"),
                         ("--cfg=smpi/or:0:1", "<config>"), ("-x", "NAME=VALUE orrery run"),
                         ("-gdb", "--wrapper"), ("--transprot", "did you mean --transport?")):
        suite.refuses("run_has_no_" + option.strip("-"), "run", "-n", "2", option, "./hello-sim",
                      says=["no option " + option.partition("=")[0] + ": ", says])
    suite.refuses("run_names_a_machine_that_is_near", "run", "--sim", "smal4", "-n", "2",
                  "./hello-sim", says=["smal4", "did you mean small4?"])
    suite.refuses("run_names_what_there_is", "run", "--sim", "nowhere", "-n", "2", "./hello-sim",
                  says=["nowhere", "small4", "xc30"])


def simulated_s(said):
    found = re.search(r"simulated (\S+) s", said)
    return float(found.group(1)) if found else 0


def neighbours(suite):
    """Ranks on one host reach each other, on each network and by each transport."""
    suite.write("two", "node-0:2\nnode-1:2\n")
    for machine in ("xe6:4", "xc30", "h100:4", "ethernet:4"):
        dates = [simulated_s(suite.orrery(
            "run", "--sim", machine, "-n", "4", "--hostfile", "two", "--transport", transport,
            CHOLESKY, "--nb", "8")[1]) for transport in ("routes", "flows", "mpi")]
        suite.verdict("ranks_share_a_host_of_" + machine.split(":")[0], all(
            date and abs(date / dates[2] - 1) < 0.03 for date in dates), dates)
    torus = CLUSTER.replace('prefix="n"', 'prefix="node-"').replace(
        "lat=", 'topology="TORUS" topo_parameters="2,2" lat=')
    suite.write("torus.xml", PLATFORM % (torus, "cpus", "4"))
    for transport in ("routes", "flows", "mpi", "none"):
        status, said = suite.orrery("run", "--sim", "torus.xml", "-n", "4", "--hostfile", "two",
                                    "--transport", transport, CHOLESKY, "--nb", "8")
        suite.verdict("no_way_to_a_neighbour_" + transport, status not in (0, 3) and
                      "several ranks are on host node-" in said and "loopback_bw" in said,
                      "%d, %s" % (status, said[-1000:]))


def read_once(suite):
    """SimGrid reads a large platform for seconds: before a run only what it has not seen."""
    loads, started = [], subprocess.run

    def count(command, *words, **options):
        loads.append(platform_simgrid.LOAD_PLATFORM in command)
        return started(command, *words, **options)
    path = os.path.join(suite.directory, "once.xml")
    names, smpi = ["n0", "n1"], platform_simgrid.Smpi()

    def check(machine, hosts):
        with unittest.mock.patch.object(subprocess, "run", count):
            platform_simgrid.check_platform(argparse.Namespace(sim=path, machine=machine), smpi, hosts)
        return sum(loads)
    suite.write(path, PLATFORM % (CLUSTER, "cpus", "4"))
    seen = [check(path, names), check(path, names), check(path, names[:1]), check("lab.toml", names)]
    suite.write(path, PLATFORM % (CLUSTER, "cpus", "5"))
    seen += [check(path, names), check(path, names)]
    suite.verdict("a_platform_is_read_before_the_first_run_only", seen == [1, 1, 2, 2, 3, 3], seen)
    suite.write(path, (PLATFORM % (CLUSTER, "cpus", "5")).replace('bw="1GBps"', 'bw="1GB/s"'))
    status, said = suite.orrery("run", "--sim", path, "-n", "2", "./hello-sim")
    suite.verdict("and_again_when_it_has_changed", status == 2 and 'no unit "GB/s"' in said, said)


def outputs(suite):
    """A description is not lost to the platform that is made of it."""
    suite.write("own.toml", LAB)
    path = os.path.join(suite.directory, "own.toml")
    for claim, words in (("a_description_is_not_overwritten", ("own.toml", "-o", "own.toml")),
                         ("nor_by_another_name", ("own.toml", "-o", "./own.toml")),
                         ("a_platform_is_no_toml", ("small4", "-o", "other.toml"))):
        status, said = suite.orrery("platform", *words)
        with open(path, encoding="utf-8") as f:
            suite.verdict(claim, status == 2 and ".xml" in said and f.read() == LAB
                          and not os.path.exists(os.path.join(suite.directory, "other.toml")), said)
    os.rename(path, path[:-len(".toml")])
    status, said = suite.orrery("platform", "own", "-o", "own")
    suite.verdict("nor_one_with_no_suffix", status == 2 and "say another one" in said, said)
    suite.succeeds("describe_goes_to_a_file", "platform", "small4", "--describe", "-o", "mine.toml", says="")
    suite.succeeds("where_it_is_a_description", "platform", "mine.toml", "nodes=7", "-o", "mine.xml", says="7 nodes")


def foreign(suite):
    """A platform that nobody wrote for us: what it lacks for durations is said, and is enough."""
    plain = CLUSTER.replace('prefix="n"', 'prefix="node-"')
    suite.write("foreign.xml", PLATFORM % (plain, "watt_per_state", "100"))
    status, said = suite.orrery("run", "--sim", "foreign.xml", "-n", "2", CHOLESKY, "--nb", "4")
    suite.verdict("says_what_a_foreign_platform_lacks", status not in (0, 3) and
                  "on CPU (of a model without name)" in said and "cpu_peak_sp_gflops, in a description "
                  "cpu_sp" in said and "say cpu_model or gpu_model of its nodes" in said,
                  "%d, %s" % (status, said[-1000:]))
    suite.write("watts.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace(
        '<host id="a" speed="1Gf"/>', '<host id="a" speed="1Gf"><disk id="d" read_bw="1MBps" '
        'write_bw="1MBps"/><prop id="watt_off" value="9"/><prop id="wattage_per_state" '
        'value="100:120"/></host>'))
    suite.succeeds("says_what_a_run_does_not_follow_once", "platform", "--check", "watts.xml",
                   says="change nothing", times=2)
    suite.write("day", "PERIODICITY 2.0\n0.0 1.0\n1.0 0.5\n")
    suite.write("days.xml", (ZONE % ("Floyd", "c", "1GBps", "l", AROUND)).replace('<host id="b"', '\n<host id="b"')
                .replace('id="a" speed', 'speed_file="day" id="a" speed').replace(
                    'id="b" speed', 'speed_file="day" id="b" speed'))
    status, said = suite.orrery("platform", "--check", "days.xml")
    suite.verdict("says_what_to_do_with_a_profile_of_two_hosts", status == 2 and "days.xml:6" in said and
                  "copy of its own" in said and said.count("changes nothing") == 1, said)
    suite.write("foreign.xml", PLATFORM % (plain, "cpu_peak_sp_gflops", "20"))
    suite.succeeds("a_peak_is_enough", "run", "--sim", "foreign.xml", "-n", "2", CHOLESKY, "--nb",
                   "4", says="(100 % uncalibrated)")


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")
        suite = Suite(directory)
        described(suite)
        outputs(suite)
        partitions(suite)
        several_gpus(suite)
        linked_gpus(suite)
        shipped(suite)
        if os.path.isdir(BUS):
            starpu(suite)
        if configured("sim"):
            ready(suite)
            dragonflies(suite)
            runs(suite)
            neighbours(suite)
            foreign(suite)
            read_once(suite)
        assert os.path.exists(SMALL)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
