#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Bus calibrations as StarPU's users have them, whole and damaged: read as they are, or refused with
file and remedy."""
import os
import re
import sys
import tempfile

from newcomer import SRC, Claims, attempt, start
from orrery_tool.app import models_of  # newcomer.py has said where
from orrery_tool.platform_command import from_place
from orrery_tool.words import Refusal

CONFIG = """# Current configuration
16 # Number of CPUs
2 # Number of NUMA nodes
2 # Number of CUDA devices
0 # Number of OpenCL devices
0 # Number of MIC devices
0 # Number of MPI devices
"""
# StarPU 1.4 calls all of them nodes, and has more kinds.
CONFIG_OF_1_4 = """# Current configuration
16 # Number of CPUs
2 # Number of NUMA nodes
2 # Number of CUDA nodes
0 # Number of OpenCL nodes
0 # Number of FPGA nodes
1 # Number of Disk nodes
0 # Number of MPI_MS nodes
0 # Number of TCPIP_MS nodes
0 # Number of HIP nodes
"""
# Two NUMA nodes, then two GPUs, then what StarPU has room for.
BANDWIDTH = """# to 0\t\tto 1\t\tto 2\t\tto 3\t\tto 4
0.0\t20000.0\t12000.0\t10000.0\tnan
22000.0\t0.0\t10000.0\t12000.0\tnan
13000.0\t11000.0\t0.0\t9000.0\tnan
11000.0\t13000.0\t9000.0\t0.0\tnan
nan\tnan\tnan\tnan\tnan
"""
LATENCY = """# to 0\t\tto 1\t\tto 2\t\tto 3\t\tto 4
0.0\t0.2\t8.0\t9.0\tnan
0.2\t0.0\t9.0\t8.0\tnan
10.0\t11.0\t0.0\t14.0\tnan
11.0\t10.0\t14.0\t0.0\tnan
nan\tnan\tnan\tnan\tnan
"""
HOSTS = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM 'http://simgrid.gforge.inria.fr/simgrid.dtd'>
<platform version="3"><AS id="AS0" routing="Full">
<host id="MAIN" power="1"/><host id="CPU0" power="2000000000"/>
<host id="CUDA0" power="2000000000"><prop id="model" value="A30"/><prop id="memsize" value="9000000000"/></host>
<host id="CUDA1" power="2000000000"><prop id="model" value="A30"/><prop id="memsize" value="9000000000"/></host>
<host id="RAM" power="1"/>
<link id="RAM-CUDA0" bandwidth="12000000000.0" latency="0.000008"/>
<link id="CUDA0-RAM" bandwidth="13000000000.0" latency="0.000010"/>
<link id="RAM-CUDA1" bandwidth="12000000000.0" latency="0.000008"/>
<link id="CUDA1-RAM" bandwidth="13000000000.0" latency="0.000010"/>
</AS></platform>
"""
# file: (what is replaced, by what, words of the refusal)
DAMAGED = (
    ("config", "16 # Number of CPUs\n", "", ["has no line", "Number of CPUs"]),
    ("config", "16 # N", "0 # N", ["has 0 CPUs"]),
    ("config", "2 # Number of CUDA", "-1 # Number of CUDA", [":4:", "CUDA devices is \"-1\""]),
    ("config", "2 # Number of CUDA", "9 # Number of CUDA", ["of 2 main memories and of 9 GPUs"]),
    ("config", CONFIG[CONFIG.index("2 # Number of CUDA"):], "", ["node.config speaks of 2 memories",
                                                                 "has figures of 4", "truncated"]),
    ("config", CONFIG, b"\xff\xfe\0\0", ["is no text"]),
    ("config", CONFIG, None, ["node.config cannot be read"]),
    ("bandwidth", BANDWIDTH, None, ["node.bandwidth cannot be read"]),
    ("bandwidth", BANDWIDTH, "", ["expected a row and a column"]),
    ("bandwidth", "12000.0", "nan", ["memories 0 and 2 is missing (nan)"]),
    ("bandwidth", "12000.0", "0.0", ["memories 0 and 2 is 0"]),
    ("bandwidth", "12000.0", "-5", ["memories 0 and 2 is -5"]),
    ("bandwidth", "12000.0", "12,5", [":2:", "expected numbers"]),
    ("bandwidth", "9000.0", "0.0", ["memories 2 and 3 is 0"]),
    ("latency", LATENCY, None, ["node.latency cannot be read"]),
    ("latency", "8.0", "inf", ["memories 0 and 2 is missing"]),
    ("latency", LATENCY[60:], "", ["expected a row"]),
    ("xml", "<link id=\"RAM-CUDA1\" bandwidth=\"12000000000.0\" latency=\"0.000008\"/>\n", "",
     ["node.xml:6: <host> \"CUDA1\": there is no <link> \"RAM-CUDA1\""]),
    ("xml", "12000000000.0", "0.000000", ["node.xml:8: <link> \"RAM-CUDA0\": bandwidth is 0"]),
    ("xml", "12000000000.0", "-nan", ["node.xml:8: <link> \"RAM-CUDA0\": bandwidth is \"-nan\""]),
    ("xml", "12000000000.0", "12.5.3", ["node.xml:8: <link> \"RAM-CUDA0\": bandwidth is \"12.5.3\""]),
    ("xml", " latency=\"0.000008\"", "", ["node.xml:8: <link> \"RAM-CUDA0\": latency is missing"]),
    ("xml", "9000000000", "9 GB", ["node.xml:5: <host> \"CUDA0\": memsize is \"9 GB\""]),
    ("xml", " value=\"9000000000\"", "", ["node.xml:5: <host> \"CUDA0\": memsize is missing"]),
    ("xml", "9000000000", "9e30", ["GPUs with 9e+30 bytes"]),
    ("xml", "id=\"CPU0\" ", "", ["a <host> has no id"]),
    ("xml", "id=\"RAM-CUDA0\" ", "", ["a <link> has no id"]),
    ("xml", "\"CUDA1\"", "\"CUDA0\"", ["<host> \"CUDA0\": it is there twice"]),
    ("xml", "RAM-CUDA1", "RAM-CUDA7", ["there is no <link> \"RAM-CUDA1\""]),
    ("xml", "<link id=\"RAM-CUDA0\"", "<link id=\"RAM-CUDA7\" bandwidth=\"1\" latency=\"0\"/><link id=\"RAM-CUDA0\"",
     ["node.xml:8: <link> \"RAM-CUDA7\": there is no <host>"]),
    ("xml", "</AS>", "", ["node.xml:12:", "malformed or truncated"]),
)
TEXTS = {"config": CONFIG, "bandwidth": BANDWIDTH, "latency": LATENCY, "xml": HOSTS}


