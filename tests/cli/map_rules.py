#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map against the rules of the paper, written down once more: random machines whose nodes
differ, threads that may not be used, letters, bindings, limits and orders.

usage: map_rules.py [FIRST..LAST]    seeds (1..80)
"""
import csv
import io
import itertools
import math
import random
import re
import sys
import tempfile

from run import Suite

ORDER = ["n", "b", "s", "N", "L3", "L2", "L1", "c", "h"]
TYPES = {"s": "pack", "N": "numa", "L3": "l3", "L2": "l2", "c": "core", "h": "pu"}


class Resource:
    def __init__(self, letter, parent):
        self.letter, self.parent = letter, parent
        self.children, self.threads, self.count = [], [], 0

    def ancestors(self):
        """Itself first."""
        resource = self
        while resource:
            yield resource
            resource = resource.parent

    def descendants(self):
        """Itself first."""
        yield self
        for child in self.children:
            yield from child.descendants()

    def nearest(self, letter):
        """Descendants of a level, over levels that the map does not name."""
        for child in self.children:
            if child.letter == letter:
                yield child
            else:
                yield from child.nearest(letter)


class Node:
    """shape: (letter, number in each resource of the level above), from the outermost."""

    def __init__(self, shape, allowed):
        self.root, self.allowed, self.nthreads = Resource("n", None), allowed, 0
        self.levels = {letter: [] for letter in ORDER}
        self.levels["n"].append(self.root)
        self.fill(self.root, shape)

    def fill(self, resource, shape):
        if not shape:
            resource.threads = [self.nthreads]
            self.nthreads += 1
            return
        letter, number = shape[0]
        for _ in range(number):
            child = Resource(letter, resource)
            resource.children.append(child)
            self.levels[letter].append(child)
            self.fill(child, shape[1:])
            resource.threads += child.threads


class Case:
    def __init__(self, seed):
        pick = random.Random(seed)
        levels = [letter for letter in ("s", "N", "L3", "L2")
                  if pick.random() < 0.7] + ["c", "h"]
        # No level is the same as the next one on the first node: such count as one.
        self.shapes = [[(letter, pick.randint(1 if i else 2, 3)) for letter in levels]
                       for i in range(pick.randint(1, 3))]
        sizes = [math.prod(number for _, number in shape) for shape in self.shapes]
        self.restricted = pick.random() < 0.4
        self.allowed = [{thread for thread in range(size)
                         if not self.restricted or pick.random() < 0.7} or {0} for size in sizes]
        self.letters = [letter for letter in levels if letter == "h" or pick.random() < 0.75]
        self.bound = pick.choice(self.letters + ["n"])
        self.width = 1 if self.bound == "n" or self.restricted else pick.choice([1, 1, 1, 2, 3])
        self.map = self.letters + ["n"] + ["b"] * (pick.random() < 0.3)
        pick.shuffle(self.map)
        self.limits = {letter: pick.randint(1, 4) for letter in
                       pick.sample(levels + ["n"], pick.choice([0, 0, 1, 2]))}
        self.order, self.oversubscribe = pick.choice("ns"), pick.random() < 0.3
        self.nranks = pick.randint(1, sum(sizes) // self.width + 2)

    def words(self):
        words = ["map", "-n", str(self.nranks), "--map", "".join(self.map), "--bind",
                 "%d%s" % (self.width, self.bound), "--order", self.order, "--print", "table"]
        for i, shape in enumerate(self.shapes):
            words += ["--topology", " ".join("%s:%d" % (TYPES[letter], number)
                                             for letter, number in shape)]
            if self.restricted:
                words += ["--cpuset", "node%d=%s" % (i, ",".join(map(str, sorted(self.allowed[i]))))]
        if self.limits:
            words += ["--mppr", ",".join("%d:%s" % (most, letter)
                                         for letter, most in self.limits.items())]
        return words + ["--oversubscribe"] * self.oversubscribe

    def extents(self, nodes):
        """How far each letter's loop goes: what the widest place has."""
        named = [letter for letter in ORDER if letter in self.letters]
        extents, above = {"n": len(nodes), "b": 1}, "n"
        for letter in named:
            extents[letter] = max(len(list(resource.nearest(letter)))
                                  for node in nodes for resource in node.levels[above])
            above = letter
        return named, extents

    def bind(self, node, place, limited):
        """The threads that a rank at this place has, or None where it cannot be."""
        first = next(r for r in place.ancestors() if r.letter == self.bound)
        row = node.levels[self.bound]
        taken = row[row.index(first):][:self.width]
        covered = {r for one in taken for r in (*one.ancestors(), *one.descendants())}
        if len(taken) < self.width or limited and any(
                r.count >= self.limits.get(r.letter, math.inf) for r in covered):
            return None
        for resource in covered:
            resource.count += 1
        return sorted({thread for one in taken for thread in one.threads} & node.allowed)

    def sweep(self, nodes, limited):
        named, extents = self.extents(nodes)
        loops = list(reversed(self.map)) # the leftmost letter is the innermost loop
        for indices in itertools.product(*(range(
                0, extents[letter], self.width if letter == self.bound else 1)
                                           for letter in loops)):
            at = dict(zip(loops, indices))
            node = nodes[at["n"]]
            place = node.root
            for letter in named:
                place = next(itertools.islice(place.nearest(letter), at[letter], None), None) \
                    if place else None
            if place and set(place.threads) & node.allowed:
                threads = self.bind(node, place, limited)
                if threads:
                    yield at["n"], place.threads[0], threads

    def expected(self):
        """(node, threads) of each rank, or None: they find no place."""
        nodes = [Node(shape, allowed) for shape, allowed in zip(self.shapes, self.allowed)]
        found, limited = [], True
        while len(found) < self.nranks:
            before = len(found)
            found += itertools.islice(self.sweep(nodes, limited), self.nranks - before)
            if len(found) < self.nranks and (not self.oversubscribe or
                                             not limited and len(found) == before):
                return None
            limited = False
        if self.order == "s":
            found.sort(key=lambda rank: rank[:2])
        return [("node%d" % node, threads) for node, _, threads in found]


def threads_of(text):
    ends = [part.split("-") for part in re.split("[ ,]+", text)]
    return [thread for part in ends for thread in range(int(part[0]), int(part[-1]) + 1)]


def mapped(suite, case):
    status, said = suite.orrery(*case.words())
    if status:
        return None if status == 2 and said.startswith("[orrery] map: mapped ") else said
    table = "\n".join(line for line in said.split("\n") if not line.startswith("[orrery]"))
    rows = csv.DictReader(io.StringIO(table))
    return [(row["node"], threads_of(row["cpus"])) for row in rows]


def main():
    first, last = map(int, (sys.argv[1:] or ["1..80"])[0].split(".."))
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        nrefused = 0
        for seed in range(first, last + 1):
            case = Case(seed)
            expected, found = case.expected(), mapped(suite, case)
            nrefused += expected is None
            if found != expected:
                suite.verdict("map_%d" % seed, False, "orrery %s: expected %s, found %s"
                              % (" ".join(case.words()), expected, found))
        suite.verdict("maps_are_those_of_the_rules", suite.nfailed == 0,
                      "%d differ" % suite.nfailed)
        suite.verdict("some_find_no_place", 0 < nrefused < last - first or first == last, nrefused)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
