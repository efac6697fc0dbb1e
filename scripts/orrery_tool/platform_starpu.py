# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: StarPU's machine.platform.xml and bus calibrations, as figures of a node."""
import math
import os
import re
import statistics

from orrery_tool.platform_describe import Figure
from orrery_tool.platform_check import MOST_BYTES
from orrery_tool.platform_limits import MOST_UNITS
from orrery_tool.platform_quantities import BANDWIDTH_UNIT
from orrery_tool.platform_units import TIMES, bandwidth
from orrery_tool.words import Refusal

ALIKE = 0.1                # parts by which links of GPUs of one kind differ
UNLIKE = 1.5               # how many times faster one pair of GPUs has links of its own
SUFFIXES = (".platform.v4.xml", ".platform.xml", ".bandwidth", ".latency", ".config",
            ".affinity")


def stem_of(path):
    """Without what StarPU puts behind the name of a machine, which may have dots itself."""
    return next((path[:-len(end)] for end in SUFFIXES if path.endswith(end)), path)


def is_machine(root):
    """Is a platform one of StarPU's, whose hosts are the memories of one node?"""
    names = {host.get("id") for host in root.iter("host")}
    return "RAM" in names and "MAIN" in names


def is_bus(path):
    """StarPU's files of a bus calibration, or their common beginning; some may be missing."""
    stem = stem_of(path)
    return not path.endswith(".xml") and any(
        os.path.exists(stem + end) for end in (".config", ".bandwidth", ".latency"))


