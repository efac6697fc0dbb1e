#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""STARPU_FXT_TRACE and its kin, and starpu_fxt_tool on what they leave."""
import os
import re
import shutil
import subprocess
import sys

from trace_case import NRANKS, NTASKS, ORRERY, SRC, each_flavour, orrery, verdict

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import events as e  # noqa: E402

GRAPH = os.path.join(SRC, "tests", "cli", "graph.c")
TOOL = os.path.join(os.path.dirname(ORRERY), "starpu_fxt_tool")
USER = "somebody"
OUTPUTS = {"paje.trace", "dag.dot", "tasks.rec", "comms.rec", "activity.data", "distrib.data",
           "trace.html"}


def fxt(*arguments):
    out = subprocess.run([sys.executable, TOOL, *arguments], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=200)
    return out.returncode, out.stdout


def text_of(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


class Traces:
    """Runs of a program whose traces have StarPU's names."""

    def __init__(self, case, top):
        self.case, self.name = case, case.name
        self.prefix = os.path.join(top, "fxt-" + case.name)
        self.graph = os.path.join(top, "fxt-graph-" + case.name)
        orrery("cc", *case.flavour[:1], GRAPH, "-o", self.graph)

    def files(self):
        return sorted(os.listdir(self.prefix)) if os.path.isdir(self.prefix) else []

    def run(self, *words, nranks=NRANKS, **env):
        shutil.rmtree(self.prefix, ignore_errors=True)
        os.makedirs(self.prefix)
        return self.case.run(*words, trace=False, nranks=nranks, env={
            "STARPU_FXT_TRACE": "1", "STARPU_FXT_PREFIX": self.prefix, "USER": USER, **env})

    def alone(self, cwd, **env):
        """A program without MPI, started as such where it can."""
        shutil.rmtree(self.prefix, ignore_errors=True)
        command = [sys.executable, ORRERY, "run", *self.case.flavour, "-n", "1", self.graph] \
            if self.case.flavour else [self.graph]
        path = os.path.dirname(ORRERY) + os.pathsep + os.environ.get("PATH", "")
        out = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=200, env=dict(
                                 os.environ, STARPU_FXT_TRACE="1", STARPU_FXT_PREFIX=self.prefix,
                                 STARPU_NCPU="2", STARPU_WORKERS_NOBIND="1", STARPU_HOME=cwd,
                                 PATH=path, USER=USER, **env))
        return out.returncode, out.stdout


def names(traces):
    status, said = traces.run()
    verdict(traces.name + "_ranks_have_files_of_starpus_name", status == 0 and traces.files() == [
        "prof_file_%s_%d" % (USER, rank) for rank in range(NRANKS)], (traces.files(), said))
    traces.run(STARPU_FXT_SUFFIX="mine")
    verdict(traces.name + "_suffix_is_their_name", traces.files() == [
        "mine_%d" % rank for rank in range(NRANKS)], traces.files())
    traces.run(STARPU_FXT_SUFFIX="mine", nranks=1)
    verdict(traces.name + "_suffix_of_one_rank", traces.files() == ["mine"], traces.files())
    traces.run("abort", nranks=1)
    verdict(traces.name + "_files_of_a_crash", traces.files() == ["prof_file_%s_0" % USER],
            traces.files())
    traces.run(STARPU_FXT_TRACE="0")
    verdict(traces.name + "_none_unless_wanted", traces.files() == [], traces.files())
    traces.run(ORRERY_EVENTS=os.path.join(traces.prefix, "ours"))
    verdict(traces.name + "_orrery_events_goes_first", traces.files() == ["ours"], traces.files())
    status, said = traces.run(STARPU_FXT_PREFIX="/dev/null/below")
    verdict(traces.name + "_impossible_prefix_costs_a_sentence", status == 0 and
            "STARPU_FXT_TRACE: cannot write /dev/null/below/" in said, (status, said))


