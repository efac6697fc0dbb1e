# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: what somebody may have meant who wrote a description otherwise."""
import re
import unicodedata

# A word of other tools: the key that it is here, or what is said in its place
OTHER_NAMES = {
    "ngpus": "gpus", "num_gpus": "gpus", "gpu_count": "gpus", "n_gpus": "gpus", "ngpu": "gpus",
    "accelerators": "gpus", "gpu_name": "gpu", "gpu_type": "gpu", "accelerator": "gpu",
    "gpu_mem": "gpu_memory", "vram": "gpu_memory", "hbm": "gpu_memory",
    "ncores": "cores", "core": "cores", "num_cores": "cores", "cores_per_socket": "cores",
    "cpus": "cores", "ncpus": "cores", "threads": "cores", "nsockets": "sockets",
    "cpu_name": "cpu", "processor": "cpu", "ram": "memory", "mem": "memory", "mem_bytes": "memory",
    "frequency": "cpu_dp", "clock": "cpu_dp", "ghz": "cpu_dp", "speed": "cpu_dp",
    "flops": "cpu_dp", "gflops": "cpu_dp", "peak": "cpu_dp",
    "pcie": "pcie_bandwidth", "pcie_bw": "pcie_bandwidth", "pcie_lat": "pcie_latency",
    "nvlink": "nvlink_bandwidth", "nvlink_bw": "nvlink_bandwidth", "host_bw": "host_bandwidth",
    "disk_read_bw": "disk_read_bandwidth", "disk_write_bw": "disk_write_bandwidth",
    "hosts": "nodes", "nnodes": "nodes", "num_nodes": "nodes", "radical": "nodes",
    "nodes_number": "nodes", "topology": "network", "topo": "network", "interconnect": "link",
    "fabric": "link", "bw": "bandwidth", "lat": "latency", "bb_bw": "backbone_bandwidth",
    "backbone": "backbone_bandwidth", "loopback_bw": "loopback_bandwidth",
    "loopback_lat": "loopback_latency", "topo_parameters": "tree",
    "dims": "shape", "dimensions": "shape", "dim": "shape", "arity": "switch_ports",
    "radix": "switch_ports", "ports": "switch_ports", "taper": "oversubscription",
    "hosts_per_router": "nodes_per_router", "partitions": "partition", "nodeset": "partition",
}
APART = "all partitions are of one network; two networks and a link between them are two <cluster>s in a " \
    "platform of SimGrid's, see \"orrery help platforms\""
IN_OTHER_WORDS = {
    "device": "GPUs of one kind are a table below that of their node, [[node.device]]",
    "links": "links between GPUs are tables below that of their node, [[node.link]]",
    "devices": "GPUs of one kind are a table below that of their node, [[node.device]]",
    "groups": "the number of groups follows from nodes, nodes_per_router, routers and chassis",
    "levels": "a fat tree has as many levels as its nodes need, or tree says them",
    "prefix": "hosts are called node-0, node-1, ...; leave it out",
    "suffix": "hosts are called node-0, node-1, ...; leave it out",
    "hostnames": "hosts are called node-0, node-1, ...; say how many: nodes = 8",
    "sharing": "each link has its bandwidth in each direction; what all share is "
               "backbone_bandwidth; leave it out",
    "range": "nodes are numbered in the order of the partitions; say how many: nodes = 8",
    "speedup": "kernels take their time from performance models; leave it out",
    "backbone_latency": "a message takes the latency, whatever it crosses; leave it out",
    "nvlink_latency": "copies between GPUs take pcie_latency, too; leave it out",
    "disk_size": "STARPU_DISK_SWAP_SIZE says how much a program may write there; leave it out",
    "disk_capacity": "STARPU_DISK_SWAP_SIZE says how much a program may write there; leave it out",
    "hyperthreading": "cores are those that workers run on, at the speed of their models; leave it out",
    "threads_per_core": "cores are those that workers run on, at the speed of their models; leave it out",
    **dict.fromkeys(("nics", "nic", "hcas", "rails"),
                    "bandwidth, above the first [table], is that of all ports of a node together"),
    **dict.fromkeys(("uplink", "uplink_bandwidth", "partition_link", "partition_bandwidth", "bottleneck"), APART),
}
UNIT = r"\s*(\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ /]*)\s*"
PLAIN = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-"}


