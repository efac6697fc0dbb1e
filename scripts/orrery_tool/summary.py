# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The figures of a simulation, which the library has written to ORRERY_SUMMARY."""
import os
import sys
import time


def scaled(value, units, step=1000.0):
    """1234567 as "1.23 M"."""
    for unit in units[:-1]:
        if value < step:
            return ("%d %s" if unit == units[0] else "%.3g %s") % (value, unit)
        value /= step
    return "%.3g %s" % (value, units[-1])


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
            with open(self.path, encoding="ascii") as f:
                return dict(line.strip().split("=") for line in f)
        except (OSError, ValueError):
            return None

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
            first += " under %s (%.3g %% uncalibrated)" % (
                figures.get("scheduler", "?"), 100 * uncalibrated / ntasks)
        messages = "%s messages, %s" % (figures["messages"], scaled(
            int(figures["bytes"]), ["bytes", "kB", "MB", "GB", "TB", "PB"]))
        return "%s, %s\n[orrery] the simulation took %s s and %s" % (
            first, messages, figures["wall_s"],
            scaled(int(figures["peak_bytes"]), ["bytes", "KiB", "MiB", "GiB"], 1024.0))
