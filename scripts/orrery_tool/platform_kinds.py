# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""GPUs of several kinds in one node: in platforms, and in descriptions."""
import difflib
import re

from orrery_tool.platform_limits import MAX_GPUS, is_said
from orrery_tool.words import Refusal

GPU_KINDS = r"\w+:\d+-\d+(;\w+:\d+-\d+)*;?"
# What each kind of GPU has: in a platform, and in a description
PER_GPU = {
    "gpu_model": "gpu_model", "gpu_mem_bytes": "gpu_memory", "gpu_peak_sp_gflops": "gpu_sp",
    "gpu_peak_dp_gflops": "gpu_dp", "gpu_speedup": None, "gpu_kernels": "gpu_kernels", "gpu_launch": "gpu_launch",
    "gpu_gap": "gpu_gap", "gpu_launches": "gpu_launches", "pcie_bw": "pcie_bandwidth",
    "pcie_lat": "pcie_latency", "nvlink_bw": "nvlink_bandwidth",
}


def ranges_of(text):
    return [(name, int(first), int(last)) for name, first, last in re.findall(r"(\w+):(\d+)-(\d+)", text)]


def gpu_kinds_mistake(name, text, count, of_nodes):
    """What is wrong with "fast:0-1;slow:2-2" of a node with so many GPUs (a text, or None), or "".
    of_nodes: kinds of nodes."""
    if not re.fullmatch(GPU_KINDS, text):
        return "%s is \"%s\", expected the numbers of each kind's GPUs: \"fast:0-1;slow:2-2\"" % (name, text)
    taken = {}
    for kind, first, last in ranges_of(text):
        if kind in of_nodes:
            return "%s: \"%s\" is a kind of nodes, too; give the GPUs another name" % (name, kind)
        if last < first:
            return "%s: \"%s:%d-%d\" is no range; the first number comes first" % (name, kind, first, last)
        if last >= MAX_GPUS:
            return "%s: GPU %d of \"%s\", and a node has %d GPUs at most, from number 0" % (
                name, last, kind, MAX_GPUS)
        if count is not None and float(count) and last >= float(count):
            return "%s: GPU %d of \"%s\", and gpus is %d, numbers 0 to %d; make both agree" % (
                name, last, kind, int(float(count)), int(float(count)) - 1)
        for number in range(first, last + 1):
            if number in taken:
                return "%s: GPU %d is in two kinds, \"%s\" and \"%s\"; leave it out of one" % (
                    name, number, taken[number], kind)
            taken[number] = kind
    return ""


def prefix_mistake(prop, prefix, plain, of_nodes, of_gpus, names):
    """What is wrong with a property NODES.NAME, GPUS.NAME or NODES.GPUS.NAME, or "".
    of_gpus: gpu_kinds of each kind of nodes, "" among these.  names: of properties."""
    is_known = plain in names
    node, _, gpu = prefix.rpartition(".")
    in_all = {kind for text in of_gpus.values() for kind, *_ in ranges_of(text)}
    if not node and prefix in of_nodes:
        gpu = ""
    elif gpu in ({kind for kind, *_ in ranges_of(of_gpus.get(node, ""))} if node else in_all):
        if plain not in PER_GPU and is_known:
            return "id=\"%s\" is for GPUs of the kind %s, and %s is of a node; leave \"%s.\" out" % (
                prop, gpu, plain, gpu)
    elif is_known:
        there = ", ".join(of_nodes + sorted(in_all))
        what = "GPUs" if plain in PER_GPU and (node or not of_nodes) else "nodes"
        return "id=\"%s\" is for %s of the kind %s, and %s" % (
            prop, what, gpu if node else prefix, "kinds names " + there if there else
            "no kinds are named: <prop id=\"%s\" value=\"%s:0-7\"/>" % (
                "kinds" if what == "nodes" else "gpu_kinds", prefix))
    else:
        return ""
    near = [] if is_known else difflib.get_close_matches(plain, PER_GPU if gpu else names, 1, 0.75)
    return "id=\"%s\" means nothing; did you mean \"%s.%s\"?" % (prop, prefix, near[0]) if near else ""


def check_devices(node):
    """Refuses what stands beside [[node.device]] tables and would say nothing."""
    for name in ("gpu", "gpus"):
        if name in node.figures and is_said(node.figures[name]):
            raise Refusal("%s: %s beside [[node.device]], whose tables say it of each kind of GPUs; leave one of "
                          "both out" % (node.figures[name].where, name))


def kind_name(model, taken):
    """A word for GPUs of that model that no other kind has."""
    plain = re.sub(r"\W+", "_", model).strip("_")[:40] or "gpu"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = "%s_%d" % (plain, number)
    return name


class Kinds:
    """The GPUs of a node, from tables in their order: [{name in a description: Figure}]."""

    def __init__(self, tables, taken):
        self.names, self.kinds, self.count = [], {}, 0
        known = {}
        for table in tables:
            figures = {name: figure for name, figure in table.items() if name not in ("gpu", "gpus")}
            key = tuple(sorted((name, str(figure.value)) for name, figure in figures.items()))
            if key not in known:
                model = figures["gpu_model"].value if "gpu_model" in figures else "gpu"
                known[key] = kind_name(model, set(taken) | set(self.kinds))
                self.kinds[known[key]] = figures
            first, self.count = self.count, self.count + table["gpus"].value
            self.names.append((known[key], first, self.count - 1))

    def text(self):
        return ";".join("%s:%d-%d" % part for part in self.names)

    def properties(self):
        """(NAME.property, figure) of each kind."""
        for kind, figures in self.kinds.items():
            for prop, name in PER_GPU.items():
                if name in figures and figures[name].value != "alike":
                    yield "%s.%s" % (kind, prop), figures[name]
