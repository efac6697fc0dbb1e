# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Simulated runs of an experiment, kept in a table: what is there is not run again."""
import csv
import os
import re
import subprocess
import sys
import time

import machines

ORRERY = os.path.join(machines.SRC, "scripts", "orrery")


def say(text):
    print("experiments: " + text, file=sys.stderr, flush=True)


class Runs:
    """The rows of one experiment; each has what identifies it, and what was found."""

    FOUND = ("status", "time_s", "gflops", "wall_s", "peak_mib", "what")

    def __init__(self, build, directory, name, keys, timeout_s):
        self.build, self.directory, self.keys = build, directory, list(keys)
        self.path = os.path.join(directory, name + ".csv")
        self.timeout_s, self.rows, self.failures = timeout_s, [], 0
        os.makedirs(directory, exist_ok=True)
        if os.path.exists(self.path):
            with open(self.path, newline="", encoding="utf-8") as f:
                self.rows = [row for row in csv.DictReader(f) if row["status"] == "ok"]

    def save(self):
        beside = self.path + ".new"
        with open(beside, "w", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, self.keys + list(self.FOUND), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        os.replace(beside, self.path)

    def known(self, key):
        for row in self.rows:
            if all(row[name] == str(key[name]) for name in self.keys):
                return row
        return None

    def time_s(self, key, platform, nodes, program, *options, env=None):
        """Seconds, or None when the run failed; the row says why."""
        row = self.known(key)
        if not row:
            row = {name: str(value) for name, value in key.items()}
            row.update(self.run(platform, nodes, program, options, env or {}))
            self.rows.append(row)
            self.save()
        if row["status"] != "ok":
            self.failures += 1
            say("%s: %s" % (self.describe(key), row["what"]))
            return None
        return float(row["time_s"])

    def describe(self, key):
        return " ".join("%s=%s" % (name, key[name]) for name in self.keys)

    def run(self, platform, nodes, program, options, env):
        command = [sys.executable, ORRERY, "run", "--sim", platform, "-n", str(nodes),
                   "--no-privatize", os.path.join(self.build, program)]
        command += [str(word) for word in options]
        environment = {**os.environ, "ORRERY_BUILD": self.build, "STARPU_SCHED": "prio", **env}
        before = time.monotonic()
        try:
            out = subprocess.run(command, env=environment, capture_output=True, text=True,
                                 errors="replace", timeout=self.timeout_s, check=False)
        except subprocess.TimeoutExpired:
            return {"status": "timeout", "what": "no end within %g s; give --timeout"
                    % self.timeout_s}
        found = re.search(r"^(?:time|makespan): (\S+)", out.stdout, re.M)
        wrong = re.search(r"^wrong: ([1-9]\d*)", out.stdout, re.M)
        if out.returncode or not found or wrong:
            lines = out.stderr.strip().split("\n")
            what = wrong.group(0) if wrong else lines[-1] or "status %d" % out.returncode
            return {"status": "failed", "what": what}
        speed = re.search(r"^speed: (\S+)", out.stdout, re.M)
        memory = re.search(r"took \S+ s and ([0-9.]+ \wiB)", out.stderr)
        return {"status": "ok", "time_s": found.group(1),
                "gflops": speed.group(1) if speed else "",
                "wall_s": "%.1f" % (time.monotonic() - before),
                "peak_mib": mebibytes(memory.group(1)) if memory else ""}


def mebibytes(text):
    value, unit = text.split()
    return "%.0f" % (float(value) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit])


def table(header, rows):
    """Markdown, as the pages of doc/experiments have it."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def percent(value):
    return "%.1f %%" % (100 * value)


def milliseconds(value_s):
    return "-" if value_s is None else "%.2f ms" % (1e3 * value_s)
