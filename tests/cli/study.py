#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery study: all runs, each once, whatever comes between; what is found is kept."""
import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

from run import BUILD, ORRERY, SRC, Suite, configured

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool.study_plan import Plan  # noqa: E402
from orrery_tool.study_runs import result_of  # noqa: E402
from orrery_tool.study_search import Crossover  # noqa: E402

CHOLESKY = os.path.join(BUILD, "examples", "cholesky", "cholesky")
STUDY = """
program = "%s-sim --nb {nb} --tile {tile}"
platform = "small4"
[parameters]
nodes = [1, 4]
nb = "2..8 x4"
flops = [1, 2]
tile = 960
[results]
speed = '^speed: ([0-9.]+)'
""" % CHOLESKY
# What charts of one y axis show of it, and their ticks
DRAW = """
import json, sys
sys.path.insert(0, sys.argv[1])
import study_png
axes = study_png.draw(json.loads(sys.argv[2])).axes[:3]
print(all(one.get_ylim()[0] == 0 and one.get_ylim()[1] > 9 for one in axes), [int(x) for x in axes[0].get_xticks()])
"""


def read(suite, *path):
    with open(os.path.join(suite.directory, *path), encoding="utf-8") as f:
        return f.read()


def rows(suite, directory, name="runs.csv"):
    return list(csv.DictReader(read(suite, directory, name).splitlines()))


def exists(suite, *path):
    return os.path.exists(os.path.join(suite.directory, *path))


def sweep(suite):
    suite.write("sweep.toml", STUDY)
    status, output = suite.orrery("study", "sweep.toml")
    table = rows(suite, "sweep")
    suite.verdict("all_combinations_run", status == 0 and len(table) == 8 and len({
        (row["nodes"], row["nb"], row["flops"]) for row in table}) == 8
        and all(row["status"] == "ok" for row in table), (status, output, table))
    times = {(row["nodes"], row["nb"], row["flops"]): float(row["time_s"]) for row in table}
    ratio = times["1", "8", "1"] / times["1", "8", "2"]
    suite.verdict("twice_the_flops_are_nearly_twice_as_fast", 1.2 < ratio <= 2.001, ratio)
    suite.verdict("results_are_columns", all(float(row["speed"]) > 0 for row in table), table)
    suite.verdict("they_are_the_programs_speed", all(
        1 <= float(row["speed"]) * float(row["time_s"]) / (8 * 960) ** 3 * 3e9 < 3
        for row in table if row["nb"] == "8"), table)
    suite.verdict("tasks_are_counted", {row["tasks"] for row in table} == {"4", "120"},
                  table)
    suite.verdict("a_page_is_written", "<table>" in read(suite, "sweep", "index.html"), "none")
    suite.verdict("a_picture_is_drawn", exists(suite, "sweep", "runs.png") and
                  "<svg" in read(suite, "sweep", "index.html"), output)
    charts = [{"title": "", "x": "nodes", "names": [], "log_x": False, "log_y": False, "x_ticks": [16, 32, 64],
               "series": [{"label": "one", "x": [16, 64], "y": [high, 1]}]} for high in (9, 7, 2)]
    drawn = subprocess.run([sys.executable, "-c", DRAW, os.path.join(SRC, "scripts", "orrery_tool"),
                            json.dumps({"title": "", "y": "s", "charts": charts})], capture_output=True, text=True)
    if drawn.returncode != 77: # matplotlib is there
        suite.verdict("charts_hold_the_points_of_all", drawn.stdout == "True [16, 32, 64]\n", drawn)
    suite.write("vague.toml", STUDY.replace("'^speed", "'speed") + "gone = 'no such words: (.*)'\n")
    status, output = suite.orrery("study", "vague.toml", "--set", "nb=2", "--set", "flops=1")
    suite.verdict("vague_results_are_spoken_of_once", status == 0 and output.count(
        "[results] speed = 'speed: ([0-9.]+)': it is found in \"speed: ... GFlop/s\" and in \"simulation "
        "speed: ... tasks/s\"") == 1 and output.count("[results] gone = 'no such words: (.*)': it is found "
                                                     "nowhere") == 1, output)
    status, output = suite.orrery("study", "sweep.toml", "--set", "nb=2,3")
    suite.verdict("values_are_added", status == 0 and len(rows(suite, "sweep")) == 12
                  and "4 of 8 runs are in the table already" in output, output)
    suite.refuses("another_program_needs_another_table", "study", "sweep.toml", "--",
                  CHOLESKY + "-sim", "--nb", "{nb}", "--seed", "{tile}",
                  says=["other program", "-o"])


