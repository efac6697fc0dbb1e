# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery compare: two recorded runs side by side, by cause and by codelet."""
import html
import os

from orrery_tool.events import tells_damage
from orrery_tool.report_machine import KEPT
from orrery_tool.report_page import COLOURS, PLURAL, STYLE, draw, share
from orrery_tool.report_read import KINDS, Run
from orrery_tool.report_reasons import FASTER, NAMES as KIND_NAMES
from orrery_tool.report_time import BUSY, CAUSES, END, Accounts, codelet_rows
from orrery_tool.report_words import percent, seconds, several, times
from orrery_tool.words import Parser, Refusal, write_text


SINGULAR = {"cpu": "a core", "gpu": "a GPU"}
NAMES = {END: "the end, when nothing is left for it"}
LEAST_WAIT = 0.001         # of a run: shorter waits are not shown
MAX_WAITS = 20
MAX_CODELETS = 3           # that a sentence names
MAX_SETTINGS = 6
LEAST_PART = 0.1           # of the change, to be named
# Settings that name files; those that a scheduler sets are told as the scheduler.
OF_NO_MATTER = ("ORRERY_EVENTS", "ORRERY_TRACE", "ORRERY_SUMMARY", "STARPU_SCHED", "STARPU_FXT_PREFIX",
                "clock", "parted")


