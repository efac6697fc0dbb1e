# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: how a run was started, so that nothing is recommended that it does already.

Runs recorded by older libraries do not tell; then every remedy is named.
"""
# Policies that choose a worker when a task becomes ready, by what they expect.
PLACES = ("dm", "dmda", "dmdap", "dmdar", "dmdas", "dmdasd", "pheft")
BY_PRIORITY = ("prio", "lws", "ws", "dmdap", "dmdas", "dmdasd", "peager", "pheft", "heteroprio",
               "graph_test")
COUNTS_COPIES = ("dmda", "dmdap", "dmdar", "dmdas", "dmdasd", "pheft")
DATA_FIRST = ("dmdar", "dmdas", "dmdasd")


class Setup:
    def __init__(self, settings):
        """Those of one node; see EVENT_SETTING."""
        self.settings = settings
        self.scheduler = settings.get("scheduler", "")

    def is_one_of(self, policies, *parts):
        """Or a modular one with one of these words in its name."""
        name = self.scheduler
        return name in policies or name.startswith("modular-") and \
            any(part in name for part in parts)

    def knows_durations(self):
        return self.is_one_of(PLACES + ("heteroprio",), "heft", "dmda", "heteroprio")

    def places_early(self):
        return self.is_one_of(PLACES, "heft", "dmda")

    def looks_at_priorities(self):
        return self.is_one_of(BY_PRIORITY, "prio", "heft", "dmdas")

    def counts_copies(self):
        return self.is_one_of(COUNTS_COPIES, "heft", "dmda")

    def looks_for_data(self):
        return self.is_one_of(DATA_FIRST, "dmdar", "dmdas")

    def number(self, name):
        """A setting as a number, None where it is none."""
        try:
            return int(self.settings[name])
        except (KeyError, ValueError):
            return None

    def is_off(self, name):
        return self.number(name) == 0

    def told(self, *names):
        """The first of these variables that was set, as it was: "NAME=VALUE", or ""."""
        return next(("%s=%s" % (name, self.settings[name]) for name in names
                     if self.settings.get(name)), "")
