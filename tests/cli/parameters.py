#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Multiple regressions: measured and fitted in real runs, used in simulated ones."""
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

from run import SRC, Suite, configured

PROGRAM = os.path.join(SRC, "tests", "cli", "parameters.c")
SIZES = [(10 * i + 10, 7 * (i % 4) + 3) for i in range(12)]
OTHERS = [(15 * i + 5, 90 - 7 * i) for i in range(12)]


def cost_us(m, n):
    return 5 + 0.25 * m * n + 0.5 * m * m


def close(a, b):
    return abs(a - b) <= 1e-5 * abs(b)


def least_squares(rows):
    """Coefficients of 1, M N, M^2: the normal equations, which are exact in fractions."""
    terms = [[Fraction(1), m * n, m * m, us] for m, n, us in rows]
    a = [[sum(t[i] * t[j] for t in terms) for j in range(4)] for i in range(3)]
    for i in range(3):
        for k in range(3):
            if k != i:
                factor = a[k][i] / a[i][i]
                a[k] = [x - factor * y for x, y in zip(a[k], a[i])]
    return [float(a[i][3] / a[i][i]) for i in range(3)]


class Parameters:
    def __init__(self, suite):
        self.suite = suite
        self.codelets = os.path.join(suite.directory, "models", "codelets")
        self.samples = os.path.join(self.codelets, "tmp", "summed.out")

    def run(self, calibrate, what, sizes):
        words = [str(x) for size in sizes for x in size]
        env = {**os.environ, "STARPU_CALIBRATE": calibrate}
        out = subprocess.run(["./parameters", what] + words, cwd=self.suite.directory, env=env,
                             timeout=60, capture_output=True, text=True)
        return out.returncode, out.stdout + out.stderr

    def coefficients(self):
        with open(os.path.join(self.codelets, "45", "summed.here"), encoding="ascii") as f:
            found = re.search(r"^3\s+(\S+)\s+(\S+)\s+(\S+) *$", f.read(), re.M)
        return found and [float(word) for word in found.groups()]

    def rows(self):
        """(M, N, duration) of each; new files have StarPU's order, the duration first."""
        with open(self.samples, encoding="ascii") as f:
            lines = f.read().split("\n")
        assert lines[0] in ("Duration, M, N", "M, N, Duration") and not lines[-1], lines
        rows = [tuple(Fraction(word.strip()) for word in line.split(",")) for line in lines[1:-1]]
        return [row[1:] + row[:1] for row in rows] if lines[0].startswith("D") else rows

    def first_line(self):
        with open(self.samples, encoding="ascii") as f:
            return f.readline()

    def fitted(self, claim, calibrate, what, sizes, nrows):
        status, output = self.run(calibrate, what, sizes)
        rows, seen = self.rows(), self.coefficients()
        self.suite.verdict(claim, status == 0 and len(rows) == nrows and seen and all(
            close(a, b) for a, b in zip(seen, least_squares(rows))), (output, len(rows), seen))

    def real(self):
        self.fitted("what_was_measured_is_fitted", "1", "inject", SIZES, len(SIZES))
        self.suite.verdict("the_coefficients_are_found", all(
            close(a, b) for a, b in zip(self.coefficients(), (5, 0.25, 0.5))),
            self.coefficients())
        self.fitted("a_second_run_adds_to_the_first", "1", "inject", OTHERS,
                    len(SIZES) + len(OTHERS))
        self.suite.verdict("the_duration_comes_first_as_in_starpus", self.first_line() ==
                           "Duration, M, N\n", self.first_line())
        rows = self.rows()
        with open(self.samples, "w", encoding="ascii") as f:
            f.write("M, N, Duration\n" + "".join("%s, %s, %.9g\n" % (m, n, us)
                                                 for m, n, us in rows))
        self.fitted("it_stays_where_a_file_has_it", "1", "inject", SIZES,
                    len(rows) + len(SIZES))
        self.suite.verdict("that_file_is_still_the_same", self.first_line() ==
                           "M, N, Duration\n", self.first_line())
        status, output = self.run("0", "expect", [(200, 100)])
        self.suite.verdict("it_is_expected_in_a_real_run", status == 0 and
                           "200 100: expected 25005 us" in output, output)

    def simulated(self):
        status, output = self.suite.orrery("run", "--sim", "small4", "-n", "1",
                                           "./parameters-sim", "expect", "200", "100", "30", "1")
        self.suite.verdict("a_simulated_task_takes_that_long", status == 0 and
                           "200 100: expected 25005 us" in output and
                           "30 1: expected 462.5 us" in output and all(
                               0 <= float(took) - cost_us(m, n) < 50 for took, (m, n) in zip(
                                   re.findall(r"took (\S+) us", output), ((200, 100), (30, 1)))),
                           output)

    def tasks(self):
        many = [(10 * i, 40 * (i % 7) + 20) for i in range(1, 40)]
        self.fitted("tasks_that_ran_are_fitted", "2", "run", many, len(many))
        self.fitted("calibrate_2_starts_afresh", "2", "inject", SIZES, len(SIZES))

    def bad(self):
        status, output = self.run("2", "inject", SIZES[:4])
        self.suite.verdict("too_few_are_told", status == 0 and
                           "4 measurements, expected at least 10" in output, output)
        status, output = self.run("2", "inject", SIZES[:1] * 20)
        self.suite.verdict("one_size_is_told", status == 0 and
                           "20 measurements tell 1 of 3 coefficients apart" in output, output)
        self.run("2", "inject", SIZES)
        with open(self.samples, "a", encoding="ascii") as f:
            f.write("7, seven, 1\n")
        with open(self.samples, encoding="ascii") as f:
            before = f.read()
        status, output = self.run("1", "inject", OTHERS)
        with open(self.samples, encoding="ascii") as f:
            same = f.read() == before
        self.suite.verdict("a_damaged_file_is_told_and_left", status == 0 and same and
                           "line 14: found \"7, seven, 1" in output, output)
        status, output = self.run("0", "narrow", [(10, 10)])
        self.suite.verdict("coefficients_of_another_program_are_told", status == 0 and
                           "has 3 coefficients, expected 2" in output, output)


def main():
    if not configured("sim") or not configured("real"):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        os.environ.update(STARPU_PERF_MODEL_DIR=os.path.join(directory, "models"),
                          STARPU_HOSTNAME="here", STARPU_NCPU="1", STARPU_SILENT="0")
        suite.orrery("cc", PROGRAM, "-o", "parameters")
        suite.orrery("cc", "--sim", PROGRAM, "-o", "parameters-sim")
        parameters = Parameters(suite)
        parameters.real()
        parameters.simulated()
        parameters.tasks()
        parameters.bad()
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
