# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run, simulated: the limits of this machine."""
import os
import re
import resource
import tempfile

from orrery_tool.memory import memory_left
from orrery_tool.words import MIB, Refusal, free_bytes, meminfo_bytes, read_number

STACK_MAPS = 2             # an actor's stack and its guard page
BASE_MAPS = 1500           # smpimain with its libraries, and some room
RANK_BYTES = 64 << 10      # SimGrid's and our share of an idle rank, measured 28-52 KiB
BASE_BYTES = 64 << 20
ACTOR_STACK_BYTES = 8 << 20
MIN_OPEN_FILES = 256
MIN_STACK_BYTES = 4 << 20


def check_maps(args, app):
    per_rank = STACK_MAPS + (0 if args.no_privatize else app.maps)
    need, limit = args.n * per_rank + BASE_MAPS, read_number("/proc/sys/vm/max_map_count", 65530)
    if need <= limit:
        return
    remedies = ["\"sysctl -w vm.max_map_count=%d\" as root" % need]
    if not args.no_privatize:
        if app.maps > 2:
            remedies.append("linking with \"orrery cc --sim\" (%d memory maps a rank instead "
                            "of %d)" % (2 + STACK_MAPS, per_rank))
        remedies.append("--no-privatize if the program has no mutable globals")
    raise Refusal("%d ranks need about %d memory maps and vm.max_map_count is %d; remedy: %s"
                  % (args.n, need, limit, ", or ".join(remedies)))


def choose_tmpdir(args, app):
    """Where one copy of the program for each rank has room; checks memory, too."""
    copies = 0 if args.no_privatize else args.n * (app.bytes + 4096)
    memory = BASE_BYTES + args.n * RANK_BYTES
    available = memory_left()
    if memory > available:
        raise Refusal("%d ranks need about %d MiB of memory at rest and %d MiB are available; "
                      "use fewer ranks or a larger machine"
                      % (args.n, memory // MIB, available // MIB))
    if copies + BASE_BYTES < free_bytes("/dev/shm") and copies + memory < available:
        return "/dev/shm"
    # SimGrid reads the path from a list in which blanks and commas separate.
    usable = [path for path in (tempfile.gettempdir(), "/tmp", "/var/tmp")
              if os.path.isdir(path) and not re.search(r"[\s,]", path)]
    tmpdir = usable[0] if usable else "/tmp"
    for path in usable:
        if copies + BASE_BYTES < free_bytes(path):
            return path
    raise Refusal("%d copies of %s need %d MiB and neither /dev/shm nor %s has room; move code "
                  "and data into shared libraries, set TMPDIR to a larger disk, or use "
                  "--no-privatize if the program has no mutable globals"
                  % (args.n, app.path, copies // MIB, tmpdir))


def check_resources(args):
    """Raises soft limits where it may; refuses where the hard ones are too low."""
    needs = [(resource.RLIMIT_NOFILE, MIN_OPEN_FILES, "open files", "ulimit -n"),
             (resource.RLIMIT_STACK, MIN_STACK_BYTES, "bytes of stack", "ulimit -s (in KiB)")]
    for kind, need, what, command in needs:
        soft, hard = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY and soft < need:
            if hard != resource.RLIM_INFINITY and hard < need:
                raise Refusal("the limit of %s is %d and a simulation needs %d; raise it "
                              "with %s" % (what, hard, need, command))
            resource.setrlimit(kind, (need, hard))
    need = args.n * ACTOR_STACK_BYTES + (1 << 30)
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < need:
        raise Refusal("%d ranks reserve %d MiB of address space and the limit is %d MiB; "
                      "use \"ulimit -v unlimited\"" % (args.n, need // MIB, soft // MIB))
    strict = read_number("/proc/sys/vm/overcommit_memory", 0) == 2
    room = meminfo_bytes("CommitLimit") - meminfo_bytes("Committed_AS")
    if strict and need > room:
        raise Refusal("%d ranks reserve %d MiB of stacks, this machine does not overcommit "
                      "and has %d MiB left; use \"sysctl -w vm.overcommit_memory=0\" as root"
                      % (args.n, need // MIB, room // MIB))
