#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Files of events that are damaged, as by a full disk or a bad copy: each command that reads them
takes them as they are, or says which one it is and what to do, and ends.  It never ends in a
trace of Python.

usage: trace_damage.py [FIRST-SEED SEEDS]
"""
import contextlib
import io
import math
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import traceback

from trace_case import FAILED, SIM, SRC, Case, configured, verdict

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import compare, events as e, fxt, report, trace  # noqa: E402
from orrery_tool.words import Refusal  # noqa: E402

SIZE, LIMIT_S = e.RECORD.size, 100
DATE, KIND, WORKER, N, ID, VALUE = 0, 8, 10, 12, 16, 24 # offsets in a record
WRITES = {"perfetto": ".json", "csv": ".csv", "paje": ".paje", "tasks": ".rec", "comms": ".rec",
          "dot": ".dot"}


def commands(directory, sound, top):
    out = os.path.join(top, "out")
    yield "trace", lambda: trace.command_trace(None, [directory])
    for name, ending in WRITES.items():
        yield name, lambda name=name, ending=ending: trace.command_trace(
            None, [directory, "--" + name, out + ending])
    yield "task table", lambda: trace.command_trace(None, [directory, "--tasks", out + ".csv"])
    yield "report", lambda: report.command_report(None, [directory, "--text"])
    yield "compare", lambda: compare.command_compare(None, [sound, directory, "-o", out + ".html"])
    yield "fxt", lambda: fxt.command_fxt(None, ["-i", directory, "-d", out])


def write(data, record, offset, form, value):
    struct.pack_into("<" + form, data, record * SIZE + offset, value)


def some(rng, data, first=1):
    return rng.randrange(first, len(data) // SIZE)


DATES = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e20, 1e10, -5.0)


def cut(rng, data):
    del data[rng.randrange(len(data)):]


def double(rng, data):
    at = SIZE * some(rng, data)
    data[at:at] = data[at:at + SIZE * rng.randrange(1, 50)]


def leave_out(rng, data):
    at = SIZE * some(rng, data)
    del data[at:at + SIZE * rng.randrange(1, 20)]


def swap(rng, data):
    a, b = SIZE * some(rng, data), SIZE * some(rng, data)
    data[a:a + SIZE], data[b:b + SIZE] = data[b:b + SIZE], data[a:a + SIZE]


def bad_date(rng, data):
    write(data, some(rng, data), rng.choice((DATE, VALUE)), "d", rng.choice(DATES))


def bad_number(rng, data):
    offset, form, values = rng.choice((
        (KIND, "B", (0, 9, 40, 60, 255)), (WORKER, "H", (1, 60000, 65535)),
        (N, "I", (0, 1 << 31, (1 << 32) - 1)), (ID, "Q", (0, 1 << 40, 1 << 63, (1 << 64) - 1))))
    write(data, some(rng, data), offset, form, rng.choice(values))


def bytes_change(rng, data):
    for _ in range(rng.randrange(1, 10)):
        data[rng.randrange(len(data))] = rng.randrange(256)


DAMAGES = (cut, double, leave_out, swap, bad_date, bad_number, bytes_change)


def of_kind(data, kind):
    """The first record of a kind."""
    return next(i for i in range(len(data) // SIZE) if data[i * SIZE + KIND] == kind)


# What must be said, by commands for which it matters.
SAID = (
    ("task_ended_at_no_date", lambda data: write(data, of_kind(data, e.TASK_ENDED), DATE, "d", math.nan)),
    ("task_began_at_no_date", lambda data: write(data, of_kind(data, e.TASK_ENDED), VALUE, "d", math.nan)),
    ("task_ended_never", lambda data: write(data, of_kind(data, e.TASK_ENDED), DATE, "d", math.inf)),
    ("worker_of_another_file", lambda data: write(data, of_kind(data, e.WORKER), WORKER, "H", 60000)))


def outcome(command):
    """(what it says, or None when it takes the files; the end of a trace, or None)"""
    signal.alarm(LIMIT_S) # which ends the test
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            command()
    except Refusal as refusal:
        return str(refusal), None
    except Exception: # pylint: disable=broad-except
        return None, " | ".join(traceback.format_exc().strip().split("\n")[-3:])
    finally:
        signal.alarm(0)
    return None, None


class Copy:
    """Of a run's files, one of which is damaged."""

    def __init__(self, sound, top):
        self.sound, self.top, self.place = sound, top, os.path.join(top, "damaged")
        self.names = sorted(name for name in os.listdir(sound) if name.endswith(".events"))

    def damage(self, name, how):
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.sound, self.place)
        with open(os.path.join(self.sound, name), "rb") as f:
            data = bytearray(f.read())
        how(data)
        with open(os.path.join(self.place, name), "wb") as f:
            f.write(data)

    def outcomes(self):
        for name, command in commands(self.place, self.sound, self.top):
            yield (name, *outcome(command))


def said(copy):
    for claim, how in SAID:
        copy.damage(copy.names[1], how)
        wrong = [(name, words, ended) for name, words, ended in copy.outcomes()
                 if not words or copy.names[1] + " is damaged: its record" not in words]
        verdict("a_%s_is_named" % claim, not wrong, wrong)


def fuzz(copy, first, count):
    wrong = []
    for seed in range(first, first + count):
        rng = random.Random(seed)
        how, times = rng.choice(DAMAGES), rng.choice((1, 1, 3))

        def damage(data, rng=rng, how=how, times=times):
            for _ in range(times):
                if len(data) > 4 * SIZE:
                    how(rng, data)

        copy.damage(rng.choice(copy.names), damage)
        wrong += ["seed %d, %s, %s: %s" % (seed, how.__name__, name, ended)
                  for name, _, ended in copy.outcomes() if ended]
    verdict("no_damage_ends_in_a_trace", not wrong, "\n".join(wrong[:10]))


def main():
    first, count = map(int, sys.argv[1:]) if sys.argv[1:] else (0, 12)
    if not configured("sim"):
        return 77
    with tempfile.TemporaryDirectory(prefix="orrery-damage-") as top:
        case = Case("sim", SIM, top)
        status, output = case.run()
        verdict("a_run_is_recorded", status == 0, output)
        copy = Copy(case.trace, top)
        said(copy)
        fuzz(copy, first, count)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
