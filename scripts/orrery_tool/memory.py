# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The memory that is left for a program, and a guard that ends a simulation before it has all."""
import os

from orrery_tool.platform_units import size
from orrery_tool.processes import started_by
from orrery_tool.words import MIB, Refusal, meminfo_bytes, read_number

CGROUPS, OF_US = "/sys/fs/cgroup", "/proc/self/cgroup"
# Files of a control group, of both versions of the kernel's interface: below which directory, the
# limit, what is in use, and what of this the kernel gives back when somebody wants it.
VERSIONS = {"": ("", "memory.max", "memory.current", "inactive_file"),
            "memory": ("/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                       "total_inactive_file")}
FLOOR = 0.02                          # part of the memory that others keep
FLOOR_BYTES = (256 * MIB, 1024 * MIB) # least, most
FASTEST = 4e9                         # bytes/s by which a simulation grows
LOOK_S = (0.05, 1)                    # between two looks: least, most
GIB = 1 << 30
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
LARGE = ("use fewer ranks or a larger machine; where tasks are inserted faster than they are executed, "
         "STARPU_LIMIT_MAX_SUBMITTED_TASKS and STARPU_LIMIT_MIN_SUBMITTED_TASKS bound those that wait")


def groups():
    """(limit, bytes in use) of the control groups that this process is in and that have a limit."""
    try:
        with open(OF_US, encoding="utf-8") as f:
            lines = [line.rstrip("\n").split(":", 2) for line in f]
    except OSError:
        return
    for _, controllers, path in lines:
        if controllers not in VERSIONS:
            continue
        below, limit, used, spare = VERSIONS[controllers]
        while True:
            directory = CGROUPS + below + path.rstrip("/")
            most = read_number(os.path.join(directory, limit), 0)
            if 0 < most < 1 << 60:
                yield most, (read_number(os.path.join(directory, used), 0) -
                             of_file(os.path.join(directory, "memory.stat"), spare))
            if path in ("/", ""):
                break
            path = os.path.dirname(path)


def of_file(path, name):
    try:
        with open(path, encoding="ascii") as f:
            return sum(int(line.split()[1]) for line in f if line.split()[0] == name)
    except (OSError, ValueError, IndexError):
        return 0


def memory_all():
    return min([meminfo_bytes("MemTotal")] + [most for most, _ in groups()])


def memory_left(swap_bytes=0):
    """Bytes that can be had at once, without what would have to be written to disk for it, but
    for swap_bytes of the machine's; a control group has no share of these."""
    return min([meminfo_bytes("MemAvailable") + swap_bytes] +
               [max(most - used, 0) for most, used in groups()])


def resident_bytes(pid):
    """Of a process and all that it has started."""
    return resident_pages(pid) * PAGE_BYTES + sum(map(resident_bytes, started_by(pid)))


def resident_pages(pid):
    try:
        with open("/proc/%d/statm" % pid, encoding="ascii") as f:
            return int(f.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0 # it has ended


def limit_of(text):
    """Of --memory: bytes; 0: no limit."""
    if text == "all":
        return 0
    found = size(text)
    if not found or found < 1:
        raise Refusal("--memory is \"%s\", expected a size such as 8GiB, or \"all\"" % text)
    return int(found)


class Guard:
    """A machine without memory stands still for minutes before its system kills somebody.  A
    simulation that has the most of what is in use is ended before, or when it has more than the
    limit that was given."""

    def __init__(self, limit):
        self.limit = limit # bytes; 0: none; None: what the machine has
        self.all = memory_all()
        self.floor = min(max(FLOOR * self.all, FLOOR_BYTES[0]), FLOOR_BYTES[1])

    def look(self, pid):
        """Why it has to end, or "", and when to look again (s, None: never)."""
        if self.limit == 0:
            return "", None
        ours = resident_bytes(pid)
        if self.limit:
            room = self.limit - ours
            why = ("it has %.2f GiB of memory and may have %.2f (--memory)"
                   % (ours / GIB, self.limit / GIB))
        else:
            left = memory_left(meminfo_bytes("SwapFree"))
            room = left - self.floor
            why = ("it has %.1f GiB of memory, and of the %.1f here %.1f are left (\"--memory all\" "
                   "lets it go on)" % (ours / GIB, self.all / GIB, left / GIB))
            if room < 0 and ours < (self.all - left) / 2:
                return "", LOOK_S[1] # Others have it.
        if room < 0:
            return "%s; %s" % (why, LARGE), None
        return "", min(max(room / FASTEST, LOOK_S[0]), LOOK_S[1])
