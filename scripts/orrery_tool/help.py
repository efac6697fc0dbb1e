# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery help: pages of doc/, or sections of them, and the commands' own texts."""
import difflib
import fnmatch
import os
import re

from orrery_tool import cc, doctor, trace
from orrery_tool.calibrate import calibrate_parser
from orrery_tool.compare import compare_parser
from orrery_tool.map import map_parser
from orrery_tool.platform_command import platform_parser
from orrery_tool.report import report_parser
from orrery_tool.run import run_parser
from orrery_tool.study import study_parser
from orrery_tool.words import Refusal

# topic: (what it is about, file below doc/, its section or None for all)
PAGES = {
    "sim": ("simulating: platform, models, network, values, time", "simulation.md", None),
    "platforms": ("a machine in ten lines, ready ones, StarPU's calibrations", "platforms.md",
                  None),
    "properties": ("what a platform says of nodes", "simulation.md", "The platform"),
    "models": ("how long a simulated task takes", "simulation.md", "How long a task takes"),
    "messages": ("how long a simulated message takes", "simulation.md",
                 "How long a message takes"),
    "schedulers": ("which scheduler to take", "simulation.md", "Schedulers"),
    "scale": ("1,000 to 10,000 nodes", "simulation.md", "1,000 to 10,000 nodes"),
    "results": ("summary, figures, trace, picture, deadlocks", "simulation.md",
                "Reading the result"),
    "placement": ("which rank goes where: letters, limits, bindings, files",
                  "placement.md", None),
    "studies": ("many runs: parameters, table, picture, sensitivity, submission", "studies.md",
                None),
    "traces": ("recording a run; what the files contain", "traces.md", None),
    "knobs": ("environment variables; or give the name of one", "knobs.md", None),
    "porting": ("building a StarPU-MPI program; differences", "porting.md", None),
    "status": ("what works, what is not offered", "status.md", None),
    "performance": ("how to measure, what was measured", "performance.md", None),
}
COMMANDS = {
    "run": ("starting a program", lambda: run_parser().format_help().rstrip()),
    "map": ("which rank goes where", lambda: map_parser().format_help().rstrip()),
    "cc": ("compiling", lambda: cc.USAGE),
    "trace": ("what a recorded run did, task by task", lambda: trace.USAGE),
    "study": ("many runs, one table, one picture",
              lambda: study_parser().format_help().rstrip()),
    "report": ("a page on a recorded run",
               lambda: report_parser().format_help().rstrip()),
    "compare": ("two recorded runs side by side",
                lambda: compare_parser().format_help().rstrip()),
    "platform": ("making a platform",
                 lambda: platform_parser().format_help().rstrip()),
    "calibrate": ("measuring this machine",
                  lambda: calibrate_parser().format_help().rstrip()),
    "doctor": ("what this machine lacks", lambda: doctor.USAGE),
}


def section(text, title):
    """From the heading to the next one of its rank."""
    match = re.search(r"^## %s\n.*?(?=^## |\Z)" % re.escape(title), text, re.M | re.S)
    return match.group(0).rstrip()


def read_page(place, name):
    path = os.path.join(place.share, "doc", name)
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as error:
        raise Refusal("help: %s cannot be read: %s; reinstall Orrery"
                      % (path, error.strerror)) from None


def variables(place):
    """name: (unit, default, range, effect), from the table in knobs.md."""
    rows = re.findall(r"^\| ([A-Z_0-9]+) \| (.*?) \| (.*?) \| (.*?) ?\| (.*) \|$",
                      read_page(place, "knobs.md"), re.M)
    return {row[0]: row[1:] for row in rows}


def unread_variable(place, name):
    """What knobs.md says of a variable of StarPU's that nothing reads; None: not there."""
    for pattern, effect, why in re.findall(r"^\| ([A-Z_0-9]+\*?) \| (none[^|]*) \| (.*) \|$",
                                           read_page(place, "knobs.md"), re.M):
        if fnmatch.fnmatchcase(name, pattern):
            return "%s (effect: %s)\n%s" % (name, effect, why)
    return None


def variable_words(row):
    """(unit, range and default; effect) of a row."""
    unit, preset, values, effect = row
    return ", ".join([unit] + [values] * bool(values) + ["default: " + preset]), effect


def topics():
    lines = ["topics of \"orrery help\":"]
    for name, (what, *_) in list(COMMANDS.items()) + list(PAGES.items()):
        lines.append("  %-12s %s" % (name, what))
    return "\n".join(lines)


def help_text(place, topic):
    if topic in COMMANDS:
        return COMMANDS[topic][1]()
    if topic in PAGES:
        _, name, title = PAGES[topic]
        text = read_page(place, name).rstrip()
        return section(text, title) if title else text
    table = variables(place)
    if topic.upper() in table:
        return "%s (%s)\n%s" % ((topic.upper(),) + variable_words(table[topic.upper()]))
    unread = unread_variable(place, topic.upper())
    if unread:
        return unread
    known = list(COMMANDS) + list(PAGES)
    near = difflib.get_close_matches(topic, known, 1) or \
        difflib.get_close_matches(topic.upper(), list(table), 1)
    raise Refusal("help: no topic %s%s; there are %s, and each environment variable"
                  % (topic, ", did you mean %s" % near[0] if near else "", ", ".join(known)))


def command_help(place, argv):
    if len(argv) > 1:
        raise Refusal("help: %d topics given, expected one" % len(argv))
    print(help_text(place, argv[0]) if argv else topics())
    return 0