def write(kind, data):
    path = "node." + kind
    if data is None:
        os.remove(path)
        return
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def play(kind="config"):
    return attempt("nodes = 2\nlink = \"HDR\"\n[node]\nmachine = \"%s\"\n"
                   % ("node.xml" if kind == "xml" else "node"))


def props(platform):
    return dict(re.findall(r"<prop id=\"([\w.]+)\" value=\"([^\"]*)\"", platform or ""))


def versions(claims):
    """What StarPU 1.4 calls otherwise, and what editors leave."""
    expected = props(play()[2])
    for claim, text in (("of_1_4", CONFIG_OF_1_4), ("of_windows", "\ufeff" + CONFIG.replace("\n", "\r\n"))):
        write("config", text)
        write("bandwidth", "\ufeff" + BANDWIDTH.replace("\n", "\r\n"))
        refusal, said, platform = play()
        claims.verdict("reads_a_config_" + claim, not refusal and not said and props(platform) == expected,
                       "%s %s %s" % (refusal, said, props(platform)))
    write("bandwidth", BANDWIDTH)
    for kind in ("OpenCL", "HIP"):
        write("config", CONFIG_OF_1_4.replace("2 # Number of CUDA", "0 # Number of CUDA").replace(
            "0 # Number of " + kind, "2 # Number of " + kind))
        refusal, said, _ = play()
        claims.verdict("speaks_of_%s_of_1_4" % kind, not refusal and "2 %s devices are not taken" % kind
                       in said, "%s %s" % (refusal, said))
    write("config", CONFIG)


