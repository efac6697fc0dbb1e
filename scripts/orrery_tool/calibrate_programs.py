# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The programs that "orrery calibrate" starts: where they are, and whether they can start."""
import os
import re
import shutil
import subprocess
import sys

from orrery_tool.platform_simgrid import Smpi
from orrery_tool.words import Refusal

NETWORK, COSTS, KERNELS = "calibrate_network", "calibrate_costs", "calibrate_kernels"
# Who has a library that is missing.
PACKAGES = (("libopenblas", "libopenblas0"), ("liblapacke", "liblapacke"),
            ("libsimgrid", "libsimgrid-dev"), ("libmpi", "libopenmpi-dev"),
            ("libhwloc", "libhwloc15"))


def missing_libraries(path):
    """What the system's loader does not find of a program's libraries."""
    try:
        out = subprocess.run(["ldd", path], capture_output=True, text=True, check=False,
                             timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return list(dict.fromkeys(re.findall(r"^\s*(\S+) => not found", out.stdout, re.M)))


def remedy_for(library):
    for start, package in PACKAGES:
        if library.startswith(start):
            return "install the Debian package %s" % package
    return "add its directory to LD_LIBRARY_PATH, or install Orrery anew on this machine"


def trouble(place, name):
    """Why a program of ours cannot be started, with the remedy; "": it can."""
    path = place.helper(name)
    if not path and place.build:
        return "%s is not built: make -C %s bench/%s" % (name, place.build, name)
    if not path:
        return "%s was not installed, since Orrery was built without %s: build and install it " \
            "anew with that" % (name, "OpenBLAS" if name == KERNELS else
                                "the simulation (--without-sim)" if name.endswith("-sim") else
                                "MPI (--without-mpi)")
    missing = missing_libraries(path)
    return "%s needs %s, which this machine lacks: %s" % (
        path, missing[0], remedy_for(missing[0])) if missing else ""


def check(place, with_costs):
    """All that is needed, before minutes are spent with the first of it."""
    if not shutil.which("mpirun"):
        raise Refusal("calibrate: mpirun was not found; install the Debian package openmpi-bin")
    Smpi()
    for name in (NETWORK, NETWORK + "-sim", *[COSTS] * bool(with_costs)):
        why = trouble(place, name)
        if why:
            raise Refusal("calibrate: " + why)


def environment(place, **more):
    """Of what is started: an installation that was moved finds its libraries."""
    env = dict(os.environ, **more)
    if not place.build and place.libdir:
        env["LD_LIBRARY_PATH"] = ":".join(
            path for path in (place.libdir, env.get("LD_LIBRARY_PATH")) if path)
    return env


def said(place, words):
    """What the program of costs says, alone and without MPI; "": nothing."""
    path = place.helper(COSTS)
    return subprocess.run([path, *map(str, words)], text=True, capture_output=True, check=False,
                          env=environment(place)).stdout if path else ""


def run(place, ranks, options, name, words, **env):
    """What "orrery run" of a program prints."""
    command = [sys.executable, os.path.join(place.bin, "orrery"), "run", "-n", str(ranks),
               "--quiet", *options, place.helper(name), *map(str, words)]
    for is_last in (False, True): # what others do on the machine may end one, after minutes
        out = subprocess.run(command, text=True, capture_output=True, check=False,
                             env=environment(place, **env))
        if out.returncode == 0 and out.stdout.strip():
            return out.stdout
        words = "%s ended with status %d: %s" % (" ".join(command[1:]), out.returncode,
                                                 (out.stderr or out.stdout).strip()[-300:])
        if not is_last:
            print("[orrery] calibrate: %s; it is started once more" % words, file=sys.stderr, flush=True)
    raise Refusal("calibrate: " + words)
