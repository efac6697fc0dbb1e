# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery platform: how SimGrid is told a network's shape for a number of nodes."""
import math

from orrery_tool.words import Refusal

MOST_LINKS = 1 << 16       # in a number of a tree's parameters


class Shape:
    """What a <cluster> says, hosts that it has, links between neighbours, words on it."""

    def __init__(self, topology, parameters, hosts, near, words, notes=()):
        self.topology, self.parameters, self.hosts = topology, parameters, hosts
        self.near, self.words, self.notes = near, words, list(notes)


def value_of(top, name, default):
    return top[name].value if name in top else default


def switch(nodes, top):
    shared = " that share a backbone" if "backbone_bandwidth" in top else ""
    return Shape(None, None, nodes, 2, "%d node%s on one switch%s" % (nodes, "s" * (nodes != 1), shared))


def given_tree(nodes, figure):
    """Parameters as SimGrid has them."""
    fields = figure.value.split(";")
    try:
        levels = int(fields[0])
        numbers = [[int(n) for n in field.split(",")] for field in fields[1:]]
        good = len(numbers) == 3 and all(len(part) == levels for part in numbers) and all(
            0 < n <= MOST_LINKS for part in numbers for n in part)
    except ValueError:
        good = False
    if not good:
        raise Refusal("%s: tree is \"%s\", expected LEVELS;DOWN,..;UP,..;LINKS,.. such as "
                      "\"2;16,4;1,4;1,4\"" % (figure.where, figure.value))
    if math.prod(numbers[0]) != nodes:
        raise Refusal("%s: a tree \"%s\" has %d nodes, and nodes is %d; change one of them, or "
                      "leave tree out" % (figure.where, figure.value, math.prod(numbers[0]),
                                          nodes))
    return Shape("FAT_TREE", figure.value.replace(" ", ""), nodes, 2,
                 "fat tree" + ("; " + figure.origin if figure.origin else " " + figure.value))


def splits(nodes, most, least):
    """(padding, nodes of a switch) of all sizes of a switch, the fullest first."""
    return min((-nodes % size, -size) for size in range(max(least, 1), most + 1))


def fat_tree(nodes, top):
    if "tree" in top:
        return given_tree(nodes, top["tree"])
    ports = value_of(top, "switch_ports", 40)
    ratio = value_of(top, "oversubscription", 1)
    said = [top[name].where for name in ("switch_ports", "oversubscription", "nodes") if name in top]
    # What a known link says is no line of the user's.
    where = next((place for place in said if not place.startswith("parts.toml")), "platform")
    down = int(ports * ratio / (1 + ratio))
    if ratio < 1:
        raise Refusal("%s: oversubscription is %g, links down for one up: expected 1 or more"
                      % (top["oversubscription"].where, ratio))
    if down < 1 or down >= ports:
        raise Refusal("%s: %d ports of a switch cannot be %g links down for one up; say more "
                      "switch_ports or a smaller oversubscription" % (where, ports, ratio))
    shape = levels(nodes, ports, ratio)
    if not shape:
        enough = next(more for more in range(ports + 1, nodes + 1) if levels(nodes, more, ratio))
        raise Refusal("%s: %d nodes need more than three levels of switches with %d "
                      "ports; say switch_ports = %d or more" % (where, nodes, ports, enough))
    return shape


