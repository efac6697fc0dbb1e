# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: many runs, one table, one picture."""
import argparse
import os
import re
import shlex
import signal
import sys

from orrery_tool.app import App
from orrery_tool.study_page import Charts, draw, sensitivity_page, write_page
from orrery_tool.study_plan import make_plan
from orrery_tool.study_runs import Runner
from orrery_tool.study_search import DEFAULT_CHANGE, Crossover, add_machine, sensitivity
from orrery_tool.study_submission import Submission
from orrery_tool.study_table import Table
from orrery_tool.words import Parser, Refusal

SOME_FAILED = 1            # exit status: rows say which


def study_parser():
    parser = Parser(
        prog="orrery study", allow_abbrev=False, description="Runs a program for all "
        "combinations of parameters, several at a time, and keeps a table (runs.csv), a "
        "picture (runs.png) and a page (index.html).  The same command goes on where an "
        "earlier one was stopped; new values may be added.",
        epilog="Parameters: nodes, platform, scheduler, gpus, cpus (per node), bandwidth, latency, "
        "flops (factors, or 25GBps, 225ns), environment variables, and what the program's "
        "arguments name as {NAME}.  Values: 4,16,64 or \"4..64 x2\" or \"10..50 +10\".  Exit "
        "status: 0; 1 when runs failed, which are rows; 2 when the study is refused.")
    parser.add_argument("--set", metavar="NAME=VALUES", action="append", default=[],
                        help="values of a parameter, with commas; may be repeated")
    parser.add_argument("--sim", metavar="PLATFORM", help="platforms to simulate, with commas "
                        "(none: real runs)")
    parser.add_argument("-o", "--output", metavar="DIR", help="where table and picture are kept "
                        "(FILE without its suffix, or \"study\")")
    parser.add_argument("-j", "--jobs", metavar="N", type=int, help="runs at a time (simulated: "
                        "one for each core, real: 1)")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="end runs that take longer")
    parser.add_argument("--retry", action="store_true", help="repeat the runs that failed")
    parser.add_argument("--sensitivity", metavar="PERCENT", type=float, nargs="?",
                        const=100 * DEFAULT_CHANGE, help="change each parameter by itself, "
                        "numbers by so much (10), and rank the effects")
    parser.add_argument("--crossover", metavar="NAME=LOW..HIGH", help="find by bisection where "
                        "one of the choices of --between overtakes the other")
    parser.add_argument("--between", metavar="NAME=A,B", help="the two choices of --crossover")
    parser.add_argument("--submission", action="store_true", help="submit as one rank of so many "
                        "nodes, without communication: what a task costs, and from how many "
                        "nodes on submission limits the run")
    parser.add_argument("--real", metavar="\"./app ARGS\"", help="the program for --submission "
                        "when the study itself simulates")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("file", nargs="?", metavar="FILE.toml", help="the study, see \"orrery help studies\"")
    return parser


def split_program(argv):
    """Options, and the program behind "--"."""
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1:]
    return argv, []


def check_arguments(args):
    modes = [name for name in ("sensitivity", "crossover", "submission")
             if getattr(args, name) not in (None, False)]
    if len(modes) > 1:
        raise Refusal("study: --%s and --%s are two studies; give one" % tuple(modes[:2]))
    if args.real and not args.submission:
        raise Refusal("study: --real belongs to --submission; add that")
    if args.between and not args.crossover:
        raise Refusal("study: --between belongs to --crossover; add that")
    if args.jobs is not None and args.jobs < 1:
        raise Refusal("study: -j is %d, expected at least 1" % args.jobs)
    if args.timeout is not None and args.timeout <= 0:
        raise Refusal("study: --timeout is %g, expected more than 0 s" % args.timeout)
    if not args.file and not args.app:
        raise Refusal("study: nothing to run; give a file, or a program behind --; see \"orrery "
                      "help studies\"")


def output_of(args):
    """The parameters of a sweep, a sensitivity and a submission study differ."""
    if args.output:
        return args.output
    name = os.path.splitext(args.file)[0] if args.file and args.file.endswith(".toml") \
        else "study"
    return name + ("-sensitivity" if args.sensitivity is not None
                   else "-submission" if args.submission else "")


def sweep(plan, runner):
    rows = runner.run(plan.points())
    page = Charts(plan, rows).page()
    return [page] if page else [], []


def run_mode(args, plan, runner):
    """(charts to draw, sentences)"""
    if args.sensitivity is not None:
        return [sensitivity_page(plan, sensitivity(plan, runner, args.sensitivity))], []
    if args.crossover:
        sentence = Crossover(plan, runner, args.crossover, args.between).run()
        print(sentence)
        return [], [sentence]
    return sweep(plan, runner)


def say_end(runner, table, picture):
    """Where table and picture are; the exit status."""
    runner.say("%d runs in %s; %s" % (len(table.rows), table.path, picture))
    nbad = sum(row["status"] != "ok" for row in table.rows.values())
    if nbad:
        runner.say("%d runs failed: their rows say why; --retry repeats them" % nbad if nbad > 1
                   else "a run failed: its row says why; --retry repeats it")
    return SOME_FAILED if nbad else 0


def draw_all(pages, directory, name):
    """(pictures as SVG, where they are)"""
    pictures = [svg for svg in (draw(page, directory, name) for page in pages) if svg]
    if pictures:
        return pictures, "picture %s.png" % os.path.join(directory, name)
    return [], "no picture: install the Debian package python3-matplotlib" if pages \
        else "no picture: nothing to draw"


def end_by_signal(number, frame):
    raise KeyboardInterrupt


def study_submission(place, args, plan):
    study = Submission(place, plan, output_of(args), args.quiet)
    if args.retry:
        study.forget_failures()
    study.run()
    study.write()
    sentences = study.sentences()
    print("".join(sentence + "\n" for sentence in sentences), end="")
    pictures, where = draw_all([study.page()], study.directory, "submission")
    write_page(study.fake, study.runner.table, study.directory, pictures, sentences)
    return say_end(study.runner, study.runner.table, where)


def study_runs(place, args, plan):
    table = Table(output_of(args), plan)
    if args.retry:
        table.forget_failures()
    runner = Runner(place, plan, table, args.quiet)
    pages, notes = run_mode(args, plan, runner)
    name = "sensitivity" if args.sensitivity is not None else "runs"
    pictures, where = draw_all(pages, table.directory, name)
    write_page(plan, table, table.directory, pictures, notes)
    return say_end(runner, table, where)


def check_program(plan):
    """A name that no run could start is refused before the first one."""
    try:
        words = shlex.split(plan.program)
    except ValueError:
        return # its runs say so
    if words and "{" not in words[0]:
        App(words[0])


def command_study(place, argv):
    argv, app = split_program(argv)
    args = study_parser().parse_args(argv)
    args.app = [word if re.fullmatch(r"[\w@%+=:,./{}-]+", word) else shlex.quote(word)
                for word in app]
    check_arguments(args)
    plan = make_plan(args)
    check_program(plan)
    if args.sensitivity is not None: # which parameters there are is part of the table
        add_machine(plan, args.sensitivity)
    signal.signal(signal.SIGTERM, end_by_signal)
    try:
        return (study_submission if args.submission else study_runs)(place, args, plan)
    except KeyboardInterrupt:
        print("[orrery] study: stopped; the runs that had ended are kept in %s: the same command "
              "goes on" % output_of(args), file=sys.stderr, flush=True)
        return 130
