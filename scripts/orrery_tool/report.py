# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: one page that says what a run did, and why it took as long."""
import os
import sys

from orrery_tool.events import tells_damage
from orrery_tool.report_page import Report, write_report
from orrery_tool.report_path import Path
from orrery_tool.report_read import Run
from orrery_tool.report_time import Accounts
from orrery_tool.words import Parser, Refusal


def report_parser():
    parser = Parser(
        prog="orrery report", allow_abbrev=False, description="Reads what \"orrery run --trace "
        "DIR\" has recorded and writes a page: where the workers' time went and why, tasks by "
        "node and worker, the critical path, codelets, messages, memory; each figure as PNG and "
        "PDF, too.", epilog="Exit status: 0; 2 when there is nothing to report.")
    parser.add_argument("-o", "--output", metavar="DIR", help="where page and figures are written "
                        "(\"report\" in the run's directory)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--text", action="store_true", help="print what the page says first, and "
                        "write no page")
    parser.add_argument("directory", metavar="DIR", help="of \"orrery run --trace\"")
    return parser


def show_progress(done, all_nodes):
    if done % 64 == 0 or done == all_nodes:
        print("[orrery] report: %d of %d nodes read" % (done, all_nodes), file=sys.stderr,
              flush=True)


@tells_damage
def command_report(place, argv):
    args = report_parser().parse_args(argv)
    try:
        run = Run(args.directory, None if args.quiet or not os.isatty(2) else show_progress)
    except OSError as error:
        raise Refusal("report: %s: %s" % (error.filename or args.directory, error.strerror)) \
            from None
    if not run.ntasks():
        raise Refusal("report: no task ended in the run that %s recorded; record one that runs "
                      "tasks%s" % (args.directory, " to their end.  " + run.cut() if run.cut()
                                   else ""))
    accounts = Accounts(run)
    report = Report(run, accounts, Path(run, accounts))
    output = args.output or os.path.join(args.directory, "report")
    drawn = args.text or write_report(report, output)
    print(report.headline())
    for sentence in report.sentences():
        print(sentence)
    if not args.quiet and not args.text:
        print("[orrery] report: %s%s" % (os.path.join(output, "index.html"), "" if drawn else
              "; without figures: install the Debian package python3-matplotlib"),
              file=sys.stderr)
    return 0
