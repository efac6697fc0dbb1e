#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --trace DIRECTORY and orrery trace: what a run did, however it ended."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
PROGRAM = os.path.join(SRC, "tests", "cli", "traced.c")
REAL, SIM = [], ["--sim", os.path.join(SRC, "platforms", "xml", "small4.xml")]
NTASKS, NRANKS = 20, 2
nfailed = 0


def verdict(claim, good, why):
    global nfailed
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    nfailed += not good


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

    def run(self, *words, trace=True, env=None):
        option = ["--trace", self.trace] if trace else []
        return orrery("run", *self.flavour, "-n", str(NRANKS), *option, self.program, *words,
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

    def whole(self):
        status, output = self.run()
        files = sorted(os.listdir(self.trace)) if os.path.isdir(self.trace) else []
        verdict("%s_one_file_for_each_node" % self.name,
                status == 0 and files == ["node-0.events", "node-1.events"],
                "status %d, files %s, output %s" % (status, files, output))
        n, events, output = self.tasks()
        kinds = collections.Counter(event["ph"] for event in events)
        verdict("%s_all_tasks_are_in_the_trace" % self.name, n == NTASKS,
                "%d tasks, %s" % (n, output))
        verdict("%s_messages_flow_between_nodes" % self.name,
                kinds["s"] == kinds["f"] == NTASKS and {e["id"] for e in events if e["ph"] == "s"}
                == {e["id"] for e in events if e["ph"] == "f"}, str(kinds))
        texts = {event["name"] for event in events if event["ph"] == "i"}
        verdict("%s_the_programs_own_events_are_there" % self.name,
                {"event 42", "half-time, said in a long text"} <= texts, str(texts))
        status, output = orrery("trace", self.trace)
        verdict("%s_summary_counts_the_tasks" % self.name,
                status == 0 and 'count "one"' in output and " %d " % NTASKS in output, output)
        self.table()

    def table(self):
        path = self.trace + ".csv"
        status, output = orrery("trace", self.trace, "--csv", path)
        rows = []
        if status == 0:
            with open(path, encoding="utf-8") as f:
                rows = [line.split(",") for line in f if line[0] in "01"]
        verdict("%s_table_has_both_nodes" % self.name,
                {row[0] for row in rows} == {"0", "1"} and sum(
                    float(row[4]) for row in rows if row[1] == "cpu") >= 0, output)

    def utilisation(self):
        """ORRERY_TRACE itself: rank 0 writes the rows of all."""
        path = self.trace + "-all.csv"
        self.run(trace=False, env={"ORRERY_TRACE": path})
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                lines = f.readlines()
        nodes = {line.split(",")[0] for line in lines[2:]}
        verdict("%s_all_ranks_are_in_one_table" % self.name, nodes == {"0", "1"} and
                " nodes=2 " in lines[0], str(lines[:5]))

    def section(self):
        self.run("section")
        n, _, output = self.tasks()
        verdict("%s_only_what_is_between_start_and_stop" % self.name, n == NTASKS,
                "%d tasks, %s" % (n, output))

    def endings(self):
        for how in ("exit", "abort"):
            _, said = self.run(how)
            n, _, output = self.tasks()
            verdict("%s_records_survive_%s" % (self.name, how), n == NTASKS,
                    "%d tasks, %s, %s" % (n, output, said))

    def interrupted(self):
        child = subprocess.Popen([sys.executable, ORRERY, "run", *self.flavour, "-n",
                                  str(NRANKS), "--trace", self.trace, self.program, "stay"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 env=dict(os.environ, STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1"))
        for _ in range(NRANKS if not self.flavour else 1):
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.wait(timeout=60)
        n, _, output = self.tasks()
        verdict("%s_records_survive_an_interrupt" % self.name, n == NTASKS,
                "%d tasks, %s" % (n, output))

    def refused(self):
        blocker = self.trace + "-file"
        with open(blocker, "w", encoding="ascii") as f:
            f.write("in the way\n")
        status, output = orrery("run", *self.flavour, "-n", str(NRANKS), "--trace",
                                os.path.join(blocker, "below"), self.program)
        verdict("%s_an_impossible_directory_costs_a_sentence" % self.name,
                status == 0 and "the run goes on" in output and "cannot write" in output,
                "status %d, %s" % (status, output))


def same_dates(case):
    """Neither records nor the table change a simulated date."""
    said = [case.run(trace=False)[1], case.run(trace=True)[1],
            case.run(trace=False, env={"ORRERY_TRACE": case.trace + ".2.csv"})[1]]
    dates = [line.split()[1] for text in said for line in text.split("\n")
             if line.startswith("date ")]
    verdict("events_change_no_simulated_date", len(dates) == 3 and len(set(dates)) == 1,
            str(said))


def mistakes(top):
    for claim, words, says in (
            ("no_directory", [os.path.join(top, "nothing")], "is no directory"),
            ("no_files", [top], "no file *.events"),
            ("unknown_option", ["--fly"], "what is --fly"),
            ("unwritable_output", [os.path.join(top, "trace-sim"), "--csv", "/no/where.csv"],
             "cannot be written")):
        status, output = orrery("trace", *words)
        verdict("trace_" + claim, status == 2 and says in output and output.count("\n") == 1,
                "status %d, %s" % (status, output))
    path = os.path.join(top, "bad", "node-0.events")
    os.mkdir(os.path.dirname(path))
    with open(path, "wb") as f:
        f.write(b"x" * 640)
    status, output = orrery("trace", os.path.dirname(path))
    verdict("trace_of_something_else", status == 2 and "has no records of events" in output, output)


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-trace-") as top:
        for name, flavour in (("real", REAL), ("sim", SIM)):
            if not configured(name):
                continue
            case = Case(name, flavour, top)
            case.whole()
            case.utilisation()
            case.section()
            case.endings()
            case.interrupted()
            case.refused()
            if flavour:
                same_dates(case)
        if configured("sim"):
            mistakes(top)
    return nfailed > 0


if __name__ == "__main__":
    sys.exit(main())
