#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery calibrate: a machine that is known is found again; what it writes is taken by run."""
import os
import subprocess
import sys
import tempfile
import unittest.mock

from run import ORRERY, SRC, Suite, configured

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import (calibrate, calibrate_costs, calibrate_job,   # noqa: E402
                         calibrate_programs, load, steady)
from orrery_tool.place import Place      # noqa: E402
from orrery_tool.words import Refusal    # noqa: E402

# Descriptions whose simulation is measured as if it were a machine.
KNOWN = {
    "fast": 'nodes = 2\nlink = "HDR"\n',
    "ethernet": 'nodes = 2\nlink = "1G-Ethernet"\n',
    "by_size": 'nodes = 2\nlatency = "3 us"\nmessage_cost = "1 us"\nbandwidth = "5 GB/s"\n'
               'bandwidth_factors = "0:0.1;1000:0.3;20000:0.6;500000:1"\n',
}
REAL = {("alone", 8): 1e-6, ("alone", 64): 1.1e-6, ("alone", 1024): 2e-6, ("flood", 64): 4e-7}


def known_machines(suite, place):
    for name, text in KNOWN.items():
        directory = os.path.join(suite.directory, name)
        args = calibrate.calibrate_parser().parse_args(["-o", directory, "--name", name])
        os.makedirs(directory)
        suite.write("known.toml", text)
        real = calibrate.means(calibrate.run(
            place, args, calibrate.SIMULATED,
            os.path.join(suite.directory, "known.toml")))
        found = calibrate.fit(place, args, real)
        wrong = {key: "%.1f %%" % (100 * value)
                 for key, value in calibrate.differences(real, found).items()
                 if abs(value) > 0.06}
        suite.verdict("finds_%s_again_within_6_percent" % name, not wrong, wrong)
        suite.succeeds("what_it_writes_of_%s_is_good" % name, "platform", "--check",
                       os.path.join(directory, name + ".toml"), says="good: 2 nodes")


def interrupted(suite, place):
    """An earlier description is whole until there is another; one program may fail once."""
    directory = os.path.join(suite.directory, "again")
    args = calibrate.calibrate_parser().parse_args(["-o", directory, "--name", "again"])
    os.makedirs(directory)
    suite.write("again/again.toml", "earlier")

    def stop(*_):
        raise KeyboardInterrupt
    with unittest.mock.patch.object(calibrate, "run", stop):
        try:
            calibrate.fit(place, args, dict(REAL))
        except KeyboardInterrupt:
            pass
    with open(os.path.join(directory, "again.toml"), encoding="ascii") as f:
        kept = f.read()
    suite.verdict("a_description_is_whole_or_the_earlier_one", kept == "earlier" and
                  os.listdir(directory) == ["again.toml"], (kept, os.listdir(directory)))
    for nfailures, expected in ((1, "said"), (2, None)):
        ends = [subprocess.CompletedProcess([], 1, "", "hung")] * nfailures + \
            [subprocess.CompletedProcess([], 0, "said", "")]
        with unittest.mock.patch.object(subprocess, "run", lambda *_, **options: ends.pop(0)):
            try:
                said = calibrate_programs.run(place, 2, [], "calibrate_network", [1])
            except Refusal as refusal:
                said = None if "ended with status 1: hung" in str(refusal) else str(refusal)
        suite.verdict("a_program_that_fails_%d_times" % nfailures, said == expected, said)
    denied = unittest.mock.Mock(side_effect=PermissionError(13, "Permission denied"))
    with unittest.mock.patch.object(calibrate.tempfile, "TemporaryFile", denied):
        try:
            calibrate.check_arguments(args)
            said = ""
        except Refusal as refusal:
            said = str(refusal)
    suite.verdict("a_directory_that_refuses_files_is_refused_first",
                  "nothing can be written in" in said and "-o" in said, said)


