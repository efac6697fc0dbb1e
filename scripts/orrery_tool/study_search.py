# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: which parameter matters most, and where one choice overtakes another."""
import math
import os

from orrery_tool.study_plan import MACHINE, as_text, is_number, number_or_text, values_of
from orrery_tool.study_runs import in_words
from orrery_tool.study_table import csv_line
from orrery_tool.words import Refusal, write_text

DEFAULT_CHANGE = 0.1
CLOSE = 0.01               # ends of a bracket of real numbers that are one place
LEAST = 1e-6               # of the first bracket: the same where one end is 0


def time_of(row):
    return float(row["time_s"]) if row and row["status"] == "ok" else None


def neighbours(value, change):
    """A little less and a little more; whole numbers stay whole."""
    if isinstance(value, int):
        step = max(1, round(abs(value) * change))
        return [value - step if value > step else value, value + step]
    return [round(value * (1 - change), 12), round(value * (1 + change), 12)]


def elasticity(low, high, time_low, time_high):
    """d ln(time) / d ln(value)"""
    if not (low > 0 and high > low and time_low > 0 and time_high > 0):
        return None
    return math.log(time_high / time_low) / math.log(high / low)


class Sensitivity:
    """Each parameter is changed by itself, the others keep their first values."""

    def __init__(self, plan, runner, change):
        self.plan, self.runner, self.change = plan, runner, change
        self.base = plan.base()

    def alternatives(self):
        """(parameter, values beside the first one, whether it is a quantity)"""
        for name, values in self.plan.parameters.items():
            value = values[0]
            if len(values) > 1:
                yield name, values[1:], all(map(is_number, values))
            elif is_number(value) and value != 0:
                yield name, [v for v in neighbours(value, self.change) if v != value], True

    def run(self):
        changes = list(self.alternatives())
        if not changes:
            raise Refusal("study: --sensitivity finds nothing to change: give numbers, or "
                          "several values of a parameter")
        points = [self.base] + [dict(self.base, **{name: value})
                                for name, values, _ in changes for value in values]
        self.runner.run(points)
        base_s = time_of(self.runner.table.find(self.base))
        if base_s is None:
            raise Refusal("study: the run with the first value of each parameter (%s) failed; "
                          "see its row" % in_words(self.base, self.plan.parameters))
        rows = [self.row(name, values, quantity, base_s) for name, values, quantity in changes]
        return base_s, sorted(rows, key=lambda row: -row["effect"])

    def row(self, name, values, quantity, base_s):
        times = {self.base[name]: base_s}
        for value in values:
            time_s = time_of(self.runner.table.find(dict(self.base, **{name: value})))
            if time_s is not None:
                times[value] = time_s
        shares = {value: time_s / base_s - 1 for value, time_s in times.items()}
        slope = None
        if quantity and len(times) > 1:
            low, high = min(times), max(times)
            slope = elasticity(low, high, times[low], times[high])
        return {"parameter": name, "value": self.base[name], "slope": slope, "shares": shares,
                "effect": max(abs(share) for share in shares.values()),
                "failed": len(values) + 1 - len(times)}


def add_machine(plan, percent):
    """What a machine can do is changed, too."""
    if not 0 < percent < 100:
        raise Refusal("study: --sensitivity is %g %%, expected above 0 and below 100" % percent)
    for name in MACHINE:
        if "platform" in plan.parameters:
            plan.parameters.setdefault(name, [1.0])


