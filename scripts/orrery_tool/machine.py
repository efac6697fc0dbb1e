# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map: the nodes to map on, as lines for the program orrery-map."""
import os
import re

from orrery_tool.platform import hostfile_lines, platform_nodes, read_hostfile
from orrery_tool.words import Refusal

MAX_NODES = 1 << 20


class Machine:
    """Kinds of nodes, and nodes in order: (name, index of its kind)."""

    def __init__(self):
        self.kinds, self.nodes, self.cpusets = [], [], {}

    def add(self, name, kind):
        if not self.kinds or self.kinds[-1] != kind:
            self.kinds.append(kind)
        self.nodes.append((name, len(self.kinds) - 1))

    def lines(self):
        """For orrery-map."""
        out, last = [], -1
        for name, kind in self.nodes:
            if kind != last:
                out.append("kind " + self.kinds[kind])
                last = kind
            cpuset = self.cpusets.get(name, self.cpusets.get(None))
            out.append("node %s %s" % (name, cpuset) if cpuset else "node " + name)
        return "\n".join(out) + "\n"


def simulated_machine(path):
    machine = Machine()
    if path.endswith(".so"):
        raise Refusal("the hosts of %s are not known before it runs; describe them with "
                      "--topology and --hostfile" % path)
    for name, cores, gpus in platform_nodes(path):
        machine.add(name, "host %d %d" % (cores, gpus))
    return machine


def chosen_machine(path, hostfile):
    """The hosts of a platform; with a host file those that it names, in its order."""
    machine = simulated_machine(path)
    if not hostfile:
        return machine
    kinds = {name: machine.kinds[kind] for name, kind in machine.nodes}
    chosen = Machine()
    for name in dict.fromkeys(read_hostfile(hostfile, list(kinds), 1)):
        chosen.add(name, kinds[name])
    return chosen


def host_names(path):
    """The names in a host file of Open MPI or SMPI."""
    names = []
    for number, line in hostfile_lines(path):
        match = re.match(r"([^\s:#,]+)", line)
        if not match:
            raise Refusal("%s:%d: expected the name of a host" % (path, number))
        names.append(match.group(1))
    return list(dict.fromkeys(names))


def counted(text):
    """"2*pack:2 core:4 pu:1" as (2, the rest)."""
    match = re.match(r"\s*([0-9]{1,9})\s*\*\s*", text)
    count = int(match.group(1)) if match else 1
    if not 0 < count <= MAX_NODES:
        raise Refusal("--topology %s: expected 1 to %d nodes" % (text, MAX_NODES))
    return count, text[match.end():] if match else text.strip()


def described_machine(topologies, names):
    """Nodes of the given topologies; names: of the host file, or None."""
    kinds = [kind for count, kind in map(counted, topologies or ["live"])
             for _ in range(count)]
    if names and len(kinds) == 1:
        kinds *= len(names)
    if names and len(names) < len(kinds):
        raise Refusal("the host file names %d hosts and --topology describes %d nodes; "
                      "name each" % (len(names), len(kinds)))
    if not names:
        own = os.uname().nodename
        names = [own] if kinds == ["live"] else ["node%d" % i for i in range(len(kinds))]
    machine = Machine()
    for name, kind in zip(names, kinds):
        machine.add(name, kind)
    return machine


def make_machine(place, args):
    if args.sim and args.topology:
        raise Refusal("--sim and --topology exclude each other: a platform has its hosts")
    if args.sim:
        machine = chosen_machine(place.platform(args.sim), args.hostfile)
    else:
        machine = described_machine(args.topology,
                                    args.hostfile and host_names(args.hostfile))
    for text in args.cpuset or []:
        name, _, cpuset = text.rpartition("=")
        if name and name not in {node for node, _ in machine.nodes}:
            raise Refusal("--cpuset %s: there is no node %s (the first is %s)"
                          % (text, name, machine.nodes[0][0]))
        if not re.fullmatch(r"\S+", cpuset):
            raise Refusal("--cpuset %s: expected hardware threads such as 0-3,8, or "
                          "NODE=0-3,8 for one node" % text)
        machine.cpusets[name or None] = cpuset
    return machine
