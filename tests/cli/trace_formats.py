#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery trace: tasks, messages and graph as text, and Paje's traces."""
import collections
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from trace_case import NTASKS, SRC, each_flavour, orrery, verdict

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import events as e  # noqa: E402

ARROWS = os.path.join(SRC, "tests", "cli", "arrows.c")
GRAPH = os.path.join(SRC, "tests", "cli", "graph.c")
GANG = os.path.join(SRC, "tests", "cli", "gang.c")
AMISS = os.path.join(SRC, "tests", "cli", "amiss.c")


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
    verdict(name + "_tasks_name_their_models", all(
        task.get("Model") == ("graph_of_tasks" if "Handles" in task else None) for task in tasks), tasks)
    with open(trace + ".dot", encoding="utf-8") as f:
        text = f.read()
    verdict(name + "_dot_has_all_tasks", text.count("[label=") == 12 and text.count("->") >= 12,
            text)


def tasks_and_messages(case):
    """One value goes to and fro: each task waits for the one before it, on the other node, and
    its node's copy was used by the one before that."""
    tasks, comms = case.trace + ".tasks", case.trace + ".comms"
    status, output = orrery("trace", case.trace, "--tasks", tasks, "--comms", comms)
    if status:
        verdict("%s_tasks_are_written" % case.name, False, output)
        return
    tasks = records(tasks)
    def expected(rank, k):
        return ({"1_%d" % (k - 1), "0_%d" % (k - 1)} if rank == 0 else
                {"0_%d" % k, "1_%d" % (k - 1)}) - {"0_0", "1_0"}

    wrong = [task for task in tasks if set(task.get("DependsOn", "").split()) !=
             expected(*map(int, task["JobId"].split("_")))]
    verdict("%s_tasks_depend_on_those_of_the_other_node" % case.name,
            len(tasks) == NTASKS and not wrong, wrong)
    verdict("%s_tasks_say_what_they_use" % case.name, all(
        (task["Modes"], task["Sizes"]) == ("RW", "40000") for task in tasks), tasks)
    comms = records(comms)
    verdict("%s_messages_are_written" % case.name, len(comms) == NTASKS and all(
        {comm["Src"], comm["Dst"]} == {"0", "1"} and comm["Size"] == "40000" and
        float(comm["SendTime"]) <= float(comm["RecvTime"]) for comm in comms), comms)


