#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: it names the reason why a run is slow, and accounts for all time."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from run import SRC, Suite, configured

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import events as e          # noqa: E402
from orrery_tool.graph import Graph          # noqa: E402
from orrery_tool.report_page import Report, draw   # noqa: E402
from orrery_tool.report_path import Path, RUNS     # noqa: E402
from orrery_tool.report_read import BY_MESSAGE, BY_PROGRAM, BY_TASK, NodeRun, Run  # noqa: E402
from orrery_tool.compare import change       # noqa: E402
from orrery_tool.report_time import Accounts, DEPENDENCY, NETWORK, model_errors  # noqa: E402
from orrery_tool.report_words import gigabytes, percent, plain, seconds, times   # noqa: E402

SLOW = os.path.join(SRC, "tests", "cli", "slow.c")
MISUSE = os.path.join(SRC, "tests", "cli", "misuse.c")
REDUCED = os.path.join(SRC, "tests", "cli", "reduced.c")
TRACED = os.path.join(SRC, "tests", "cli", "traced.c")
REASONS = ["network", "data", "dependencies", "submission", "end"]
# What the program does, its scheduler, and the first of the reasons behind the causes.
BEHIND = [("network", "lws", "messages"), ("submission", "lws", "slow submission"),
          ("end", "dmdas", "a long last task"), ("node", "lws", "slow node"),
          ("uneven", "lws", "uneven distribution"), ("placement", "eager", "placement"),
          ("priorities", "eager", "priorities"), ("pauses", "lws", "pauses of the program"),
          ("worker", "lws", "slow worker"), ("memory", "lws", "GPU memory is full"),
          ("small", "lws", "small tasks"), ("noise", "lws", "noise"),
          ("data", "dmdas", "copies"), ("dependencies", "lws", "too few tasks at a time"),
          ("work", "lws", "uneven distribution"), ("gpus", "dmdas", "too few GPUs"),
          ("commute", "lws", "commuting tasks take turns"),
          ("tags", "lws", "the program holds tasks back"),
          ("waits", "lws", "pauses of the program"), ("front", "lws", "too few tasks at a time"),
          ("first", "lws", "too few tasks at a time"), ("tied", "lws", "tasks tied to a worker"),
          ("synchronous", "lws", "pauses of the program"),
          ("limit", "lws", "a limit of submitted tasks"),
          ("uncached", "lws", "too few tasks at a time"), ("resent", "lws", "values sent again"),
          ("callbacks", "lws", "callbacks"),
          ("flushed", "lws", "values sent again"), ("few", "lws", "too few CPU cores"),
          ("priorities", "dmda", "priorities"), ("memory", "dmdas", "GPU memory is full"),
          ("placement", "random", "placement"),
          ("late", "lws", "a node starts late"), ("alone", "lws", "pauses of the program"),
          ("swap", "lws", "main memory is full"), ("incast", "lws", "messages"),
          ("ring", "lws", "slow link"), ("ahead", "dmdas", "copies"),
          ("redux", "lws", "reductions"), ("handed", "lws", "too few tasks at a time")]
# Words of the reason, where it says who; ranks and platforms other than 2 of small4.
WHO = {"alone": "the program of node 1 alone pauses once", "late": "node 1 submits",
       "incast": "Node 0 alone receives", "ring": "to or from node 2 moved", "swap": "node ",
       "ahead": "none while their GPU runs a task, since STARPU_PREFETCH=0",
       "resent": "STARPU_MPI_CACHE=0 makes", "flushed": "starpu_mpi_cache_flush()",
       "few": "STARPU_NCPU=1 leaves 3 of the 4 cores", "memory": "STARPU_LIMIT_CUDA_MEM=500 "}
# The same of misuse.c: a reason, and words of it.
BEHIND_MISUSE = [
    ("overwrites", "too few tasks at a time", "only wait until others have done with a datum"),
    ("updates", "too few tasks at a time", "where they only read it, say so (STARPU_R)"),
    ("coarse", "too few tasks", "3 tasks for 4 CPU cores, so some never run one"),
    ("cores", "too few CPU cores", "1 GPU runs no task: give the codelets kernels"),
    ("context", "tasks tied to a worker", "give their scheduling context more"),
    ("acquires", "pauses of the program", "starpu_data_acquire_cb()"),
    ("messages", "pauses of the program", "most of it in starpu_mpi_send(), starpu_mpi_recv()"),
    ("barriers", "pauses of the program", "starpu_mpi_barrier()")]
