# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: what is to be run, from a file and from the command line."""
import difflib
import itertools
import math
import os
import re
import tomllib

from orrery_tool.words import Refusal

MAX_POINTS = 100000
TABLES = ("parameters", "results", "picture")
SETTINGS = {"program": str, "real": str, "platform": str, "options": str, "jobs": int,
            "timeout_s": (int, float)}
MACHINE = ("bandwidth", "latency", "flops")     # factors, or values with a unit
PLAIN = ("nodes", "platform", "scheduler", "gpus", "cpus") + MACHINE
RESERVED = ("status", "time_s", "tasks", "messages", "bytes", "uncalibrated_tasks", "inserted",
            "insertion_s", "uncalibrated_s", "extrapolated_s", "model_error", "energy_j",
            "wall_s", "peak_bytes", "what")
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def number_or_text(text):
    """A value of the command line."""
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def as_text(value):
    """A value as it stands in commands and tables: 1.0 and 1 are one value."""
    if isinstance(value, float):
        return "%.12g" % value
    return str(value)


def number_of(text):
    """That of a cell of the table, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def expand_range(name, text):
    """The numbers of "4..64 x2" or "10..50 +10"; None: the text is no range."""
    number = r"[0-9][0-9.eE+-]*"
    if re.fullmatch(r"\s*%s?\.\.%s\s*" % (number, number), text):
        raise Refusal("study: %s is \"%s\", a range without its step: say \"%s +1\" or \"%s x2\""
                      % (name, text, text.strip(), text.strip()))
    match = re.fullmatch(r"\s*([0-9.eE+-]+?)\.\.([0-9.eE+-]+)\s*([x+])\s*([0-9.eE+-]+)\s*", text)
    if not match:
        return None
    first, last, step = (number_or_text(match.group(i)) for i in (1, 2, 4))
    grows = all(map(is_number, (first, last, step))) and first <= last and (
        step > 0 if match.group(3) == "+" else step > 1 and first > 0)
    if not grows:
        raise Refusal("study: %s is \"%s\", expected a range that grows, such as "
                      "\"4..64 x2\" or \"10..50 +10\"" % (name, text))
    values, value = [], first
    while value <= last * (1 + 1e-12):
        values.append(value)
        if len(values) > MAX_POINTS:
            raise Refusal("study: %s is \"%s\", more than %d values; use a larger step"
                          % (name, text, MAX_POINTS))
        value = value * step if match.group(3) == "x" else value + step
    return values


def values_of(name, given):
    """The values of a parameter, each once."""
    given = given if isinstance(given, list) else [given]
    values = []
    for value in given:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise Refusal("study: %s has the value %s, expected numbers or texts"
                          % (name, value))
        values += (expand_range(name, value) if isinstance(value, str) else None) or [value]
    if not values:
        raise Refusal("study: %s has no value; give at least one" % name)
    return list({as_text(value): value for value in values}.values())


class Plan:
    """What is run, and for which values of which parameters."""

    def __init__(self):
        self.program = self.real = self.platform = None
        self.pretends = False # one real process takes itself for a rank of so many
        self.options, self.jobs, self.timeout_s = "", None, None
        self.parameters, self.results, self.picture = {}, {}, {}

    def read(self, path):
        try:
            with open(path, "rb") as f:
                data = tomllib.load(f)
        except OSError as error:
            raise Refusal("study: %s cannot be read: %s" % (path, error.strerror)) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Refusal("study: %s is no study: %s; see \"orrery help studies\""
                          % (path, error)) from None
        for name, value in data.items():
            if name in TABLES and isinstance(value, dict):
                setattr(self, name, value)
            elif name in SETTINGS and isinstance(value, SETTINGS[name]) \
                    and not isinstance(value, bool):
                setattr(self, name, value)
            else:
                known = ", ".join(list(SETTINGS) + ["[%s]" % table for table in TABLES])
                raise Refusal("study: %s: %s = %r is not understood; there are %s"
                              % (path, name, value, known))

    def set(self, text):
        """NAME=VALUE,VALUE of the command line, in place of what the file says."""
        name, equals, values = text.partition("=")
        if not equals or not NAME.fullmatch(name):
            raise Refusal("study: --set %s: expected NAME=VALUE,VALUE" % text)
        self.parameters[name] = [number_or_text(value) for value in values.split(",")]

    def check(self):
        """Values become lists; whatever no run could use is refused now."""
        if not self.program:
            raise Refusal("study: no program; say program = \"./app ARGS\" in the file, or "
                          "give it behind --")
        if self.jobs is not None and self.jobs < 1:
            raise Refusal("study: jobs is %d, expected at least 1" % self.jobs)
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise Refusal("study: timeout_s is %g, expected more than 0 s" % self.timeout_s)
        if self.platform and "platform" not in self.parameters:
            self.parameters = {"platform": self.platform, **self.parameters}
        self.parameters = {name: values_of(name, value)
                           for name, value in self.parameters.items()}
        self.parameters.setdefault("nodes", [1])
        placeholders = set(re.findall(r"\{(\w+)\}", " ".join(
            (self.program, self.options, self.real or ""))))
        for name in self.parameters:
            self.check_parameter(name, placeholders)
        missing = sorted(placeholders - set(self.parameters))
        if missing:
            raise Refusal("study: the program has a place {%s} and there is no parameter %s; "
                          "add it" % (missing[0], missing[0]))
        self.check_results()
        self.check_picture()
        if self.npoints() > MAX_POINTS:
            raise Refusal("study: %d runs, at most %d are possible; vary less at a time"
                          % (self.npoints(), MAX_POINTS))

    def check_parameter(self, name, placeholders):
        if not NAME.fullmatch(name) or name in RESERVED:
            raise Refusal("study: a parameter cannot be named %s; columns of the table are %s"
                          % (name, ", ".join(RESERVED)))
        used = name in PLAIN or name in placeholders or name.isupper()
        if not used:
            near = difflib.get_close_matches(name, tuple(PLAIN) + tuple(placeholders), 1)
            raise Refusal(
                "study: nothing uses the parameter %s: it is not {%s} in the program, no "
                "environment variable (capitals), and none of %s%s"
                % (name, name, ", ".join(PLAIN), "; did you mean %s?" % near[0] if near else ""))
        if name in ("gpus", "cpus") + MACHINE and "platform" not in self.parameters:
            raise Refusal("study: %s is a property of a simulated machine; give a platform, or "
                          "leave it out" % name)
        for value in self.parameters[name]:
            if name in ("nodes", "gpus", "cpus") and (
                    not isinstance(value, int) or value < (name != "gpus")):
                raise Refusal("study: %s has the value %s, expected a whole number from %d"
                              % (name, value, name != "gpus"))

    def check_results(self):
        for name, pattern in self.results.items():
            try:
                good = re.compile(pattern).groups == 1
            except (re.error, TypeError):
                good = False
            if not good or name in RESERVED and name != "time_s" or name in self.parameters:
                raise Refusal("study: the result %s is %r, expected a new name and a regular "
                              "expression with one group" % (name, pattern))

    def check_picture(self):
        """It is drawn when all runs have ended, and they may take hours."""
        x, y = self.picture.get("x"), self.picture.get("y", "time_s")
        if x is not None and x not in list(self.parameters):
            raise Refusal("study: [picture] x = %r is no parameter; there are %s"
                          % (x, ", ".join(self.parameters)))
        known = ["time_s", "wall_s"] + [name for name in self.results if name != "time_s"]
        if y not in known:
            raise Refusal("study: [picture] y = %r is not in the table; there are %s"
                          % (y, ", ".join(known)))

    def npoints(self):
        count = 1
        for values in self.parameters.values():
            count *= len(values)
        return count

    def points(self):
        """Every combination; what is named last changes first."""
        names = list(self.parameters)
        for values in itertools.product(*self.parameters.values()):
            yield dict(zip(names, values))

    def base(self):
        """The first value of each parameter."""
        return {name: values[0] for name, values in self.parameters.items()}

    def varied(self):
        return [name for name, values in self.parameters.items() if len(values) > 1]

    def identity(self):
        """What all runs of a table have in common."""
        return {"program": self.program, "options": self.options,
                "parameters": list(self.parameters), "results": dict(self.results)}


def add_searched(plan, text):
    """The parameter that a search names first is one of the study, if something uses it."""
    name, _, values = (text or "").partition("=")
    used = name in PLAIN or "{%s}" % name in (plan.program or "") + (plan.options or "")
    if used and values and name not in plan.parameters:
        plan.parameters[name] = [number_or_text(re.split(r",|\.\.", values)[0])]


def make_plan(args):
    plan = Plan()
    if args.file:
        if os.path.isdir(args.file):
            raise Refusal("study: %s is a directory; give the study's file" % args.file)
        plan.read(args.file)
    for text in args.set:
        plan.set(text)
    if args.sim:
        plan.parameters["platform"] = args.sim.split(",")
    if args.app:
        plan.program = " ".join(args.app)
    add_searched(plan, args.crossover)
    add_searched(plan, args.between)
    plan.real = args.real or plan.real
    plan.jobs = args.jobs or plan.jobs # that of the command line is above 0
    plan.timeout_s = args.timeout or plan.timeout_s
    plan.check()
    return plan
