# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The rules of a map, and the program orrery-map that follows them."""
import os
import subprocess

from orrery_tool.machine import chosen_machine, described_machine, host_names
from orrery_tool.words import Refusal

# Options that say how to map, which "orrery run" has as well: (word, metavar, help)
RULES = [
    ("--map", "LETTERS", "the nested loops, the innermost first, such as csbnh: n node, "
     "b board, s socket, N NUMA node, L3 L2 L1 caches, c core, h hardware thread, g GPU, "
     "i network interface"),
    ("--map-by", "LEVEL", "a simple form of it: slot, hwthread, core, l1cache, l2cache, "
     "l3cache, numa, socket, board, node, gpu, nic (core)"),
    ("--bind", "COUNT+LETTER", "bind each rank to consecutive objects, such as 2c "
     "(the whole node)"),
    ("--bind-to", "LEVEL", "a simple form of it: none or a level"),
    ("--mppr", "LIMITS", "most ranks per resource, such as 1:c,4:s"),
    ("--order", "ORDER", "n: ranks in the order of mapping; s: from left to right over "
     "the hardware (n)"),
    ("--rank-by", "LEVEL", "ranks in turn over the objects of a level, node after node"),
    ("--rankfile", "FILE", "take the map from a rankfile of Open MPI instead"),
]


def add_rules(parser):
    for word, metavar, text in RULES:
        parser.add_argument(word, metavar=metavar, help=text)
    parser.add_argument("--oversubscribe", action="store_true",
                        help="map further sweeps, without limits, when places run out")


def rule_words(args):
    """The rules among the arguments, as options of orrery-map."""
    words = []
    for word, *_ in RULES:
        value = getattr(args, word[2:].replace("-", "_"))
        words += [word, value] if value is not None else []
    return words + ["--oversubscribe"] * args.oversubscribe


def has_rules(args):
    return bool(rule_words(args))


def compute(place, words, machine, quiet=False, said=None):
    """What orrery-map prints; what it says on stderr is passed on, dropped, or put into said."""
    program = place.program("orrery-map")
    if not program:
        raise Refusal("the program orrery-map was not found; build and install Orrery")
    out = subprocess.run([program] + words, input=machine.lines(), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    prefix = "[orrery] map: "
    lines = [line[len(prefix):] if line.startswith(prefix) else line
             for line in out.stderr.split("\n") if line]
    if out.returncode != 0:
        raise Refusal("map: " + (lines[-1] if lines else "orrery-map ended with status %d"
                                 % out.returncode))
    if said is not None:
        said += lines
    elif lines and not quiet:
        os.write(2, "".join(prefix + line + "\n" for line in lines).encode())
    return out.stdout


def map_of_run(place, args, what):
    """The map that "orrery run" was asked for, in one of the forms of --print; its lines."""
    if args.sim:
        machine = chosen_machine(args.sim, args.hostfile)
    else:
        machine = described_machine(None, args.hostfile and host_names(args.hostfile))
    words = rule_words(args) + ([] if args.rankfile else ["--ranks", str(args.n)])
    text = compute(place, words + ["--print", what], machine)
    nranks = len([line for line in text.split("\n") if line and line[0] != "#"])
    if nranks != args.n:
        raise Refusal("%s maps %d ranks and -n asks for %d; give the same number"
                      % (args.rankfile, nranks, args.n))
    return text