RANKS, PLATFORMS = {"incast": "4", "ring": "4"}, {"ring": "thin.xml"}
LIMITS = {"uncached": {"STARPU_MPI_CACHE": "0"}, "resent": {"STARPU_MPI_CACHE": "0"},
          "few": {"STARPU_NCPU": "1"}, "ahead": {"STARPU_PREFETCH": "0"},
          "swap": {"STARPU_LIMIT_CPU_MEM": "500", "STARPU_DISK_SWAP": "/tmp",
                   "STARPU_DISK_SWAP_SIZE": "8000"}, "memory": {"STARPU_LIMIT_CUDA_MEM": "500"},
          "limit": {"STARPU_LIMIT_MAX_SUBMITTED_TASKS": "3",
                    "STARPU_LIMIT_MIN_SUBMITTED_TASKS": "2"}}
# What a reason must not be taken for: more work is no slow node, and no order changes a chain's.
NOT_BEHIND = {"work": ["slow node", "noise", "priorities"], "uneven": ["priorities"],
              "dependencies": ["priorities"], "tags": ["slow submission"],
              "swap": ["priorities"], "late": ["slow submission"], "tied": ["priorities"],
              "memory": ["priorities"], "ahead": ["priorities"], "incast": ["slow link"], "gpus": ["copies"], "front": ["the program holds tasks back", "messages"],
              "redux": ["pauses of the program", "slow submission"],
              "handed": ["pauses of the program", "slow submission"],
              "first": ["messages"], "synchronous": ["slow submission"], "node": ["noise"], "worker": ["noise"]}
FIGURES = ["lost", "time", "nodes", "messages", "memory"]


def reasons(suite):
    for why in REASONS:
        status, output = suite.orrery("run", "--sim", "small4", "-n", "2", "--quiet", "--trace",
                                      why, "./slow", why)
        suite.verdict("runs_" + why, status == 0, output)
        status, output = suite.orrery("report", why, "--quiet")
        named = re.search(r"Most of what the \S+(?: cores)? lose: .*\((\w+)\)", output)
        suite.verdict("names_" + why, status == 0 and named and named.group(1) == why, output)


def numa(suite):
    """Cores whose memory is not number 0 are no GPUs."""
    with open(os.path.join(SRC, "platforms", "xml", "small4.xml"), encoding="utf-8") as f:
        suite.write("numa.xml", f.read().replace(
            '<prop id="cpus"', '<prop id="numa_nodes" value="2"/><prop id="cpus"').replace(
                'id="gpus" value="1"', 'id="gpus" value="0"'))
    os.environ["STARPU_USE_NUMA"] = "1"
    status, said = suite.orrery("run", "--sim", "numa.xml", "-n", "2", "--quiet", "--trace", "numa",
                                "./slow", "dependencies")
    del os.environ["STARPU_USE_NUMA"]
    status, output = suite.orrery("report", "numa", "--quiet")
    suite.verdict("cores_of_numa_nodes_are_cores", status == 0 and "8 CPU cores busy" in output and
                  "GPU" not in output, said + output)
    status, output = suite.orrery("trace", "numa", "--csv", "numa.csv")
    with open(os.path.join(suite.directory, "numa.csv"), encoding="utf-8") as f:
        head = f.readline()
    suite.verdict("and_in_the_table_of_nodes", "cpus_per_node=4 gpus_per_node=0" in head, head)


THIN = """<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Cluster">%s</zone></platform>
"""
THIN_HOST = """<link id="l%d" bandwidth="%s" latency="2us" sharing_policy="SPLITDUPLEX"/>
<host id="h%d" speed="1Gf" core="4"/><host_link id="h%d" up="l%d_UP" down="l%d_DOWN"/>
"""


def behind(suite):
    suite.write("thin.xml", THIN % "".join(THIN_HOST % (
        i, "50MBps" if i == 2 else "1GBps", i, i, i, i) for i in range(4)))
    for why, scheduler, reason in BEHIND:
        name = "behind-%s-%s" % (why, scheduler)
        wanted = dict(LIMITS.get(why, {}), STARPU_SCHED=scheduler)
        os.environ.update(wanted)
        suite.orrery("run", "--sim", PLATFORMS.get(why, "small4"), "-n", RANKS.get(why, "2"),
                     "--quiet", "--trace", name, "./slow", why)
        for knob in wanted:
            del os.environ[knob]
        status, output = suite.orrery("report", name, "--text")
        named = re.findall(r"^Reason \((.*?)\): ", output, re.M)
        suite.verdict("reason_behind_%s_under_%s" % (why, scheduler), status == 0 and
                      reason in named[:2] and not set(NOT_BEHIND.get(why, ())) & set(named)
                      and WHO.get(why, "") in output and not os.path.exists(
                          os.path.join(suite.directory, name, "report")), output)
        suite.verdict("%s_is_not_recommended_to_a_run_under_it_%s" % (scheduler, why), not re.search(
            r"^Reason .*a scheduler [^.]*\b%s\b" % scheduler, output, re.M), output)
    crowded(suite)
    few(suite)
    behind_misuse(suite)


