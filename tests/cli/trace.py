#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --trace DIRECTORY and orrery trace: what a run did, however it ended."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
PROGRAM = os.path.join(SRC, "tests", "cli", "traced.c")
GRAPH = os.path.join(SRC, "tests", "cli", "graph.c")
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


def records(path):
    """The records of a file in the format of recutils."""
    with open(path, encoding="utf-8") as f:
        return [dict(line.split(": ", 1) for line in record.split("\n"))
                for record in f.read().strip().split("\n\n")]


def in_order(tasks):
    """Does each task start after those that it depends on have ended?"""
    ends = {task["JobId"]: float(task["EndTime"]) for task in tasks}
    return all(ends[before] <= float(task["StartTime"]) + 1e-6 for task in tasks
               for before in task.get("DependsOn", "").split())


def graph(flavour, name, top):
    """The names of its tasks say which they wait for."""
    program, trace = os.path.join(top, "graph-" + name), os.path.join(top, "graph-trace-" + name)
    orrery("cc", *flavour[:1], GRAPH, "-o", program)
    status, output = orrery("run", *flavour, "-n", "1", "--trace", trace, program,
                            STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1", STARPU_SILENT="1",
                            STARPU_HOME=top)
    verdict(name + "_graph_runs", status == 0, output)
    status, output = orrery("trace", trace, "--tasks", trace + ".rec", "--dot", trace + ".dot")
    if status:
        verdict(name + "_graph_is_written", False, output)
        return
    tasks = records(trace + ".rec")
    names = {task["JobId"]: task["Name"].split("<")[0] for task in tasks}
    wrong = [task for task in tasks if
             {names[before] for before in task.get("DependsOn", "").split()} !=
             set(filter(None, task["Name"].partition("<")[2].split(",")))]
    verdict(name + "_tasks_depend_on_what_their_names_say", len(tasks) == 12 and not wrong, wrong)
    verdict(name + "_graph_was_obeyed", in_order(tasks), tasks)
    verdict(name + "_tasks_with_models_have_footprints", all(
        ("Footprint" in task) == ("Handles" in task) for task in tasks), tasks)
    with open(trace + ".dot", encoding="utf-8") as f:
        text = f.read()
    verdict(name + "_dot_has_all_tasks", text.count("[label=") == 12 and text.count("->") >= 12,
            text)


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

    def records(self):
        """One value goes to and fro: each task waits for the one before it, on the other node, and
        its node's copy was used by the one before that."""
        tasks, comms = self.trace + ".tasks", self.trace + ".comms"
        status, output = orrery("trace", self.trace, "--tasks", tasks, "--comms", comms)
        if status:
            verdict("%s_tasks_are_written" % self.name, False, output)
            return
        tasks = records(tasks)
        def expected(rank, k):
            return ({"1_%d" % (k - 1), "0_%d" % (k - 1)} if rank == 0 else
                    {"0_%d" % k, "1_%d" % (k - 1)}) - {"0_0", "1_0"}

        wrong = [task for task in tasks if set(task.get("DependsOn", "").split()) !=
                 expected(*map(int, task["JobId"].split("_")))]
        verdict("%s_tasks_depend_on_those_of_the_other_node" % self.name,
                len(tasks) == NTASKS and not wrong, wrong)
        verdict("%s_tasks_say_what_they_use" % self.name, all(
            (task["Modes"], task["Sizes"]) == ("RW", "40000") for task in tasks), tasks)
        comms = records(comms)
        verdict("%s_messages_are_written" % self.name, len(comms) == NTASKS and all(
            {comm["Src"], comm["Dst"]} == {"0", "1"} and comm["Size"] == "40000" and
            float(comm["SendTime"]) <= float(comm["RecvTime"]) for comm in comms), comms)

    def paje(self):
        path = self.trace + ".paje"
        status, output = orrery("trace", self.trace, "--paje", path)
        if status:
            verdict("%s_paje_is_written" % self.name, False, output)
            return
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        dates = [float(line.split()[1]) for line in lines if line[:1].isdigit() and
                 int(line.split()[0]) >= 6]
        verdict("%s_paje_is_in_order" % self.name, dates == sorted(dates), dates)
        numbers = collections.Counter(line.split(" ")[0] for line in lines)
        verdict("%s_paje_has_tasks_and_messages" % self.name,
                numbers["10"] == numbers["11"] == NTASKS and
                sum(line.startswith("8 ") and line.endswith(" c0") for line in lines) == NTASKS,
                numbers)
        if not shutil.which("pj_dump"):
            return
        out = subprocess.run(["pj_dump", path], text=True, capture_output=True, timeout=100)
        states = re.findall(r"^State, .*, count 'one'", out.stdout, re.M)
        links = re.findall(r"^Link, .*, network [01], network [01]", out.stdout, re.M)
        verdict("%s_pj_dump_reads_paje" % self.name, out.returncode == 0 and
                len(states) == len(links) == NTASKS, out.stdout[-2000:] + out.stderr)

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
        self.records()
        self.paje()

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
            graph(flavour, name, top)
            if flavour:
                same_dates(case)
        if configured("sim"):
            mistakes(top)
    return nfailed > 0


if __name__ == "__main__":
    sys.exit(main())
