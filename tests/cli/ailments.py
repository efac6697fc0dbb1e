#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: the first or the second reason is the one why a program is slow, in programs
with the shapes of whole applications; see reasons.py for smaller ones."""
import os
import shutil
import subprocess
import sys
import tempfile

from reasons import FEW, counts_waits, reasons_of
from run import SRC, Suite, configured

AILING = os.path.join(SRC, "tests", "cli", "ailing.c")
# What the program does, platform and nodes; a reason that is among the first two, and words of it.
SIMULATED = [
    ("panel", "gpu64", 1, "no kernel for GPUs", "24 tasks of panel on the critical path"),
    ("panel", "gpu64", 4, "no kernel for GPUs", "Give it a kernel for GPUs (cuda_funcs)"),
    ("feed", "gpu64", 1, "too few CPU cores", "most of that those of prepare"),
    ("feed", "gpu64", 4, "too few CPU cores", "only cores can run, and 64 CPU cores"),
    ("slowgpu", "gpu64", 1, "slow worker", "CUDA 1 of node 0: its tasks take 4 times as long"),
    ("misplaced", "small4", 4, FEW, "run them where the datum is"),
    ("pingpong", "gpu64", 1, "tasks tied to a worker", "STARPU_CUDA_PIPELINE"),
    ("blocks", "gpu64", 1, FEW, "a chain of 16 tasks"),
    ("alternate", "small4", 1, "copies", "tasks that write data on the GPU that reads them next"),
    ("tail", "gpu64", 1, FEW, "a chain of 23 tasks"),
    ("sum", "gpu64", 1, FEW, "64 of them write one and the same datum"),
    ("bulk", "small4", 4, "pauses of the program", "starpu_mpi_barrier()"),
    ("collects", "small4", 4, "messages", "in line behind others"),
    ("stencil", "thin.xml", 16, "slow link", "to or from node 5 moved"),
    ("equal", "small4", 1, "one task at a time", "most of it one of update")]
# gpu64 has a scheduler of its own when nobody asks for another.
SCHEDULERS = {"pingpong": "eager", "equal": "eager"}
NOT = {"feed": ["no kernel for GPUs"], "slowgpu": ["noise"], "panel": ["one task at a time"]}
NEVER = {"slowgpu": "its binding", "blocks": "larger tiles"}
THIN = """<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Cluster">%s</zone></platform>
"""
THIN_HOST = """<link id="l%d" bandwidth="%s" latency="2us" sharing_policy="SPLITDUPLEX"/>
<host id="h%d" speed="1Gf" core="4"/><host_link id="h%d" up="l%d_UP" down="l%d_DOWN"/>
"""


def simulated(suite):
    suite.write("thin.xml", THIN % "".join(THIN_HOST % (
        i, "100MBps" if i == 5 else "2GBps", i, i, i, i) for i in range(16)))
    suite.orrery("cc", "--sim", AILING, "-o", "ailing-sim")
    for why, platform, nranks, reason, words in SIMULATED:
        name = "%s-%d" % (why, nranks)
        os.environ["STARPU_SCHED"] = SCHEDULERS.get(why, "dmdas")
        status, said = suite.orrery("run", "--sim", platform, "-n", str(nranks), "--quiet",
                                    "--trace", name, "./ailing-sim", why)
        del os.environ["STARPU_SCHED"]
        output = suite.orrery("report", name, "--text")[1]
        found = reasons_of(output)
        suite.verdict("%s_on_%d_nodes_is_%s" % (why, nranks, reason.replace(" ", "_")),
                      status == 0 and any(words in text for other, text in found[:2]
                                          if other == reason)
                      and not set(NOT.get(why, ())) & {other for other, _ in found}
                      and NEVER.get(why, "\n\n") not in output, said + output)
        if why == "feed":
            suite.verdict("smaller_tiles_are_no_advice_on_%d_nodes" % nranks,
                          "smaller tiles" not in output and
                          "The first reason below says why, and what helps." in output, output)


def around(suite):
    """What is no part of the run, but takes longer than it."""
    for why, words in (("startup", "500 ms from the start of the library to the first task"),
                       ("output", "500 ms from the end of the last task to the end")):
        suite.orrery("run", "--sim", "small4", "-n", "1", "--quiet", "--trace", why,
                     "./ailing-sim", why)
        output = suite.orrery("report", why, "--text")[1]
        suite.verdict("%s_is_told" % why, words in output.split("\n")[1] and
                      output.count("500 ms") == 1, output)


def real(suite):
    """As in reasons.py, where others have the cores that is what they find."""
    suite.orrery("cc", "-O2", AILING, "-o", "ailing")
    for why, knobs, reason, words in ((
            "wrongmodel", {"STARPU_NCPU": "2", "STARPU_SCHED": "dmda"}, "models",
            "Measure the model again"),):
        os.environ.update(knobs)
        status, said = suite.orrery("run", "-n", "1", "--quiet", "--trace", "real-" + why,
                                    "./ailing", why)
        for knob in knobs:
            del os.environ[knob]
        output = suite.orrery("report", "real-" + why, "--text")[1]
        found = dict(reasons_of(output))
        suite.verdict("real_%s_is_%s" % (why, reason.replace(" ", "_")), status == 0 and (
            words in found.get(reason, "") or "other programs" in found), said + output)


def crowded(suite):
    """Three workers on one core: nobody else is to blame."""
    core = str(min(os.sched_getaffinity(0)))
    if not shutil.which("taskset") or not counts_waits():
        return
    out = subprocess.run(["taskset", "-c", core, "./ailing", "tail"], cwd=suite.directory,
                         env=dict(os.environ, ORRERY_EVENTS="crowded", STARPU_NCPU="3"),
                         capture_output=True, text=True, timeout=100)
    output = suite.orrery("report", "crowded", "--text")[1]
    found = dict(reasons_of(output)[:2])
    suite.verdict("more_workers_than_cores_are_named", out.returncode == 0 and
                  "other programs" not in found and
                  "STARPU_NCPU=3" in found.get("more workers than cores", ""), out.stderr + output)


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        if configured("sim"):
            simulated(suite)
            around(suite)
        if configured("real"):
            real(suite)
            crowded(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
