# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery compare: two recorded runs side by side, by cause and by codelet."""
import html
import os

from orrery_tool.report_page import (COLOURS, PLURAL, STYLE, draw, seconds, share)
from orrery_tool.report_read import KINDS, Run
from orrery_tool.report_time import BUSY, CAUSES, Accounts, codelet_rows
from orrery_tool.words import Parser, Refusal, write_text


def compare_parser():
    parser = Parser(
        prog="orrery compare", allow_abbrev=False, description="Sets two runs that \"orrery run "
        "--trace DIR\" has recorded side by side: a real one and its simulation, or two "
        "schedulers.  By kind of worker, what the time went to; by codelet, number and mean "
        "duration of tasks.", epilog="Changes are those from A to B.  Exit status: 0; 2 when a "
        "run cannot be read.")
    parser.add_argument("-o", "--output", metavar="DIR", help="also write a page and a picture")
    parser.add_argument("a", metavar="A", help="directory of the first run")
    parser.add_argument("b", metavar="B", help="directory of the second run")
    return parser


class Side:
    """One of the runs, in figures."""

    def __init__(self, directory):
        try:
            self.run = Run(directory)
        except OSError as error:
            raise Refusal("compare: %s: %s" % (error.filename or directory, error.strerror)) \
                from None
        if not self.run.ntasks():
            raise Refusal("compare: no task ended in the run that %s recorded" % directory)
        self.name = os.path.basename(os.path.abspath(directory))
        self.accounts = Accounts(self.run)
        self.span_s = self.run.end_s - self.run.begin_s
        self.codelets = {row[:2]: row for row in codelet_rows(self.run)}

    def part_s(self, kind, cause):
        """Seconds of a worker of the kind, on average."""
        number = self.accounts.nworkers[kind]
        return self.accounts.by_kind[kind].total[cause] / number if number else 0.0


def change(before, after):
    if before <= 0:
        return "new" if after > 0 else ""
    ratio = after / before
    return "%.3g times" % ratio if ratio >= 10 else "%+.1f %%" % (100 * (ratio - 1))


def cause_rows(a, b):
    """Rows of what a worker of each kind does, on average."""
    rows = []
    for kind in reversed(KINDS):
        sides = [side if kind in side.run.kinds else None for side in (a, b)]
        if not any(side and side.accounts.by_kind[kind].total[BUSY] > 0 for side in sides):
            continue
        for cause, name in enumerate(CAUSES):
            parts = [side.part_s(kind, cause) if side else 0.0 for side in sides]
            if max(parts) > 0:
                rows.append(("%s: %s" % (PLURAL[kind], name), *map(seconds, parts),
                             change(*parts)))
    return rows


def codelet_table(a, b):
    """Number and mean duration of the tasks of each codelet on each kind of worker."""
    rows = []
    keys = dict.fromkeys(list(a.codelets) + list(b.codelets))
    for key in sorted(keys, key=lambda k: -max(
            side.codelets[k][3] if k in side.codelets else 0 for side in (a, b))):
        found = [side.codelets.get(key) for side in (a, b)]
        numbers = [row[2] if row else 0 for row in found]
        means = [row[4] if row else 0.0 for row in found]
        rows.append(("%s (%s)" % key, "%d" % numbers[0], "%d" % numbers[1],
                     seconds(means[0]) if found[0] else "", seconds(means[1]) if found[1] else "",
                     change(*means) if all(found) else ""))
    return rows


def text_table(head, rows):
    rows = [head] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [
        cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip() for row in rows)


def html_table(head, rows):
    return "<table><tr>%s</tr>%s</table>" % (
        "".join("<th>%s" % html.escape(name) for name in head),
        "".join("<tr>%s</tr>" % "".join("<td>%s" % html.escape(cell) for cell in row)
                for row in rows))


def tables(a, b):
    """(title, head, rows) of each table."""
    runs = [("time", seconds(a.span_s), seconds(b.span_s), change(a.span_s, b.span_s)),
            ("tasks", *("%d" % side.run.ntasks() for side in (a, b)),
             change(a.run.ntasks(), b.run.ntasks())),
            ("nodes", *("%d" % len(side.run.nodes) for side in (a, b)), "")]
    for kind in reversed(KINDS):
        numbers = [side.accounts.nworkers[kind] for side in (a, b)]
        if any(numbers):
            runs.append((PLURAL[kind], *map(str, numbers), ""))
    yield "Runs", ("", a.name, b.name, "change"), runs
    yield ("What a worker does, on average", ("", a.name, b.name, "change"), cause_rows(a, b))
    yield ("Codelets", ("", "tasks " + a.name, "tasks " + b.name, "mean " + a.name,
                        "mean " + b.name, "change"), codelet_table(a, b))


def figure(a, b):
    kinds = [{"title": "%s, %d %s" % (side.name, side.accounts.nworkers[kind], PLURAL[kind]),
              "shares": [share(part, side.accounts.capacity_s(kind))
                         for part in side.accounts.by_kind[kind].total]}
             for kind in reversed(KINDS) for side in (a, b)
             if kind in side.run.kinds and side.accounts.by_kind[kind].total[BUSY] > 0]
    return {"compared": {"figure": "lost", "causes": CAUSES, "colours": COLOURS, "kinds": kinds}}


def write_page(a, b, found, directory):
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise Refusal("compare: %s cannot be made: %s" % (directory, error.strerror)) from None
    pictures = draw(figure(a, b), directory)
    title = html.escape("%s and %s" % (a.name, b.name))
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>%s</title>" % title,
             "<style>%s</style><h1>%s</h1>" % (STYLE, title), pictures.get("compared", "")]
    parts += ["<h2>%s</h2>%s" % (name, html_table(head, rows)) for name, head, rows in found]
    write_text(os.path.join(directory, "index.html"), "\n".join(parts) + "</html>\n")


def command_compare(place, argv):
    args = compare_parser().parse_args(argv)
    a, b = Side(args.a), Side(args.b)
    if a.name == b.name:
        a.name, b.name = "A", "B"
    found = list(tables(a, b))
    for name, head, rows in found:
        print("%s\n%s\n" % (name, text_table(head, rows)))
    if args.output:
        write_page(a, b, found, args.output)
    return 0