def compare_parser():
    parser = Parser(
        prog="orrery compare", allow_abbrev=False, description="Sets two runs that \"orrery run "
        "--trace DIR\" has recorded side by side: a real one and its simulation, or two "
        "schedulers.  By kind of worker, what the time went to, so which causes make the "
        "difference; by codelet, number and mean duration of tasks, and what was waited for "
        "before them.", epilog="Changes are those from A to B.  Exit status: 0; 2 when a "
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

    def count(self, name):
        """Tasks of a codelet, on all kinds of workers."""
        return sum(row[2] for key, row in self.codelets.items() if key[0] == name)

    def busy_s(self, kind, name):
        """Seconds of a worker of the kind in tasks of a codelet, on average."""
        row = self.codelets.get((name, kind))
        return row[3] / self.accounts.nworkers[kind] if row else 0.0

    def kept_part(self):
        """Of the time of its cores, how much others had of it; 0 when nobody counted."""
        kept_s = sum(kept for node in self.run.nodes for worker, (kept, _) in node.kept_s.items()
                     if worker is not None)
        life_s = sum(node.life_s * sum(1 for worker in node.workers if worker[2] == "cpu")
                     for node in self.run.nodes)
        return min(kept_s / life_s, 1.0) if life_s > 0 else 0.0

    def part_s(self, kind, cause):
        """Seconds of a worker of the kind, on average."""
        number = self.accounts.nworkers[kind]
        return self.accounts.by_kind[kind].total[cause] / number if number else 0.0

    def waits_s(self, kind):
        """{(codelet, cause): seconds that a worker of the kind waited before its tasks}"""
        number = self.accounts.nworkers[kind]
        if kind not in self.run.kinds or not number:
            return {}
        return {(self.run.codelets[name], cause): part / number
                for name, parts in self.accounts.by_kind[kind].waits.items()
                for cause, part in enumerate(parts) if part > 0}


def change(before, after):
    if before <= 0:
        return "new" if after > 0 else ""
    ratio = after / before
    if ratio >= 10:
        return times(ratio)
    percent = round(100 * (ratio - 1), 1)
    return "%+.1f %%" % percent if percent else "0 %"


def cause_rows(a, b):
    """Rows of what a worker of each kind does, on average."""
    rows = []
    for kind in reversed(KINDS):
        sides = [side if kind in side.run.kinds else None for side in (a, b)]
        if not any(works(side, kind) for side in (a, b)):
            continue
        for cause, name in enumerate(CAUSES):
            parts = [side.part_s(kind, cause) if side else 0.0 for side in sides]
            if max(parts) > 0:
                rows.append(("%s: %s" % (PLURAL[kind], name), *map(seconds, parts),
                             change(*parts)))
    return rows


def works(side, kind):
    return kind in side.run.kinds and side.accounts.by_kind[kind].total[BUSY] > 0


def wait_rows(a, b):
    """What a worker of each kind waited for, before the tasks of which codelet."""
    rows, least_s = [], LEAST_WAIT * max(a.span_s, b.span_s)
    for kind in reversed(KINDS):
        sides = [side.waits_s(kind) if works(side, kind) else {} for side in (a, b)]
        for key in dict.fromkeys(list(sides[0]) + list(sides[1])):
            parts = [side.get(key, 0.0) for side in sides]
            if max(parts) >= least_s:
                rows.append((abs(parts[1] - parts[0]), "%s (%s): %s" % (
                    key[0], kind, CAUSES[key[1]]), parts))
    rows.sort(key=lambda row: (-row[0], -max(row[2])))
    return [(name, *map(seconds, parts), signed(parts[1] - parts[0]))
            for _, name, parts in rows[:MAX_WAITS]]


def signed(value_s):
    return ("+" if value_s > 0 else "-" if value_s < 0 else "") + seconds(abs(value_s))


def in_words(ratio):
    if abs(ratio - 1) < 5e-4:
        return "as long as"
    if ratio >= 2:
        return times(ratio) + " as long as"
    return "%.1f %% %s than" % (100 * abs(ratio - 1), "more" if ratio > 1 else "less")


def explanation(a, b):
    """Which causes the difference is made of.  Of each worker the causes make the whole
    time, so their changes make its change."""
    difference_s = b.span_s - a.span_s
    ratio = b.span_s / a.span_s if a.span_s > 0 else 1.0
    text = "%s took %s, %s %s (%s)." % (b.name, seconds(b.span_s), in_words(ratio), a.name,
                                        seconds(a.span_s))
    for side in (a, b):
        if side.run.cut():
            text += "  %s is no whole run: some of its nodes did not record their end." % side.name
    for kind in reversed(KINDS):
        if not (works(a, kind) and works(b, kind)):
            continue
        changes = [b.part_s(kind, cause) - a.part_s(kind, cause) for cause in range(len(CAUSES))]
        least_s = 0.02 * max(map(abs, changes + [difference_s]))
        told = sorted((cause for cause in range(len(CAUSES)) if abs(changes[cause]) > least_s),
                      key=lambda cause: -abs(changes[cause]))
        if told:
            text += "  Of %s's time that is %s." % (SINGULAR[kind], ", ".join(
                "%s %s%s" % (NAMES.get(cause, CAUSES[cause]), signed(changes[cause]),
                             by_codelet(a, b, kind, changes[BUSY]) if cause == BUSY else "")
                for cause in told))
    return "  ".join([text] + differences(a, b))


def by_codelet(a, b, kind, change_s):
    """Whose tasks make most of the change of the busy time."""
    names = dict.fromkeys(name for side in (a, b) for name, _ in side.codelets)
    changes = sorted(((b.busy_s(kind, name) - a.busy_s(kind, name), name) for name in names),
                     key=lambda row: -abs(row[0]))
    told = [(part_s, name) for part_s, name in changes[:MAX_CODELETS]
            if abs(part_s) >= LEAST_PART * abs(change_s)]
    return " (%s)" % ", ".join("%s %s" % (name, signed(part_s)) for part_s, name in told) \
        if len(names) > 1 and told else ""


def differences(a, b):
    """What the two runs do not have in common, which so may be the reason: sentences."""
    names = dict.fromkeys(name for side in (a, b) for name, _ in side.codelets)
    common = [name for name in names if a.count(name) and b.count(name)]
    other = [name for name in names if a.count(name) != b.count(name)]
    found = []
    if not common:
        found.append("They have no codelet in common: these are different programs.")
    elif other:
        found.append("They did not run the same tasks: %s%s." % (", ".join(
            "%d and %d of %s" % (a.count(name), b.count(name), name)
            for name in other[:MAX_CODELETS]), ", ..." if len(other) > MAX_CODELETS else ""))
    found += elsewhere(a, b)
    workers = [tuple(several(side.accounts.nworkers[kind], KIND_NAMES[kind])
                     for kind in reversed(KINDS) if works(side, kind)) for side in (a, b)]
    if workers[0] != workers[1]:
        found.append("They have other workers at work: %s, and %s." % tuple(
            " and ".join(side) for side in workers))
    settings = [name for name in dict.fromkeys(list(a.run.setup.settings) +
                                               list(b.run.setup.settings))
                if name not in OF_NO_MATTER and
                a.run.setup.settings.get(name) != b.run.setup.settings.get(name)]
    if settings:
        found.append("They were started differently: %s." % ", ".join("%s %s, %s" % (
            name, *(side.run.setup.settings.get(name, "not set") for side in (a, b)))
            for name in settings[:MAX_SETTINGS]))
    for side in (a, b):
        if side.kept_part() >= KEPT:
            found.append("In %s others had the cores for %s of the time of its workers, which "
                         "makes tasks late and long." % (side.name, percent(side.kept_part())))
    return found


def elsewhere(a, b):
    """Tasks that cores ran in one of the runs, and GPUs, which are faster, in the other: the codelet
    of which that costs most."""
    worst = (0.0, "")
    for name in dict.fromkeys(name for name, _ in list(a.codelets) + list(b.codelets)):
        of_cores, of_gpus = ([side.codelets.get((name, kind)) for side in (a, b)]
                             for kind in ("cpu", "gpu"))
        numbers = [row[2] if row else 0 for row in of_cores]
        ncores, ngpus = (sum(row[2] for row in rows if row) for rows in (of_cores, of_gpus))
        if not ncores or not ngpus or numbers[0] == numbers[1]:
            continue
        mean_s, gpu_s = (sum(row[3] for row in rows if row) / count
                         for rows, count in ((of_cores, ncores), (of_gpus, ngpus)))
        cost_s = abs(numbers[1] - numbers[0]) * (mean_s - gpu_s)
        if gpu_s > 0 and mean_s >= FASTER * gpu_s and cost_s > worst[0]:
            worst = cost_s, "Cores ran %d and %d of %s, where one takes %s as long as on a GPU." % (
                *numbers, name, times(mean_s / gpu_s))
    return [worst[1]] if worst[0] >= LEAST_PART * max(a.span_s, b.span_s) else []


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
    return "<div class=wide><table><tr>%s</tr>%s</table></div>" % (
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
    waits = wait_rows(a, b)
    if waits:
        yield ("Longest waits of a worker, on average, before tasks of",
               ("", a.name, b.name, "change"), waits)
    yield ("Codelets", ("", "tasks " + a.name, "tasks " + b.name, "mean " + a.name,
                        "mean " + b.name, "change"), codelet_table(a, b))


def figure(a, b):
    """Bars as long as the runs are."""
    longest_s = max(a.span_s, b.span_s)
    kinds = [{"title": "%s, %d %s" % (side.name, side.accounts.nworkers[kind], PLURAL[kind]),
              "shares": [share(side.part_s(kind, cause), longest_s)
                         for cause in range(len(CAUSES))]}
             for kind in reversed(KINDS) for side in (a, b) if works(side, kind)]
    return {"compared": {"figure": "lost", "causes": CAUSES, "colours": COLOURS, "kinds": kinds,
                         "axis": "what a worker does (100 %%: %s)" % seconds(longest_s)}}


def write_page(a, b, texts, directory):
    sentence, found = texts
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise Refusal("compare: %s cannot be made: %s" % (directory, error.strerror)) from None
    pictures = draw(figure(a, b), directory)
    title = html.escape("%s and %s" % (a.name, b.name))
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8><title>%s</title>" % title,
             "<style>%s</style><h1>%s</h1><p>%s</p>" % (STYLE, title, html.escape(sentence)),
             "<div class=figure>%s</div>" % pictures.get("compared", "")]
    parts += ["<h2>%s</h2>%s" % (name, html_table(head, rows)) for name, head, rows in found]
    write_text(os.path.join(directory, "index.html"), "\n".join(parts) + "</html>\n")


@tells_damage
def command_compare(place, argv):
    args = compare_parser().parse_args(argv)
    a, b = Side(args.a), Side(args.b)
    if a.name == b.name:
        a.name, b.name = "A", "B"
    found = list(tables(a, b))
    text = explanation(a, b)
    print(text + "\n")
    for name, head, rows in found:
        print("%s\n%s\n" % (name, text_table(head, rows)))
    if args.output:
        write_page(a, b, (text, found), args.output)
    return 0
