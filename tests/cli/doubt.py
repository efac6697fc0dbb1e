#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""How sure a simulation is of its tasks' durations, and their energy."""
import math
import os
import re
import struct
import sys
import tempfile

from run import SRC, Suite, configured

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool.summary import Summary, scaled

N, MEAN_US, DEVIATION_US, NSAMPLE, NBETWEEN, BETWEEN_US = 30, 1000.0, 50.0, 25, 10, 2000.0
WORK_US = N * MEAN_US + NBETWEEN * BETWEEN_US


def widened_us(nsample):
    return DEVIATION_US * math.sqrt(nsample / (nsample - 1)) / (1 - 0.4557 / (nsample - 1))


def error_us(nsample, fixed_us=0):
    """The formula of doc/simulation.md; fixed_us: what is off between sizes."""
    deviation = widened_us(nsample)
    return math.hypot(math.sqrt(N) * deviation, N * deviation / math.sqrt(nsample), fixed_us)


ERROR_US = error_us(NSAMPLE)


def footprint(size):
    """Of a task whose model says its size."""
    crc = 0
    for byte in struct.pack("<Q", size):
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x1EDC6F41 if crc >> 31 else 0)) & 0xFFFFFFFF
    return crc


# Between them durations are proportional to the size.
TWO = ((1000, MEAN_US, DEVIATION_US), (4000, 4000.0, 0.0))
# Without the second, the others would say 5657 us of it.
THREE = TWO + ((16000, 32000.0, 0.0),)


def write_model(suite, nsample, entries=TWO):
    where = os.path.join(suite.directory, "models", "codelets", "45")
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "doubt.model"), "w", encoding="ascii") as f:
        f.write("45\n1\n1\n0\n0\n1\n1\n%d\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n" % len(entries))
        for size, mean, deviation in entries:
            f.write("%08x %d 0 %e %e %e %e %d\n" % (
                footprint(size), size, mean, deviation, nsample * mean,
                nsample * (mean ** 2 + deviation ** 2), nsample))


def run(suite, *words):
    return suite.orrery("run", "--sim", "small4", "-n", "1", *words)


def figures(suite, name):
    with open(os.path.join(suite.directory, name), encoding="ascii") as f:
        return dict(line.strip().split("=") for line in f)


def sure(suite):
    write_model(suite, NSAMPLE)
    status, output = run(suite, "--trace", "recorded", "./doubt")
    suite.verdict("the_summary_says_how_sure_it_is", status == 0 and
                  "[orrery] the time of the tasks: 60 %% of it known to +-%.2g %% from its "
                  "measurements, 40 %% of it extrapolated with an unknown error\n"
                  % (100 * ERROR_US / (N * MEAN_US)) in output, output)
    mean_error_us = math.sqrt(ERROR_US ** 2 - N * widened_us(NSAMPLE) ** 2)
    suite.verdict("it_says_which_model_to_measure", "[orrery] least is known of doubt.model on CPUs "
                  "(%.3g %% of the time): real runs with STARPU_CALIBRATE=1 at these sizes measure it"
                  % (40 + 100 * mean_error_us / WORK_US) in output, output)
    seen = figures(suite, "recorded/summary")
    suite.verdict("its_figures_follow_the_formula",
                  abs(float(seen["model_error"]) * WORK_US / ERROR_US - 1) < 1e-3 and
                  abs(float(seen["work_s"]) * 1e6 / WORK_US - 1) < 1e-6 and
                  abs(float(seen["extrapolated_s"]) / float(seen["work_s"]) - 0.4) < 1e-6 and
                  float(seen["uncalibrated_s"]) == 0 and float(seen["energy_j"]) == 0, seen)
    status, output = suite.orrery("report", "recorded", "--quiet")
    found = re.search(r"The time of the tasks: .* critical path, to \+-(\S+) us\.", output)
    suite.verdict("the_report_says_it_of_the_critical_path", status == 0 and found and
                  abs(float(found.group(1)) / ERROR_US - 1) < 1e-3, output)


def surer(suite):
    """What is measured a hundred times as often leaves the tasks' own spread."""
    write_model(suite, 100 * NSAMPLE)
    status, output = run(suite, "--quiet", "--trace", "again", "./doubt")
    seen = figures(suite, "again/summary")
    expected = error_us(100 * NSAMPLE) / WORK_US
    suite.verdict("more_measurements_make_it_surer", status == 0 and
                  abs(float(seen["model_error"]) / expected - 1) < 1e-3, (seen, output))


def between(suite):
    """Sizes that are left out tell how far off a size between others may be."""
    write_model(suite, NSAMPLE, THREE)
    status, output = run(suite, "--trace", "between", "./doubt")
    seen = figures(suite, "between/summary")
    expected = error_us(NSAMPLE, NBETWEEN * BETWEEN_US *
                        (math.sqrt(1000 * 32000) / 4000 - 1)) / WORK_US
    suite.verdict("what_lies_between_sizes_is_known_by_these", status == 0 and
                  abs(float(seen["model_error"]) / expected - 1) < 1e-3 and
                  float(seen["unsure_s"]) == 0 and
                  ": known to +-%.2g %% from its measurements, 40 %% of it extrapolated\n"
                  % (100 * expected) in output, (seen, expected, output))


