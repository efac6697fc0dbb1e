# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The figures of a simulation, which the library has written to ORRERY_SUMMARY."""
import os
import sys
import time

from orrery_tool.words import write_text


LEAST_UNKNOWN = 0.05       # of the time that is worth a remedy


def scaled(value, units, step=1000.0):
    """1234567 as "1.23 M"."""
    for unit in units[:-1]:
        if value < step:
            return ("%d %s" if unit == units[0] else "%.3g %s" if value < 999.5 else "%.0f %s") % (value, unit)
        value /= step
    return "%.3g %s" % (value, units[-1])


def read_figures(path):
    """Those of a file; {}: there are none."""
    try:
        with open(path, encoding="ascii") as f:
            return dict(line.strip().split("=") for line in f)
    except (OSError, ValueError):
        return {}


def doubt_text(figures):
    """What the durations of the tasks rest on; nothing when models told all of it exactly."""
    work_s = float(figures.get("work_s", 0))
    if not work_s:
        return ""
    if figures["uncalibrated_tasks"] == figures["tasks"]:
        return "[orrery] the time of the tasks: told by the platform's peaks, its error is not " \
            "known; models that are measured tell it (orrery help models)\n"
    unsure_s = float(figures.get("unsure_s", 0))
    known = {name: float(figures.get(name, 0)) for name in ("uncalibrated_s", "once_s")}
    known.update(unsure_s=unsure_s, extrapolated_s=float(figures["extrapolated_s"]) - unsure_s)
    parts = ["%.3g %% of it %s" % (100 * known[name] / work_s, words)
             for name, words in (("extrapolated_s", "extrapolated"),
                                 ("unsure_s", "extrapolated with an unknown error"),
                                 ("uncalibrated_s", "uncalibrated"),
                                 ("once_s", "measured only once")) if known[name] > 1e-9 * work_s]
    error_s = float(figures["model_error"]) * work_s
    of_s = work_s - known["uncalibrated_s"] - known["once_s"] - unsure_s
    if error_s and of_s > 1e-9 * work_s:
        words = "known to +-%.2g %% from its measurements" % (100 * error_s / of_s) if error_s <= of_s \
            else "hardly known from its measurements, which deviate or are of sizes far apart"
        parts.insert(0, ("" if of_s > work_s * (1 - 1e-9) else "%.3g %% of it " % (100 * of_s / work_s)) + words)
    if not parts:
        return ""
    return "[orrery] the time of the tasks: %s\n" % ", ".join(parts)


def remedy_text(figures):
    """Which models to measure, where they leave much open, and not all the same."""
    work_s = float(figures.get("work_s", 0))
    if not work_s or figures["uncalibrated_tasks"] == figures["tasks"]:
        return ""
    found = [figures[name].split(" ", 2) for name in ("unknown_1", "unknown_2", "unknown_3") if name in figures]
    largest = ["%s on %ss (%.3g %% of the time)" % (name, kind, 100 * float(seconds) / work_s)
               for seconds, kind, name in found if float(seconds) > LEAST_UNKNOWN * work_s]
    if not largest:
        return ""
    return "[orrery] least is known of %s: real runs with STARPU_CALIBRATE=1 at these sizes measure it " \
        "(orrery help models)\n" % ", ".join(largest)


def gpus_text(figures):
    """Of GPUs that the program has nothing for."""
    if not int(figures.get("gpus", 0)) or int(figures["gpu_tasks"]) or not int(figures["tasks"]):
        return ""
    return "[orrery] the GPUs ran none of the tasks: a codelet has .cuda_funcs for them, in simulation " \
        "(void *)1 where there is no CUDA\n"


class Summary:
    def __init__(self, env, private):
        self.path = env.setdefault("ORRERY_SUMMARY", os.path.join(private, "summary"))
        self.is_wanted = env.get("STARPU_SILENT", "0") in ("", "0")
        self.start_s = time.time()

    def read(self):
        """Name and value of each figure; None when this run has left none."""
        try:
            if os.stat(self.path).st_mtime < self.start_s - 1:
                return None
        except OSError:
            return None
        return read_figures(self.path) or None

    def keep(self, directory):
        """For orrery report, beside the events of the run, where these could be written."""
        figures = self.read()
        if figures and os.access(directory, os.W_OK):
            write_text(os.path.join(directory, "summary"),
                       "".join("%s=%s\n" % figure for figure in figures.items()))

    def show(self):
        figures = self.read() if self.is_wanted else None
        if figures:
            print(self.text(figures), file=sys.stderr, flush=True)

    @staticmethod
    def text(figures):
        ntasks = int(figures["tasks"])
        uncalibrated = int(figures["uncalibrated_tasks"])
        first = "[orrery] simulated %s s, %s rank%s: %s tasks" % (
            figures["date_s"], figures["ranks"], "s" * (figures["ranks"] != "1"), ntasks)
        if ntasks:
            noise = "" if float(figures.get("noise", 0)) == 0 else ", noise %s of seed %s" % (
                figures["noise"], figures["noise_seed"])
            first += " under %s (%.3g %% uncalibrated%s)" % (
                figures.get("scheduler", "?"), 100 * uncalibrated / ntasks, noise)
        messages = "%s messages, %s" % (figures["messages"], scaled(
            int(figures["bytes"]), ["bytes", "kB", "MB", "GB", "TB", "PB"]))
        energy_j = float(figures.get("energy_j", 0))
        if energy_j > 0:
            messages += ", " + scaled(energy_j, ["J", "kJ", "MJ", "GJ", "TJ"])
        return "%s, %s\n%s%s%s[orrery] the simulation took %s s and %s" % (
            first, messages, doubt_text(figures), remedy_text(figures), gpus_text(figures), figures["wall_s"],
            scaled(int(figures["peak_bytes"]), ["bytes", "KiB", "MiB", "GiB"], 1024.0))