def launches(suite):
    """Each launch of two ranks takes other times, as where a host moves a virtual machine."""
    factors = [1.6, 1, 1.3, 0.9, 1.1]
    asked, order = [], []

    def costs(place, rounds, shared, launch):
        order.append("costs")
        return {"lws wake": (len(order), 9 - len(order), 1 if len(order) < 6 else 1.9)}

    def run(place, args, repetitions):
        order.append("messages")
        asked.append(repetitions)
        factor = factors[len(asked) - 1]
        return {key: (factor * value, 2 * factor * value, 3 * factor * value) for key, value in REAL.items()}
    args = calibrate.calibrate_parser().parse_args(["--repetitions", "1001"])
    with unittest.mock.patch.object(calibrate, "run", run):
        passes = calibrate_costs.Passes(None, args)
        with unittest.mock.patch.object(calibrate_costs, "measure", costs):
            measured, words = calibrate.measure(None, args, passes.one_more)
            together = passes.together()
    suite.verdict("launches_are_spread_among_the_costs",
                  order == ["messages", "costs"] * 3 + ["messages"] * 2, order)
    suite.verdict("the_mean_of_all_passes_counts", together == {"lws wake": (2, 3, 1.3)}, together)
    suite.verdict("takes_the_median_of_launches", asked == [201] * 5 and all(
        abs(measured[key][i] / (1.1 * (i + 1) * REAL[key]) - 1) < 1e-9
        for key in REAL for i in (0, 1)), (asked, measured))
    suite.verdict("and_the_mean_of_what_programs_pay", all(
        abs(seconds / (1.18 * 3 * REAL[key]) - 1) < 1e-9
        for key, seconds in calibrate.means(measured).items()), measured)
    suite.verdict("but_no_launch_in_a_slow_phase",
                  calibrate_costs.mean([1, 1.6, 1, 30, 0.9]) == 1.125, "")
    suite.verdict("says_how_launches_differ", "largest is 78 % above" in words, words)


def states(suite):
    """A machine that has two, 26 and 160 ns from core to core, and changes to and fro."""
    def play(looks, longest_s=300):
        looks, done, clock = list(looks), [], iter(range(100))
        state = steady.Steady(lambda: looks.pop(0) * 1e-9 if looks[0] else looks.pop(0),
                              longest_s=longest_s, sleep=lambda _: done.append("sleep"),
                              clock=lambda: next(clock))
        result = state.launch(lambda: done.append("launch") or len(done), lambda: done.append("undo"))
        return done, result, state.words(), looks
    done, result, words, left = play([26, 25, 160, 160, 30, 27])
    suite.verdict("a_launch_of_another_state_is_made_again",
                  done == ["launch", "undo", "sleep", "launch"] and result == 4 and not left, done)
    suite.verdict("and_told", "takes 26 ns from core to core, at times 160; launches that were made again: 1" in words and
                  "of both" not in words, words)
    done, result, words, left = play([26, 26, 160], 0.5)
    suite.verdict("who_has_no_patience_goes_on", done == ["launch"] and "of both: 1;" in words, words)
    now, looks = [0], []
    state = steady.Steady(lambda: looks.append(now[0]), clock=lambda: now[0])
    for now[0] in (1, 1.3, 9):
        state.launch(lambda: None)
    suite.verdict("a_look_is_worth_half_a_second", looks == [0, 1, 1, 1.3, 9, 9], looks)
    done, result, words, left = play([26, 160, 160, 160], 2)
    suite.verdict("a_state_that_never_returns_is_told", done == ["sleep", "sleep", "launch"] and
                  "though they are of both: 1;" in words, (done, words))
    for looks in ([26, 26, 51], [None, None, None]):
        done, result, words, left = play(looks)
        suite.verdict("one_state_says_nothing_%s" % looks[0], done == ["launch"] and not words, words)
    words = calibrate_costs.compare({"core_to_core": 2.6e-8, "lws wake": 1e-5},
                                    {"core_to_core": (1.6e-7,) * 3, "lws wake": (1e-5,) * 3})
    suite.verdict("costs_of_another_state_are_told", "another state" in words and
                  "takes 160 ns from core to core, 26 before" in words, words)


