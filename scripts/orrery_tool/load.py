# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Who else uses the cores while this machine is measured."""
import os
import re
import time

BUSY = 0.1                # of the cores that this process may use
GLANCE_S = 0.5
REMEDY = "calibrate again when nobody else uses it (\"top\" shows who does), into the same directory"


def cores_usable():
    return os.sched_getaffinity(0)


def spent_s(cores, path="/proc/stat"):
    """Seconds that these cores have computed, and that a virtual machine's host has taken; None:
    the system does not say."""
    tick, used, stolen, n = os.sysconf("SC_CLK_TCK"), 0, 0, 0
    try:
        with open(path, encoding="ascii") as f:
            lines = f.read()
    except OSError:
        return None
    for number, words in re.findall(r"^cpu(\d+) (.*)$", lines, re.M):
        ticks = list(map(int, words.split()))
        if int(number) in cores and len(ticks) >= 8:
            n += 1
            used += sum(ticks[i] for i in (0, 1, 2, 5, 6))
            stolen += ticks[7]
    return (used / tick, stolen / tick) if n else None


def own_s():
    """Of this process and of all that it has waited for."""
    return sum(os.times()[:4])


class Load:
    """What others have had since it was made."""

    def __init__(self, spent=None, own=own_s, clock=time.monotonic):
        self.cores = cores_usable()
        self.spent = spent or (lambda: spent_s(self.cores))
        self.own, self.clock = own, clock
        self.before = self.spent(), self.own(), self.clock()

    def others(self):
        """Cores that other processes had, and that the host had; None: it is not known."""
        (was, own_was_s, then_s), now = self.before, self.spent()
        passed_s = self.clock() - then_s
        if was is None or now is None or passed_s <= 0:
            return None
        used_s = now[0] - was[0] - (self.own() - own_was_s)
        return max(used_s, 0) / passed_s, max(now[1] - was[1], 0) / passed_s

    def is_busy(self):
        found = self.others()
        return found is not None and sum(found) > BUSY * len(self.cores)

    def words(self):
        """A sentence; "": nothing is known."""
        found = self.others()
        if found is None:
            return ""
        return "other processes had %.2f of %d core%s meanwhile%s" % (
            found[0], len(self.cores), "s"[:len(self.cores) != 1],
            ", and the host of this virtual machine %.2f" % found[1] if found[1] >= 0.005 else "")

    def advice(self):
        return "; the figures are those of a busy machine: " + REMEDY if self.is_busy() else ""


def warn_if_busy(say, sleep=time.sleep, load=None):
    """Before minutes are spent, while nothing of ours runs."""
    load = load or Load()
    sleep(GLANCE_S)
    if load.is_busy():
        say("the machine is busy: %s; better end this (Ctrl-C) and %s"
            % (load.words().replace("had", "have", 1).replace("meanwhile", "now"), REMEDY))
