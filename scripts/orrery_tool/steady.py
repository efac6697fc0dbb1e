# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Launches that all find the machine in one state; see doc/decisions/135.

Hosts move the cores of virtual machines: what a line of the cache takes from one to another, and
with it each message, lock and task that another core has submitted, may take six times as long
half a minute later.
"""
import re
import time

NEAR = 2.5                # a line takes no longer, and no less, than this times what it took
LONGEST_S = 300           # in all, until a launch counts as it is
PAUSE_S = 1
FRESH_S = 0.5             # so long a look is worth
ROUNDS = 40


def core_to_core_s(said):
    """What the program of costs has said of it; None: nothing, of one core."""
    found = re.search(r"^costs,core_to_core,s,([^,]+),", said, re.M)
    return float(found.group(1)) if found else None


def is_near(a, b):
    return a is None or b is None or 1 / NEAR < a / b < NEAR


def in_words(seconds):
    return "a line of the cache takes %.0f ns from core to core" % (1e9 * seconds)


class Steady:
    """look(): seconds from core to core, now.  wanted_s: those of the state; what they are at
    first."""

    def __init__(self, look, wanted_s=None, longest_s=LONGEST_S, sleep=time.sleep,
                 clock=time.monotonic):
        self.look, self.sleep, self.clock, self.left_s = look, sleep, clock, longest_s
        self.wanted_s = look() if wanted_s is None else wanted_s
        self.other_s = None  # of the state that was met last, other than the wanted
        self.nlost = self.nmixed = 0
        self.wanted_until_s = 0

    def is_wanted(self):
        now_s = self.look()
        if is_near(now_s, self.wanted_s):
            self.wanted_until_s = self.clock() + FRESH_S
            return True
        self.other_s = now_s
        return False

    def wait(self):
        if self.clock() < self.wanted_until_s:
            return
        while self.left_s > 0 and not self.is_wanted():
            self.sleep(PAUSE_S)
            self.left_s -= PAUSE_S

    def launch(self, action, undo=lambda: None):
        """action() of a launch that began and ended in the state; undo() of any other."""
        while True:
            self.wait()
            start_s = self.clock()
            result = action()
            if self.is_wanted():
                return result
            self.left_s -= self.clock() - start_s
            if self.left_s <= 0:
                self.nmixed += 1
                return result
            undo()
            self.nlost += 1

    def words(self):
        """A sentence, or "": there was but one state."""
        if self.other_s is None:
            return ""
        return "the machine changed to and fro, as where a host moves the cores of a virtual " \
            "machine: %s, at times %.0f; launches that were made again: %d%s" % (
                in_words(self.wanted_s), 1e9 * self.other_s, self.nlost,
                "; that count though they are of both: %d; wait for a minute and calibrate again"
                % self.nmixed if self.nmixed else "")
