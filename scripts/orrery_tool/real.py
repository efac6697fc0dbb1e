# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run, for real: mpirun."""
import glob
import os
import re
import shutil
import tempfile

from orrery_tool.app import environment
from orrery_tool.child import has_hosts, launch, tell_wishes
from orrery_tool.mapping import has_rules, map_of_run
from orrery_tool.platform import hostfile_lines
from orrery_tool.private import PrivateDirectory
from orrery_tool.speech import MpirunSpeech, speech_of
from orrery_tool.words import Refusal, free_bytes, read_number, write_text

# What mpirun 4.1.4 writes to its directory is 8 MiB, for 2 ranks as for 16.
SESSION_BYTES = 12 << 20


def physical_cores():
    cores = set()
    for path in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
        try:
            with open(path + "/physical_package_id") as p, open(path + "/core_id") as c:
                cores.add((p.read(), c.read()))
        except OSError:
            pass
    usable = len(os.sched_getaffinity(0))
    return min(len(cores), usable) if cores else usable


def placement(place, args, directory):
    """mpirun's options that say where ranks run."""
    words = ["--allow-run-as-root"] * (os.geteuid() == 0)
    if args.hostfile:
        hostfile_lines(args.hostfile)
        words += ["--hostfile", args.hostfile]
    if has_rules(args):
        text = map_of_run(place, args, "rankfile")
        path = "RANKFILE" if args.show else os.path.join(directory, "rankfile")
        if not args.show:
            write_text(path, text)
        words += ["--rankfile", path]
        words += ["--use-hwthread-cpus"] * text.startswith("#")
    elif args.hostfile:
        words += ["--bind-to", "none"]
    elif args.n > physical_cores():
        words += ["--oversubscribe", "--bind-to", "none"]
    else: # each rank gets its share of the cores
        words += ["--map-by", "slot:PE=%d" % (physical_cores() // args.n), "--bind-to", "core"]
    return words


def passed_on(env):
    """mpirun's options that give other hosts what decides of this environment."""
    return [word for name in sorted(env)
            if re.match(r"STARPU_|ORRERY_|UCX_|OMP_|OPENBLAS_|MKL_|LD_LIBRARY_PATH$", name)
            for word in ("-x", name)]


def start(place, args, app, command, directory):
    env = environment(place, app)
    speech = speech_of(args, MpirunSpeech)
    if args.transport:
        env["ORRERY_TRANSPORT"] = args.transport
    tell_wishes(args, env)
    if has_hosts(args):
        command += passed_on(env)
    # A rank that writes its last records has more time than the second that is usual.
    # Two such times pass whenever a rank has been ended by a signal.
    if args.trace:
        env.setdefault("OMPI_MCA_odls_base_sigkill_timeout", "4")
    command += args.wrapper + [app.path] + args.app[1:]
    if has_hosts(args):
        return launch(command, args, env, speech)
    # What ranks, or mpirun, leave that were killed goes, too: of Open MPI and of UCX.
    env.setdefault("OMPI_MCA_orte_tmpdir_base", directory)
    if not os.access("/dev/shm", os.W_OK):
        return launch(command, args, env, speech)
    with PrivateDirectory("/dev/shm") as private:
        for module in ("vader", "sm"):
            env.setdefault("OMPI_MCA_btl_%s_backing_directory" % module, private)
        env.setdefault("UCX_POSIX_DIR", private)
        return launch(command, args, env, speech)


def check_room(env):
    """Without room for its files mpirun waits for ever, in silence, for ranks that have crashed."""
    base = env.get("OMPI_MCA_orte_tmpdir_base", tempfile.gettempdir())
    free = free_bytes(base)
    if free < SESSION_BYTES:
        raise Refusal("%s has %d KiB left for files, and mpirun needs %d MiB for its own: it would wait for "
                      "ever; remove some, or set TMPDIR to a directory on another disk"
                      % (base, free >> 10, SESSION_BYTES >> 20))


def run_real(place, args, app):
    if app.elf and app.is_simulated():
        raise Refusal("%s was built for the simulation; start it with "
                      "\"orrery run --sim PLATFORM.xml\", or build it without --sim"
                      % args.app[0])
    simulated = args.transport not in (None, "mpi", "ucx")
    for option, given in (("--transport " + str(args.transport), simulated), ("--execute", args.execute),
                          ("--no-privatize", args.no_privatize)):
        if given:
            raise Refusal("%s belongs to the simulation; add --sim PLATFORM.xml" % option)
    mpirun = shutil.which("mpirun")
    if not mpirun:
        raise Refusal("mpirun was not found; install the Debian package openmpi-bin")
    processes = read_number("/proc/sys/kernel/pid_max", 1 << 22)
    if args.n > processes and not args.hostfile:
        raise Refusal("-n is %d and this machine runs at most %d processes" % (args.n, processes))
    check_room(os.environ)
    with PrivateDirectory(tempfile.gettempdir()) as directory:
        command = [mpirun, "-n", str(args.n)] + placement(place, args, directory)
        return start(place, args, app, command, directory)
