# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""The program to start."""
import glob
import os
import re
import shutil
import subprocess

from orrery_tool.words import Refusal


class App:
    """What an executable is linked with, as far as starting it depends on it."""

    def __init__(self, name):
        path = name if "/" in name or os.path.exists(name) else shutil.which(name)
        if not path or not os.path.exists(path):
            raise Refusal("program %s does not exist; build it, for example with "
                          "\"orrery cc\"" % name)
        if os.path.isdir(path) or not os.access(path, os.X_OK):
            raise Refusal("%s is not an executable program; give the program that the "
                          "compiler made" % name)
        self.path = os.path.abspath(path)
        self.bytes = os.path.getsize(path)
        with open(path, "rb") as f:
            self.elf = f.read(4) == b"\x7fELF"
        text = self.describe() if self.elf else ""
        self.needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
        segments = len(re.findall(r"^\s+LOAD\s", text, re.M))
        self.maps = (segments or 4) + ("GNU_RELRO" in text)
        self.interpreted = bool(re.search(r"^\s+INTERP\s", text, re.M))
        self.known = bool(text)

    def describe(self):
        try:
            return subprocess.run(["readelf", "-ldW", self.path], capture_output=True,
                                  text=True, check=True, env=dict(os.environ, LC_ALL="C")).stdout
        except (OSError, subprocess.CalledProcessError):
            return ""

    def uses(self, library):
        return any(name.startswith(library + ".so") for name in self.needed)

    def is_simulated(self):
        return self.uses("liborrery-sim") or (self.known and not self.interpreted
                                              and not self.uses("liborrery"))


def preload(app):
    """The sanitizer runtime that a program loaded by another one needs first."""
    found = [name for name in app.needed if re.match(r"lib(a|ub|t)san\.so", name)]
    paths = []
    for name in sorted(found):
        out = subprocess.run(["gcc", "-print-file-name=" + name], capture_output=True, text=True)
        paths.append(out.stdout.strip() or name)
    return paths


def models_of(machine):
    """Directories of models that belong to a file: beside it, and, as StarPU keeps them, beside the
    directory bus of a calibration that it is or names."""
    if not machine:
        return []
    files = [machine]
    if machine.endswith(".toml") and os.path.isfile(machine):
        with open(machine, encoding="utf-8", errors="replace") as f:
            files += [os.path.join(os.path.dirname(machine), name)
                      for name in re.findall(r"^\s*machine\s*=\s*[\"']([^\"'\n]+)", f.read(), re.M)]
    found = []
    for path in files:
        beside, name = os.path.split(os.path.abspath(path))
        if os.path.basename(beside) == "bus" and glob.glob(os.path.join(glob.escape(beside), name + "*")):
            found.append(os.path.dirname(beside))
        elif os.path.isfile(path):
            found.append(beside)
    return [path for path in dict.fromkeys(found) if os.path.isdir(os.path.join(path, "codelets"))]


def environment(place, app, machine=None):
    """What a program finds in its environment, in both flavours; machine: a file that may
    have models beside it."""
    env = dict(os.environ)
    env.setdefault("OPENBLAS_NUM_THREADS", "1")
    paths = [env.get("STARPU_PERF_MODEL_PATH"), *models_of(machine)]
    if place.build: # an installed library knows its models
        paths.append(os.path.join(place.share, "perfmodels"))
    if any(paths):
        env["STARPU_PERF_MODEL_PATH"] = ":".join(filter(None, paths))
    if any(name.startswith("libasan") for name in app.needed): # MPI libraries leak by design
        env.setdefault("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
    return env