def ways_between_gpus(claims):
    """Where no GPU reaches another StarPU writes the sum of both ways."""
    by_host = ["%e" % (1 / (1 / out + 1 / back)) for out, back in ((13000., 10000.), (11000., 12000.))]
    rows = BANDWIDTH.replace("\t0.0\t9000.0", "\t0.0\t" + by_host[0])
    latency = LATENCY.replace("\t0.0\t14.0", "\t0.0\t19.0")
    write("bandwidth", rows)
    write("latency", latency)
    refusal, said, platform = play()
    claims.verdict("one_way_by_the_host_is_spoken_of", not refusal and "of the two ways between GPUs 0 and 1 one goes "
                   "through main memory" in said and "nvlink_bw" in props(platform), "%s %s" % (refusal, said))
    write("bandwidth", rows.replace("\t9000.0\t0.0", "\t%s\t0.0" % by_host[1]))
    write("latency", latency.replace("\t14.0\t0.0", "\t19.0\t0.0"))
    refusal, said, platform = play()
    claims.verdict("ways_by_the_host_are_none_of_their_own", not refusal and not said and
                   "nvlink_bw" not in props(platform) and props(platform)["peer_access"] == "0",
                   "%s %s %s" % (refusal, said, props(platform)))
    write("latency", LATENCY)
    write("bandwidth", BANDWIDTH.replace("12000.0", "2000.0", 1))
    refusal, said, platform = play()
    found, expected = props(platform), {"gpu_kinds": "node:0-0;node_2:1-1", "gpu_model": None,
                                        "node.gpu_model": "node", "node.pcie_bw": "9000000000",
                                        "node_2.pcie_bw": "11500000000"}
    claims.verdict("gpus_with_unlike_links_are_of_two_kinds", not refusal and not said and
                   {name: found.get(name) for name in expected} == expected, "%s %s %s" % (refusal, said, found))
    write("bandwidth", BANDWIDTH)


# One main memory and three GPUs, of which the last two are near to each other.
OF_THREE = (("0.0", "12000.0", "12000.0", "12000.0"), ("13000.0", "0.0", "5000.0", "6000.0"),
            ("13000.0", "5000.0", "0.0", "21000.0"), ("13000.0", "6000.0", "19000.0", "0.0"))


def pairs_of_gpus(claims):
    """Figures by pair where one for all is no good one."""
    def played(rows, *latencies):
        write("bandwidth", "# to\n" + "\n".join("\t".join(row) for row in rows) + "\n")
        latency = [["0.0" if i == k else "10.0" if 0 in (i, k) else "14.0" for k in range(4)] for i in range(4)]
        for i, k, value in latencies:
            latency[i][k] = value
        write("latency", "# to\n" + "\n".join("\t".join(row) for row in latency) + "\n")
        refusal, said, platform = play()
        found = props(platform)
        return {name: found.get(name) for name in ("gpu_links", "nvlink_bw", "peer_access")}, "%s %s" % (refusal, said)

    write("config", CONFIG.replace("2 # Number of NUMA", "1 # Number of NUMA").replace("2 # Number of CUDA",
                                                                                      "3 # Number of CUDA"))
    found, said = played(OF_THREE)
    claims.verdict("pairs_of_gpus_have_their_links", found == {
        "gpu_links": "0,1:5e+09:1.4e-05;0,2:6e+09:1.4e-05;1,2:2e+10:1.4e-05", "nvlink_bw": None, "peer_access": None},
                   "%s %s" % (found, said))
    alike = [[word.replace("21000", "7000").replace("19000", "7000") for word in row] for row in OF_THREE]
    found, said = played(alike)
    claims.verdict("that_are_nearly_alike_their_mean", found == {
        "gpu_links": None, "nvlink_bw": "6000000000", "peer_access": None}, "%s %s" % (found, said))
    by_host = "%e" % (1 / (1 / 13000 + 1 / 12000))
    far = [[by_host if 0 < i != k > 0 and {i, k} != {2, 3} else word for k, word in enumerate(row)]
           for i, row in enumerate(OF_THREE)]
    found, said = played(far, *((i, k, "20.0") for i, k in ((1, 2), (2, 1), (1, 3), (3, 1))))
    claims.verdict("those_by_the_host_have_none", found == {
        "gpu_links": "1,2:2e+10:1.4e-05", "nvlink_bw": None, "peer_access": "0"}, "%s %s" % (found, said))
    for kind in ("config", "bandwidth", "latency"):
        write(kind, TEXTS[kind])


DISK = """<host id="DISK0" power="1"/><link id="RAM-DISK0" bandwidth="400MBps" latency="2ms"/>
<link id="DISK0-RAM" bandwidth="4Gbps" latency="1000us"/>
</AS>"""


