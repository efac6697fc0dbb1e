# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: how large a figure may be, and which figures say nothing beside others."""
import math
import re

from orrery_tool.words import Refusal

MOST_UNITS, MOST_BYTES, MOST = 10**6, 1e18, 1e30   # as src/sim/machine.c has them
MAX_NODES = 1 << 20
MAX_KERNELS = 8            # PLAT_MAX_KERNELS of src/plat
MAX_GPUS, MAX_NUMAS = 16, 8                        # of the library: STARPU_MAXCUDADEVS, ...
MAX_CPUS = 256                                     # STARPU_MAXCPUS
COUNTS = {                 # name: (least, most); others 0 to MOST_UNITS
    "nodes": (1, MAX_NODES), "sockets": (1, MOST_UNITS), "cores": (1, MOST_UNITS),
    "workers": (1, MOST_UNITS), "numa_per_socket": (1, MAX_NUMAS), "gpus": (0, MAX_GPUS),
    "host_shared": (0, 1), "copies_messages": (0, 1), "host_peers": (0, 2), "peer_access": (0, 1),
    "switch_ports": (2, MOST_UNITS), "chassis": (1, MOST_UNITS), "routers": (1, MOST_UNITS),
    "nodes_per_router": (1, MOST_UNITS), "router_links": (1, MOST_UNITS),
    "chassis_links": (1, MOST_UNITS), "group_links": (1, MOST_UNITS),
}
COSTS = r"\w+_cost|poll_wait|gpu_launch|gpu_gap"
# kind, pattern of names, (least, most) that machines have, unit, words
USUAL = (
    ("bandwidth", "(pcie|host|nvlink|numa)_bandwidth", (1e8, 1e14), "bytes per second",
     "100 MB/s to 100 TB/s"),
    ("bandwidth", "disk_.*", (1e6, 2e11), "bytes per second", "1 MB/s to 200 GB/s"),
    ("bandwidth", "bandwidth", (1e6, 9e11), "bytes per second", "1 MB/s to 900 GB/s"),
    ("bandwidth", ".*", (1e6, 1e14), "bytes per second", "1 MB/s to 100 TB/s"),
    ("time", "(latency|link_latency|hop_latency)", (1e-8, 0.2), "seconds",
     "10 ns in a machine to 200 ms around the earth"),
    ("time", "(pcie|numa|loopback)_latency", (1e-9, 1e-3), "seconds", "1 ns to 1 ms"),
    ("time", "gpu_(launch|gap)", (1e-8, 1e-3), "seconds", "10 ns to 1 ms"),
    ("time", "disk_latency", (1e-7, 0.1), "seconds", "100 ns to 100 ms"),
    ("bytes", "gpu_memory", (64e6, 10e12), "bytes", "64 MB to 10 TB"),
    ("bytes", ".*", (64e6, 1e14), "bytes", "64 MB to 100 TB"),
    ("count", "cores", (1, 1024), "to a socket", "1 to 1024"),
    ("gflops", "cpu_.*", (1e-3, 1e4), "GFlop/s", "1 MFlop/s to 10 TFlop/s of a core"),
    ("gflops", "gpu_.*", (1, 1e7), "GFlop/s", "1 GFlop/s to 10 PFlop/s"),
)
MOST_OF_A_ROOM_S = 2e-3
EXAMPLES = {"bandwidth": "10 GB/s", "time": "1.5 us", "bytes": "64 GB", "gflops": "20 GFlop/s"}
# network: the keys that it alone has
SHAPES = {
    "switch": ("backbone_bandwidth",), "fat tree": ("switch_ports", "oversubscription", "tree"),
    "torus": ("shape",), "dragonfly": ("chassis", "routers", "nodes_per_router", "router_links",
                                       "chassis_links", "group_links"),
}
PIECE = r"(\d+):([0-9.]+(?:[eE][+-]?\d+)?)"
MAX_PIECES = 32            # WIRE_MAX_PIECES of src/sim
# what needs a figure: the figures of a node that say nothing without it
NEEDS = {
    "gpus": ("gpu_model", "gpu_memory", "gpu_sp", "gpu_dp", "gpu_launch", "gpu_gap", "gpu_launches",
             "pcie_bandwidth", "pcie_latency",
             "nvlink_bandwidth", "host_bandwidth", "host_shared", "host_peers", "peer_access"),
    "disks": ("disk_read_bandwidth", "disk_write_bandwidth", "disk_latency"),
}


def usual(kind, name):
    return next((row[2:] for row in USUAL if row[0] == kind and re.fullmatch(row[1], name)), None)


def check_count(where, name, value):
    least, most = COUNTS.get(name, (0, MOST_UNITS))
    if not least <= value <= most:
        raise Refusal("%s: %s is %d, expected %s" % (
            where, name, value, "0 or 1" if most == 1 else "%d to %d" % (least, most)))