def loads(suite):
    """Others on a machine of two cores, of whose ten seconds we take five."""
    def play(used_s, stolen_s=0, own_s=5, cores=(0, 1)):
        spent, own, clock = [(100, 7), (100 + used_s, 7 + stolen_s)], [3, 3 + own_s], [50, 60]
        with unittest.mock.patch.object(load, "cores_usable", lambda: set(cores)):
            return load.Load(*(lambda values=values: values.pop(0) if len(values) > 1 else values[0]
                               for values in (spent, own, clock)))
    cases = [(name, play(*values)) for name, values in (
        ("calm", (5.5,)), ("busy", (18,)), ("stolen", (5, 4)), ("unread", (5, 0, 6)))]
    words = {name: found.words() + found.advice() for name, found in cases}
    suite.verdict("says_how_busy_it_was", "had 0.05 of 2 cores" in words["calm"]
                  and "had 1.30 of 2 cores" in words["busy"] and "host of this virtual machine 0.40" in words["stolen"]
                  and "had 0.00 of 2" in words["unread"], words)
    suite.verdict("and_what_to_do", [name for name in words if "calibrate again when nobody else uses it" in words[name]]
                  == ["busy", "stolen"], words)
    suite.write("stat", "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 500 60 7 3 40 5 5\ncpu1 1 1 1 1 1 1 1 1 1 1\n")
    tick = os.sysconf("SC_CLK_TCK")
    found = load.spent_s({0}, os.path.join(suite.directory, "stat"))
    suite.verdict("of_the_cores_that_it_may_use", found == (160 / tick, 40 / tick)
                  and load.spent_s({0}, "/no/where") is None, found)
    said = []
    for name, found in cases:
        load.warn_if_busy(said.append, lambda _: None, found)
    suite.verdict("a_busy_machine_is_told_before_minutes_are_spent", len(said) == 2 and
                  "others" not in said[0] and "have 1.30 of 2 cores now" in said[0] and "Ctrl-C" in said[0], said)
    args = calibrate.calibrate_parser().parse_args([])
    few = []
    for cores in ({3}, {3, 5}):
        with unittest.mock.patch.object(calibrate, "cores_usable", lambda: cores):
            few.append(calibrate.few_cores(args))
    suite.verdict("one_core_says_what_it_cannot_measure", "from core to core is not measured" in few[0] and not few[1], few)
    text = calibrate.Machine(args, REAL).text(load="# Load: much.\n")
    suite.write("loaded.toml", text)
    suite.succeeds("a_description_may_say_it", "platform", "--check", "loaded.toml", says="good")
    suite.verdict("in_its_head", "\n# Load: much.\nabout" in text, text)