def by_hand(claims):
    """Who has added a disk, as StarPU's manual says, may have written units of SimGrid's."""
    write("xml", HOSTS.replace("\"12000000000.0\"", "\"12GBps\"").replace("</AS>", DISK))
    refusal, said, platform = play("xml")
    found, expected = props(platform), {"pcie_bw": "12500000000", "disks": "1", "disk_lat": "0.0015",
                                        "disk_read_bw": "500000000", "disk_write_bw": "400000000",
                                        "gpu_model": "node"}
    claims.verdict("disks_and_units_are_taken", not refusal and not said and
                   {name: found.get(name) for name in expected} == expected, "%s %s %s" % (refusal, said, found))
    write("xml", HOSTS.replace("</AS>", DISK.replace("DISK0-RAM", "DISK1-RAM")))
    refusal = play("xml")[0]
    claims.verdict("half_a_disk_is_refused", refusal and "<host> \"DISK0\": there is no <link> \"DISK0-RAM\"; "
                   "say it, or leave the host out" in refusal, refusal)
    odd = HOSTS.replace("<host id=\"CUDA1\" power=\"2000000000\"><prop id=\"model\" value=\"A30\"/>"
                        "<prop id=\"memsize\" value=\"9000000000\"/>", "<host id=\"CUDA1\" power=\"2000000000\">"
                        "<prop id=\"model\" value=\"T4\"/><prop id=\"memsize\" value=\"5000000000\"/>")
    lines = odd.split("\n") # as a file has it whose links are in another order
    write("xml", "\n".join(lines[:7] + lines[9:11] + lines[7:9] + lines[11:]).replace(
        "\"CUDA1-RAM\" bandwidth=\"13", "\"CUDA1-RAM\" bandwidth=\"3").replace(
            "\"RAM-CUDA1\" bandwidth=\"12", "\"RAM-CUDA1\" bandwidth=\"4"))
    refusal, said, platform = play("xml")
    found, expected = props(platform), {"gpu_kinds": "node:0-0;node_2:1-1", "node.gpu_mem_bytes": "9000000000",
                                        "node.pcie_bw": "12500000000", "node_2.gpu_mem_bytes": "5000000000",
                                        "node_2.pcie_bw": "3500000000"}
    claims.verdict("unlike_devices_are_taken", not refusal and not said and
                   {name: found.get(name) for name in expected} == expected, "%s %s %s" % (refusal, said, found))
    write("xml", HOSTS)
    for line, words in (("sockets = 5", ["not those of 5 sockets", "leave sockets out"]), ("sockets = 2", None),
                        ("cores = 6", None)):
        refusal, _, platform = attempt("nodes = 2\nlink = \"HDR\"\n[node]\nmachine = \"node\"\n%s\n" % line)
        claims.verdict("beside_" + line.replace(" ", "_"), refusal and all(word in refusal for word in words)
                       if words else props(platform).get("cpus") == ("4" if "cores" in line else "14"),
                       "%s %s" % (refusal, props(platform)))


# As StarPU writes it: all copies share the link of the host.
ROUTES = "".join("<route src=\"%s\" dst=\"%s\">%s</route>\n" % (
    a, b, "".join("<link_ctn id=\"%s\"/>" % link for link in links)) for a, b, links in (
        ("RAM", "CUDA0", ("RAM-CUDA0", "Host")), ("CUDA0", "RAM", ("CUDA0-RAM", "Host")),
        ("RAM", "CUDA1", ("RAM-CUDA1", "Host")), ("CUDA1", "RAM", ("CUDA1-RAM", "Host")),
        ("CUDA0", "CUDA1", ("Host", "Host")), ("CUDA1", "CUDA0", ("Host", "Host"))))


def beside_tables(claims):
    """A platform beside the tables tells what these do not, and not when it is of another machine."""
    text = HOSTS.replace("</AS>", "<link id=\"Host\" bandwidth=\"13e9\" latency=\"0\"/>\n" + ROUTES + "</AS>")
    expected = {"host_shared": "1", "host_peers": "2", "gpu_mem_bytes": "9000000000",
                "pcie_bw": "11500000000"}
    with open("node.platform.v4.xml", "w", encoding="utf-8") as f:
        f.write(text)
    refusal, said, platform = play()
    found = dict(re.findall(r"<prop id=\"(\w+)\" value=\"([^\"]*)\"", platform or ""))
    wrong = {name: found.get(name) for name in expected if found.get(name) != expected[name]}
    claims.verdict("a_platform_beside_tells_more", not refusal and not said and not wrong
                   and "nvlink_bw" not in found, "%s %s %s" % (refusal, said, found))
    with open("node.platform.v4.xml", "w", encoding="utf-8") as f:
        f.write(re.sub("<(host|link|route) [^\n]*CUDA1[^\n]*\n", "", text))
    refusal, said, platform = play()
    claims.verdict("one_of_another_machine_is_left_aside", not refusal and "has 1 GPUs" in said and
                   "host_shared" not in (platform or ""), "%s %s" % (refusal, said))
    os.remove("node.platform.v4.xml")