def behind_misuse(suite):
    suite.orrery("cc", "--sim", MISUSE, "-o", "misuse")
    for why, reason, words in BEHIND_MISUSE:
        nranks = {"messages": "2", "barriers": "4"}.get(why, "1")
        suite.orrery("run", "--sim", "small4", "-n", nranks, "--quiet", "--trace",
                     "misuse-" + why, "./misuse", why)
        status, output = suite.orrery("report", "misuse-" + why, "--text")
        first = re.findall(r"^Reason \((.*?)\): (.*)", output, re.M)[:1]
        suite.verdict("first_reason_is_" + why, status == 0 and first and first[0][0] == reason
                      and words in first[0][1], output)


def few(suite):
    """Large tiles go to and fro between nodes with many cores: larger ones are no advice."""
    with open(os.path.join(SRC, "platforms", "xml", "small4.xml"), encoding="utf-8") as f:
        suite.write("wide.xml", f.read().replace('id="cpus" value="4"', 'id="cpus" value="64"'))
    suite.orrery("run", "--sim", "wide.xml", "-n", "2", "--quiet", "--trace", "wide", "./slow",
                 "network")
    status, output = suite.orrery("report", "wide", "--text")
    named = re.findall(r"^Reason \((.*?)\): .*", output, re.M)
    suite.verdict("large_tiles_are_too_few_tasks", status == 0 and
                  named[:2] == ["messages", "too few tasks"] and
                  "there are 40 tasks for 128 CPU cores" in output and
                  "larger tiles" not in "".join(re.findall("^Reason.*", output, re.M)), output)


def crowded(suite):
    """As a real run that has more workers than cores: equal tasks that take more and less time."""
    run = Run(os.path.join(suite.directory, "behind-noise-lws"))
    suite.verdict("settings_are_recorded", run.setup.scheduler == "lws" and
                  run.setup.number("cores") == 4 and run.setup.told("STARPU_SCHED") ==
                  "STARPU_SCHED=lws", run.setup.settings)
    for cores in "4", "2":
        run.setup.settings["cores"] = cores
        books = Accounts(run)
        named = [reason.name for reason in Report(run, books, Path(run, books)).reasons.found]
        suite.verdict("%s_cores_for_4_workers" % cores, named[:1] == [
            "noise" if cores == "4" else "more workers than cores"] and
            len({"noise", "more workers than cores"} & set(named)) == 1, named)


def accounts(suite, directory):
    """Each second of each worker has one cause, and the path has no gap."""
    run = Run(os.path.join(suite.directory, directory))
    books = Accounts(run)
    for kind in run.kinds:
        total, capacity = sum(books.by_kind[kind].total), books.capacity_s(kind)
        suite.verdict("%s_all_time_of_%s_has_a_cause" % (directory, kind),
                      abs(total - capacity) < 1e-9 * capacity, (total, capacity))
        bins = sum(map(sum, books.by_kind[kind].bins))
        suite.verdict("%s_bins_of_%s_have_it_too" % (directory, kind),
                      abs(bins - capacity) < 1e-9 * capacity, (bins, capacity))
    path = Path(run, books)
    ends = [abs(a.end_s - b.begin_s) for a, b in zip(path.steps, path.steps[1:])]
    suite.verdict(directory + "_path_has_no_gap", max(ends, default=0.0) < 1e-9
                  and abs(path.steps[-1].end_s - run.end_s) < 1e-12
                  and abs(path.steps[0].begin_s - run.begin_s) < 1e-9,
                  (ends, path.steps[0].begin_s, path.steps[-1].end_s))
    return run, path


def bound(suite, directory):
    run = Run(os.path.join(suite.directory, directory))
    books = Accounts(run)
    return Report(run, books, Path(run, books)).bound()


