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
import time

import cluster

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import events as e  # noqa: E402

LIMIT_S = 100
# What no alignment may be off by, and two clocks of the cluster are.
LEAST_STEP_S = 100
# How much faster than another a clock is; and what alignment may be off by then.
DRIFT, MOST_OFF_S = 1.5, 2e-3


def program(*path):
    return os.path.join(BUILD, *path)


def is_built(option):
    with open(program("build.conf"), encoding="utf-8") as f:
        return option in f.read().split("\n")


HAS_UCX = is_built("ucx=yes")


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
        rows, said = messages_of(directory)
        # To about the time of a message, on a machine that has other work to do.
        took = [float(row["received_s"]) - float(row["ready_s"]) for row in rows
                if row["received_s"] and row["ready_s"]]
        nfailed += verdict(claim + "_clocks_are_aligned", took and -1 < min(took) and
                           max(took) < LEAST_STEP_S, "%s, %s" % (took[:9], said))
        for name in names[len(names) // 2:]: # of the second host
            let_drift(os.path.join(directory, name))
        again, said = messages_of(directory)
        moved = [float(row[column]) - float(other[column]) for row, other in zip(rows, again)
                 for column in ("ready_s", "received_s") if row[column] and other[column]]
        nfailed += verdict(claim + "_clocks_that_drift_are_aligned", moved and len(rows) == len(again) and
                           max(map(abs, moved)) < MOST_OFF_S, "%s, %s" % (moved[:9], said))
    return nfailed


def messages_of(directory):
    table = os.path.join(directory, "messages.csv")
    status, said = run([sys.executable, ORRERY, "trace", directory, "--comms", table])
    if status != 0:
        return [], said
    with open(table, encoding="utf-8") as f:
        return sorted(csv.DictReader(f), key=lambda row: tuple(sorted(row.items()))[:4]), said


def let_drift(path):
    """As if the clock of its machine went faster."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    texts = {}
    for at in range(0, len(data), e.RECORD.size):
        date_s, kind, flag, worker, n, ident, value = e.RECORD.unpack_from(data, at)
        if kind == e.TEXT:
            texts.setdefault(ident, []).append(at)
        if kind in e.DATED:
            value = e.WORD.unpack(e.DATE.pack(e.date_of(value) * DRIFT))[0]
        if kind not in (e.PIECE, e.TEXT):
            e.RECORD.pack_into(data, at, date_s * DRIFT, kind, flag, worker, n, ident, value)
    for places in texts.values():
        text = b"".join(data[at + 24:at + 32] for at in places)
        if text.startswith(b"parted="):
            date = text[7:text.index(b"\0")].decode()
            text = text[:7] + ("%.9f" % (float(date) * DRIFT))[:len(date)].encode() + text[7 + len(date):]
            for i, at in enumerate(places):
                data[at + 24:at + 32] = text[8 * i:8 * i + 8]
    with open(path, "wb") as f:
        f.write(data)


def traces():
    return check_traces("one_name")


def named_traces():
    """As those do who want the same models on all nodes of a machine."""
    return check_traces("one_STARPU_HOSTNAME", STARPU_HOSTNAME="node")


def settings():
    status, said = mpirun("ORRERY_MPI_EAGER=100", "STARPU_MPI_CACHE=0")
    return (verdict("values_that_differ_are_told", status == 0 and "of ORRERY_MPI_EAGER, from 100 to" in said
                    and "of STARPU_MPI_CACHE, from 0 to 1" in said, said) +
            verdict("options_are_those_of_all_hosts", *options()) +
            verdict("kernels_of_one_rank_that_compute_nothing_are_told", *no_kernels()) +
            verdict("who_has_slaves_alone_says_what_it_waits_for", *slaves_of_one()))


def no_kernels():
    _, said = mpirun("STARPU_DISABLE_KERNELS=0", "STARPU_DISABLE_KERNELS=1")
    return "of STARPU_DISABLE_KERNELS, from 0 to 1: where it is 1 tasks compute nothing" in said, said


def slaves_of_one():
    """The other ends without having known of them, for which the launcher waits, too."""
    name = program("examples", "slaves")
    words = r"rank 0\] has waited for \S+ s in MPI_Init\(\): .*STARPU_NMPI_MS is set on this rank"
    said = read_until(lambda text: re.search(words, text),
                      ["mpirun", "--hostfile", hostfile(1, 1), "-n", "1", "env", "STARPU_NMPI_MS=1",
                       "ORRERY_WATCHDOG=0.5", name, ":", "-n", "1", name])
    return re.search(words, said), said


def read_until(is_enough, command, **env):
    """What is said until then; the rest is killed."""
    with subprocess.Popen(command, env=dict(os.environ, **env), text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        said = ""
        for line in process.stdout:
            said += line
            if is_enough(said):
                break
        timer.cancel()
        process.kill()
    return said


def options():
    """(good, why)"""
    status, said = orrery(2, "--progress", *["--transport", "ucx"] * HAS_UCX, program("examples", "ring"),
                          UCX_TLS="tcp")
    return status == 0 and "on some ranks only" not in said and all(
        "[rank %d] " % rank in said for rank in (0, 1)), said


def reach(number, *command):
    with open(os.path.join(os.environ["CLUSTER"], "h%d" % number, "pid"), encoding="utf-8") as f:
        subprocess.run(["nsenter", "-t", f.read(), *command], check=True)


def fate(act, until, **env):
    """Rank 1 meets its fate while rank 0 waits for it: what is said up to the words; without such, until
    all has ended well."""
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
        if until and re.search(until, said):
            break
    timer.cancel()
    return re.search(until, said) if until else process.wait() == 0, said


TRANSPORTS = ("mpi", "ucx") if HAS_UCX else ("mpi",)
# As srun does, unless it is told otherwise.
QUIET = {"OMPI_MCA_orte_enable_recovery": "1"}


def kill_quietly():
    return sum(verdict("who_waits_for_a_rank_that_is_killed_elsewhere_ends:" + name, *fate(
        lambda pid: reach(1, "--pid", "--mount", "kill", "-KILL", pid),
        r"rank 1 is needed, and its process has ended before starpu_mpi_shutdown\(\)|UCX: .* rank 1: ",
        ORRERY_TRANSPORT=name, **QUIET)) for name in TRANSPORTS)


def survivors(program_of, case, words, claim, **env):
    """Rank 1 kills itself, or is the master or a slave: the others end, and all is said; by Open MPI where a
    connection was being made to the one that has ended."""
    env = dict(env, ORRERY_WATCHDOG="0.3", STARPU_SILENT="1", **QUIET)
    status, said = run(["mpirun", "--hostfile", hostfile(1, 1, 1), "-n", "3"] +
                       [word for name in env for word in ("-x", name)] +
                       [program("tests", "real", program_of), case], **env)
    return verdict("%s_%s" % (case, claim), status is not None and "ends well" not in said and
                   re.search(words + r"|Open MPI job may now hang or fail", said), said)


def many_end():
    """(good, what was said); where several of a host end like this, Open MPI's mpirun does not."""
    said = read_until(lambda text: len(needed(text)) == 8,
                      ["mpirun", "--hostfile", hostfile(3, 3, 3), "-n", "9", "-x", "ORRERY_WATCHDOG", "-x", "STARPU_NCPU",
                       program("tests", "real", "meeting"), "while_others_are_in_a_barrier"],
                      ORRERY_WATCHDOG="0.3", STARPU_SILENT="1", STARPU_NCPU="1", **QUIET)
    return len(needed(said)) == 8 and "rank 0] rank 1 is needed, and its process has ended" in said, said


def needed(said):
    return set(re.findall(r"\[rank (\d)\] rank \d is needed", said))


def kill_elsewhere():
    """In other states of those who live."""
    nfailed = 0
    for name in TRANSPORTS:
        nfailed += survivors("meeting", "while_others_wait_in_mpi",
                             r"waited in a call of MPI for \S+ s, and the process of rank 1 has ended before "
                             r"starpu_mpi_shutdown", name, ORRERY_TRANSPORT=name)
    nfailed += survivors("meeting", "between_lives", r"process of rank 1 has ended before all were in MPI_Finalize",
                         "mpi")
    nfailed += survivors("meeting", "while_all_meet", r"rank 1 is needed, and its process has ended before all ranks "
                         r"had met", "mpi")
    # What is known goes from rank to rank, of which each ends as soon as it knows enough.
    nfailed += verdict("many_that_are_in_a_barrier_end", *many_end())
    for who in ("a_slave", "the_master"):
        nfailed += survivors("lost_slaves", who, r"rank \d, %s, is needed, and its process has ended" %
                             who.replace("_", " "), "mpi", STARPU_NMPI_MS="2", STARPU_NCPU="0",
                             STARPU_NMPIMSTHREADS="1")
    return nfailed


def kill():
    return verdict("a_rank_that_is_killed_elsewhere_is_named", *fate(
        lambda pid: reach(1, "--pid", "--mount", "kill", "-KILL", pid), r"rank 1 .*on signal 9"))


def cut():
    return verdict("a_network_that_fails_ends_the_run", *fate(
        lambda _: reach(1, "--net", "ip", "link", "set", "eth0", "down"),
        r"rank 1 is needed, and its machine has not answered for 6 s: it has failed, or the network"))


def cut_for_a_while():
    def act(_):
        reach(1, "--net", "ip", "link", "set", "eth0", "down")
        time.sleep(3)
        reach(1, "--net", "ip", "link", "set", "eth0", "up")
    return verdict("a_network_that_fails_for_a_while_is_waited_for", *fate(act, None))


def stop():
    def act(pid):
        reach(1, "--pid", "--mount", "kill", "-STOP", pid)
        time.sleep(4)
        reach(1, "--pid", "--mount", "kill", "-CONT", pid)
    good, said = fate(act, None)
    return verdict("a_rank_that_is_stopped_elsewhere_has_not_ended", good and "rank 1 answers again" in said, said)


SCENES = {
    "programs": (["--same-names"], programs), "traces": (["--same-names"], traces),
    "named_traces": ([], named_traces), "settings": ([], settings), "kill": ([], kill),
    "kill_quietly": ([], kill_quietly), "kill_elsewhere": (["--hosts", "3", "--slots", "1"], kill_elsewhere),
    "cut": ([], cut), "cut_for_a_while": ([], cut_for_a_while), "stop": ([], stop),
}


def main():
    if os.environ.get("CLUSTER"):
        return SCENES[sys.argv[1]][1]() != 0
    if is_built("mpi=no"):
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