def models_beside(claims):
    """Names with dots; a directory as StarPU has it, with models beside bus/."""
    os.makedirs("sampling/bus", exist_ok=True)
    os.makedirs("sampling/codelets/45", exist_ok=True)
    stem = os.path.join("sampling", "bus", "node-1.lab.fr")
    for end in ("config", "bandwidth", "latency"):
        with open("%s.%s" % (stem, end), "w", encoding="utf-8") as f:
            f.write(TEXTS[end])
    refusal, _, platform = attempt("nodes = 2\nlink = \"HDR\"\n[node]\nmachine = \"%s\"\n" % stem)
    claims.verdict("a_name_keeps_its_dots", not refusal and
                   "id=\"cpu_model\" value=\"node-1.lab.fr\"" in platform, "%s %s" % (refusal, platform))
    for name in ("sampling", os.path.join("sampling", "bus")):
        refusal = start([name])[0]
        claims.verdict("says_what_is_in_" + os.path.basename(name), refusal and
                       "is a directory; with calibrations of StarPU's: say %s" % stem in refusal, refusal)
        try:
            refusal = from_place(SRC, name)
        except Refusal as said:
            refusal = str(said)
        claims.verdict("so_does_run_of_" + os.path.basename(name), refusal and "say %s" % stem in refusal, refusal)
    refusal = start([stem[:-1]])[0]
    claims.verdict("a_misspelt_calibration", refusal and "calibrations of StarPU's there are %s" % stem in refusal,
                   refusal)
    base = os.path.abspath("sampling")
    found = [models_of(name) for name in (stem, stem + ".config", "lab.toml", "node", None)]
    claims.verdict("models_are_beside_the_bus", found == [[base]] * 3 + [[]] * 2, found)


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for kind, text in TEXTS.items():
            write(kind, text)
        refusal, said, platform = play()
        found = dict(re.findall(r"<prop id=\"(\w+)\" value=\"([^\"]*)\"", platform or ""))
        expected = {"cpus": "14", "gpus": "2", "pcie_bw": "11500000000", "pcie_lat": "9.5e-06",
                    "nvlink_bw": "9000000000", "numa_nodes": "2", "numa_bw": "21000000000"}
        wrong = {name: found.get(name) for name in expected if found.get(name) != expected[name]}
        claims.verdict("numa_nodes_come_before_gpus", not refusal and not said and not wrong,
                       "%s %s %s" % (refusal, said, wrong))
        for number, (kind, old, new, words) in enumerate(DAMAGED):
            write(kind, new if old == TEXTS[kind] else TEXTS[kind].replace(old, new, 1))
            refusal = play(kind)[0]
            claims.verdict("damaged_%s_%d" % (kind, number), refusal and refusal.startswith(
                "lab.toml:4: machine: ") and all(word in refusal for word in words), refusal)
            write(kind, TEXTS[kind])
        refusal, _, out = start(["--check", "node.xml"], with_platform=True)
        claims.verdict("check_takes_version_3", not refusal and "good: 1 node on" in out,
                       "%s %s" % (refusal, out))
        write("xml", HOSTS)
        write("config", CONFIG.replace("2 # Number of CUDA", "0 # Number of CUDA").replace(
            "0 # Number of OpenCL", "2 # Number of OpenCL"))
        refusal, said, _ = play()
        claims.verdict("other_devices_are_spoken_of", not refusal and "2 OpenCL devices" in said,
                       "%s %s" % (refusal, said))
        write("config", CONFIG)
        versions(claims)
        ways_between_gpus(claims)
        pairs_of_gpus(claims)
        write("xml", HOSTS)
        by_hand(claims)
        beside_tables(claims)
        models_beside(claims)
        for changes, is_guess in ((["nodes=4"], True), (["nodes=4", "link=QDR"], False), ([], False)):
            refusal, said = start(["node"] + changes)
            claims.verdict("network_is_%sa_guess_%d" % ("" if is_guess else "not_", len(changes)),
                           not refusal and ("link = \"HDR\" is taken" in said) == is_guess,
                           "%s %s" % (refusal, said))
        os.chdir("/")
    return 1 if claims.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