def levels(nodes, ports, ratio):
    """The tree of switches with so many ports, or None: three levels are too few."""
    down = int(ports * ratio / (1 + ratio))
    if nodes <= ports:
        return Shape("FAT_TREE", "1;%d;1;1" % nodes, nodes, 2,
                     "%d nodes on one switch of %d ports" % (nodes, ports))
    leaf = -splits(nodes, down, math.ceil(nodes / ports))[1] \
        if nodes <= down * ports else -splits(nodes, down, down * 3 // 4)[1]
    leaves, up = math.ceil(nodes / leaf), math.ceil(leaf / ratio)
    if leaves <= ports:
        return Shape("FAT_TREE", "2;%d,%d;1,%d;1,1" % (leaf, leaves, up), leaf * leaves, 2,
                     "fat tree of %d leaf switches with %d nodes and %d links up each, %d "
                     "switches above" % (leaves, leaf, up, up))
    pod = -splits(leaves, ports // 2, ports // 4)[1]
    pods = math.ceil(leaves / pod)
    if pods > ports:
        return None
    above = math.ceil(pod / ratio)
    return Shape("FAT_TREE", "3;%d,%d,%d;1,%d,%d;1,1,1" % (leaf, pod, pods, up, above),
                 leaf * pod * pods, 2, "fat tree of three levels: %d pods of %d leaf switches "
                 "with %d nodes, %d links up from each" % (pods, pod, leaf, up))


def best_torus(nodes):
    """Three lengths that are near each other, for hardly more nodes."""
    best = None
    for a in range(1, round(nodes ** (1 / 3)) + 2):
        for b in range(a, math.isqrt(nodes // a + 1) + 2):
            c = math.ceil(nodes / (a * b))
            if c < b:
                continue
            padding = a * b * c - nodes
            key = (a * b + b * c + a * c) * (1 + 3 * padding / nodes)
            best = min(best or (key, [a, b, c]), (key, [a, b, c]))
    return best[1]


def torus(nodes, top):
    if "shape" in top:
        lengths = top["shape"].value
        if math.prod(lengths) != nodes:
            raise Refusal("%s: a torus of %s has %d nodes, and nodes is %d; change one of them, "
                          "or leave shape out" % (top["shape"].where, " x ".join(
                              map(str, lengths)), math.prod(lengths), nodes))
    else:
        lengths = best_torus(nodes)
    # SimGrid 3.32 dies of several lengths of 1.
    real = [length for length in lengths if length > 1] or [1]
    return Shape("TORUS", ",".join(map(str, real)), math.prod(lengths), 1,
                 "torus of " + " x ".join(map(str, lengths)))


def routable(groups, chassis, routers):
    """SimGrid 3.32 leaves a group from the router of a chassis that has the number of the other
    group: without that router it reads beyond its tables."""
    return groups <= routers


def reshaped(groups, chassis, routers):
    """The same number of routers in fewer, larger chassis; None: too many groups."""
    for fewer in range(chassis, 0, -1):
        if chassis * routers % fewer == 0 and routable(groups, fewer, chassis * routers // fewer):
            return fewer, chassis * routers // fewer
    return None


def dragonfly(nodes, top):
    chassis, routers = value_of(top, "chassis", 6), value_of(top, "routers", 16)
    each = value_of(top, "nodes_per_router", 4)
    where = next((top[name].where for name in ("routers", "chassis") if name in top), "platform")
    group = chassis * routers * each
    groups = math.ceil(nodes / group)
    notes = []
    if groups == 1: # one group need not be full
        chassis = math.ceil(nodes / (routers * each))
        routers = math.ceil(nodes / (chassis * each))
    elif not routable(groups, chassis, routers):
        other = reshaped(groups, chassis, routers)
        if not other:
            raise Refusal("%s: SimGrid 3.32 cannot route a dragonfly of %d groups with %d "
                          "routers each; make groups larger: more chassis, routers or "
                          "nodes_per_router" % (where, groups, chassis * routers))
        notes.append("SimGrid 3.32 cannot route %d groups whose chassis have %d routers: each "
                     "group of %d routers is made of %d chassis of %d instead of %d of %d"
                     % (groups, routers, chassis * routers, other[0], other[1], chassis, routers))
        chassis, routers = other
    links = [value_of(top, name, 1) for name in ("group_links", "chassis_links", "router_links")]
    parameters = "%d,%d;%d,%d;%d,%d;%d" % (groups, links[0], chassis, links[1], routers,
                                           links[2], each)
    return Shape("DRAGONFLY", parameters, groups * chassis * routers * each, 2,
                 "dragonfly: %d group%s of %d chassis of %d routers with %d nodes"
                 % (groups, "s" * (groups != 1), chassis, routers, each), notes)


SHAPES = {"switch": switch, "fat tree": fat_tree, "torus": torus, "dragonfly": dragonfly}


def shape_of(nodes, top):
    shape = SHAPES[value_of(top, "network", "switch")](nodes, top)
    if shape.hosts > nodes:
        shape.notes.append("%d hosts instead of %d fill the last switches: a run takes the first "
                           "ones" % (shape.hosts, nodes))
    return shape
