# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map: which rank goes where."""
import os
import subprocess

from orrery_tool.machine import make_machine
from orrery_tool.picture import Map, compose, write_png
from orrery_tool.words import Parser, Refusal

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
PRINTS = ["ranks", "bindings", "table", "rankfile", "hostfile", "arguments"]


def add_rules(parser):
    for word, metavar, text in RULES:
        parser.add_argument(word, metavar=metavar, help=text)
    parser.add_argument("--oversubscribe", action="store_true",
                        help="map further sweeps, without limits, when places run out")


def map_parser():
    parser = Parser(
        prog="orrery map", allow_abbrev=False, description="Says which rank runs on which "
        "node and cores, with the Locality-Aware Mapping Algorithm: on this machine, on "
        "one that is described, or on the hosts of a simulation.",
        epilog="\"orrery run\" takes the same rules.  Exit status: 0; 2 when the map is "
        "refused, with one sentence on stderr.")
    parser.add_argument("-n", "-np", metavar="N", help="ranks; several numbers with commas "
                        "are applications of one job (as many as fit)")
    add_rules(parser)
    parser.add_argument("--hwthreads", action="store_true",
                        help="the slots of --rankfile are hardware threads")
    parser.add_argument("--topology", metavar="TEXT", action="append", help="a node: a file "
                        "of lstopo (.xml), or types and counts such as \"pack:2 core:4 "
                        "pu:2\"; with COUNT* before it so many; may be repeated (this "
                        "machine)")
    parser.add_argument("--sim", metavar="PLATFORM", help="the hosts of a SimGrid platform "
                        "file, or of a shipped one")
    parser.add_argument("--hostfile", metavar="FILE", help="names of the nodes")
    parser.add_argument("--cpuset", metavar="SET", action="append", help="hardware threads "
                        "that may be used, such as 0-3,8 or NODE=0-3,8; may be repeated")
    parser.add_argument("--print", choices=PRINTS, default="ranks", help="ranks by node, "
                        "bindings by rank, a CSV table, Open MPI's rankfile, SMPI's host "
                        "file, or the arguments of mpirun for the rankfile -o (ranks)")
    parser.add_argument("--draw", metavar="FILE", help="draw the map, as .svg or .png")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it there")
    return parser


def rule_words(args):
    """The rules among the arguments, as options of orrery-map."""
    words = []
    for word, *_ in RULES:
        value = getattr(args, word[2:].replace("-", "_"))
        words += [word, value] if value is not None else []
    return words + ["--oversubscribe"] * args.oversubscribe


def has_rules(args):
    return bool(rule_words(args))


def compute(place, words, machine, quiet=False):
    """What orrery-map prints."""
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
    if lines and not quiet:
        os.write(2, "".join(prefix + line + "\n" for line in lines).encode())
    return out.stdout


def write_text(path, text):
    """A file that is replaced as a whole."""
    beside = "%s.new-%d" % (path, os.getpid())
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            beside = path
        with open(beside, "w", encoding="utf-8") as f:
            f.write(text)
        if beside != path:
            os.replace(beside, path)
    except OSError as error:
        if beside != path and os.path.exists(beside):
            os.remove(beside)
        raise Refusal("%s cannot be written: %s" % (path, error.strerror)) from None


def map_words(args):
    words = rule_words(args) + ["--hwthreads"] * args.hwthreads
    return words + (["--ranks", args.n] if args.n is not None else [])


def print_arguments(place, args, words, machine):
    """Writes the file that mpirun or smpirun is to read; its other arguments."""
    if not args.output:
        raise Refusal("map: --print arguments writes the file that they name; give -o FILE")
    kind = "hostfile" if args.sim else "rankfile"
    write_text(args.output, compute(place, words + ["--print", kind], machine))
    out = compute(place, words + ["--print", "arguments"], machine, quiet=True).strip()
    if args.sim:
        return "%s -platform %s -hostfile %s\n" % (
            out.replace("-n ", "-np ", 1).replace(" --use-hwthread-cpus", ""),
            place.platform(args.sim), args.output)
    return "%s --rankfile %s\n" % (out, args.output)


def rules_in_words(args):
    """For the picture."""
    given = ["%s %s" % (word[2:], value) for word, *_ in RULES
             for value in [getattr(args, word[2:].replace("-", "_"))] if value is not None]
    return ", ".join(given + ["oversubscribed"] * args.oversubscribe) or "map-by core"


def draw_map(place, args, words, machine):
    suffix = os.path.splitext(args.draw)[1]
    if suffix not in (".svg", ".png"):
        raise Refusal("--draw %s: expected a name that ends with .svg or .png" % args.draw)
    data = Map(compute(place, words + ["--print", "picture"], machine, quiet=True))
    picture = compose(data, rules_in_words(args))
    if suffix == ".svg":
        write_text(args.draw, picture.svg())
    else:
        write_png(picture, args.draw)


def command_map(place, argv):
    parser = map_parser()
    args = parser.parse_args(argv)
    machine = make_machine(place, args)
    words = map_words(args)
    if args.draw:
        draw_map(place, args, words, machine)
    if args.print == "arguments":
        text = print_arguments(place, args, words, machine)
        args.output = None
    else:
        text = compute(place, words + ["--print", args.print], machine)
    if args.output:
        write_text(args.output, text)
    else:
        try:
            print(text, end="", flush=True)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1) # the reader has seen enough
    return 0