def check_quantity(where, name, kind, value, raw):
    """A figure with a unit."""
    if not math.isfinite(value) or value > (MOST_BYTES if kind == "bytes" else MOST):
        raise Refusal("%s: %s is %s, more than a machine has" % (where, name, raw))
    if kind != "time" and value <= 0:
        raise Refusal("%s: %s is 0, expected more; leave it out where there is none or it is "
                      "not known" % (where, name))
    if re.fullmatch(COSTS, name) and value > 1:
        raise Refusal("%s: %s is %g s, expected at most 1 s" % (where, name, value))
    range_ = usual(kind, name)
    if isinstance(raw, (int, float)) and range_ and value \
            and not range_[0][0] <= value <= range_[0][1]:
        raise Refusal("%s: %s is %s, without a unit %s: say the unit, such as \"%s\"" % (
            where, name, "%.12g" % raw, range_[1], EXAMPLES[kind]))


def pieces_mistake(name, text):
    """What is wrong with "ABOVE_BYTES:FACTOR;...", in order, or ""."""
    pieces = [re.fullmatch(PIECE, piece.strip()) for piece in text.split(";")]
    bounds = [int(piece.group(1)) for piece in pieces if piece]
    if not all(pieces) or len(pieces) > MAX_PIECES or bounds != sorted(set(bounds)) or \
            any(not 0 < number_of(piece.group(2)) < MOST for piece in pieces):
        return "%s is \"%s\", expected ABOVE_BYTES:FACTOR with ; between, up to %d, bytes in order and " \
            "factors above 0: \"0:0.5;65536:1\"" % (name, text, MAX_PIECES)
    return ""


def seconds_mistake(name, text):
    """The same of "WORD:SECONDS;...", which is what one task costs."""
    what, word, such = ("ABOVE_BYTES", r"\d+", "0:4e-7;98304:1e-6") if name == "cold_costs" else \
        ("POLICY", r"[\w-]+", "lws:3e-7;dmda:4e-7")
    pieces = [re.fullmatch(r"%s:([0-9.]+([eE][+-]?\d+)?)" % word, piece)
              for piece in re.sub(";$", "", text).split(";")]
    if len(pieces) <= MAX_PIECES and all(piece and 0 <= number_of(piece.group(1)) < 1 for piece in pieces):
        return ""
    return "%s is \"%s\", expected %s:SECONDS with ; between, less than 1 s, up to %d: \"%s\"" % (
        name, text, what, MAX_PIECES, such)


