# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What trace*.py share: a program, its runs in each flavour, and what they leave."""
import json
import os
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
PROGRAM = os.path.join(SRC, "tests", "cli", "traced.c")
REAL, SIM = [], ["--sim", os.path.join(SRC, "platforms", "xml", "small4.xml")]
NTASKS, NRANKS = 20, 2
FAILED = []


def verdict(claim, good, why):
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    if not good:
        FAILED.append(claim)


def configured(what):
    try:
        with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
            return what + "=no" not in f.read().split("\n")
    except OSError:
        return True


def orrery(*arguments, **env):
    out = subprocess.run([sys.executable, ORRERY, *arguments], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=200, env=dict(os.environ, **env))
    return out.returncode, out.stdout


class Case:
    """One flavour's program, and its traces in a directory."""

    def __init__(self, name, flavour, top):
        self.name, self.flavour = name, flavour
        self.program = os.path.join(top, "traced-" + name)
        self.trace = os.path.join(top, "trace-" + name)
        status, output = orrery("cc", *flavour[:1], PROGRAM, "-o", self.program)
        verdict("%s_program_is_built" % name, status == 0, output)

    def run(self, *words, trace=True, env=None, nranks=NRANKS):
        option = ["--trace", self.trace] if trace else []
        return orrery("run", *self.flavour, "-n", str(nranks), *option, self.program, *words,
                      STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1", **(env or {}))

    def json(self):
        path = self.trace + ".json"
        status, output = orrery("trace", self.trace, "--perfetto", path)
        if status:
            return [], output
        with open(path, encoding="utf-8") as f:
            return json.load(f)["traceEvents"], output

    def tasks(self):
        """(how many slices are tasks, what else there is)."""
        events, output = self.json()
        tasks = [event for event in events if event["name"] == 'count "one"']
        return len(tasks), events, output


def each_flavour(check):
    """The exit status of a script: check(case, directory) for both, where they are built."""
    with tempfile.TemporaryDirectory(prefix="orrery-trace-") as top:
        for name, flavour in (("real", REAL), ("sim", SIM)):
            if configured(name):
                check(Case(name, flavour, top), top)
    return bool(FAILED)
