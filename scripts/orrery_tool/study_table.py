# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: the table of runs.  A row is written as a whole, when its run has ended."""
import csv
import fcntl
import io
import json
import os

from orrery_tool.study_plan import as_text
from orrery_tool.words import Refusal, write_text

FIGURES = ["tasks", "messages", "bytes", "uncalibrated_tasks", "inserted", "insertion_s",
           "uncalibrated_s", "extrapolated_s", "model_error", "energy_j"]


def csv_line(cells):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def plain(text):
    """In one line of a table."""
    return " ".join(str(text).split())


class Table:
    """runs.csv of a directory, which one study uses at a time."""

    def __init__(self, directory, plan):
        self.directory, self.plan = directory, plan
        self.path = os.path.join(directory, "runs.csv")
        self.results = [name for name in plan.results if name != "time_s"]
        self.columns = (list(plan.parameters) + ["status", "time_s"] + self.results + FIGURES +
                        ["wall_s", "peak_bytes", "what"])
        self.rows = {}
        try:
            os.makedirs(directory, exist_ok=True)
            self.lock = os.open(os.path.join(directory, "lock"), os.O_CREAT | os.O_WRONLY, 0o666)
        except OSError as error:
            raise Refusal("study: %s cannot be used: %s; give another directory with -o"
                          % (directory, error.strerror)) from None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal("study: another study writes to %s; wait for its end, or give "
                          "another directory with -o" % directory) from None
        self.check_identity()
        self.read()

    def key(self, row):
        return tuple(as_text(row[name]) for name in self.plan.parameters)

    def check_identity(self):
        """The rows of a directory are of one program and have the same columns."""
        path = os.path.join(self.directory, "study.json")
        ours = self.plan.identity()
        try:
            with open(path, encoding="utf-8") as f:
                theirs = json.load(f)
        except FileNotFoundError:
            write_text(path, json.dumps(ours, indent=1) + "\n")
            return
        except (OSError, ValueError):
            raise Refusal("study: %s is damaged; give another directory with -o" % path) from None
        for what, value in ours.items():
            if theirs.get(what) != value:
                raise Refusal(
                    "study: %s has runs with other %s: %s, and this study has %s; give another "
                    "directory with -o (new values of the same parameters may be added)"
                    % (self.directory, what, json.dumps(theirs.get(what)), json.dumps(value)))

    def read(self):
        """What earlier runs have left; the half row of a run that was cut off is removed."""
        try:
            with open(self.path, "rb") as f:
                data = f.read()
        except FileNotFoundError:
            write_text(self.path, csv_line(self.columns))
            return
        except OSError as error:
            raise Refusal("study: %s cannot be read: %s" % (self.path, error.strerror)) from None
        whole = data[:data.rfind(b"\n") + 1]
        if whole != data:
            os.truncate(self.path, len(whole))
        rows = list(csv.reader(io.StringIO(whole.decode(errors="replace"))))
        if not rows or rows[0] != self.columns:
            raise Refusal("study: %s has other columns than this study (%s); give another "
                          "directory with -o" % (self.path, ",".join(self.columns)))
        for number, cells in enumerate(rows[1:], 2):
            if len(cells) != len(self.columns):
                raise Refusal("study: %s:%d: %d cells, expected %d; remove the line"
                              % (self.path, number, len(cells), len(self.columns)))
            row = dict(zip(self.columns, cells))
            self.rows[self.key(row)] = row

    def find(self, point):
        return self.rows.get(self.key(point))

    def add(self, point, found):
        """Keeps a row, also on the disk; nothing of it when that is full."""
        row = dict.fromkeys(self.columns, "")
        row.update((name, as_text(value)) for name, value in point.items())
        row.update((name, plain(value)) for name, value in found.items())
        data = csv_line([row[name] for name in self.columns]).encode()
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                before = os.fstat(fd).st_size
                if os.write(fd, data) != len(data):
                    os.ftruncate(fd, before)
                    raise OSError(28, "No space left on device")
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise Refusal(
                "study: %s cannot be written: %s; the %d runs before are kept: make room and "
                "give the same command again" % (self.path, error.strerror, len(self.rows))) \
                from None
        self.rows[self.key(row)] = row
        return row

    def forget_failures(self):
        """Those rows leave; their runs are repeated."""
        self.rows = {key: row for key, row in self.rows.items() if row["status"] == "ok"}
        write_text(self.path, csv_line(self.columns) + "".join(
            csv_line([row[name] for name in self.columns]) for row in self.rows.values()))