def number_of(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def text_mistake(name, text):
    """What is wrong with a property that is a list, or ""."""
    if name in ("copy_factors", "small_copy_factors"):
        return pieces_mistake(name, text)
    if name in ("cold_costs", "push_costs"):
        return seconds_mistake(name, text)
    return kernels_mistake(text, name) if name in ("gpu_kernels", "gpu_launches") else ""


def kernels_mistake(text, name="gpu_kernels"):
    """What is wrong with what a GPU reaches in kernels of some names, or ""; src/sim/machine.c reads it."""
    number = r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    parts = [re.fullmatch(r"([^:;\s]{1,15}):%s:%s" % (number, number), part)
             for part in re.sub(";$", "", text).split(";")]
    if len(parts) <= MAX_KERNELS and all(
            part and 0 < float(part.group(2)) <= 1 and float(part.group(3)) < 1 for part in parts):
        return ""
    return "%s is \"%s\", expected up to %d of WORD:PART:SECONDS with ; between, the part above 0 and at " \
        "most 1: \"potrf:0.4:2e-6;trsm:0.4:3e-7\"" % (name, text, MAX_KERNELS)


def check_text(where, name, text):
    if not text.strip():
        raise Refusal("%s: %s is empty; say it, or leave it out" % (where, name))
    words = pieces_mistake(name, text) if name in ("bandwidth_factors", "latency_factors") else \
        "" if name == "gpu_kernels" and text == "alike" else text_mistake(name, text)
    if words:
        raise Refusal("%s: %s%s" % (where, words, "; or \"alike\", where no kernel is unlike others"
                                    if name == "gpu_kernels" else ""))


def check_figure(where, name, kind, value, raw):
    """Refuses what no machine has.  raw: as it was written."""
    if kind == "count":
        check_count(where, name, value)
    elif kind in ("bandwidth", "time", "bytes", "gflops"):
        check_quantity(where, name, kind, value, raw)
    elif kind == "number" and not math.isfinite(value):
        raise Refusal("%s: %s is %s, expected a number" % (where, name, raw))
    elif name == "lone_copy" and value > 1:
        raise Refusal("%s: lone_copy is %s, a part of the bandwidth: expected 0 to 1" % (where, raw))
    elif kind == "text":
        check_text(where, name, value)


def is_said(figure):
    """By a description and not by the data sheet of a part that it names."""
    return not figure.where.startswith("parts.toml")


def unusual(figures, keys):
    """A sentence on each figure that no machine of today has."""
    for name, figure in figures.items():
        range_ = usual(keys.get(name), name)
        if range_ and (figure.value or name == "latency") and is_said(figure) \
                and not range_[0][0] <= figure.value <= range_[0][1]:
            yield "%s: %s is %g %s; is that meant? Usual are %s" % (
                figure.where, name, figure.value, range_[1], range_[2])


def forget_shape(top, network):
    """The figures of a network that is replaced by another."""
    for other, names in SHAPES.items():
        for name in names if other != network else ():
            top.pop(name, None)


def check_network(top):
    """Refuses figures of a network that say nothing beside others."""
    network = top["network"].value if "network" in top else "switch"
    for other, names in SHAPES.items():
        for name in names:
            if name in top and other != network and is_said(top[name]):
                raise Refusal("%s: %s is of a network = \"%s\", and %s; leave one of both out" % (
                    top[name].where, name, other, "network is \"%s\"" % network
                    if "network" in top else "without network it is a \"switch\""))
    smpi = "factors" in top and top["factors"].value == "smpi"
    for name, beside, found in (
            ("switch_ports", "tree", "tree" in top), ("oversubscription", "tree", "tree" in top),
            ("message_cost", "link_latency", "link_latency" in top),
            ("hop_latency", "link_latency", "link_latency" in top),
            ("bandwidth_factors", "factors = \"smpi\"", smpi),
            ("latency_factors", "factors = \"smpi\"", smpi)):
        if name in top and found and is_said(top[name]):
            raise Refusal("%s: %s changes nothing beside %s; leave one of both out"
                          % (top[name].where, name, beside))
    if "loopback_latency" in top and "loopback_bandwidth" not in top:
        raise Refusal("%s: loopback_latency changes nothing without loopback_bandwidth; say it, "
                      "too" % top["loopback_latency"].where)


def check_needs(nodes):
    """Refuses figures of GPUs and disks where no kind of nodes says how many it has."""
    for needed, names in NEEDS.items():
        if any(needed in node.figures for node in nodes):
            continue
        for name in names:
            figure = nodes[0].figures.get(name)
            if figure and is_said(figure):
                raise Refusal("%s: %s changes nothing while nothing says how many %s a node has; "
                              "say %s = 1" % (figure.where, name,
                                              "GPUs" if needed == "gpus" else needed, needed))


def unlikely(top, nodes):
    """Sentences on figures that are seldom meant beside each other."""
    link, backbone = top.get("bandwidth"), top.get("backbone_bandwidth")
    if link and backbone and backbone.value < link.value:
        yield "%s: all share a backbone of %g GB/s, less than one link of %g GB/s has" % (
            backbone.where, backbone.value / 1e9, link.value / 1e9)
    latency = top.get("latency")
    if latency and is_said(latency) and MOST_OF_A_ROOM_S < latency.value <= usual("time", "latency")[0][1]:
        yield "%s: latency is %g ms, as between towns; is that meant? In one room it is 0.5 to 100 us" % (
            latency.where, 1e3 * latency.value)
    for node in nodes:
        pcie, gpus = node.figures.get("pcie_bandwidth"), node.value("gpus", 0)
        if gpus and pcie and link and is_said(link) and link.value > 2 * gpus * pcie.value:
            yield "%s: bandwidth is %g GB/s, and all GPUs of a node together reach %g GB/s by PCIe" \
                % (link.where, link.value / 1e9, gpus * pcie.value / 1e9)
        for device in ("cpu", "gpu"):
            single, double = (node.figures.get(device + end) for end in ("_sp", "_dp"))
            # With tensor units both are alike, and of two measured ones either may be ahead.
            if single and double and double.value > 1.25 * single.value and is_said(double):
                yield "%s: %s_dp is more than %s_sp; are both in their place?" % (
                    double.where, device, device)


def workers_doubt(name, count):
    """More CPU workers than a node can have, or ""."""
    return "%s is %d, and a node has at most %d CPU workers, so many run tasks; say more nodes with " \
        "fewer" % (name, count, MAX_CPUS) if count > MAX_CPUS else ""


def node_notes(node, cores_of_cpu):
    """Sentences on what is taken for granted of a node, or hardly meant.
    cores_of_cpu: cores of a socket of the processor that it names, or None."""
    figures = node.figures
    if "cores" not in figures and "workers" not in figures:
        yield "nothing says how many cores a node has: 1 is taken; say cores = 16"
    cores = figures.get("cores")
    if cores and cores_of_cpu and cores.value > cores_of_cpu:
        yield "%s: cores is %d, and a socket of the %s has %d; cores are those of one socket" % (
            cores.where, cores.value, figures["cpu"].value, cores_of_cpu)
    for name in ("workers", "spare_cores"):
        if "cores" in figures and name in figures and figures[name].value > node.cores():
            yield "%s: %s is %d, and a node has %d cores" % (
                figures[name].where, name, figures[name].value, node.cores())
    doubt = workers_doubt("the number of cores that run CPU workers", node.workers().value)
    if doubt:
        yield "%s: %s" % (figures.get("workers", cores).where, doubt)
    if "gpu" in figures and figures["gpus"].where == figures["gpu"].where:
        yield "%s: nothing says how many GPUs a node has: 1 is taken; say gpus = 4" \
            % figures["gpu"].where
    several = node.value("sockets", 1) * node.value("numa_per_socket", 1) > 1
    for name in ("numa_bandwidth", "numa_latency"):
        if name in figures and not several and is_said(figures[name]):
            yield "%s: %s changes nothing in a node with one main memory; say sockets = 2 or " \
                "numa_per_socket = 2" % (figures[name].where, name)
