# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: StarPU's machine.platform.xml and bus calibrations, as figures of a node."""
import math
import os
import re
import statistics

from orrery_tool.platform_describe import Figure
from orrery_tool.words import Refusal

SUFFIXES = (".platform.v4.xml", ".platform.xml", ".bandwidth", ".latency", ".config",
            ".affinity")


def is_machine(root):
    """Is a platform one of StarPU's, whose hosts are the memories of one node?"""
    names = {host.get("id") for host in root.iter("host")}
    return "RAM" in names and "MAIN" in names


def number_of(text, where, what):
    match = re.fullmatch(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)(f|Bps|s)?", text or "")
    if not match:
        raise Refusal("%s: %s is \"%s\", expected a number as StarPU writes it"
                      % (where, what, text))
    return float(match.group(1))


class Bus:
    """What StarPU has measured between the memories of a machine."""

    def __init__(self, where):
        self.where, self.cpus, self.gpus = where, 0, 0
        self.model, self.memory = None, 0
        self.to, self.back, self.peer, self.latency = [], [], [], []
        self.shared, self.crossings = 0, 0

    def figures(self):
        """{name: Figure} of a node."""
        def figure(value, words):
            return Figure(value, self.where, "StarPU's calibration %s: %s"
                          % (os.path.basename(self.where), words))
        found = {"workers": figure(self.cpus, "CPUs")}
        name = re.sub(r"\..*", "", os.path.basename(self.where))
        found["cpu_model"] = figure(name, "where StarPU's models have this name")
        found["gpus"] = figure(self.gpus, "CUDA devices")
        if not self.gpus:
            return found
        found["gpu_model"] = found["cpu_model"]
        if self.model:
            found["gpu_model"] = figure(name, "of its %s" % self.model)
        if self.memory:
            found["gpu_memory"] = figure(self.memory, "memory of a GPU")
        found["pcie_bandwidth"] = figure(
            (statistics.mean(self.to) + statistics.mean(self.back)) / 2,
            "mean of both directions")
        found["host_bandwidth"] = figure(max(self.to + self.back), "the fastest link")
        found["pcie_latency"] = figure(statistics.mean(self.latency), "mean of both directions")
        if self.shared:
            found["host_shared"] = figure(1, "one link for both directions of all GPUs")
        if self.crossings:
            found["host_peers"] = figure(self.crossings, "of that link in the route of two GPUs")
        if self.peer:
            found["nvlink_bandwidth"] = figure(statistics.mean(self.peer), "between GPUs")
        return found


def read_machine(path, root):
    """From machine.platform.xml, version 3 or 4."""
    bus = Bus(path)
    hosts = {host.get("id"): host for host in root.iter("host")}
    bus.cpus = sum(bool(re.fullmatch(r"CPU\d+", name)) for name in hosts)
    cuda = [name for name in hosts if re.fullmatch(r"CUDA\d+", name)]
    bus.gpus = len(cuda)
    properties = {prop.get("id"): prop.get("value") for name in cuda[:1]
                  for prop in hosts[name].findall("prop")}
    bus.model = properties.get("model")
    if "memsize" in properties:
        bus.memory = number_of(properties["memsize"], path, "memsize of " + cuda[0])
    for link in root.iter("link"):
        ends = re.fullmatch(r"(RAM|CUDA\d+)-(RAM|CUDA\d+)", link.get("id", ""))
        if not ends:
            continue
        where = "%s: link %s" % (path, link.get("id"))
        speed = number_of(link.get("bandwidth"), where, "bandwidth")
        latency = number_of(link.get("latency"), where, "latency")
        if "RAM" in ends.groups():
            (bus.to if ends.group(1) == "RAM" else bus.back).append(speed)
            bus.latency.append(latency)
        elif properties.get("memcpy_peer", "0") != "0":
            bus.peer.append(speed)
    find_shared(bus, {(route.get("src"), route.get("dst")):
                      [link.get("id") for link in route.iter("link_ctn")]
                      for route in root.iter("route")}, cuda)
    return bus