def tables(case):
    """The same as rows, a value in each column."""
    tasks, comms = case.trace + "-tasks.csv", case.trace + "-comms.csv"
    status, output = orrery("trace", case.trace, "--tasks", tasks, "--comms", comms)
    with open(tasks, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    verdict("%s_tasks_are_a_table" % case.name, status == 0 and len(rows) == NTASKS and all(
        row["codelet"] == 'count "one"' and row["kind"] == "cpu" and (row["data"], row["bytes"]) ==
        ("1", "40000") and float(row["submitted_s"]) <= float(row["ready_s"]) <=
        float(row["started_s"]) <= float(row["ended_s"]) for row in rows) and
        {row["rank"] for row in rows} == {"0", "1"}, (output, rows))
    with open(comms, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    verdict("%s_messages_are_a_table" % case.name, len(rows) == NTASKS and all(
        {row["source"], row["destination"]} == {"0", "1"} and row["bytes"] == "40000" and
        float(row["ready_s"]) <= float(row["received_s"]) for row in rows), rows)


def queues(case):
    """How many tasks are ready: one after the other, and in the end none."""
    events = [event for event in case.json()[0] if event["ph"] == "C" and
              event["name"] == "ready tasks"]
    last = {event["pid"]: event["args"]["tasks"] for event in events}
    verdict("%s_ready_tasks_are_counted" % case.name, last == {0: 0, 1: 0} and
            len(events) == 2 * NTASKS and max(event["args"]["tasks"] for event in events) >= 1,
            events)


def paje_of_short_tasks(top):
    """A simulated program submits ahead of what its workers do; states are as long as tasks."""
    program, trace = os.path.join(top, "amiss"), os.path.join(top, "short")
    orrery("cc", "--sim", AMISS, "-o", program)
    status, output = orrery("run", "--sim", "small4", "-n", "1", "--trace", trace, program, "small")
    orrery("trace", trace, "--paje", trace + ".paje")
    spent_s, since, ntasks = 0.0, {}, 0
    with open(trace + ".paje", encoding="utf-8") as f:
        for words in (row.split() for row in f if row.startswith("8 ")):
            if words[4] != "idle":
                since[words[3]] = float(words[1])
                ntasks += 1
            elif words[3] in since:
                spent_s += float(words[1]) - since.pop(words[3])
    verdict("states_of_paje_are_as_long_as_tasks", status == 0 and ntasks == 20000 and
            abs(spent_s / ntasks - 1e-6) < 1e-8, (ntasks, spent_s, output))


def paje(case):
    path = case.trace + ".paje"
    status, output = orrery("trace", case.trace, "--paje", path)
    if status:
        verdict("%s_paje_is_written" % case.name, False, output)
        return
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    dates = [float(line.split()[1]) for line in lines if line[:1].isdigit() and
             int(line.split()[0]) >= 6]
    verdict("%s_paje_is_in_order" % case.name, dates == sorted(dates), dates)
    numbers = collections.Counter(line.split(" ")[0] for line in lines)
    verdict("%s_paje_has_tasks_and_messages" % case.name,
            numbers["10"] == numbers["11"] == NTASKS and
            sum(line.startswith("8 ") and line.endswith(" c0") for line in lines) == NTASKS,
            numbers)
    verdict("%s_paje_has_the_programs_own_events" % case.name, all(
        sum(text in line for line in lines) == 2 for text in (
            '"event 42"', '"half-time, said in a long text"', '"a text about the run"')), lines[:5])
    if not shutil.which("pj_dump"):
        return
    out = subprocess.run(["pj_dump", path], text=True, capture_output=True, timeout=100)
    states = re.findall(r"^State, .*, count 'one'", out.stdout, re.M)
    links = re.findall(r"^Link, .*, network [01], network [01]", out.stdout, re.M)
    verdict("%s_pj_dump_reads_paje" % case.name, out.returncode == 0 and
            len(states) == len(links) == NTASKS, out.stdout[-2000:] + out.stderr)


def recorded(top, records):
    """The directory of a run that consists of these records, of one node."""
    directory = os.path.join(top, "recorded")
    os.makedirs(directory, exist_ok=True)
    opened = [(0.0, e.OPENED, 0, e.NO_WORKER, e.VERSION, e.MAGIC, 0)]
    records = [e.RECORD.pack(*record) for record in opened + records]
    piece = e.RECORD.pack(0.0, e.PIECE, 0, e.NO_WORKER, len(records), 0, 0)
    with open(os.path.join(directory, "node-0.events"), "wb") as f:
        f.write(piece + b"".join(records))
    return directory


def arrows(flavour, name, top):
    """Of random runs: each begins in a send, and ends in the receive, no earlier."""
    program = os.path.join(top, "arrows-" + name)
    orrery("cc", *flavour[:1], ARROWS, "-o", program)
    for seed in "1", "2", "3":
        trace = os.path.join(top, "arrows-%s-%s" % (name, seed))
        status, output = orrery("run", *flavour, "-n", "4", "--trace", trace, program, seed,
                                STARPU_NCPU="1", STARPU_WORKERS_NOBIND="1", STARPU_SILENT="1",
                                ORRERY_MPI_COOP_BYTES="0")
        verdict("%s_arrows_%s_run" % (name, seed), status == 0, output)
        status, output = orrery("trace", trace, "--perfetto", trace + ".json")
        with open(trace + ".json", encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        slices = {}
        for event in events:
            if event["ph"] == "X":
                slices.setdefault((event["pid"], event["tid"]), []).append(
                    (event["ts"], event["ts"] + event["dur"]))
        begins, ends = ({event["id"]: event for event in events if event["ph"] == phase}
                        for phase in "sf")
        outside = [event for event in (*begins.values(), *ends.values()) if not any(
            begin <= event["ts"] <= end for begin, end in slices[event["pid"], event["tid"]])]
        back = [(begins[flow], ends[flow]) for flow in begins
                if begins[flow]["ts"] > ends[flow]["ts"]]
        verdict("%s_arrows_%s_begin_in_sends_and_end_in_receives" % (name, seed), len(begins) > 20
                and begins.keys() == ends.keys() and not outside, outside)
        verdict("%s_arrows_%s_lead_on_in_time" % (name, seed), not back, back)


def bits(date_s):
    return int.from_bytes(struct.pack("=d", date_s), sys.byteorder)


def rounded(top):
    """Tasks that follow each other at once, at dates between nanoseconds; copies to a disk."""
    dates = [1e-6 * (27.9321 + 13.96563 * k) for k in range(200)]
    records = [record for k in range(199) for record in (
        (dates[k], e.TASK_STARTED, 0, 0, 0, k, 0),
        (dates[k + 1], e.TASK_ENDED, 0, 0, 0, k, bits(dates[k])))]
    records += [(dates[-1], e.COPY_BEGINS, 0, e.NO_WORKER, 0 << 16 | 2, 7, 100),
                (dates[-1] + 1e-6, e.COPY_ENDS, 0, e.NO_WORKER, 0 << 16 | 2, 7, 100)]
    directory = recorded(top, records)
    status, output = orrery("trace", directory, "--perfetto", directory + ".json", "--paje",
                            directory + ".paje")
    verdict("made_up_records_are_read", status == 0, output)
    if status:
        return
    with open(directory + ".json", encoding="utf-8") as f:
        slices = [event for event in json.load(f)["traceEvents"] if event["ph"] == "X"]
    ends = [(round(1e3 * event["ts"]), round(1e3 * event["ts"] + 1e3 * event["dur"]))
            for event in slices if "task" in event["args"]]
    verdict("a_task_ends_before_the_next_begins", len(ends) == 199 and all(
        before[1] <= after[0] for before, after in zip(ends, ends[1:])), ends)
    with open(directory + ".paje", encoding="utf-8") as f:
        text = f.read()
    verdict("copies_to_a_disk_are_links_of_paje", '"memory 2 (disk) of 0"' in text and
            re.search(r"^10 .* n0m0 ", text, re.M) and re.search(r"^11 .* n0m2 ", text, re.M),
            text[-500:])


def cut(top):
    """A run that was killed while a copy and a message were under way."""
    records = [(1e-6, e.COPY_BEGINS, 0, e.NO_WORKER, 0 << 16 | 2, 7, 100),
               (2e-6, e.REQUEST_POSTED, 0, e.NO_WORKER, 1, 50, 3),
               (3e-6, e.REQUEST_READY, 0, e.NO_WORKER, 1, 50, 0),
               (4e-6, e.TASK_STARTED, 0, 0, 0, 1, 0)]
    path = recorded(top, records) + ".paje"
    status, output = orrery("trace", path[:-5], "--paje", path)
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    begun, ended = ([row.split()[-1] for row in lines if row.startswith(number)]
                    for number in ("10 ", "11 "))
    verdict("what_was_under_way_ends_with_the_run", status == 0 and len(begun) == 2 and
            sorted(begun) == sorted(ended), (output, begun, ended))


def opened(name, memory, kind):
    """A worker of a node, as its records tell it; the name has up to seven letters."""
    word = int.from_bytes(name.encode().ljust(8, b"\0"), "little")
    return [(0.0, e.TEXT, 0, e.NO_WORKER, 0, 1 + kind, word),
            (0.0, e.WORKER, 0, kind, kind, memory, 1 + kind)]


def lives(top):
    """A program that starts the library twice, and of whose memories one is a GPU's."""
    task = [(1e-3, e.TASK_STARTED, 0, 0, 0, 1, 1), (2e-3, e.TASK_ENDED, 0, 0, 0, 1, bits(1e-3)),
            (2e-3, e.CLOSED, 0, e.NO_WORKER, 0, 0, 0)]
    copy = [(5e-4, e.COPY_BEGINS, 0, e.NO_WORKER, 0 << 16 | 1, 7, 100),
            (6e-4, e.COPY_ENDS, 0, e.NO_WORKER, 0 << 16 | 1, 7, 100)]
    workers = opened("CPU 0", 0, 0) + opened("CUDA 0", 1, 1)
    directory = recorded(top, workers + copy + task)
    first = os.path.join(directory, "host-12-0.events")
    os.replace(os.path.join(directory, "node-0.events"), first)
    recorded(top, workers + [(record[0] + 1, *record[1:6], bits(1 + 1e-3) if record[6] > 9 else
                              record[6]) for record in task])
    os.replace(os.path.join(directory, "node-0.events"), first.replace("-0.", "-0.2."))
    path = os.path.join(top, "lives")
    status, output = orrery("trace", directory, "--perfetto", path + ".json", "--tasks",
                            path + ".rec", "--paje", path + ".paje")
    with open(path + ".json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    slices = [(event["pid"], event["tid"], event["ts"]) for event in events
              if event["ph"] == "X" and "task" in event["args"]]
    verdict("lives_of_one_process_are_one_node", status == 0 and
            slices == [(0, 0, 1e3), (0, 0, 1.001e6)], (output, slices))
    verdict("tasks_of_lives_have_numbers_of_their_own", [
        record["JobId"] for record in records(path + ".rec")] == ["1", "2"], path)
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    verdict("memories_are_named", "copies from memory 0 (main) to 1 (CUDA 0)" in names, names)
    status, output = orrery("report", directory, "--text")
    verdict("report_of_lives_is_of_one_node", status == 0 and "on 1 node, 2 tasks" in output and
            "no whole run" not in output, output)
    if shutil.which("pj_dump"):
        out = subprocess.run(["pj_dump", path + ".paje"], text=True, capture_output=True,
                             timeout=100)
        verdict("pj_dump_reads_lives", out.returncode == 0 and
                "memory 1 (CUDA 0) of 0" in out.stdout, out.stdout + out.stderr)
    os.remove(first)
    os.remove(first.replace("-0.", "-0.2."))


def gangs(flavour, name, top):
    """Workers that run a task together are busy, each of them."""
    program, trace = os.path.join(top, "gang-" + name), os.path.join(top, "gang-trace-" + name)
    orrery("cc", *flavour[:1], GANG, "-o", program)
    status, output = orrery("run", *flavour, "-n", "1", "--trace", trace, program,
                            STARPU_WORKERS_NOBIND="1", STARPU_SILENT="1")
    verdict(name + "_gangs_run", status == 0, output)
    executing_ms = [float(ms) for ms in re.findall(r"worker \d+: ([0-9.]+) ms", output)]
    # Where models say how long they take, all their cores run one together.
    verdict(name + "_profiling_counts_all_workers_of_gangs", len(executing_ms) == 2 and
            min(executing_ms) >= (4.9 if flavour else 9.9) and
            (not flavour or executing_ms[0] == executing_ms[1]), executing_ms)
    orrery("trace", trace, "--perfetto", trace + ".json", "--paje", trace + ".paje")
    with open(trace + ".json", encoding="utf-8") as f:
        slices = [(event["args"]["task"], event["tid"]) for event in json.load(f)["traceEvents"]
                  if event["ph"] == "X" and event["name"] == "together"]
    verdict(name + "_gangs_are_on_each_of_their_workers", len(slices) == 10 and
            len(set(slices)) == 10 and len({task for task, _ in slices}) == 5, slices)
    with open(trace + ".paje", encoding="utf-8") as f:
        states = [row for row in f if row.startswith("8 ") and row.endswith(" c0\n")]
    verdict(name + "_gangs_are_in_paje", len(states) == 10, states)
    status, output = orrery("report", trace, "--text")
    busy = re.search(r"2 CPU cores busy ([0-9.]+) %", output)
    verdict(name + "_report_counts_all_workers_of_gangs", status == 0 and "5 tasks" in output and
            busy and float(busy.group(1)) > (95 if flavour else 50), output)


def check(case, top):
    status, output = case.run()
    verdict("%s_runs" % case.name, status == 0, output)
    tasks_and_messages(case)
    tables(case)
    queues(case)
    paje(case)
    graph(case.flavour, case.name, top)
    gangs(case.flavour, case.name, top)
    rounded(top)
    cut(top)
    lives(top)
    if case.flavour:
        paje_of_short_tasks(top)
    arrows(case.flavour, case.name, top)


if __name__ == "__main__":
    sys.exit(each_flavour(check))