def ranks(traces, top):
    traces.run()
    out = os.path.join(top, "fxt-out-" + traces.name)
    paths = [os.path.join(traces.prefix, name) for name in traces.files()]
    status, said = fxt("-c", "-no-smooth", "-i", *paths, "-d", out, "-number-events")
    verdict(traces.name + "_tool_writes_all", status == 0 and set(os.listdir(out)) == OUTPUTS |
            {"number_events.data"}, (status, said))
    tasks, paje = text_of(out, "tasks.rec"), text_of(out, "paje.trace")
    verdict(traces.name + "_tool_has_all_tasks", tasks.count("Name: ") == NTASKS and
            text_of(out, "comms.rec").count("Src: ") == NTASKS and
            text_of(out, "dag.dot").count("[label=") == NTASKS, tasks[:1000])
    verdict(traces.name + "_tool_counts_records", "\ntask_ended\t%d\n" % NTASKS in
            text_of(out, "number_events.data"), text_of(out, "number_events.data"))
    verdict(traces.name + "_tool_writes_a_page", "%d tasks" % NTASKS in
            text_of(out, "trace.html"), text_of(out, "trace.html")[:500])
    shutil.rmtree(out)
    fxt("-i", paths[0], "-i", paths[1], "-o", os.path.join(top, "other.trace"), "-d", out,
        "-no-events", "-no-counter")
    less = text_of(top, "other.trace")
    verdict(traces.name + "_tool_leaves_out_what_is_not_wanted", '"event 42"' in paje and
            "\n9 " in paje and less and '"event 42"' not in less and "\n9 " not in less and
            "paje.trace" not in os.listdir(out), less[:1000])


def worked_ms(activity):
    rows = [line.split("\t") for line in activity.split("\n") if line[:1].isdigit()]
    return sum(float(row[3]) for row in rows), len({row[0] for row in rows})


def generated(traces, top):
    cwd = os.path.join(top, "fxt-cwd-" + traces.name)
    os.makedirs(cwd)
    status, said = traces.alone(cwd, STARPU_GENERATE_TRACE="1",
                                STARPU_GENERATE_TRACE_OPTIONS="-number-events -no-bus")
    verdict(traces.name + "_shutdown_writes_the_trace", status == 0 and
            (OUTPUTS | {"number_events.data"}) <= set(os.listdir(cwd)) and
            traces.files() == ["prof_file_%s_0" % USER], (status, said, os.listdir(cwd)))
    tasks, rows = text_of(cwd, "tasks.rec"), text_of(cwd, "distrib.data").splitlines()
    spans = [1e-6 * int(1e6 * (float(record.split("EndTime: ")[1].split("\n")[0]) - float(
        record.split("StartTime: ")[1].split("\n")[0]))) for record in tasks.strip().split("\n\n")]
    modelled = [record for record in tasks.strip().split("\n\n") if "Footprint" in record]
    verdict(traces.name + "_distrib_has_tasks_with_models", len(rows) == len(modelled) > 0 and
            all(len(row.split("\t")) == 5 for row in rows), rows)
    total_ms, nworkers = worked_ms(text_of(cwd, "activity.data"))
    verdict(traces.name + "_activity_adds_up", nworkers >= 2 and len(spans) == 12 and
            abs(total_ms - sum(spans)) < 1e-2 * sum(spans) + 1e-3, (total_ms, spans))
    if not traces.case.flavour:
        status, said = traces.run(STARPU_GENERATE_TRACE="1")
        verdict("files_of_several_ranks_are_for_the_user", status == 0 and
                "needs the files of all 2 ranks" in said, said)


def mistakes(top):
    for claim, words, expected in (
            ("no_file", (), "no input file"),
            ("a_missing_file", ("-i", os.path.join(top, "nowhere")), "is no file"),
            ("another_file", ("-i", GRAPH), "has no records of events"),
            ("an_option", ("-nonsense",), "no option -nonsense"),
            ("a_missing_name", ("-i",), "-i needs a name")):
        status, said = fxt(*words)
        verdict("tool_refuses_" + claim, status == 1 and expected in said, (status, said))
    verdict("tool_has_help", fxt("--help")[0] == 0 and "-number-events" in fxt("--help")[1], "")
    verdict("tool_has_a_version", fxt("-v")[0] == 0 and "Orrery" in fxt("-v")[1], "")


def kinds():
    """The tools number the kinds of records as the library does."""
    text = re.search(r"enum event_kind \{(.*?)\};", text_of(SRC, "src", "core", "event.h"), re.S).group(1)
    names = re.findall(r"^EVENT_(\w+)", re.sub(r"/\*.*?\*/|[ \t]", "", text, flags=re.S), re.M)
    verdict("kinds_of_records_are_the_library_s", names == [
        name.upper() for name in e.KIND_NAMES] + ["NKINDS"] and all(
            getattr(e, name) == at for at, name in enumerate(names[:-1])), names)


def check(case, top):
    traces = Traces(case, top)
    names(traces)
    ranks(traces, top)
    generated(traces, top)
    if not case.flavour:
        mistakes(top)


if __name__ == "__main__":
    kinds()
    sys.exit(each_flavour(check))
