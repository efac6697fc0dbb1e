#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run --trace DIRECTORY and orrery trace: what a run did, and when."""
import collections
import os
import sys

from trace_case import NTASKS, each_flavour, orrery, verdict


def whole(case):
    status, output = case.run()
    files = sorted(os.listdir(case.trace)) if os.path.isdir(case.trace) else []
    verdict("%s_one_file_for_each_node" % case.name,
            status == 0 and files ==
            ["node-0.events", "node-1.events"] + ["summary"] * (case.name == "sim"),
            "status %d, files %s, output %s" % (status, files, output))
    n, events, output = case.tasks()
    kinds = collections.Counter(event["ph"] for event in events)
    verdict("%s_all_tasks_are_in_the_trace" % case.name, n == NTASKS,
            "%d tasks, %s" % (n, output))
    verdict("%s_messages_flow_between_nodes" % case.name,
            kinds["s"] == kinds["f"] == NTASKS and {e["id"] for e in events if e["ph"] == "s"}
            == {e["id"] for e in events if e["ph"] == "f"}, str(kinds))
    texts = {event["name"] for event in events if event["ph"] == "i"}
    verdict("%s_the_programs_own_events_are_there" % case.name,
            {"event 42", "half-time, said in a long text", "a text about the run"} <= texts, str(texts))
    status, output = orrery("trace", case.trace)
    verdict("%s_summary_counts_the_tasks" % case.name,
            status == 0 and 'count "one"' in output and " %d " % NTASKS in output, output)
    table(case)


def table(case):
    path = case.trace + ".csv"
    status, output = orrery("trace", case.trace, "--csv", path)
    rows = []
    if status == 0:
        with open(path, encoding="utf-8") as f:
            rows = [line.split(",") for line in f if line[0] in "01"]
    verdict("%s_table_has_both_nodes" % case.name,
            {row[0] for row in rows} == {"0", "1"} and sum(
                float(row[4]) for row in rows if row[1] == "cpu") >= 0, output)


def utilisation(case):
    """ORRERY_TRACE itself: rank 0 writes the rows of all."""
    path = case.trace + "-all.csv"
    case.run(trace=False, env={"ORRERY_TRACE": path})
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            lines = f.readlines()
    nodes = {line.split(",")[0] for line in lines[2:]}
    verdict("%s_all_ranks_are_in_one_table" % case.name, nodes == {"0", "1"} and
            " nodes=2 " in lines[0], str(lines[:5]))


def section(case):
    case.run("section")
    n, _, output = case.tasks()
    verdict("%s_only_what_is_between_start_and_stop" % case.name, n == NTASKS,
            "%d tasks, %s" % (n, output))


def same_dates(case):
    """Neither records nor the table change a simulated date."""
    said = [case.run(trace=False)[1], case.run(trace=True)[1],
            case.run(trace=False, env={"ORRERY_TRACE": case.trace + ".2.csv"})[1]]
    dates = [line.split()[1] for text in said for line in text.split("\n")
             if line.startswith("date ")]
    verdict("events_change_no_simulated_date", len(dates) == 3 and len(set(dates)) == 1,
            str(said))


def contents(directory):
    found = {}
    for name in os.listdir(directory):
        if name.endswith(".events"):
            with open(os.path.join(directory, name), "rb") as f:
                found[name] = f.read()
    return found


def same_files(case, top):
    """No address, process or directory of a run is in its files."""
    runs = []
    for name, env in (("first", {}), ("second", {"UNREAD": "x" * 5000})):
        case.trace = os.path.join(top, name)
        case.run(env=env)
        runs.append(contents(case.trace))
    verdict("equal_simulations_have_equal_files", runs[0] and runs[0] == runs[1],
            "files %s and %s differ" % (sorted(runs[0]), sorted(runs[1])))
    case.trace = os.path.join(top, "trace-" + case.name)


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


def check(case, top):
    whole(case)
    utilisation(case)
    section(case)
    if case.flavour:
        same_dates(case)
        same_files(case, top)
        mistakes(top)


if __name__ == "__main__":
    sys.exit(each_flavour(check))
