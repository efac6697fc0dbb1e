# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run."""
import argparse
import os
import re
import shlex
import shutil

from orrery_tool.app import App
from orrery_tool.mapping import add_rules
from orrery_tool.memory import limit_of
from orrery_tool.real import run_real
from orrery_tool.sim import run_sim
from orrery_tool.words import Parser, Refusal, unknown_option


WRAPPER = "say --wrapper \"%s\""
# An option of smpirun or mpirun: what there is in its place
OF_OTHERS = {
    "platform": "say --sim PLATFORM", "hostfile": "say --hostfile FILE",
    "machinefile": "say --hostfile FILE", "host": "name the hosts in a file: --hostfile FILE",
    "H": "name the hosts in a file: --hostfile FILE",
    "trace": "say --trace DIR, and see \"orrery trace\"",
    "trace-file": "say --trace DIR, and see \"orrery trace\"",
    "map": "\"orrery map\" shows which rank goes where",
    "cfg": "say it in the platform, before its zones: <config><prop id=\"smpi/or\" "
           "value=\"0:1e-6\"/></config>",
    "log": "--verbose shows what SimGrid says",
    "x": "set variables before the command: NAME=VALUE orrery run ...",
    "env": "set variables before the command: NAME=VALUE orrery run ...",
    "genv": "set variables before the command: NAME=VALUE orrery run ...",
    "mca": "set it before the command: OMPI_MCA_NAME=VALUE orrery run ...",
    "gdb": WRAPPER % "gdb --args", "lldb": WRAPPER % "lldb --",
    "vgdb": WRAPPER % "valgrind --vgdb=yes --vgdb-error=0",
    "keep-temps": "gdb finds the program without it: --wrapper \"gdb --args\"",
    "allow-run-as-root": "leave it out: it is never needed",
}


class RunParser(Parser):
    """Options of the launchers that people know have a remedy."""

    argv = ()

    def order(self):
        """What is wrong with the order of words where no -n was found, or with the first of them."""
        first = self.argv[0] if self.argv else ""
        if first.startswith("-") and first not in self._option_string_actions:
            return first.partition("=")[0]
        for word in self.argv if not first.startswith("-") else ():
            if re.fullmatch(r"-np?(=?[0-9]+)?", word):
                raise Refusal("run: %s stands behind the program %s, which would receive it; options come first: "
                              "orrery run -n N [options] ./app ARGS" % (word, first))
        return ""

    def error(self, message):
        missing = "required: -n/-np" in message
        option = self.order() if missing else unknown_option(message)
        remedy = OF_OTHERS.get(option.lstrip("-"))
        if remedy:
            raise Refusal("orrery run has no option %s: %s" % (option, remedy))
        if missing:
            raise Refusal("run: it is not said how many ranks: orrery run -n N [options] ./app ARGS")
        super().error(message)


def rank_count(text):
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise Refusal("-n is \"%s\", expected a number of ranks" % text)
    if int(text) < 1:
        raise Refusal("-n is %s, expected at least 1 rank" % text)
    return int(text)


def wrapper(text):
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Refusal("--wrapper %s: %s" % (text, error)) from None
    if not words or not shutil.which(words[0]):
        raise Refusal("--wrapper: there is no command \"%s\"; install it, or say its path"
                      % (words[0] if words else ""))
    return words


def run_parser():
    parser = RunParser(
        prog="orrery run", allow_abbrev=False, description="Starts a program on N ranks, with mpirun or, with "
        "--sim, in simulation with smpirun.  Limits of the machine are checked first.",
        epilog="The rules of a map are those of \"orrery map\"; nodes of a host file are taken "
        "to be like this one.  OPENBLAS_NUM_THREADS is set to 1 unless given: workers are the parallelism.")
    parser.add_argument("-n", "-np", type=rank_count, required=True, metavar="N", help="ranks")
    parser.add_argument("--sim", metavar="PLATFORM", help="a SimGrid platform file, or the "
                        "name of a shipped one")
    parser.add_argument("--hostfile", metavar="FILE", help="a host for each rank")
    add_rules(parser)
    parser.add_argument("--execute", action="store_true",
                        help="simulation: really run the CPU kernels")
    parser.add_argument("--transport", choices=["mpi", "routes", "flows", "none", "ucx"],
                        help="who carries messages: mpi (default) or ucx; in simulation, who "
                        "computes their time: routes (default), flows, none or mpi")
    parser.add_argument("--no-privatize", action="store_true", help="simulation: the program "
                        "has no mutable globals, load it once for all ranks")
    parser.add_argument("--memory", type=limit_of, metavar="SIZE", help="simulation: it is ended when it "
                        "itself has more memory than this, such as 8GiB; by default when less than 2 %% of "
                        "the machine's is left; \"all\": never")
    parser.add_argument("--progress", action="store_true", help="show progress on stderr")
    parser.add_argument("--comm-matrix", metavar="FILE.csv|.svg|.png", help="write "
                        "the bytes that each rank sends to each other one, for \"orrery map\" "
                        "to optimise; or draw them and their messages")
    parser.add_argument("--trace", metavar="FILE.csv|DIR", help="write busy times of the nodes "
                        "to FILE.csv; or all events to files in DIR, for orrery trace")
    parser.add_argument("--wrapper", metavar="COMMAND", type=wrapper, default=[],
                        help="start COMMAND with the program behind it, such as \"valgrind\", "
                        "\"gdb --args\" or \"gdb -batch -ex run -ex backtrace --args\": each rank, or "
                        "all of a simulation")
    parser.add_argument("--quiet", action="store_true",
                        help="simulation: no summary at the end")
    parser.add_argument("--verbose", action="store_true",
                        help="show what SimGrid and mpirun say, in their words")
    parser.add_argument("--show", action="store_true", help="print the command only")
    parser.add_argument("app", nargs=argparse.REMAINDER, help="program and its arguments")
    return parser


def taken_for_value(args):
    """Words on an option without its value, which took the program for it; or ""."""
    for option, value in (("--sim", args.sim), ("--hostfile", args.hostfile), ("--trace", args.trace),
                          ("--comm-matrix", args.comm_matrix)):
        if value and os.path.isfile(value) and os.access(value, os.X_OK):
            return ": %s takes %s for its value, and wants one of its own before it" % (option, value)
    return ""


def command_run(place, argv):
    parser = run_parser()
    parser.argv = argv
    args = parser.parse_args(argv)
    if args.app and args.app[0] == "--":
        args.app.pop(0)
    if not args.app:
        raise Refusal("no program given%s; usage: orrery run -n N [options] ./app ARGS" % taken_for_value(args))
    args.machine = args.sim            # as the user calls it
    if args.sim is not None:
        args.sim = place.platform(args.sim)
    if args.comm_matrix: # also on the nodes of a host file
        os.environ["STARPU_MPI_STATS"] = "2"
    app = App(args.app[0])
    return run_sim(place, args, app) if args.sim else run_real(place, args, app)
