# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery cc: the compiler with the right flags."""
import re
import shlex
import shutil
import subprocess

from orrery_tool.words import Refusal

SIM_LDFLAGS = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro"]
USAGE = """usage: orrery cc [--sim] [--show] COMPILER-ARGUMENTS

Compiles with mpicc, or smpicc with --sim (mpicxx, smpicxx for C++ files), with the
flags of Orrery added.  --show prints the command instead."""


def command_cc(place, argv):
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    flags = [arg for arg in argv if arg in ("--sim", "--show")]
    rest = [arg for arg in argv if arg not in flags]
    sim = "--sim" in flags
    library = "liborrery-sim" if sim else "liborrery"
    if not place.library(library):
        raise Refusal("%s.so was not found; build Orrery first (scripts/check), or set "
                      "ORRERY_BUILD to the build directory" % library)
    cxx = any(re.search(r"\.(cpp|cc|cxx|C)$", arg) for arg in rest)
    name = ("smpicxx" if cxx else "smpicc") if sim else ("mpicxx" if cxx else "mpicc")
    compiler = shutil.which(name)
    if not compiler:
        raise Refusal("%s was not found; install the Debian package %s"
                      % (name, "libsimgrid-dev" if sim else "libopenmpi-dev"))
    command = [compiler, "-I" + place.include] + ["-DSTARPU_SIMGRID=1" if sim else "-DSTARPU_HAVE_HWLOC=1"]
    command += rest
    if not set(rest) & {"-c", "-E", "-S", "-M", "-MM"}:
        command += ["-L" + place.libdir, "-l" + library[3:], "-Wl,-rpath," + place.libdir]
        command += SIM_LDFLAGS if sim else ["-lhwloc"]
    if "--show" in flags:
        print(shlex.join(command))
        return 0
    return subprocess.call(command)
