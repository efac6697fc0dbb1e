#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Ranks on several hosts, which cluster.py makes of namespaces: what depends on where ranks are.

usage: hosts.py [SCENE...]
"""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile
import threading

import cluster

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
LIMIT_S = 100
# What no alignment may be off by, and two clocks of the cluster are.
LEAST_STEP_S = 100


def program(*path):
    return os.path.join(BUILD, *path)


def verdict(claim, good, why=""):
    print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
    return not good


def hostfile(*slots):
    path = os.path.join(os.environ["CLUSTER"], "hosts-" + "-".join(map(str, slots)))
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join("h%d slots=%d\n" % pair for pair in enumerate(slots)))
    return path


def run(command, **env):
    """(status, None when it does not end; output)"""
    try:
        out = subprocess.run(command, env=dict(os.environ, **env), text=True, errors="replace",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        return out.returncode, out.stdout
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def orrery(nranks, *words, **env):
    return run([sys.executable, ORRERY, "run", "--hostfile", hostfile(*[-(-nranks // 2)] * 2), "-n",
                str(nranks), *words], STARPU_SILENT="1", **env)


def mpirun(*settings, name=program("examples", "ring")):
    """A rank on a host of its own for each text of settings."""
    command = ["mpirun", "--hostfile", hostfile(*[1] * len(settings))]
    for number, words in enumerate(settings):
        command += [":"] * (number > 0) + ["-n", "1", "env"] + words.split() + [name]
    return run(command)


# ---- scenes ----------------------------------------------------------------


def programs():
    """Of hosts with one name, whose processes have the same numbers."""
    nfailed = 0
    for name, nranks, words in (("p2p", 4, ["tests", "api", "mpi_p2p"]), ("ring", 2, ["examples", "ring"]),
                                ("insertion", 3, ["examples", "blocks"])):
        status, said = orrery(nranks, program(*words))
        nfailed += verdict("%s_on_hosts_of_one_name" % name, status == 0, said)
    return nfailed


def check_traces(claim, **env):
    nfailed = 0
    with tempfile.TemporaryDirectory(dir=os.environ["CLUSTER"]) as directory:
        status, said = orrery(4, "--trace", directory, program("examples", "stencil5"), **env)
        names = sorted(map(os.path.basename, glob.glob(os.path.join(directory, "*"))))
        nfailed += verdict(claim + "_all_hosts_write_events", status == 0 and not said.count("[orrery]") and
                           names == ["node-%d.events" % i for i in range(4)], "%s, %s" % (names, said))
        table = os.path.join(directory, "messages.csv")
        status, said = run([sys.executable, ORRERY, "trace", directory, "--comms", table])
        rows = []
        if status == 0:
            with open(table, encoding="utf-8") as f:
                rows = list(csv.DictReader(f))
        # To about the time of a message, on a machine that has other work to do.
        took = [float(row["received_s"]) - float(row["ready_s"]) for row in rows
                if row["received_s"] and row["ready_s"]]
        nfailed += verdict(claim + "_clocks_are_aligned", took and -1 < min(took) and
                           max(took) < LEAST_STEP_S, "%s, %s" % (took[:9], said))
    return nfailed


def traces():
    return check_traces("one_name")


def named_traces():
    """As those do who want the same models on all nodes of a machine."""
    return check_traces("one_STARPU_HOSTNAME", STARPU_HOSTNAME="node")


def settings():
    status, said = mpirun("ORRERY_MPI_EAGER=100", "STARPU_MPI_CACHE=0")
    return (verdict("values_that_differ_are_told", status == 0 and "of ORRERY_MPI_EAGER, from 100 to" in said
                    and "of STARPU_MPI_CACHE, from 0 to 1" in said, said) +
            verdict("options_are_those_of_all_hosts", *options()))


def options():
    """(good, why)"""
    with open(program("build.conf"), encoding="utf-8") as f:
        has_ucx = "ucx=yes" in f.read().split("\n")
    status, said = orrery(2, "--progress", *["--transport", "ucx"] * has_ucx, program("examples", "ring"),
                          UCX_TLS="tcp")
    return status == 0 and "on some ranks only" not in said and all(
        "[rank %d] " % rank in said for rank in (0, 1)), said


def reach(number, *command):
    with open(os.path.join(os.environ["CLUSTER"], "h%d" % number, "pid"), encoding="utf-8") as f:
        subprocess.run(["nsenter", "-t", f.read(), *command], check=True)


def fate(act, until, **env):
    """Rank 1 meets its fate while rank 0 waits for it: what is said up to the words."""
    env = dict(os.environ, STARPU_SILENT="1", ORRERY_WATCHDOG="0.5", **env)
    process = subprocess.Popen(
        ["mpirun", "--hostfile", hostfile(1, 1), "-n", "2", "-x", "ORRERY_WATCHDOG",
         program("tests", "bad", "stuck"), "waits_for_its_fate"],
        env=env, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    timer = threading.Timer(LIMIT_S, process.kill)
    timer.start()
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(r"rank 1 has pid (\d+)", line)
        if found:
            act(found.group(1))
        if re.search(until, said):
            break
    timer.cancel()
    return re.search(until, said), said


def kill_quietly():
    """As srun does, unless it is told otherwise."""
    return verdict("a_rank_that_is_killed_elsewhere_may_have_ended", *fate(
        lambda pid: reach(1, "--pid", "--mount", "kill", "-KILL", pid),
        r"rank 1 has not answered for .* being on another machine, has ended",
        OMPI_MCA_orte_enable_recovery="1"))


def kill():
    return verdict("a_rank_that_is_killed_elsewhere_is_named", *fate(
        lambda pid: reach(1, "--pid", "--mount", "kill", "-KILL", pid), r"rank 1 .*on signal 9"))


def cut():
    return verdict("a_network_that_fails_may_have_failed", *fate(
        lambda _: reach(1, "--net", "ip", "link", "set", "eth0", "down"),
        r"rank 1 has not answered for .* network to it has failed"))


SCENES = {
    "programs": (["--same-names"], programs), "traces": (["--same-names"], traces),
    "named_traces": ([], named_traces), "settings": ([], settings), "kill": ([], kill),
    "kill_quietly": ([], kill_quietly), "cut": ([], cut),
}


def main():
    if os.environ.get("CLUSTER"):
        return SCENES[sys.argv[1]][1]() != 0
    with open(program("build.conf"), encoding="utf-8") as f:
        if "mpi=no" in f.read().split("\n"):
            return 77
    why = cluster.why_not()
    if why:
        print("no cluster of namespaces: " + why)
        return 77
    nfailed = 0
    for scene in sys.argv[1:] or SCENES:
        options_of = SCENES[scene][0]
        nfailed += subprocess.run([sys.executable, os.path.join(HERE, "cluster.py"), *options_of,
                                   sys.executable, os.path.abspath(__file__), scene],
                                  check=False).returncode != 0
    return nfailed != 0


if __name__ == "__main__":
    sys.exit(main())