def paths(suite):
    run, path = accounts(suite, "network")
    moves = [step for step in path.steps if step.what.startswith(("0 to 1", "1 to 0"))]
    suite.verdict("a_value_that_goes_to_and_fro_is_the_path", run.ntasks() == 40 and
                  {"0 to 1", "1 to 0"} == {step.what[:6] for step in moves}
                  and len(moves) >= 39, len(moves))
    length, rows = run.longest_chain()
    suite.verdict("the_longest_chain_goes_through_messages", length <= run.end_s - run.begin_s
                  and sum(n for _, n, _ in rows) == 40, (length, rows))
    run, path = accounts(suite, "behind-waits-lws")
    suite.verdict("waits_of_the_program_lead_on_to_tasks", path.seconds[RUNS] > 0.9 * (
        run.end_s - run.begin_s), path.seconds)
    run, path = accounts(suite, "behind-front-lws")
    suite.verdict("what_waits_for_a_send_is_not_submitted_late", path.seconds[RUNS] > 0.99 * (
        run.end_s - run.begin_s) and not sum(node.nheld for node in run.nodes), path.seconds)
    path = accounts(suite, "behind-uncached-lws")[1]
    suite.verdict("a_message_waits_for_its_place", path.seconds[RUNS] > 0.9 * sum(path.seconds),
                  path.seconds)
    total = Accounts(accounts(suite, "behind-first-lws")[0]).by_kind["cpu"].total
    suite.verdict("a_message_waits_for_its_sender_s_tasks", total[NETWORK] <
                  0.01 * total[DEPENDENCY], total)
    suite.verdict("who_writes_one_datum_is_known", accounts(
        suite, "dependencies")[0].writers_in_chain() == 20 and
        accounts(suite, "behind-front-lws")[0].writers_in_chain() < 10, "other numbers")
    total = Accounts(run).by_kind["cpu"].total
    suite.verdict("long_waits_are_divided_as_their_ends_are", total[NETWORK] <
                  0.01 * total[DEPENDENCY], total)
    length, tasks = accounts(suite, "behind-commute-lws")[0].turns()
    suite.verdict("tasks_that_commute_are_known", len(tasks) == 40 and
                  abs(length - 40 * 1.001e-3) < 1e-4, (length, len(tasks)))
    suite.verdict("shorter_chains_help_where_they_are_the_run",
                  "shorter chains" in bound(suite, "dependencies")
                  and "shorter chains" not in bound(suite, "network"), bound(suite, "network"))
    for why in REASONS[1:]:
        run, path = accounts(suite, why)
        length, rows = run.longest_chain()
        span_s = run.end_s - run.begin_s
        suite.verdict(why + "_longest_chain_fits", 0 < length <= span_s * (1 + 1e-9),
                      (length, span_s))
        if why == "dependencies":
            suite.verdict("a_chain_of_dependencies_is_as_long_as_the_run", length > 0.95 * span_s
                          and 2 * sum(n for _, n, _ in rows) == run.ntasks(),
                          (length, span_s, rows))


# How contributions are made and added, and how many of these tasks the longest chain has in
# each round: 4 workers and the old value are added in 3 steps, and what 4 ranks have in 3 or 2.
REDUCTIONS = [("workers", "0", {"redux_task_between_replicates": 3, "add": 3, "use": 1}),
              ("workers", "2", {"redux_task_between_replicates": 3, "add": 2, "use": 1}),
              ("ranks", "0", {"add": 3, "use": 1}), ("ranks", "2", {"add": 2, "use": 1})]


def reduced(suite):
    """The run takes what its reductions do, in a tree or one after the other."""
    suite.orrery("cc", "--sim", REDUCED, "-o", "reduced")
    for who, arity, wanted in REDUCTIONS:
        name = "reduced-%s-%s" % (who, arity)
        suite.orrery("run", "--sim", "small4", "-n", "4", "--quiet", "--trace", name, "./reduced",
                     who, arity)
        run, path = accounts(suite, name)
        (length, rows), span_s = run.longest_chain(), run.end_s - run.begin_s
        counts = {row[0]: row[1] for row in rows}
        suite.verdict("the_longest_chain_has_the_reduction_of_%s_by_%s" % (who, arity),
                      0.9 * span_s < length <= span_s * (1 + 1e-9) and all(
                          counts.get(codelet) == 2 * n for codelet, n in wanted.items()),
                      (length, span_s, rows))


class Recorded:
    """A node with one worker, and what it has recorded."""

    def __init__(self, records):
        self.rank, self.host, self.origin_s = 0, "here", 0.0
        self.workers, self.recorded = {0: ("CPU 0", 0)}, records

    def kind_of(self, worker):
        return "cpu"

    def records(self):
        return self.recorded

    def text(self, key):
        return "codelet %d" % key


def causes(suite):
    """A worker ends task 1, sends what it wrote at once, and goes on with task 1's end."""
    last = [(kind, 0, 0, 0, 2, 7) for kind in (e.TASK_PUSHED, e.TASK_STARTED, e.TASK_ENDED)]
    records = [(0.001 * at, *record) for at, record in enumerate([
        (e.TASK_SUBMITTED, 0, e.NO_WORKER, 0, 1, 100), (e.TASK_PUSHED, 0, e.NO_WORKER, 0, 1, 0),
        (e.TASK_SUBMITTED, 0, e.NO_WORKER, 0, 2, 200), (e.TASK_STARTED, 0, 0, 0, 1, 7),
        (e.REQUEST_POSTED, 0, e.NO_WORKER, 1, 50, 3), (e.TASK_ENDED, 0, 0, 0, 1, 0),
        (e.REQUEST_MOVED, 0, 0, 1, 50, 8), (e.REQUEST_DONE, 0, 0, 1, 50, 0), *last])]
    node = NodeRun(Recorded(records), {}, Graph())
    suite.verdict("a_send_within_the_end_of_a_task_is_no_cause", list(node.tasks.cause) ==
                  [BY_PROGRAM, BY_TASK] and len(node.requests) == 1, list(node.tasks.cause))
    arrival(suite)


