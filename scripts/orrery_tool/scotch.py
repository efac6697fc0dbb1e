# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map --optimise: an order of the ranks by SCOTCH, for the search to begin with.

The places are taken as a tree: nodes, in groups where routes are shortest, and the places
of each node.  SCOTCH balances loosely, so places that it gives twice are dealt out anew.
"""
import os
import re
import shutil
import subprocess
from bisect import bisect
from collections import Counter

MAX_WEIGHT = 10000  # of an edge: SCOTCH adds them up in 32 bits
MAX_SCOTCH_S = 60


def scotch():
    """The command, by its name in Debian or its own."""
    return shutil.which("scotch_gmap") or shutil.which("gmap")


def read_edges(path, nranks):
    """{rank: {peer: bytes}}, both directions together; {}: it is for the search to refuse."""
    edges = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                match = re.fullmatch(r"\s*(\d+)\s*,\s*(\d+)\s*,\s*([\d.e+]+)\s*", line)
                if not match or match.group(1) == match.group(2):
                    continue
                a, b = int(match.group(1)), int(match.group(2))
                if max(a, b) >= nranks:
                    return {}
                for one, other in ((a, b), (b, a)):
                    peers = edges.setdefault(one, {})
                    peers[other] = peers.get(other, 0) + float(match.group(3))
    except (OSError, ValueError):
        return {}
    return edges


def write_graph(edges, nranks, path):
    largest = max(max(peers.values()) for peers in edges.values())
    rows = []
    for rank in range(nranks):
        peers = edges.get(rank, {})
        rows.append(" ".join([str(len(peers))] + [
            "%d %d" % (1 + round(MAX_WEIGHT * peers[peer] / max(largest, 1)), peer)
            for peer in sorted(peers)]))
    with open(path, "w", encoding="ascii") as f:
        f.write("0\n%d %d\n0 010\n%s\n" % (nranks, sum(map(len, edges.values())),
                                           "\n".join(rows)))


def group_size(distances):
    """How many nodes after each other are nearest to each other; 1: no such groups."""
    n = len(distances)
    nearest = min((d for row in distances for d in row if d > 0), default=0)
    size = 1
    while size < n and distances[0][size] <= nearest * 1.001:
        size += 1
    if n % size or any(distances[i][j] > nearest * 1.001 for i in range(n)
                       for j in range(i // size * size, i // size * size + size) if i != j):
        return 1
    return size


def write_tree(nnodes, per_node, distances, path):
    """SCOTCH's tree of leaves: size and weight of each level, the widest first."""
    size = group_size(distances) if distances else 1
    levels = [(nnodes // size, 20), (size, 10), (per_node, 1)]
    levels = [level for level in levels if level[0] > 1] or [(1, 1)]
    with open(path, "w", encoding="ascii") as f:
        f.write("tleaf\n%d %s\n" % (len(levels), " ".join("%d %d" % level for level in levels)))


def deal_out(leaves, nleaves):
    """Each leaf to one rank: who comes second gets the free one that is next."""
    taken, homeless, order = set(), [], [None] * len(leaves)
    for rank, leaf in enumerate(leaves):
        if leaf in taken or not 0 <= leaf < nleaves:
            homeless.append(rank)
        else:
            taken.add(leaf)
            order[rank] = leaf
    free = [leaf for leaf in range(nleaves) if leaf not in taken]
    for rank in homeless:
        at = bisect(free, leaves[rank])
        if at == len(free) or at > 0 and leaves[rank] - free[at - 1] <= free[at] - leaves[rank]:
            at -= 1
        order[rank] = free.pop(at)
    return order


def first_order(hosts, names, matrix, distances, directory):
    """The place of each rank, by SCOTCH; a text that says why there is none.

    hosts: of each place; names: the nodes in order; distances: between them, or None.
    """
    command, edges = scotch(), read_edges(matrix, len(hosts))
    if not edges:
        return ""
    if not command:
        return "SCOTCH was not found, the search begins without it; the Debian package is scotch"
    counts = Counter(hosts)
    used = [name for name in names if name in counts]
    if len(set(counts.values())) != 1:
        return "the nodes have different numbers of ranks, the search begins without SCOTCH"
    index = {name: i for i, name in enumerate(used)}
    places = sorted(range(len(hosts)), key=lambda place: (index[hosts[place]], place))
    rows = [i for i, name in enumerate(names) if name in counts]
    table = distances and [[distances[i][j] for j in rows] for i in rows]

    def path(name):
        return os.path.join(directory, name)

    write_graph(edges, len(hosts), path("graph"))
    write_tree(len(used), counts[used[0]], table, path("tree"))
    try:
        out = subprocess.run([command, path("graph"), path("tree"), path("order")], check=False,
                             capture_output=True, text=True, timeout=MAX_SCOTCH_S)
    except subprocess.TimeoutExpired:
        return "SCOTCH took more than %d s, the search begins without it" % MAX_SCOTCH_S
    if out.returncode != 0 or not os.path.exists(path("order")):
        return "SCOTCH refuses (%s), the search begins without it" % (out.stderr.strip()[-200:])
    leaves = [0] * len(hosts)
    with open(path("order"), encoding="ascii") as f:
        for line in f.read().split("\n")[1:]:
            words = line.split()
            if len(words) == 2 and int(words[0]) < len(leaves):
                leaves[int(words[0])] = int(words[1])
    return [places[leaf] for leaf in deal_out(leaves, len(hosts))]