def judgements(suite):
    slower = {key: value * (1.3 if key[0] == "alone" else 1) for key, value in REAL.items()}
    suite.verdict("says_that_nothing_changed", "as before" in calibrate.compare(
        REAL, {key: 1.05 * value for key, value in REAL.items()}), calibrate.compare(REAL, REAL))
    suite.verdict("says_that_it_changed", "has changed: 3 of 4" in
                  calibrate.compare(REAL, slower), calibrate.compare(REAL, slower))
    disturbed = dict(REAL)
    disturbed["alone", 64] = 1
    suite.verdict("a_larger_message_is_not_faster",
                  calibrate.risen(disturbed)["alone", 64] == 2e-6, calibrate.risen(disturbed))
    calm = calibrate.noise({key: (value, 1.02 * value, value) for key, value in REAL.items()})
    busy = calibrate.noise({key: (value, 3 * value, value) for key, value in REAL.items()})
    suite.verdict("says_how_noisy_it_was", " 2 % above" in calm and "busy" not in calm
                  and "the machine is busy" in busy, calm + busy)
    apart = [calibrate.spread([{key: (value * factor, 0) for key, value in REAL.items()}
                               for factor in (1, 1.1, most)]) for most in (1.9, 1300)]
    suite.verdict("says_how_far_launches_are_apart", "90 % above" in apart[0] and "busy" not in apart[0]
                  and "the machine is busy" in apart[1], apart)
    # Two launches on one virtual machine, a minute apart.
    slow = {("alone", 8): 9e-7, ("both", 8): 1.1e-6, ("alone", 65536): 37e-6, ("both", 65536): 9.6e-6,
            ("alone", 1048576): 545e-6, ("both", 1048576): 84e-6, ("flood", 64): 2e-7}
    fast = {**slow, ("alone", 65536): 13.4e-6, ("both", 65536): 8.2e-6,
            ("alone", 1048576): 128e-6, ("both", 1048576): 81e-6}
    suite.verdict("says_that_the_host_was_in_a_slow_phase",
                  "65536 bytes and more took 5.2 times" in calibrate.phase(slow)
                  and "calibrate again" in calibrate.phase(slow)
                  and not calibrate.phase(fast) and not calibrate.phase(REAL),
                  (calibrate.phase(slow), calibrate.phase(fast)))
    machine = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), {
        ("alone", 8): 75.433333e-6, ("alone", 64): 8e-5, ("alone", 1024): 9e-5,
        ("flood", 64): 1e-3})
    suite.write("slow.toml", machine.text())
    suite.succeeds("a_flood_slower_than_a_message_is_no_contradiction", "platform", "--check",
                   "slow.toml", says="good")
    errors = calibrate.left_out(calibrate.Machine(
        calibrate.calibrate_parser().parse_args([]), REAL))
    suite.verdict("leaves_sizes_out", len(errors) == 1 and 0.05 < errors[0] < 0.3, errors)
    for claim, words, says in (
            ("name", ["--name", "a b"], ["a b", "letters"]),
            ("nodes", ["--nodes", "1"], ["2 or more"]),
            ("directory", ["-o", "/proc/none"], ["/proc/none"])):
        suite.refuses("refuses_" + claim, "calibrate", *words, says=says)


# What the programs say of a machine that is known.
COSTS = {
    "eager task_0": (1e-7, 2e-7), "dmda task_0": (4e-7, 4e-7), "lws task_0": (2e-7, 3e-7),
    "lws task_3": (5e-7, 6e-7), "lws submit_0": (3e-7, 3e-7), "lws submit_3": (9e-7, 1e-6),
    "lws wake": (3e-6, 9e-6), "lws main_wake": (4e-6, 8e-6), "lws switch": (2e-6, 3e-6),
    "eager wake": (2e-5, 3e-5), "eager main_wake": (1e-5, 4e-6),
    "submit_new": (2e-6, 2e-6), "gap 24": (1e-7, 4e-7), "gap 2400": (1e-6, 2.5e-6), "gap 3840000": (3e-6, 2e-6),
    "page": (8e-7, 9e-7), "insert_foreign_3": (2e-8, 3e-8), "insert_own_3": (9e-7, 9e-7), "post": (1e-7, 2e-7),
    "message_idle": (8e-6, 1e-5), "message_busy": (4e-4, 8.1e-4),
    "set 1": (1e-4, 1e-4), "set 4": (9e-5, 3e-4), "set 16": (1.25e-4, 2e-4),
    "exchange_send": (3e-7, 3e-7), "exchange_receive": (5e-7, 6e-7),
    "lone set 4": (1.8e-4, 6e-4), "lone small 16": (2e-5, 3e-5),
    "set 64": (2e-4, 2e-4), "small 1": (5e-6, 5e-6), "small 16": (1e-5, 1e-5),
}
# What programs pay is the mean, which is that of the gaps here, else above the quiet tenth.
COSTS = {case: (0.9 * least, median, median if case.startswith("gap") else least)
         for case, (least, median) in COSTS.items()}