def arrival(suite):
    """A value arrives while a worker ends task 1, and it then pushes task 2 that waits for it."""
    records = [(0.001 * at, *record) for at, record in enumerate([
        (e.TASK_SUBMITTED, 0, e.NO_WORKER, 0, 1, 100), (e.TASK_PUSHED, 0, e.NO_WORKER, 0, 1, 0),
        (e.REQUEST_POSTED, 1, e.NO_WORKER, 1, 50, 3),
        (e.TASK_SUBMITTED, 0, e.NO_WORKER, 0, 2, 200), (e.TASK_STARTED, 0, 0, 0, 1, 7),
        (e.TASK_ENDED, 0, 0, 0, 1, 0), (e.REQUEST_MOVED, 1, 0, 1, 50, 8),
        (e.TASK_TERMINATED, 0, 0, 0, 1, 0), (e.TASK_PUSHED, 0, 0, 0, 2, 0),
        (e.REQUEST_DONE, 1, 0, 1, 50, 0), (e.TASK_STARTED, 0, 0, 0, 2, 7),
        (e.TASK_ENDED, 0, 0, 0, 2, 0)])]
    node = NodeRun(Recorded(records), {}, Graph())
    released(suite)
    suite.verdict("an_arrival_within_the_end_of_a_task_is_a_cause", list(node.tasks.cause) ==
                  [BY_PROGRAM, BY_MESSAGE] and node.nheld == 1, list(node.tasks.cause))


def released(suite):
    """A receive whose place a message has freed, as the last one of a cooperative send does."""
    for delivered in True, False:
        events = [(e.REQUEST_POSTED, 1, e.NO_WORKER, 1, 50, 3),
                  (e.MESSAGE_RECEIVED, 16, e.NO_WORKER, 1, 0, 0),
                  (e.REQUEST_READY, 1, e.NO_WORKER, 1, 50, 0),
                  (e.REQUEST_MOVED, 1, e.NO_WORKER, 1, 50, 8)]
        records = [(1.0 + 1e-5 * at, *event) for at, event in enumerate(events)
                   if delivered or event[0] != e.MESSAGE_RECEIVED]
        node = NodeRun(Recorded(records), {}, Graph())
        suite.verdict("a_place_that_%s_is_freed_%s" % (
            ("a_message", "by_the_network") if delivered else ("no_message", "by_the_program")),
            node.requests.ready[0] == (records[0] if delivered else records[1])[0],
            node.requests.ready[0])


def numbers(suite):
    said = [times(1180.2), times(3.4567), times(0.66), plain(12345.6, 4), plain(0.0000312),
            plain(99.96), percent(1), seconds(23456), seconds(1.5e-7), gigabytes(262144),
            change(1, 1180), change(1, 0.9999999), change(1, 1.5)]
    suite.verdict("numbers_have_no_exponents", said == [
        "1,180 times", "3.46 times", "0.66 times", "12350", "0.0000312", "100", "100 %", "23460 s",
        "0.15 us", "262 kB", "1,180 times", "0 %", "+50.0 %"], said)


def files(suite):
    report = os.path.join(suite.directory, "network", "report")
    suite.verdict("figures_are_png_and_pdf", all(
        os.path.getsize(os.path.join(report, name + suffix)) > 1000
        for name in FIGURES for suffix in (".png", ".pdf")), os.listdir(report))
    with open(os.path.join(report, "index.html"), encoding="utf-8") as f:
        page = f.read()
    suite.verdict("the_page_stands_alone", page.count("<svg") == len(FIGURES) - 1
                  and "http://" not in re.sub(r"http://(www\.w3|purl|creativecommons|web\.res)\S*",
                                              "", page) and "src=" not in page, len(page))
    data = json.loads(re.search(r"<script id=run [^>]*>(.*?)</script>", page, re.S).group(1))
    busy = base64.b64decode(data["busy"])
    suite.verdict("the_page_shows_nodes_and_tasks", len(busy) == 2 * data["bins"] and
                  0 < sum(busy) < 255 * len(busy) and len(data["tasks"]) == 2, sum(busy))
    suite.verdict("the_page_has_codelets_and_path", all(text in page for text in (
        "on a core", "The critical path", "messages on their way")), page[:500])