def names(suite):
    """Platforms are called as the study calls them, values that vary by their names."""
    suite.write("lab.toml", "nodes = 2\nbandwidth = \"1 GB/s\"\nlatency = \"5 us\"\n[node]\ncores = 4\n"
                "cpu_sp = \"40 GFlop/s\"\n")
    suite.write("lab-study.toml", STUDY.replace("small4", "lab.toml").replace("[1, 4]", "[1, 9]")
                .replace('"2..8 x4"', "[2, 3]").replace("flops = [1, 2]", "gpus = [0, 99]"))
    suite.orrery("study", "lab-study.toml")
    said = {row["what"] for row in rows(suite, "lab-study") if row["status"] == "refused"}
    suite.verdict("a_platform_has_the_name_that_the_study_gives_it", said and all(
        re.match(r"\[orrery\] lab\.toml(: gpus is \"99\"| has 2 hosts)", what) for what in said), said)
    page = read(suite, "lab-study", "index.html")
    suite.verdict("titles_have_values_and_names",
                  re.search(r"cholesky-sim .*nb NB .*tile 960 on lab\.toml", page), page[-3000:])


def links(suite):
    """A factor and a value for the network; properties of hosts."""
    for values in (("bandwidth=1,0.1,25GBps", "gpus=1"), ("bandwidth=1", "gpus=0")):
        suite.orrery("study", "--sim", "small4", "--set", "nodes=4", "--set", "scheduler=dmda",
                     "--set", values[0], "--set", values[1], "-o", "links", "--",
                     CHOLESKY + "-sim", "--nb", "8", "--tile", "960")
    times = {(row["bandwidth"], row["gpus"]): float(row["time_s"] or 0)
             for row in rows(suite, "links")}
    suite.verdict("bandwidth_is_a_factor_or_a_value", times["0.1", "1"] > times["1", "1"]
                  and times["25GBps", "1"] == times["1", "1"], times)
    suite.verdict("gpus_are_set", times["1", "0"] > 2 * times["1", "1"] > 0, times)


def failures(suite):
    command = ["study", "--sim", "small4", "--set", "nodes=4,8", "--set", "x=1", "--set",
               "latency=2", "-o", "bad", "--", CHOLESKY + "-sim", "--nb", "2", "--seed", "{x}"]
    status, output = suite.orrery(*command)
    found = {row["nodes"]: row for row in rows(suite, "bad")}
    suite.verdict("an_impossible_point_is_a_row", status == 1 and found["4"]["status"] == "ok"
                  and found["8"]["status"] == "refused" and "small4 has 4 hosts" in found["8"]["what"],
                  (status, output))
    status, output = suite.orrery(*command)
    suite.verdict("a_failure_is_not_repeated", status == 1 and " of 1:" not in output, output)
    status, output = suite.orrery(*command[:1], "--retry", *command[1:])
    suite.verdict("unless_it_is_asked_for", status == 1 and "1 of 1: nodes=8" in output
                  and len(rows(suite, "bad")) == 2, output)
    command = ["study", "--set", "s=0,100", "--timeout", "3", "-o", "slow", "--", "sleep", "{s}"]
    status, output = suite.orrery(*command)
    found = {row["s"]: row["status"] for row in rows(suite, "slow")}
    suite.verdict("a_run_without_end_is_ended", status == 1 and
                  found == {"0": "ok", "100": "timeout"}, (status, output))