def find_shared(bus, routes, cuda):
    """The link that all routes between main memory and GPUs have."""
    shared = None
    for ends, links in routes.items():
        if "RAM" in ends and set(ends) & set(cuda):
            shared = set(links) if shared is None else shared & set(links)
    between = [sum(link in shared for link in links) for ends, links in routes.items()
               if shared and set(ends) <= set(cuda)]
    bus.shared, bus.crossings = len(shared or ()), max(between, default=0)


def read_matrix(path):
    rows = []
    try:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if line.startswith("#") or not line.strip():
                    continue
                try:
                    rows.append([float(word) for word in line.split()])
                except ValueError:
                    raise Refusal("%s:%d: expected numbers, one for each memory"
                                  % (path, number)) from None
    except OSError as error:
        raise Refusal("%s cannot be read: %s; StarPU writes it beside the others of a bus "
                      "calibration" % (path, error.strerror)) from None
    return rows


def read_counts(path):
    """CPUs and CUDA devices."""
    counts = {"CPUs": 0, "CUDA devices": 0}
    try:
        with open(path, encoding="utf-8") as f:
            for line in f:
                match = re.match(r"(\d+) # Number of (.*)", line)
                if match and match.group(2) in counts:
                    counts[match.group(2)] = int(match.group(1))
    except OSError as error:
        raise Refusal("%s cannot be read: %s" % (path, error.strerror)) from None
    return counts["CPUs"], counts["CUDA devices"]


def read_calibration(stem):
    """From STEM.config, STEM.bandwidth (MB/s) and STEM.latency (us)."""
    bus = Bus(stem)
    bus.cpus, bus.gpus = read_counts(stem + ".config")
    speeds, latencies = read_matrix(stem + ".bandwidth"), read_matrix(stem + ".latency")
    gpus = range(1, bus.gpus + 1)
    for rows, what in ((speeds, "bandwidth"), (latencies, "latency")):
        if len(rows) <= bus.gpus or any(len(row) <= bus.gpus for row in rows[:bus.gpus + 1]):
            raise Refusal("%s.%s: expected a row and a column for main memory and each of %d "
                          "GPUs; have StarPU measure it again" % (stem, what, bus.gpus))
        if any(not math.isfinite(rows[0][gpu] + rows[gpu][0]) for gpu in gpus):
            raise Refusal("%s.%s: the figures of a GPU are missing (nan); have StarPU measure it "
                          "again" % (stem, what))
    for gpu in gpus:
        bus.to.append(1e6 * speeds[0][gpu])
        bus.back.append(1e6 * speeds[gpu][0])
        bus.latency += [1e-6 * latencies[0][gpu], 1e-6 * latencies[gpu][0]]
        bus.peer += [1e6 * speeds[gpu][other] for other in gpus
                     if other != gpu and math.isfinite(speeds[gpu][other])]
    return bus


def bus_of(path, read_platform):
    """StarPU's figures of a node: a machine.platform.xml, any file of a bus calibration, or
    their common beginning."""
    if path.endswith(".xml"):
        root = read_platform(path)
        if not is_machine(root):
            raise Refusal("%s is no machine.platform.xml of StarPU's: it has no hosts MAIN and "
                          "RAM; give the directory bus/ and the name of the machine" % path)
        return read_machine(path, root)
    stem = next((path[:-len(end)] for end in SUFFIXES if path.endswith(end)), path)
    if os.path.exists(stem + ".config"):
        return read_calibration(stem)
    directory = path if os.path.isdir(path) else os.path.dirname(stem) or "."
    names = [name[:-7] for name in sorted(os.listdir(directory)) if name.endswith(".config")] \
        if os.path.isdir(directory) else []
    raise Refusal("%s: no calibration of StarPU's: expected a machine.platform.xml, or "
                  "bus/NAME with .config, .bandwidth and .latency behind it%s" % (
                      path, "; there are " + ", ".join(os.path.join(directory, name)
                                                      for name in names[:5]) if names else ""))