BROWSER = """
const fs=require('fs'),data=fs.readFileSync(process.argv[2],'utf8'),fills=[],texts=[];
const g={set fillStyle(c){fills.push(c)},fillRect(){},fillText(t){texts.push(t)},clearRect(){},
setTransform(){}};
const make=()=>({style:{},children:[],append(){},textContent:''}),made={run:{textContent:data}};
made.gantt={...make(),clientWidth:1000,clientHeight:300,getContext:()=>g,
getBoundingClientRect:()=>({left:0,top:0})};
global.document={getElementById:i=>made[i]||(made[i]=make()),addEventListener(){}};
global.devicePixelRatio=1;global.addEventListener=()=>{};
%s
const c=made.gantt,where=()=>made.where.textContent;
const click=(x,y,detail)=>{const e={clientX:x,clientY:y,detail};c.onmousedown(e);c.onmouseup(e)};
const darkest=()=>Math.max(...fills.map(f=>+((/27,108,168,(.*)\\)/.exec(f)||[])[1]||0)));
const said=[darkest(),where()];
click(500,20,1);click(500,20,2);c.ondblclick();said.push(where());
click(500,20,1);said.push(where());
click(500,20,1);click(500,20,2);c.ondblclick();said.push(where());
console.log(JSON.stringify(said));
"""
# Of 64 nodes, a box from the 19th to the 38th; then a click on the first of these.
BOX = BROWSER[:BROWSER.index("click(500")] + """
c.onmousedown({clientX:100,clientY:80});c.onmouseup({clientX:600,clientY:160,detail:1});
click(500,2,1);said.push(where());
console.log(JSON.stringify(said));
"""
# Of a single node; dates are round numbers.
SINGLE = BROWSER[:BROWSER.index("const click")] + """
console.log(JSON.stringify([where(),texts.filter(t=>/^[0-9.]+ .?s$/.test(t))]));
"""


def browsed(suite):
    """What clicks do, in a stand-in for a browser."""
    node = shutil.which("node") or shutil.which("nodejs")
    if not node:
        return
    with open(os.path.join(suite.directory, "network", "report", "index.html"),
              encoding="utf-8") as f:
        page = f.read()
    suite.write("data.json", re.search(r"<script id=run [^>]*>(.*?)</script>", page, re.S).group(1))
    suite.write("page.js", BROWSER % re.findall(r"<script>(.*?)</script>", page, re.S)[-1])
    out = subprocess.run([node, "page.js", "data.json"], cwd=suite.directory, text=True,
                         capture_output=True, timeout=100)
    if out.returncode:
        suite.verdict("the_page_runs", False, out.stderr)
        return
    darkest, nodes, twice, once, within = json.loads(out.stdout)
    suite.verdict("the_busiest_is_the_darkest", darkest == 1 and "% at the darkest" in nodes,
                  (darkest, nodes))
    data = json.loads(re.search(r"<script id=run [^>]*>(.*?)</script>", page, re.S).group(1))
    data.update(ranks=list(range(64)), workers=data["workers"] * 32, tasks={},
                busy=base64.b64encode(base64.b64decode(data["busy"]) * 32).decode())
    suite.write("many.json", json.dumps(data))
    suite.write("box.js", BOX % re.findall(r"<script>(.*?)</script>", page, re.S)[-1])
    out = subprocess.run([node, "box.js", "many.json"], cwd=suite.directory, text=True,
                         capture_output=True, timeout=100)
    suite.verdict("a_box_shows_some_of_many_nodes", not out.returncode and
                  json.loads(out.stdout)[-1].startswith("Node 18."), out.stdout + out.stderr)
    data.update(ranks=[0], workers=data["workers"][:1])
    suite.write("single.json", json.dumps(data))
    suite.write("single.js", SINGLE % re.findall(r"<script>(.*?)</script>", page, re.S)[-1])
    out = subprocess.run([node, "single.js", "single.json"], cwd=suite.directory, text=True,
                         capture_output=True, timeout=100)
    said, dates = json.loads(out.stdout) if not out.returncode else ("", [])
    values = [float(date.split()[0]) for date in dates]
    step = values[1] - values[0] if len(values) > 2 else 0
    suite.verdict("a_single_node_shows_its_workers_at_round_dates", said.startswith("Node 0.") and
                  "Escape" not in said and step > 0 and all(
                      abs(value - at * step) < 1e-6 * step for at, value in enumerate(values)) and
                  ("%e" % step)[:8] in ("1.000000", "2.000000", "5.000000"), (said, dates, out.stderr))
    suite.verdict("a_double_click_stays_where_it_was", twice == nodes and once == within and
                  once.startswith("Node 0."), (twice, once, within))