def costs(suite):
    found = calibrate_costs.figures(COSTS)
    wrong = {name: (found.get(name), value) for name, value in {
        "submit_cost": 1.4e-6, "submit_datum_cost": 2e-7, "insert_cost": 2e-8, "post_cost": 1e-7,
        "push_cost": 2e-7, "fetch_cost": 1e-7, "wake_cost": 1.91e-5, "main_wake_cost": 5.9e-6,
        "switch_cost": 2e-6, "page_cost": 8e-7, "poll_wait": 8e-4,
        "exchange_cost": 4e-7}.items()
        if abs(found.get(name, 0) - value) > 1e-12}
    suite.verdict("costs_are_what_the_programs_say", not wrong, wrong)
    suite.verdict("costs_by_policy", found["push_costs"] == "eager:1e-07;lws:2e-07;dmda:4e-07",
                  found)
    # Of a task with three data 0.5 us are charged already.
    suite.verdict("what_a_task_costs_more_rises_with_its_bytes",
                  found["cold_costs"] == "0:0;240:2e-06;96000:2e-06", found)
    suite.verdict("a_receiver_alone_has_half_of_the_bandwidth", found["lone_copy"] == "0.5", found)
    # A larger set that is faster was not disturbed where a smaller one was.
    suite.verdict("the_bandwidth_falls_with_the_set",
                  found["copy_factors"] == "0:1;2097152:1;8388608:0.8;33554432:0.5", found)
    # Of a value alone that takes 0.2 ms the fit has found half to be waits, which others overlap.
    fitted = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), {**REAL, ("alone", 1 << 20): 2e-4},
                               lambda bytes_s: calibrate_costs.text(calibrate_costs.figures(COSTS, bytes_s)))
    fitted.seconds[1 << 20], fitted.seconds[1 << 16] = 1e-4, 8e-6
    suite.verdict("many_values_take_as_long_as_measured", "33554432:0.5\"" in fitted.text()
                  and 'small_copy_factors = "0:1;4194304:0.8"' in fitted.text(), fitted.text())
    disturbed = calibrate_costs.figures(COSTS, lambda _: 1.5e-4)
    suite.verdict("no_slower_than_a_value_alone_that_was_disturbed",
                  disturbed["copy_factors"] == "0:1;2097152:1;8388608:1;33554432:0.75", disturbed)
    waits = [calibrate_costs.figures({**COSTS, "message_busy": (seconds, seconds, seconds)})["poll_wait"]
             for seconds in (1.19e-5, 1.21e-5)] # 2 us are a change of thread, 10 a message beside no task
    suite.verdict("a_wait_too_short_for_another_thread_is_none", waits[0] == 0
                  and abs(waits[1] - 2.1e-6) < 1e-12, waits)
    # A value of the smallest set takes 5 us, of which the fit finds 4 to be its bytes: 10 us are 2.5 times these.
    fast = calibrate_costs.figures(COSTS, lambda size: {1 << 16: 4e-6, 1 << 20: 5e-5}[size])
    suite.verdict("what_a_set_waits_for_is_no_time_of_its_bytes", fast["small_copy_factors"] == "0:1;4194304:0.4"
                  and fast["copy_factors"] == "0:1;2097152:0.5;8388608:0.4;33554432:0.25", fast)
    alone = calibrate_costs.figures({case: values for case, values in COSTS.items()
                                     if case.split()[0].split("_")[0] not in
                                     ("set", "small", "post", "message", "lone", "exchange")})
    suite.verdict("ranks_on_other_hosts_have_no_wait", "poll_wait" not in alone
                  and not any("copy_factors" in name for name in alone) and "lone_copy" not in alone
                  and "exchange_cost" not in alone and "submit_cost" in alone, alone)
    suite.verdict("costs_as_before", "costs as before" in calibrate_costs.compare(
        {case: 1.2 * values[0] for case, values in COSTS.items()}, COSTS), "")
    said = calibrate_costs.compare({case: values[0] / 2 for case, values in COSTS.items()}, COSTS)
    suite.verdict("costs_have_changed", "costs have changed: 31 of 31" in said
                  and ": 2 times" in said, said)
    machine = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), REAL,
                                lambda _: calibrate_costs.text(found))
    suite.write("costs.toml", machine.text())
    status, said = suite.orrery("platform", "costs.toml", "-o", "costs.xml")
    with open(os.path.join(suite.directory, "costs.xml"), encoding="utf-8") as f:
        text = f.read()
    missing = [name for name in found if 'id="%s"' % name not in text]
    suite.verdict("costs_reach_the_platform", status == 0 and not missing
                  and 'id="poll_wait" value="0.0008"' in text, (said, missing, text))
    suite.succeeds("and_are_good_there", "platform", "--check", "costs.xml", says="nothing is wrong")
    suite.refuses("refuses_rounds", "calibrate", "--rounds", "-1", says=["--rounds", "0 or more"])