def deviating(suite):
    """Measurements that deviate by more than they say, and a size that is measured well."""
    write_model(suite, NSAMPLE, ((1000, MEAN_US, 30 * MEAN_US), (2000, BETWEEN_US, 0.0)))
    status, output = run(suite, "--trace", "deviating", "./doubt")
    suite.verdict("a_large_error_is_no_figure", status == 0 and float(
        figures(suite, "deviating/summary")["model_error"]) > 1 and
        "[orrery] the time of the tasks: hardly known from its measurements, which deviate or are of sizes "
        "far apart\n" in output and "least is known of doubt.model on CPUs (60 % of the time)" in output, output)
    write_model(suite, NSAMPLE, ((1000, MEAN_US, DEVIATION_US), (2000, BETWEEN_US, 0.0)))
    status, output = run(suite, "./doubt")
    suite.verdict("what_is_known_well_needs_no_remedy", status == 0 and "known to +-" in output and
                  "least is known" not in output, output)


def measured_once(suite):
    """A single measurement does not tell how it deviates."""
    write_model(suite, 1)
    status, output = run(suite, "--trace", "single", "./doubt")
    part = 100 * N * MEAN_US / WORK_US
    suite.verdict("what_is_measured_once_is_said", status == 0 and
                  "%.3g %% of it measured only once\n" % part in output and
                  float(figures(suite, "single/summary")["once_s"]) > 0, output)


def of_slaves(suite):
    """Tasks of a master on its slaves last as models say, and are as well known as its own."""
    write_model(suite, NSAMPLE)
    words = ["run", "--sim", "small4", "-n", "2", "--trace"]
    os.environ.update(STARPU_NMPI_MS="1", STARPU_NCPU="0", STARPU_NMPIMSTHREADS="2")
    status, output = suite.orrery(*words, "slaves", "./doubt")
    seen = figures(suite, "slaves/summary")
    suite.verdict("tasks_of_slaves_are_known_by_their_models", status == 0 and
                  abs(float(seen["model_error"]) * WORK_US / ERROR_US - 1) < 1e-3 and
                  abs(float(seen["extrapolated_s"]) / float(seen["work_s"]) - 0.4) < 1e-6 and
                  "least is known of doubt.model on CPUs" in output, (seen, output))
    os.environ["STARPU_PERF_MODEL_DIR"] += "-none"
    status, output = suite.orrery(*words, "guessed", "./doubt", "roofline")
    seen = figures(suite, "guessed/summary")
    suite.verdict("and_uncalibrated_where_nothing_is_measured", status == 0 and
                  "(100 % uncalibrated)" in output and seen["uncalibrated_tasks"] == seen["tasks"] == "40" and
                  seen["uncalibrated_s"] == seen["work_s"], (seen, output))
    for name in ("STARPU_NMPI_MS", "STARPU_NCPU", "STARPU_NMPIMSTHREADS"):
        del os.environ[name]


def once(suite):
    """A run that nothing is measured of says so once, one in part by tasks and by time."""
    figures = {"date_s": "1", "ranks": "1", "tasks": "8", "uncalibrated_tasks": "8",
               "messages": "0", "bytes": "0", "wall_s": "1", "peak_bytes": "1", "work_s": "4",
               "uncalibrated_s": "4", "extrapolated_s": "0", "model_error": "0"}
    text = Summary.text(figures)
    suite.verdict("wholly_uncalibrated_is_said_once", text.count("uncalibrated") == 1 and
                  "(100 % uncalibrated)" in text and
                  "the time of the tasks: told by the platform's peaks, its error is not known; "
                  "models that are measured tell it (orrery help models)\n" in text, text)
    text = Summary.text({**figures, "uncalibrated_tasks": "7", "uncalibrated_s": "1"})
    suite.verdict("in_part_is_said_of_tasks_and_time", "(87.5 % uncalibrated)" in text and
                  "25 % of it uncalibrated" in text, text)


def energy(suite):
    status, output = run(suite, "--trace", "warm", "./doubt", "energy")
    suite.verdict("the_summary_has_the_energy_of_tasks", status == 0 and
                  "bytes, 100 J\n" in output and
                  float(figures(suite, "warm/summary")["energy_j"]) == 2.5 * (N + NBETWEEN), output)


def memory(suite):
    """No figure is told as 1.02e+03."""
    units = ["bytes", "KiB", "MiB", "GiB"]
    told = [scaled(mib * 2**20, units, 1024.0) for mib in (12.345, 999.4, 999.6, 1017.8, 1024)]
    suite.verdict("a_little_less_than_the_next_unit",
                  told == ["12.3 MiB", "999 MiB", "1000 MiB", "1018 MiB", "1 GiB"], str(told))


def main():
    if not configured("sim"):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        memory(suite)
        os.environ.update(STARPU_PERF_MODEL_DIR=os.path.join(directory, "models"),
                          STARPU_SILENT="0")
        suite.orrery("cc", "--sim", os.path.join(SRC, "tests", "cli", "doubt.c"), "-o", "doubt")
        sure(suite)
        surer(suite)
        between(suite)
        deviating(suite)
        measured_once(suite)
        energy(suite)
        once(suite)
        of_slaves(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