def microseconds(text):
    value, unit = text.split()
    return float(value) * {"us": 1, "ms": 1000}[unit]


def compared(suite):
    """Twice the flops: the same tasks, in half the time."""
    for name, speed in (("slower", "1"), ("faster", "2")):
        with open(os.path.join(SRC, "platforms", "xml", "small4.xml"), encoding="utf-8") as f:
            suite.write("p.xml", f.read().replace(
                '<prop id="cpus"', '<prop id="cpu_speedup" value="%s"/><prop id="cpus"' % speed))
        suite.orrery("run", "--sim", "p.xml", "-n", "2", "--quiet", "--trace", name, "./slow",
                     "dependencies")
    status, output = suite.orrery("compare", "slower", "faster", "-o", "both")
    row = re.search(r"^on a core \(cpu\) +40 +40 +1\.001 ms +500\.5 us +-50\.0 %$", output, re.M)
    suite.verdict("means_of_codelets_are_compared", status == 0 and row, output)
    busy = re.search(r"^CPU cores: busy +(\S+) ms +(\S+) ms +-50\.0 %$", output, re.M)
    suite.verdict("busy_time_is_compared", busy and abs(
        float(busy.group(1)) / float(busy.group(2)) - 2) < 0.01, output)
    suite.verdict("the_difference_has_its_cause", re.match(
        r"faster took \S+ ms, (?:49|50)\.\d % less than slower .*  Of a core's time that is "
        r"dependencies -\S+ ms, busy -\S+ ms", output), output)
    waits = re.search(r"^on a core \(cpu\): dependencies +(\S+ \ws) +(\S+ \ws) +-(\S+ \ws)$",
                      output, re.M)
    before, after, less = map(microseconds, waits.groups()) if waits else (0, 0, 0)
    suite.verdict("waits_before_codelets_are_compared", before > 1.9 * after > 0 and
                  abs(before - after - less) < 0.001 * before, output)
    suite.verdict("a_page_and_a_picture_compare", all(os.path.exists(os.path.join(
        suite.directory, "both", name)) for name in ("index.html", "compared.png")), output)
    suite.refuses("compared_with_nothing", "compare", "slower", "nowhere",
                  says=["nowhere is no directory"])


def schedulers(suite):
    """A run that the network slows down beside one that it does not: that is the reason."""
    status, output = suite.orrery("compare", "end", "network")
    suite.verdict("a_slower_network_is_the_reason", status == 0 and re.search(
        r"Of a \S+'s time that is network \+", output), output)
    suite.verdict("the_same_program_is_not_told_apart", "different programs" not in output and
                  "started differently" not in output, output)
    output = suite.orrery("compare", "behind-priorities-eager", "behind-priorities-dmda")[1]
    suite.verdict("other_schedulers_are_told", "They were started differently: scheduler eager, "
                  "dmda." in output, output)
    os.environ["STARPU_SCHED"] = "dmdas"
    suite.orrery("run", "--sim", "small4", "-n", "2", "--quiet", "--trace", "placed", "./slow",
                 "placement")
    del os.environ["STARPU_SCHED"]
    output = suite.orrery("compare", "behind-placement-eager", "placed")[1]
    suite.verdict("tasks_that_cores_ran_are_told", re.search(
        r"Cores ran \d+ and \d+ of anywhere, where one takes 1\d(?:\.\d)? times as long as on a GPU\.",
        output), output)
    output = suite.orrery("compare", "behind-commute-lws", "reduced-ranks-2")[1]
    suite.verdict("other_programs_are_told", "They have no codelet in common: these are different "
                  "programs.  They have other workers at work: 8 CPU cores, and 16 CPU cores."
                  in output, output)
    output = suite.orrery("compare", "behind-noise-lws", "behind-worker-lws")[1]
    suite.verdict("other_tasks_are_told", "They did not run the same tasks: 40 and 120 of on a core."
                  in output, output)
    run = Run(os.path.join(suite.directory, "network"))
    books = Accounts(run)
    for kind in run.kinds:
        shares = books.by_kind[kind]
        waits = [sum(wait[cause] for wait in shares.waits.values())
                 for cause in range(len(shares.total))]
        suite.verdict("waits_of_%s_are_no_more_than_the_time" % kind, all(
            wait <= total + 1e-9 for wait, total in zip(waits, shares.total)) and
            (kind != "cpu" or max(waits) > 0), (waits, shares.total))