def floods(suite):
    """A message that sender and receiver copy one after the other: many at once take the longer."""
    real = {("alone", 8): 1e-6, ("alone", 64): 1e-6, ("alone", 4096): 5e-6, ("alone", 16384): 8e-6,
            ("flood", 64): 4e-7, ("flood", 4096): 3e-6, ("flood", 16384): 7.5e-6}
    machine = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), real)
    for _ in range(calibrate.PASSES):
        machine.learn({(case, size): machine.seconds[size] + (case == "alone") * (
            machine.latency_s + machine.delays.get(size, 0)) for case, size in real})
    suite.verdict("what_many_share_is_no_time_of_the_bytes",
                  abs(machine.seconds[4096] - 3e-6) < 1e-12 and abs(machine.delays[4096] - 1e-6) < 2e-8,
                  (machine.seconds, machine.delays))
    suite.verdict("one_alone_goes_first", machine.delays[16384] == 0
                  and abs(machine.seconds[16384] - 7e-6) < 2e-8, (machine.seconds, machine.delays))
    suite.write("floods.toml", machine.text())
    suite.orrery("platform", "floods.toml", "-o", "floods.xml")
    with open(os.path.join(suite.directory, "floods.xml"), encoding="utf-8") as f:
        text = f.read()
    suite.verdict("latencies_by_size_reach_the_platform",
                  'id="smpi/lat-factor" value="%s"' % machine.latency_factors() in text, text)


def steep(suite):
    """Caches that stretch large values, and mains that fall asleep meanwhile: corrections of the whole
    error would go to and fro for ever."""
    real = {("alone", 8): 1e-6, ("alone", 65536): 20e-6, ("alone", 1 << 20): 124e-6,
            ("alone", 1 << 22): 500e-6, ("flood", 64): 4e-7}

    def simulated(machine):
        found = {("alone", size): seconds * (2.5 if size == 1 << 22 else 1) + machine.latency_s
                 for size, seconds in machine.seconds.items()}
        found["alone", 1 << 20] += (found["alone", 1 << 20] > 100e-6) * 34e-6
        return {**found, ("flood", 64): 4e-7}
    machine = calibrate.Machine(calibrate.calibrate_parser().parse_args([]), real)
    for _ in range(calibrate.PASSES):
        machine.learn(simulated(machine))
    machine.settle()
    apart = {size: simulated(machine)["alone", size] / real["alone", size] - 1 for size in machine.sizes}
    suite.verdict("what_caches_stretch_is_found", abs(apart[1 << 22]) < 0.01 and abs(apart[65536]) < 0.01, apart)
    # Either 100 us, awake, or 134, asleep: nothing in between can be simulated.
    suite.verdict("what_cannot_be_met_is_as_near_as_it_can", abs(apart[1 << 20]) < 0.2, apart)