def cut(suite):
    """Ended in the middle, and by a row that is half written."""
    forever = "9%d" % os.getpid()
    command = [sys.executable, ORRERY, "study", "--set", "s=0,0.1," + forever, "-o", "cut", "--",
               "sleep", "{s}"]
    with subprocess.Popen(command, cwd=suite.directory, stderr=subprocess.PIPE,
                          text=True) as study:
        for _ in range(2): # the third run begins
            study.stderr.readline()
        study.send_signal(signal.SIGTERM)
        said = study.stderr.read()
    suite.verdict("a_signal_ends_it", study.returncode == 130 and "the same command goes on"
                  in said, (study.returncode, said))
    suite.verdict("what_was_found_is_kept", [row["s"] for row in rows(suite, "cut")]
                  == ["0", "0.1"], rows(suite, "cut"))
    left = subprocess.run(["pgrep", "-f", "sleep " + forever], capture_output=True, text=True)
    suite.verdict("no_run_outlives_it", left.returncode == 1, left.stdout)
    path = os.path.join(suite.directory, "cut", "runs.csv")
    os.truncate(path, os.path.getsize(path) - 5)
    status, output = suite.orrery("study", "--set", "s=0,0.1", "-o", "cut", "--", "sleep", "{s}")
    suite.verdict("half_a_row_is_run_again", status == 0 and "1 of 1: s=0.1" in output
                  and len(rows(suite, "cut")) == 2, output)


def full(suite):
    """A disk that takes no more, as far as a limit of the size of files is one."""
    values = ",".join("0.0%02d" % i for i in range(12))
    command = ["study", "--set", "s=" + values, "-o", "full", "-j", "1", "--", "sleep", "{s}"]
    status, output = suite.orrery(*command, limit=(resource.RLIMIT_FSIZE, 350))
    kept = rows(suite, "full")
    suite.verdict("a_full_disk_ends_it", status == 2 and "cannot be written" in output
                  and "make room" in output, (status, output))
    suite.verdict("and_costs_no_row", 0 < len(kept) < 12 and
                  read(suite, "full", "runs.csv").endswith("\n"), kept)
    status, output = suite.orrery(*command)
    suite.verdict("with_room_it_goes_on", status == 0 and len(rows(suite, "full")) == 12, output)
    picture = os.path.join(suite.directory, "full", "runs.png")
    if os.path.exists(picture): # where matplotlib is
        os.remove(picture)
        os.mkdir(picture)
        status, output = suite.orrery(*command)
        suite.verdict("a_picture_without_place", status == 2 and "the table is whole" in output
                      and len(rows(suite, "full")) == 12, (status, output))


def search(suite):
    status, output = suite.orrery("study", "sweep.toml", "--set", "nodes=1", "--set", "nb=1",
                                  "--set", "gpus=0", "--set", "scheduler=dmda,eager",
                                  "--sensitivity", "50")
    effects = {row["parameter"]: row for row in rows(suite, "sweep-sensitivity",
                                                     "sensitivity.csv")}
    slope = float(effects["flops"]["elasticity"])
    suite.verdict("one_kernel_alone_depends_on_flops", status == 0 and -1.01 < slope < -0.8,
                  output)
    suite.verdict("and_not_on_the_network", float(effects["bandwidth"]["time_change_percent"]) == 0
                  and "scheduler" in effects, output)
    status, output = suite.orrery(
        "study", "sweep.toml", "--set", "flops=1", "--set", "scheduler=dmda", "-o", "cross",
        "--crossover", "nb=2..17", "--between", "nodes=1,4", "--quiet")
    told = suite.orrery("study", "--sim", "small4", "--set", "tile=960", "-o", "bare",
                        "--crossover", "nb=2..3", "--between", "nodes=1,4", "--quiet", "--",
                        CHOLESKY + "-sim", "--nb", "{nb}", "--tile", "{tile}")
    suite.verdict("what_a_search_names_needs_no_set", told[0] == 0 and "nodes=" in told[1], told)
    words = output.split()
    good = status == 0 and "nodes=1 is faster up to nb=" in output
    last = int(words[5].rstrip(",").split("=")[1]) if good else 0
    times = {(row["nodes"], row["nb"]): float(row["time_s"]) for row in rows(suite, "cross")}
    suite.verdict("bisection_finds_where_four_nodes_win", good and
                  times["1", str(last)] < times["4", str(last)] and
                  times["1", str(last + 1)] >= times["4", str(last + 1)], output)


# A program without the library; X is "-" for a result that is none.
REPORTER = """#!%s
import os, sys
print("speed: %%s" %% sys.argv[1])
sys.exit(sys.argv[1] == "9" or os.environ.get("OMPI_COMM_WORLD_SIZE", "1") != "1")
""" % sys.executable
REPORTS = "program = './reporter.py {x}'\n%s\n[parameters]\nx = %s\n[results]\n%s = 'speed: (.*)'\n%s"