def sensitivity(plan, runner, percent):
    base_s, rows = Sensitivity(plan, runner, percent / 100).run()
    lines = ["parameter,value,other_value,time_change_percent,elasticity\n"]
    print("%.6g s with %s" % (base_s, in_words(plan.base(), plan.parameters)))
    for row in rows:
        changes = ["%s: %+.1f %%" % (as_text(value), 100 * share)
                   for value, share in row["shares"].items() if value != row["value"]]
        slope = "" if row["slope"] is None else "; %+.2f %% of time for +1 %%" % row["slope"]
        lost = "; %d runs failed" % row["failed"] if row["failed"] else ""
        print("  %-16s %s -> %s%s%s" % (row["parameter"], as_text(row["value"]),
                                        ", ".join(changes), slope, lost))
        lines += [csv_line([row["parameter"], as_text(row["value"]), as_text(value),
                            "%.4g" % (100 * share),
                            "" if row["slope"] is None else "%.4g" % row["slope"]])
                  for value, share in row["shares"].items() if value != row["value"]]
    write_text(os.path.join(runner.table.directory, "sensitivity.csv"), "".join(lines))
    return rows


def read_crossover(plan, text):
    """(parameter, lowest, highest) of NAME=LOW..HIGH"""
    name, _, ends = text.partition("=")
    low, _, high = ends.partition("..")
    low, high = number_or_text(low), number_or_text(high)
    if name not in plan.parameters or not is_number(low) or not is_number(high) or low >= high:
        raise Refusal("study: --crossover %s: expected NAME=LOW..HIGH with a parameter of this "
                      "study (%s) and two numbers" % (text, ", ".join(plan.parameters)))
    return name, low, high


def read_choices(plan, text):
    """(parameter, one value, the other) of NAME=A,B"""
    name, _, values = (text or "").partition("=")
    choices = values_of(name, [number_or_text(v) for v in values.split(",")]) if values else []
    if name not in plan.parameters or len(choices) != 2:
        raise Refusal("study: --between %s: expected NAME=A,B with a parameter of this study "
                      "(%s) and two values" % (text or "is missing", ", ".join(plan.parameters)))
    return name, choices[0], choices[1]


class Crossover:
    def __init__(self, plan, runner, where, between):
        self.plan, self.runner = plan, runner
        self.name, self.low, self.high = read_crossover(plan, where)
        self.near = LEAST * (self.high - self.low)
        self.choice, self.one, self.other = read_choices(plan, between)
        if self.name == self.choice:
            raise Refusal("study: --crossover and --between both name %s" % self.name)

    def gain(self, value):
        """How much longer the first choice takes, as a share."""
        points = [dict(self.plan.base(), **{self.name: value, self.choice: choice})
                  for choice in (self.one, self.other)]
        times = [time_of(row) for row in self.runner.run(points)]
        if None in times:
            raise Refusal("study: a run at %s=%s failed, so which is faster is not known; see "
                          "its row" % (self.name, as_text(value)))
        return times[0] / times[1] - 1 if times[1] > 0 else 0.0

    def middle(self):
        if isinstance(self.low, int) and isinstance(self.high, int):
            return (self.low + self.high) // 2
        return math.sqrt(self.low * self.high) if self.low > 0 else (self.low + self.high) / 2

    def is_close(self):
        if isinstance(self.low, int) and isinstance(self.high, int):
            return self.high - self.low <= 1
        return self.high - self.low <= max(CLOSE * max(abs(self.low), abs(self.high)), self.near)

    def run(self):
        """A sentence."""
        at_low, at_high = self.gain(self.low), self.gain(self.high)
        names = {True: "%s=%s" % (self.choice, as_text(self.one)),
                 False: "%s=%s" % (self.choice, as_text(self.other))}
        if (at_low < 0) == (at_high < 0):
            return ("%s is faster at both ends, by %.1f %% at %s=%s and %.1f %% at %s: no "
                    "crossover was looked for between them" % (
                        names[at_low < 0], 100 * abs(at_low), self.name, as_text(self.low),
                        100 * abs(at_high), as_text(self.high)))
        first = at_low < 0
        while not self.is_close():
            value = self.middle()
            if (self.gain(value) < 0) == first:
                self.low = value
            else:
                self.high = value
        return "%s is faster up to %s=%s, %s from %s on" % (
            names[first], self.name, as_text(self.low), names[not first], as_text(self.high))