def rank_of(suite, rank, size, hostfile=None):
    """What a process of a job of mpirun has made of its arguments and environment."""
    args = calibrate.calibrate_parser().parse_args(
        ["-o", os.path.join(suite.directory, "job")] + (["--hostfile", hostfile] if hostfile else []))
    os.makedirs(args.output, exist_ok=True)
    env = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size),
           "PMIX_NAMESPACE": "7", "OMPI_MCA_orte_hnp_uri": "x", "OMPI_MCA_btl": "self,vader"}
    with unittest.mock.patch.object(os, "uname") as uname:
        uname.return_value.nodename = "node%d" % (rank // 2)
        return calibrate_job.join(args, env, 0.2), args, env


def jobs(suite):
    try:
        said = str(rank_of(suite, 0, 3)[0])
    except Refusal as refusal:
        said = str(refusal)
    suite.verdict("a_rank_that_sees_another_directory_is_missed",
                  "rank 1 of the job" in said and "shared one" in said, said)
    others = [rank_of(suite, rank, 4)[0] for rank in (1, 2, 3)]
    measures, args, env = rank_of(suite, 0, 4)
    suite.verdict("one_rank_of_a_job_measures", others == [0, 0, 0] and measures == 1, others)
    suite.verdict("on_the_first_two_hosts_of_the_job",
                  args.hostfile and open(args.hostfile, encoding="utf-8").read()
                  == "node0\nnode1\n", args.hostfile)
    suite.verdict("and_leaves_the_job", list(env) == ["OMPI_MCA_btl"], env)
    rank_of(suite, 1, 2)
    suite.verdict("two_ranks_of_one_host_need_no_hostfile",
                  rank_of(suite, 0, 2)[1].hostfile is None, "")
    for rank in (1, 2):
        rank_of(suite, rank, 3)
    suite.verdict("the_users_hostfile_stays",
                  rank_of(suite, 0, 3, "mine")[1].hostfile == "mine", "")


def mpirun(suite):
    words = ["mpirun", *["--allow-run-as-root"] * (os.geteuid() == 0), "--oversubscribe",
             "-n", "2", sys.executable, ORRERY, "calibrate", "-o", "there", "--name", "there",
             "--tiles", "0", "--patience", "0", "--repetitions", "20", "--rounds", "0"]
    out = subprocess.run(words, cwd=suite.directory, text=True, capture_output=True,
                         timeout=200, check=False)
    suite.verdict("started_by_mpirun_it_measures_once", out.returncode == 0 and
                  out.stdout.count("orrery run --sim") == 1 and
                  os.path.exists(os.path.join(suite.directory, "there", "there.toml")), out)


def real_machine(suite):
    """Quick and unsure, but whole: files, table, comparison."""
    for i, says in enumerate(("measured", "of 31 figures")):
        status, said = suite.orrery("calibrate", "-o", "here", "--name", "here", "--tiles", "0",
                                    "--patience", "0", "--repetitions", "20", "--rounds", "3")
        suite.verdict("run_%d_measures_this_machine" % (i + 1), status == 0 and says in said
                      and (i == 0 or "costs " in said) and "cost   lws wake" in said
                      and "noise: " in said and said.count("measured ") >= 28, said)
    suite.succeeds("its_platform_is_good", "platform", "--check", "here/here.toml",
                   says="good: 2 nodes")


def main():
    if not (configured("sim") and configured("mpi")):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")
        suite = Suite(directory)
        judgements(suite)
        costs(suite)
        floods(suite)
        steep(suite)
        launches(suite)
        states(suite)
        loads(suite)
        jobs(suite)
        mpirun(suite)
        interrupted(suite, Place(os.path.join(SRC, "scripts")))
        known_machines(suite, Place(os.path.join(SRC, "scripts")))
        real_machine(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