def no_numbers(suite):
    """What programs print may be none, and all of the changes may fail."""
    os.chmod(os.path.join(suite.directory, suite.write("reporter.py", REPORTER)), 0o755)
    suite.write("dash.toml", REPORTS % ("", "['1', '-', '1e', '3']", "speed", "[picture]\ny = 'speed'\n"))
    status, output = suite.orrery("study", "dash.toml")
    suite.verdict("what_is_no_number_is_not_drawn", status == 0 and exists(suite, "dash", "index.html") and
                  [row["speed"] for row in rows(suite, "dash")] == ["1", "-", "1e", "3"], (status, output))
    suite.write("time.toml", REPORTS % ("", "['1', '-']", "time_s", ""))
    status, output = suite.orrery("study", "time.toml", "--sensitivity")
    found = {row["x"]: row for row in rows(suite, "time-sensitivity") if row["nodes"] == "1"}
    suite.verdict("a_time_that_is_no_number_is_a_failure", status == 1 and found["-"]["status"] == "failed"
                  and '"-", which is no number' in found["-"]["what"] and found["1"]["status"] == "ok",
                  (status, output))
    suite.write("fails.toml", REPORTS % ("", "[1, 9]", "speed", ""))
    status, output = suite.orrery("study", "fails.toml", "--sensitivity")
    suite.verdict("all_changes_may_fail", status == 1 and "2 runs failed" in output and
                  exists(suite, "fails-sensitivity", "index.html"), (status, output))


class Weighed:
    """A runner: the first choice is faster at 0 only."""

    def __init__(self):
        self.nruns = 0

    def run(self, points):
        self.nruns += len(points)
        return [{"status": "ok", "time_s": "1" if point["a"] == "p" else "2" if point["x"] == 0 else "0.5"}
                for point in points]


def search_from_nothing(suite):
    plan, runner = Plan(), Weighed()
    plan.parameters = {"x": [0.5], "a": ["p", "q"]}
    said = Crossover(plan, runner, "x=0..1.0", "a=p,q").run()
    suite.verdict("a_search_that_begins_at_0_ends", runner.nruns < 60 and said.startswith("a=p is faster up to x=0,"),
                  (runner.nruns, said))


class Lines(str):
    """Output whose copies are counted."""
    copied = 0

    def __getitem__(self, key):
        part = str.__getitem__(self, key)
        Lines.copied += len(part)
        return part


def many_results(suite):
    """The work grows as the output does, not as its square."""
    output = Lines("".join("step %d took 1.5 s of %s\n" % (i, "a" * (i % 7)) for i in range(2000)))
    found, odd = result_of("took ([0-9.]+) s", output)
    suite.verdict("each_line_is_looked_at_once", found == "1.5" and "aaaaaa" in odd and
                  Lines.copied <= 200 * 2000, (Lines.copied, odd))


def submission(suite):
    status, output = suite.orrery(
        "study", "--submission", "--sim", "small4", "--set", "nodes=1,4", "--set", "prune=,--prune",
        "--real", CHOLESKY + " --nb 12 --tile 16 --no-check {prune}", "-o", "sub", "--",
        CHOLESKY + "-sim", "--nb", "12", "--tile", "960", "{prune}")
    table = {(row["nodes"], row["prune"]): row for row in rows(suite, "sub", "submission.csv")}
    suite.verdict("ranks_are_pretended", status == 0 and table["4", ""]["inserted"] == "364"
                  and int(table["4", "--prune"]["inserted"]) < 364, (status, output))
    suite.verdict("a_task_has_a_cost", all(float(row["ns_per_task"]) > 0 for row in table.values()),
                  table)
    suite.verdict("the_simulated_run_stands_beside", float(table["4", ""]["simulated_s"]) > 0
                  and "submission" in output, output)