def number_of(text, where, what):
    """SimGrid's units are those of who has changed a file by hand: StarPU writes Bps and s."""
    match = re.fullmatch(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(\w*)", text or "")
    unit = match and UNITS[what](match.group(2))
    if not unit:
        raise Refusal("%s: %s, expected a number as StarPU writes it%s; have StarPU measure it again"
                      % (where, "%s is \"%s\"" % (what, text) if text else "%s is missing" % what,
                         SUCH[what] if match else ""))
    return float(match.group(1)) * unit


def bandwidth_unit(unit):
    return (bandwidth("1" + unit) if BANDWIDTH_UNIT.fullmatch(unit) else None) if unit else 1


# What a unit is of bytes, bytes/s or s; None: it is none.
UNITS = {"memsize": lambda unit: None if unit else 1, "bandwidth": bandwidth_unit,
         "latency": lambda unit: TIMES.get(unit) if unit else 1}
SUCH = {"memsize": ", in bytes", "bandwidth": ", such as 12e9Bps", "latency": ", such as 8e-6s"}


def place(path, tag, name):
    """PATH:LINE: <TAG>: of the element with that id."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    found = re.search("<%s\\b[^>]*\\bid=\"%s\"" % (tag, re.escape(name)), text)
    line = ":%d" % (text.count("\n", 0, found.start()) + 1) if found else ""
    return "%s%s: <%s> \"%s\"" % (path, line, tag, name)


def named(path, root, tag):
    """{id: element}; each has a name of its own."""
    found = {}
    for element in root.iter(tag):
        name = element.get("id")
        if not name:
            raise Refusal("%s: a <%s> has no id; have StarPU measure it again" % (path, tag))
        if name in found:
            raise Refusal("%s: it is there twice; leave one out" % place(path, tag, name))
        found[name] = element
    return found


def alike(a, b):
    """Are two GPUs of one kind, as far as measurements tell?"""
    return a["model"] == b["model"] and a["memory"] == b["memory"] and all(
        abs(a[key] - b[key]) <= ALIKE * max(a[key], b[key]) for key in ("to", "back"))


class Bus:
    """What StarPU has measured between the memories of a machine."""

    def __init__(self, where):
        self.where, self.cpus, self.gpus = where, 0, 0
        self.model, self.memory = None, 0
        self.models, self.memories = {}, {} # by GPU
        self.peers = {}                # by GPU: its ways to others and back
        self.pairs = {}                # by two GPUs: bandwidths and latencies of their ways
        self.by_host = set()           # those of them who have none
        self.pair_crossings = {}       # of the link that all copies share, where that is known
        self.to, self.back, self.peer, self.latency = [], [], [], []
        self.shared, self.crossings, self.host = 0, 0, 0
        self.numas, self.numa_speeds, self.numa_latencies = 1, [], []
        self.disks = []                # of each: bandwidth there and back, latency
        self.notes = []                # on what is not taken over

    def check(self):
        """Refuses figures that no machine has."""
        if not 0 < self.cpus <= MOST_UNITS:
            raise Refusal("%s: it has %d CPUs, expected 1 to %d; have StarPU measure it again"
                          % (self.where, self.cpus, MOST_UNITS))
        if self.memory > MOST_BYTES:
            raise Refusal("%s: GPUs with %g bytes of memory, expected %g at most; have StarPU measure it again"
                          % (self.where, self.memory, MOST_BYTES))
        if self.gpus and not (len(self.to) == len(self.back) == self.gpus):
            raise Refusal("%s: %d links from main memory and %d links back, expected one for each "
                          "of %d GPUs; have StarPU measure it again"
                          % (self.where, len(self.to), len(self.back), self.gpus))

    def add_pair(self, one, other, speed, latency):
        """A way from one GPU to another."""
        self.peer.append(speed)
        for end in (one, other):
            self.peers.setdefault(end, []).append(speed)
        self.pairs.setdefault((min(one, other), max(one, other)), []).append((speed, latency))

    def unequal(self):
        """Do pairs of GPUs have links that one figure for all does not describe?"""
        means = [statistics.mean(speed for speed, _ in ways) for pair, ways in self.pairs.items()
                 if pair not in self.by_host]
        return bool(self.peer and means) and (bool(self.by_host) or max(means) > UNLIKE * min(means))

    def links(self, figure):
        """A table for each two GPUs with links to each other, means of both directions."""
        tables = []
        for pair, ways in sorted(self.pairs.items()):
            if pair in self.by_host:
                continue
            crossings = self.pair_crossings.get(pair)
            table = {"gpus": figure(list(pair), "CUDA devices"),
                     "bandwidth": figure(statistics.mean(speed for speed, _ in ways), "between GPUs, means of both "
                                         "directions"),
                     "latency": figure(statistics.mean(latency for _, latency in ways), "the same")}
            if crossings is not None and crossings != self.crossings:
                table["host_peers"] = figure(min(crossings, 2), "of the link that all share")
            tables.append((self.where, table))
        return tables

    def rows(self, n):
        """What is said of each of the first n GPUs."""
        for i in range(n):
            ways = self.peers.get(i) if self.peer else None
            yield {"to": self.to[i], "back": self.back[i], "latency": statistics.mean(self.latency[2 * i:2 * i + 2]),
                   "peer": statistics.mean(ways) if ways else 0, "model": self.models.get(i, self.model),
                   "memory": self.memories.get(i, self.memory)}

    def groups(self, n):
        """[(group, first of these GPUs, how many follow each other)], and the rows of each group."""
        groups, runs = [], []
        for row in self.rows(n):
            at = next((i for i, group in enumerate(groups) if alike(group[0], row)), len(groups))
            if at == len(groups):
                groups.append([])
            groups[at].append(row)
            if runs and runs[-1][0] == at:
                runs[-1][1] += 1
            else:
                runs.append([at, 1])
        return groups, runs

    def devices(self, n, name, figure):
        """A table for each kind of GPUs, in their order; None: all are alike."""
        groups, runs = self.groups(n)
        if len(groups) < 2:
            return None
        tables = []
        for rows in groups:
            def mean(key, rows=rows):
                return statistics.mean(row[key] for row in rows)
            table = {"gpu_model": figure(name, "of its %s" % rows[0]["model"] if rows[0]["model"] else
                                         "where StarPU's models have this name"),
                     "pcie_bandwidth": figure((mean("to") + mean("back")) / 2, "mean of both directions"),
                     "pcie_latency": figure(mean("latency"), "mean of both directions")}
            if rows[0]["memory"]:
                table["gpu_memory"] = figure(rows[0]["memory"], "memory of a GPU")
            if mean("peer") and not self.unequal():
                table["nvlink_bandwidth"] = figure(mean("peer"), "to other GPUs")
            tables.append(table)
        return [dict(tables[group], gpus=figure(count, "CUDA devices that follow each other"))
                for group, count in runs]

    def others(self, counts):
        """What the library has no workers for.  counts: {kind of device: how many}"""
        for kind, number in counts.items():
            if number and not self.gpus:
                self.notes.append("%s: %d %s devices are not taken over; only CUDA's are. Say gpu "
                                  "and gpus in [node] of a description" % (self.where, number, kind))

    def cores(self, sockets, figure):
        """Of each socket; as StarPU, a node has a CPU worker on those that drive no GPU."""
        if self.cpus % sockets or self.numas % sockets and self.numas > 1:
            raise Refusal("%s: its %d CPUs with %d main memories are not those of %d sockets; leave "
                          "sockets out" % (self.where, self.cpus, self.numas, sockets))
        found = {"cores": figure(self.cpus // sockets, "CPUs")}
        if self.gpus and self.cpus <= self.gpus:
            found["workers"] = figure(1, "CPUs, of which none is left beside those that drive GPUs")
        if self.numas > 1:
            found["numa_per_socket"] = figure(self.numas // sockets, "NUMA nodes")
        return found

    def figures(self, sockets=1, gpus=None):
        """{name: Figure} of a node.  gpus: how many of its GPUs it has, where that is said."""
        def figure(value, words):
            return Figure(value, self.where, "StarPU's calibration %s: %s"
                          % (os.path.basename(self.where), words))
        found = self.cores(sockets, figure)
        name = re.sub(r"\.xml$", "", os.path.basename(stem_of(self.where)))
        found["cpu_model"] = figure(name, "where StarPU's models have this name")
        if self.numa_speeds:
            found["numa_bandwidth"] = figure(statistics.mean(self.numa_speeds), "between NUMA nodes")
            found["numa_latency"] = figure(statistics.mean(self.numa_latencies), "between NUMA nodes")
        if self.disks:
            found["disks"] = figure(len(self.disks), "DISK hosts")
            for i, key in enumerate(("disk_write_bandwidth", "disk_read_bandwidth", "disk_latency")):
                found[key] = figure(statistics.mean(disk[i] for disk in self.disks), "of its disks")
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
        found["host_bandwidth"] = figure(self.host, "the link that all copies share") \
            if self.host else figure(max(self.to + self.back), "the fastest link")
        found["pcie_latency"] = figure(statistics.mean(self.latency), "mean of both directions")
        if self.shared:
            found["host_shared"] = figure(1, "one link for both directions of all GPUs")
        if self.crossings:
            found["host_peers"] = figure(self.crossings, "of that link in the route of two GPUs")
        if self.unequal():
            found["link"] = self.links(figure)
        elif self.peer:
            found["nvlink_bandwidth"] = figure(statistics.mean(self.peer), "between GPUs")
        if self.gpus > 1 and (not self.peer or self.by_host):
            found["peer_access"] = figure(0, "GPUs do not reach each other's memory")
        found["device"] = self.devices(self.gpus if gpus is None else min(gpus, self.gpus),
                                       found["gpu_model"].value, figure) \
            if gpus is None or gpus <= self.gpus else None
        return found


def read_machine(path, root):
    """From machine.platform.xml, version 3 or 4."""
    bus = Bus(path)
    hosts = named(path, root, "host")
    bus.cpus = sum(bool(re.fullmatch(r"CPU\d+", name)) for name in hosts)
    cuda = sorted((name for name in hosts if re.fullmatch(r"CUDA\d+", name)), key=lambda name: int(name[4:]))
    bus.gpus = len(cuda)
    bus.others({kind: sum(name.startswith(kind) for name in hosts) for kind in ("OpenCL", "HIP")})
    devices = [{prop.get("id"): prop.get("value") for prop in hosts[name].findall("prop")}
               for name in cuda]
    properties = devices[0] if devices else {}
    bus.model = properties.get("model")
    if "memsize" in properties:
        bus.memory = number_of(properties["memsize"], place(path, "host", cuda[0]), "memsize")
    for i, (name, device) in enumerate(zip(cuda, devices)):
        bus.models[i] = device.get("model")
        if "memsize" in device:
            bus.memories[i] = number_of(device["memsize"], place(path, "host", name), "memsize")
    disks = [name for name in hosts if re.fullmatch(r"DISK\d+", name)]
    links, speeds = named(path, root, "link"), {}
    for name in cuda + disks:
        for missing in sorted({"RAM-" + name, name + "-RAM"} - set(links), reverse=True):
            raise Refusal("%s: there is no <link> \"%s\"; %s" % (
                place(path, "host", name), missing, "say it, or leave the host out"
                if name in disks else "have StarPU measure it again"))
    for name, link in links.items():
        ends = re.fullmatch(r"(RAM|CUDA\d+|DISK\d+)-(RAM|CUDA\d+|DISK\d+)", name)
        if not ends:
            continue
        where = place(path, "link", name)
        if not set(ends.groups()) <= {"RAM", *cuda, *disks}:
            raise Refusal("%s: there is no <host> for one of its ends; have StarPU measure it again"
                          % where)
        speed = number_of(link.get("bandwidth"), where, "bandwidth")
        latency = number_of(link.get("latency"), where, "latency")
        if not speed > 0:
            raise Refusal("%s: bandwidth is 0; have StarPU measure it again" % where)
        speeds[name] = speed, latency
        if set(ends.groups()) & set(disks):
            continue
        if "RAM" not in ends.groups() and properties.get("memcpy_peer", "0") != "0":
            bus.add_pair(*map(cuda.index, ends.groups()), speed, latency)
    for name in cuda:
        for figures, link in ((bus.to, "RAM-" + name), (bus.back, name + "-RAM")):
            figures.append(speeds[link][0])
            bus.latency.append(speeds[link][1])
    bus.disks = [(to, back, (there + here) / 2) for (to, there), (back, here) in (
        (speeds["RAM-" + name], speeds[name + "-RAM"]) for name in disks)]
    shared = find_shared(bus, {(route.get("src"), route.get("dst")):
                      [link.get("id") for link in route.iter("link_ctn")]
                      for route in root.iter("route")}, cuda)
    for name in set(shared) & set(links):
        where = place(path, "link", name)
        speed = number_of(links[name].get("bandwidth"), where, "bandwidth")
        bus.host = min(speed, bus.host or speed)
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
    for ends, links in routes.items():
        if shared and len(set(ends)) == 2 and set(ends) <= set(cuda):
            pair = tuple(sorted(map(cuda.index, ends)))
            bus.pair_crossings[pair] = max(bus.pair_crossings.get(pair, 0), sum(link in shared for link in links))
    return shared or ()


def read_matrix(path):
    rows = []
    try:
        with open(path, encoding="utf-8-sig") as f:
            for number, line in enumerate(f, 1):
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                try:
                    rows.append([float(word) for word in line.split()])
                except ValueError:
                    raise Refusal("%s:%d: expected numbers, one for each memory"
                                  % (path, number)) from None
    except OSError as error:
        raise Refusal("%s cannot be read: %s; StarPU writes it beside the others of a bus "
                      "calibration" % (path, error.strerror)) from None
    except UnicodeDecodeError:
        raise Refusal("%s is no text; have StarPU measure it again" % path) from None
    return rows


def read_counts(path):
    """{what: how many} of "12 # Number of CPUs", and of "3 # Number of CUDA devices", as StarPU
    1.3 has it, or "CUDA nodes", as 1.4."""
    counts = {}
    try:
        with open(path, encoding="utf-8-sig") as f:
            for number, line in enumerate(f, 1):
                match = re.match(r"\s*(\S*)\s*# Number of (.*\S)", line)
                if match and not re.fullmatch("[0-9]{1,9}", match.group(1)):
                    raise Refusal("%s:%d: the number of %s is \"%s\", expected a whole number; have "
                                  "StarPU measure it again" % (path, number, match.group(2),
                                                               match.group(1)))
                if match:
                    counts[re.sub(" (?:devices|nodes)$", "", match.group(2))] = int(match.group(1))
    except OSError as error:
        raise Refusal("%s cannot be read: %s; StarPU writes it beside the others of a bus "
                      "calibration" % (path, error.strerror)) from None
    except UnicodeDecodeError:
        raise Refusal("%s is no text; have StarPU measure it again" % path) from None
    if "CPUs" not in counts:
        raise Refusal("%s: it has no line \"COUNT # Number of CPUs\"; have StarPU measure it again"
                      % path)
    return counts


def between(rows, path, i, j, least):
    """A figure from one memory to another; least: what it is at least."""
    value = rows[i][j]
    if not math.isfinite(value):
        raise Refusal("%s: the figure of memories %d and %d is missing (nan); have StarPU measure it "
                      "again" % (path, i, j))
    if value < least:
        raise Refusal("%s: the figure of memories %d and %d is %g, expected more; have StarPU "
                      "measure it again" % (path, i, j, value))
    return value


def goes_by_host(tables, numas, gpu, other):
    """Without access of one GPU to the other's memory StarPU writes what both their links to the
    host come to: the sum of the latencies and of the times of a byte."""
    bandwidth, latency = tables
    ways = [(i, j) for i in range(numas) for j in range(numas)]
    return (any(math.isclose(bandwidth[gpu][other], 1 / (1 / bandwidth[gpu][i] + 1 / bandwidth[j][other]),
                             rel_tol=1e-5) for i, j in ways) and
            any(math.isclose(latency[gpu][other], latency[gpu][i] + latency[j][other],
                             rel_tol=1e-5, abs_tol=2e-6) for i, j in ways))


def read_peers(bus, tables, ends):
    """The ways from GPU to GPU."""
    gpus, by_host = range(bus.numas, bus.numas + bus.gpus), {}
    for gpu in gpus:
        for other in gpus:
            if other == gpu or not math.isfinite(tables[0][gpu][other]):
                continue
            one, two = gpu - bus.numas, other - bus.numas
            bus.add_pair(one, two, 1e6 * between(tables[0], ends[0], gpu, other, 1e-3),
                         1e-6 * max(tables[1][gpu][other], 0) if math.isfinite(tables[1][gpu][other]) else 0)
            by_host.setdefault((min(one, two), max(one, two)), []).append(
                goes_by_host(tables, bus.numas, gpu, other))
    bus.by_host = {pair for pair, ways in by_host.items() if all(ways)}
    for pair, ways in by_host.items():
        if any(ways) and not all(ways):
            bus.notes.append("%s: of the two ways between GPUs %d and %d one goes through main memory, the other does "
                             "not; both are taken to be direct and to have their mean" % ((ends[0],) + pair))
    if len(bus.by_host) == len(bus.pairs):
        bus.peer = []
    if len(bus.peer) not in (0, bus.gpus * (bus.gpus - 1)):
        bus.notes.append("%s: only %d of the ways between %d GPUs have a figure; %s" % (
            ends[0], len(bus.peer), bus.gpus, "pairs that have none go by the links of the host" if bus.unequal() else
            "all are taken to have their mean"))


def read_calibration(stem):
    """From STEM.config, STEM.bandwidth (MB/s) and STEM.latency (us): NUMA nodes, then GPUs."""
    bus, counts = Bus(stem), read_counts(stem + ".config")
    bus.cpus, bus.gpus = counts["CPUs"], counts.get("CUDA", 0)
    bus.numas = max(counts.get("NUMA", 1), 1)
    bus.others({kind: counts.get(kind, 0) for kind in ("OpenCL", "HIP")})
    ends, n = (stem + ".bandwidth", stem + ".latency"), bus.numas + bus.gpus
    tables = [read_matrix(end) for end in ends]
    for rows, end in zip(tables, ends):
        if len(rows) < n or any(len(row) < n for row in rows[:n]):
            raise Refusal("%s: expected a row and a column for each of %d main memories and of %d "
                          "GPUs; have StarPU measure it again" % (end, bus.numas, bus.gpus))

    devices = sum(counts.values()) - counts["CPUs"] - counts.get("NUMA", 0) + bus.numas
    told = sum(map(math.isfinite, tables[0][0]))
    if told > devices:
        raise Refusal("%s.config speaks of %d memories, and %s has figures of %d: it is truncated, or of "
                      "another machine; have StarPU measure it again" % (stem, devices, ends[0], told))

    def figures(i, j):
        return (1e6 * between(tables[0], ends[0], i, j, 1e-3),
                1e-6 * between(tables[1], ends[1], i, j, 0))
    numas, gpus = range(bus.numas), range(bus.numas, n)
    for gpu in gpus:
        there, back = [[figures(*(end, gpu)[::way]) for end in numas] for way in (1, -1)]
        bus.to.append(statistics.mean(speed for speed, _ in there))
        bus.back.append(statistics.mean(speed for speed, _ in back))
        bus.latency += [statistics.mean(latency for _, latency in way) for way in (there, back)]
    read_peers(bus, tables, ends)
    pairs = [figures(i, j) for i in numas for j in numas if i != j]
    bus.numa_speeds, bus.numa_latencies = [s for s, _ in pairs], [l for _, l in pairs]
    return bus


def calibrations_in(directory):
    """Those in a directory, or in its bus/."""
    return [os.path.join(place, name[:-7]) for place in (directory, os.path.join(directory, "bus"))
            if os.path.isdir(place) for name in sorted(os.listdir(place)) if name.endswith(".config")]


def add_platform(bus, read_platform):
    """What links share and what GPUs are the tables of a machine do not tell; a platform beside
    them does."""
    for end in SUFFIXES[:2]:
        if os.path.isfile(bus.where + end):
            there = read_machine(bus.where + end, read_platform(bus.where + end))
            if there.gpus == bus.gpus:
                bus.shared, bus.crossings, bus.host = there.shared, there.crossings, there.host
                bus.model, bus.memory, bus.disks = there.model, there.memory, there.disks
                bus.models, bus.memories = there.models, there.memories
                bus.peer = bus.peer if there.peer else []
                bus.pair_crossings = there.pair_crossings
            else:
                bus.notes.append("%s has %d GPUs, and %s.config %d: it is left aside" % (
                    bus.where + end, there.gpus, bus.where, bus.gpus))
            return


def bus_of(path, read_platform):
    """StarPU's figures of a node: a machine.platform.xml, any file of a bus calibration, or
    their common beginning."""
    if path.endswith(".xml"):
        root = read_platform(path)
        if not is_machine(root):
            raise Refusal("%s is no machine.platform.xml of StarPU's: it has no hosts MAIN and "
                          "RAM; give the directory bus/ and the name of the machine" % path)
        bus = read_machine(path, root)
        bus.check()
        return bus
    stem = stem_of(path)
    if is_bus(stem):
        bus = read_calibration(stem)
        add_platform(bus, read_platform)
        bus.check()
        return bus
    directory = path if os.path.isdir(path) else os.path.dirname(stem) or "."
    names = calibrations_in(directory)
    raise Refusal("%s: no calibration of StarPU's: expected a machine.platform.xml, or "
                  "bus/NAME with .config, .bandwidth and .latency behind it%s" % (
                      path, "; there are " + ", ".join(names[:5]) if names else ""))