def real(suite):
    """Also where a simulation was recorded before."""
    os.mkdir(os.path.join(suite.directory, "real"))
    suite.write("real/summary", "tasks=20\nuncalibrated_tasks=20\nwork_s=1\n")
    status, output = suite.orrery("run", "-n", "2", "--trace", "real", "./traced")
    suite.verdict("a_real_run_is_recorded", status == 0, output)
    status, output = suite.orrery("report", "real", "-o", "elsewhere")
    suite.verdict("it_has_no_doubts_of_a_simulation", "The time of the tasks" not in output, output)
    suite.verdict("a_real_run_is_reported", status == 0 and "20 tasks" in output and
                  os.path.exists(os.path.join(suite.directory, "elsewhere", "index.html")), output)
    accounts(suite, "real")


def models(suite):
    """Each task was expected to take a millisecond."""
    suite.orrery("run", "-n", "2", "--quiet", "--trace", "expected", "./slow-real",
                 "dependencies")
    status, output = suite.orrery("report", "expected", "--quiet")
    run = Run(os.path.join(suite.directory, "expected"))
    took_s = sum(ended - started for node in run.nodes
                 for started, ended in zip(node.tasks.started, node.tasks.ended))
    errors = model_errors(run).get(("on a core", "cpu"), (0, 0))
    suite.verdict("errors_of_models_are_reckoned", status == 0 and run.ntasks() == 40 and
                  abs(errors[0] - (took_s / 40e-3 - 1)) < 1e-6 and errors[1] >= abs(errors[0]) -
                  1e-6, (errors, took_s, output))
    with open(os.path.join(suite.directory, "expected", "report", "index.html"),
              encoding="utf-8") as f:
        found = re.search(r"<td>on a core<td class=t>cpu<td>40.*<td>([-+][\d.]+) %<td>[\d.]+ %",
                          f.read())
    suite.verdict("the_page_has_errors_of_models", found and abs(
        float(found.group(1)) - 100 * errors[0]) < 0.1, found)


def paused(suite):
    """Tasks of no length, and a program that sleeps: that, and no size of tasks."""
    suite.orrery("run", "-n", "2", "--quiet", "--trace", "paused", "./slow-real", "pauses")
    status, output = suite.orrery("report", "paused", "--quiet")
    named = re.findall(r"^Reason \((.*?)\): ", output, re.M)
    suite.verdict("reason_behind_pauses_of_a_real_run", status == 0 and
                  named[:1] == ["pauses of the program"] and "small tasks" not in named, output)


def mistakes(suite):
    os.mkdir(os.path.join(suite.directory, "empty"))
    suite.refuses("no_directory", "report", "nowhere", says=["nowhere is no directory"])
    suite.refuses("nothing_recorded", "report", "empty", says=["no file *.events", "--trace"])
    shutil.copytree(os.path.join(suite.directory, "network"),
                    os.path.join(suite.directory, "damaged"))
    path = os.path.join(suite.directory, "damaged", "node-0.events")
    with open(path, "rb") as f:
        records = bytearray(f.read())
    at = next(at for at in range(0, len(records), e.RECORD.size)
              if records[at + 8] == e.REQUEST_POSTED)
    records[at + 12:at + 16] = b"\xff" * 4 # the peer
    with open(path, "wb") as f:
        f.write(records)
    with open(os.path.join(suite.directory, "damaged", "node-9.events"), "wb") as f:
        f.write(records[:40]) # of a rank that was killed at once
    suite.refuses("damaged", "report", "damaged", says=["node-0.events is damaged: its record"])
    suite.refuses("no_place_for_the_page", "report", "network", "-o", "slow/x",
                  says=["slow/x cannot be made"])


def labels(suite):
    """Shares have their figures where these fit, however long the names beside them are."""
    shares = [86, 3.9, 2.7, 0.6, 6.8]
    for name, title, good in (("wide", "CPU cores", ["86 %", "4 %", "3 %", "7 %"]),
                              ("narrow", "of a run with a very long name, " * 3, ["86 %", "7 %"])):
        figures = {name: {"figure": "lost", "causes": list("abcde"), "colours": ["#102030"] * 5,
                          "kinds": [{"title": title, "shares": shares}]}}
        pictures = draw(figures, suite.directory)
        said = re.findall(r"<!-- (\d+ %) -->", pictures.get(name, ""))
        suite.verdict("shares_have_labels_that_fit_where_it_is_" + name, said == good or not pictures, said)


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        labels(suite)
        if configured("sim"):
            suite.orrery("cc", "--sim", SLOW, "-o", "slow")
            reasons(suite)
            behind(suite)
            numa(suite)
            paths(suite)
            reduced(suite)
            files(suite)
            browsed(suite)
            causes(suite)
            numbers(suite)
            compared(suite)
            schedulers(suite)
            mistakes(suite)
        if configured("real"):
            suite.orrery("cc", TRACED, "-o", "traced")
            real(suite)
            suite.orrery("cc", SLOW, "-o", "slow-real")
            models(suite)
            paused(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
