# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map: which rank goes where."""
import argparse
import os

from orrery_tool.machine import make_machine
from orrery_tool.mapping import RULES, add_rules, compute, rule_words
from orrery_tool.optimise import optimised, temporary
from orrery_tool.picture import Map, compose, write_png
from orrery_tool.words import Parser, Refusal, write_text

PRINTS = ["ranks", "bindings", "table", "rankfile", "hostfile", "arguments"]


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
    parser.add_argument("--optimise", action="store_true", help="reorder the ranks so that "
                        "those that send much to each other are near; says by how much the "
                        "weighted distance falls")
    parser.add_argument("--matrix", metavar="FILE.csv", help="for --optimise: what the ranks "
                        "send, from \"orrery run --comm-matrix\"")
    parser.add_argument("--draw", metavar="FILE", help="draw the map, as .svg or .png")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it there")
    parser.add_argument("app", nargs=argparse.REMAINDER, help="for --optimise with --sim: "
                        "a program and its arguments, run before and after")
    return parser


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


def show(place, args, words, machine):
    if args.draw:
        draw_map(place, args, words, machine)
    if args.print == "arguments":
        return print_arguments(place, args, words, machine)
    text = compute(place, words + ["--print", args.print], machine, quiet=args.optimise)
    if not args.output:
        return text
    write_text(args.output, text)
    return ""


def check_optimise(args):
    if args.optimise:
        return
    if args.matrix:
        raise Refusal("map: --matrix belongs to --optimise; add that")
    if args.app:
        raise Refusal("map: \"%s\" is no option; programs are started by \"orrery run\", or "
                      "here with --optimise" % args.app[0])


def command_map(place, argv):
    args = map_parser().parse_args(argv)
    check_optimise(args)
    machine = make_machine(place, args)
    words = map_words(args)
    if args.optimise:
        with temporary() as directory:
            words = optimised(place, args, words, machine, directory)
            text = show(place, args, words, machine)
    else:
        text = show(place, args, words, machine)
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1) # the reader has seen enough
    return 0