def shown(value):
    """A value as it stands in a description."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return "a list of tables"
    return "\"%s\"" % value if isinstance(value, str) else str(value).replace("'", "\"")


def units_meant(kind, number, word):
    """The units that a unit may stand for: "gbps" for "Gbit/s" and "GB/s"."""
    lower = word.lower().replace(" ", "")
    if not lower and "e" in number:
        return {"time": ["s"], "bandwidth": ["B/s", "bit/s"], "bytes": ["B"]}.get(kind, [])
    prefix = lower[:1].upper() if lower[:1] in tuple("kmgtp") else ""
    if kind == "bandwidth":
        if re.fullmatch(r"([kKMGTP]|[KMGT]i)?B", word.strip()):
            return [word.strip() + "/s"]
        if "bit" in lower or "byte" in lower:
            return [prefix + ("bit/s" if "bit" in lower else "B/s")]
        if re.fullmatch(r"[kmgt]be", lower): # 10GbE
            return [prefix + "bit/s"]
        if re.fullmatch(r"[kmgtp]?i?b?(/s|ps|/sec|persecond)?", lower):
            return [(prefix or "G") + "bit/s", (prefix or "G") + "B/s"]
    if kind == "bytes" and re.fullmatch(r"[kmgtp]?i?(b|byte|bytes|bit|o)?", lower):
        return [(prefix or "G") + "B"]
    if kind == "gflops" and re.fullmatch(r"[kmgtp]?(f|flop|flops|flops?/s|flops/sec)?", lower):
        return [(prefix or "G") + "Flop/s"]
    if kind == "time":
        for unit, start in (("ms", "ms|milli"), ("ns", "n"), ("us", "u|µ|μ|micro|$"),
                            ("s", "s")):
            if re.match(start, lower):
                return [unit]
    return []


def meant(kind, value):
    """"; did you mean ...?" for a value that is no quantity of a kind, or nothing."""
    if isinstance(value, bool):
        return "; did you mean %d?" % value if kind == "count" else ""
    if kind in ("count", "number") and isinstance(value, list):
        return "; how many: %d?" % len(value)
    if kind == "lengths" and isinstance(value, list):
        whole = [int(float(part)) for part in value if re.fullmatch(r"\d+(\.0*)?", str(part))]
        return "; did you mean %s?" % whole if len(whole) == len(value) > 0 and all(whole) else ""
    if not isinstance(value, str):
        return ""
    text = " ".join(value.split())
    ratio = re.fullmatch(r"(\d+) *: *1", text)
    if kind in ("count", "number"):
        number = ratio or re.match(r"(\d+)(?= [a-z]|$)", text)
        return "; did you mean %s?" % number.group(1) if number else ""
    found = re.fullmatch(UNIT, text)
    if not found or not float(found.group(1).replace(",", ".")):
        return ""
    if kind == "gflops" and found.group(2).lower().endswith("hz"):
        return "; cycles per second times the operations of a cycle: 2.5 GHz with 16 are 40 GFlop/s"
    if kind == "time" and not found.group(2) and float(found.group(1).replace(",", ".")) < 1e-2:
        return "; did you mean \"%g us\"?" % (1e6 * float(found.group(1).replace(",", "."))) # as bare, in seconds
    said = ["\"%s %s\"" % (found.group(1).replace(",", "."), unit)
            for unit in units_meant(kind, *found.group(1, 2))]
    return "; did you mean %s?" % " or ".join(said) if said else ""


def strange_character(line):
    """A remedy for characters that look like others; None: there are none."""
    for character in re.sub(r"#.*", "", line):
        if ord(character) < 128 and (character.isprintable() or character == "\t"):
            continue
        name = unicodedata.name(character, "a control character")
        plain = PLAIN.get(character, " " if character.isspace() else None)
        return "it has U+%04X (%s)%s" % (
            ord(character), name, ": type a plain %s" % ("space" if plain == " " else plain)
            if plain else ", which belongs in quotes")
    return None


def table_remedy(line, head, words):
    """For a line with [TABLE]."""
    name = head.group(1).strip()
    if "Expected ']'" in words:
        return "write %s" % ("[[%s]]" % name if line.startswith("[[") else "[%s]" % name)
    if name == "partition":
        return "each partition begins with [[partition]]"
    if name == "node":
        return "put all in one [node]; what one partition alone has stands in [partition.node] " \
            "below it"
    if name == "partition.node":
        return "it stands once below each [[partition]]"
    if name in ("node.device", "partition.node.device"):
        return "each kind of GPUs begins with [[%s]]" % name
    if name in ("node.link", "partition.node.link"):
        return "each group of GPUs with links to each other begins with [[%s]]" % name
    return "tables are [node], [[node.device]], [[node.link]] and [[partition]], and below one of these " \
        "[partition.node], [[partition.node.device]] and [[partition.node.link]]"


def toml_remedy(line, words):
    """What to do about a line that is no TOML."""
    head = re.match(r"\[+([\w. -]+)", line)
    if head:
        return table_remedy(line, head, words)
    strange = strange_character(line)
    if strange:
        return strange
    if re.match(r"//|;|--|!|%|rem ", line, re.I):
        return "comments begin with #"
    if "twice" in words:
        return "leave one out"
    if "Illegal character '\\n'" in words and line.count('"') % 2:
        return "a quotation mark is missing: %s\"" % re.sub(r"\s*(#.*)?$", "", line)
    if "Unclosed array" in words:
        return "a \"]\" is missing before it"
    if line.startswith(("{", "<")):
        return "a description is TOML: lines such as nodes = 16; see \"orrery help platforms\""
    bare = re.match(r"([\w.-]+)\s*=\s*([^\"'\[{]*?)\s*(#.*)?$", line)
    if re.match(r"[\w.-]+\s*=\s*(\".*\"|[^\"]*)\s*[;,]$", line):
        return "leave the \"%s\" at its end out" % line[-1]
    if bare and not bare.group(2):
        return "say its value behind the ="
    counted = bare and re.fullmatch(r"(\d+) +(nodes?|hosts?|sockets?|cores?|cpus?|workers?|gpus?|ports?|disks?)",
                                    bare.group(2), re.I)
    if not counted and bare and bare.group(1) in ("nodes", "gpus", "sockets", "cores", "workers", "disks"):
        counted = re.match(r"(\d+)\b", bare.group(2))
        if not counted:
            return "expected a whole number: %s = 4" % bare.group(1)
    if counted:
        return "a number of things has no unit: %s = %s" % (bare.group(1), counted.group(1))
    if bare:
        return "texts and figures with units need quotes: %s = \"%s\"" % bare.group(1, 2)
    if re.match(r"[\w.-]+\s*:?\s+\S", line) and "=" not in line:
        return "expected NAME = VALUE"
    return "see \"orrery help platforms\""