def mistakes(suite):
    sim = ["study", "--sim", "small4"]
    app = ["--", CHOLESKY + "-sim", "--nb", "{nb}"]
    suite.refuses("nothing_to_run", "study", says=["nothing to run"])
    suite.refuses("no_file", "study", "none.toml", says=["none.toml cannot be read"])
    suite.refuses("no_toml", "study", suite.write("a.toml", "program = \n"), says=["a.toml", "line 1"])
    suite.refuses("unknown_setting", "study", suite.write("b.toml", "programm = 'x'\n"),
                  says=["programm", "there are program"])
    suite.refuses("a_place_without_parameter", *sim, *app, says=["{nb}", "no parameter nb"])
    suite.refuses("a_parameter_without_place", *sim, "--set", "nb=2", "--set", "tile=3", *app,
                  says=["nothing uses the parameter tile"])
    suite.refuses("a_misspelt_parameter", *sim, "--set", "nb=2", "--set", "sheduler=lws", *app,
                  says=["nothing uses the parameter sheduler", "; did you mean scheduler?"])
    suite.refuses("a_range_that_shrinks", *sim, "--set", "nb=9..2 x2", *app,
                  says=["9..2", "a range that grows"])
    suite.refuses("a_range_without_step", *sim, "--set", "nb=2..9", *app,
                  says=["2..9", "without its step", "\"2..9 +1\""])
    suite.refuses("no_nodes", *sim, "--set", "nb=2", "--set", "nodes=0", *app,
                  says=["nodes has the value 0"])
    suite.refuses("machine_of_a_real_run", "study", "--set", "nb=2", "--set", "gpus=1", *app,
                  says=["gpus", "simulated machine"])
    suite.refuses("too_many_runs", *sim, "--set", "nb=1..1000 +1", "--set",
                  "nodes=1..1000 +1", *app, says=["1000000 runs"])
    suite.refuses("a_result_without_group", "study", suite.write(
        "c.toml", STUDY.replace("([0-9.]+)", "x")), says=["result speed", "one group"])
    for claim, axes in ("x", 'x = "nodez"'), ("y", 'y = "speeed"'):
        text = re.sub(r"\[picture\]\n(.+\n)*", "", STUDY)
        suite.refuses("a_picture_of_no_" + claim, "study", suite.write(
            "d.toml", text + "\n[picture]\n" + axes + "\n"), says=["[picture] %s = " % claim])
        suite.verdict("before_any_run_for_" + claim, not os.path.exists(
            os.path.join(suite.directory, "d")), os.listdir(suite.directory))
    suite.refuses("no_such_program", "study", "--sim", "small4", "--set", "nb=2", "--", "./nosuch",
                  "{nb}", says=["program ./nosuch does not exist"])
    suite.refuses("between_without_crossover", *sim, "--set", "nb=2", "--between", "nb=2,3", *app,
                  says=["--between belongs to --crossover"])
    suite.refuses("crossover_of_no_parameter", *sim, "--set", "nb=2", "--crossover", "x=1..2",
                  "--between", "nb=2,3", *app, says=["--crossover x=1..2"])
    suite.refuses("two_studies", *sim, "--set", "nb=2", "--submission", "--sensitivity", "5", *app,
                  says=["two studies"])
    for claim, setting, axis in (("jobs", "jobs = -1", ""), ("timeout_s", "timeout_s = 0", ""),
                                 ("picture", "", "[picture]\nx = ['x']\n")):
        suite.refuses("a_%s_that_is_none" % claim, "study", suite.write(
            "e.toml", REPORTS % (setting, "[1, 3]", "speed", axis)), says=[claim])
    suite.refuses("no_real_program", *sim, "--set", "nb=2", "--submission", *app,
                  says=["--real"])
    status, output = suite.orrery(*sim, "--set", "nb=2,0", "--set", "scheduler=lws,none", "-o",
                                  "why", *app)
    why = {(row["nb"], row["scheduler"]): row["what"] for row in rows(suite, "why")}
    suite.verdict("a_scheduler_that_is_none_is_a_row", status == 1 and why["2", "lws"] == ""
                  and '"none" was not found; expected eager' in why["2", "none"], (status, why))
    suite.verdict("a_row_has_the_reason_of_the_program", "--nb needs a number" in why["0", "lws"],
                  why)
    status, output = suite.orrery(*sim, "--set", "nb=2", "--set", "bandwidth=fast", "-o", "m", *app)
    suite.verdict("a_bandwidth_that_is_none_is_a_row", status == 1 and "25GBps" in
                  rows(suite, "m")[0]["what"], output)


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        failures_of_start = [name for name in (CHOLESKY,) if not os.path.exists(name)]
        if failures_of_start or not configured("sim"):
            print("SKIP study: %s and its simulated build are needed" % CHOLESKY)
            return 77
        for part in (sweep, names, links, failures, cut, full, search, no_numbers, search_from_nothing,
                     many_results, submission, mistakes):
            part(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
