# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Processes that others have started."""
import glob
import os

LAUNCHERS = b"OMPI_COMM_WORLD_RANK"


def stats_of_children(parent):
    """Paths, among them those of a process's children: a look at all processes takes milliseconds of
    a core on which a rank may compute."""
    threads, pids, is_told = "/proc/%d/task" % parent, [], False
    for thread in os.listdir(threads) if os.path.isdir(threads) else []:
        try:
            with open("%s/%s/children" % (threads, thread), "rb") as f:
                pids += map(int, f.read().split())
            is_told = True
        except OSError:
            pass # the thread has ended, or this Linux does not say
    return ["/proc/%d/stat" % pid for pid in pids] if is_told else glob.glob("/proc/[0-9]*/stat")


def started_by(parent):
    """The processes whose parent that one is: whether each still runs."""
    found = {}
    for path in stats_of_children(parent):
        try:
            with open(path, "rb") as f:
                state, its_parent = f.read().rpartition(b")")[2].split()[:2]
            if int(its_parent) == parent:
                found[int(path.split("/")[2])] = state not in b"ZX"
        except OSError:
            pass # it has ended
    return found


def is_rank(pid):
    """Has a launcher told it which rank it is?  Its agents for other hosts (ssh, srun) it has not; nor
    is anything known where it inherits that from whoever started us."""
    if LAUNCHERS in os.environb:
        return False
    try:
        with open("/proc/%d/environ" % pid, "rb") as f:
            return any(entry.startswith(LAUNCHERS + b"=") for entry in f.read().split(b"\0"))
    except OSError:
        return False # it has ended, or is another's


def send(pid, number):
    """To a process and, when it leads a group, to that: a shell waits for what it starts."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except OSError:
        pass
