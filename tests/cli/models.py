#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Where measured models go: to directories of the user's own, and to no other."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from run import SRC, Suite, configured

MEASURE = os.path.join(SRC, "tests", "cli", "measure.c")
NOBODY = 65534


def saved(directory):
    """Names of the model files below a directory; links are not followed."""
    return [name for _, _, names in os.walk(directory) for name in names
            if name.startswith("measured.")]


class Places:
    def __init__(self, suite):
        self.suite = suite
        self.number = 0

    def directory(self, mode=0o755):
        self.number += 1
        path = os.path.join(self.suite.directory, "place%d" % self.number)
        os.mkdir(path)
        os.chmod(path, mode)
        return path

    def check(self, claim, saved_in, says, **places):
        """Run it with these variables only; saved_in: where a file must appear, or None."""
        before = saved(tempfile.gettempdir()) if saved_in is None else []
        env = {name: value for name, value in os.environ.items()
               if name not in ("HOME", "XDG_CACHE_HOME", "STARPU_HOME", "STARPU_PERF_MODEL_DIR")}
        env.update(places, STARPU_CALIBRATE="1", STARPU_HOSTNAME="here", STARPU_NCPU="1")
        out = subprocess.run(["./measure"], cwd=self.suite.directory, env=env, timeout=60,
                             capture_output=True, text=True)
        good = out.returncode == 0 and says in out.stderr
        if saved_in is None:
            good = good and saved(tempfile.gettempdir()) == before
        else:
            good = good and saved(saved_in) == ["measured.here"] and "not saved" not in out.stderr
        self.suite.verdict(claim, good, "status %d, %r" % (out.returncode, out.stderr))


BUS = ["affinity", "bandwidth", "config", "latency", "platform.v4.xml", "platform.xml"]


def check_bus(places, home):
    """The first life on a machine writes its bus files, which then stay."""
    bus = os.path.join(home, ".starpu", "sampling", "bus")
    names = sorted(os.listdir(bus))
    places.suite.verdict("bus_files_are_written", names == ["here." + n for n in BUS], names)
    with open(os.path.join(bus, "here.latency"), encoding="ascii") as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    square = len(rows) == 64 and all(len(row) == 64 for row in rows)
    places.suite.verdict("the_tables_are_square", square and float(rows[0][0]) == 0, rows)
    config = os.path.join(bus, "here.config")
    with open(config, "w", encoding="ascii") as f:
        f.write("somebody else's")
    os.unlink(os.path.join(bus, "here.latency"))
    places.check("a_second_life", home, "", HOME=home)
    with open(config, encoding="ascii") as f:
        kept = f.read() == "somebody else's" and len(os.listdir(bus)) == len(BUS) - 1
    places.suite.verdict("bus_files_that_exist_stay", kept, "")
    places.check("a_life_that_calibrates", home, "", HOME=home, STARPU_BUS_CALIBRATE="1")
    with open(config, encoding="ascii") as f:
        places.suite.verdict("they_are_written_when_asked", "Number of CPUs" in f.read(), "")


def run(suite):
    places = Places(suite)
    home = places.directory()
    places.check("models_go_home", home, "", HOME=home)
    check_bus(places, home)
    cache, home = places.directory(), places.directory()
    places.check("a_cache_comes_before_home", cache, "", XDG_CACHE_HOME=cache, HOME=home)
    given = os.path.join(places.directory(), "a", "b")
    places.check("a_given_directory_is_made", given, "", STARPU_PERF_MODEL_DIR=given)
    missing = os.path.join(suite.directory, "nobody")
    places.check("a_home_that_is_missing_is_not_made", None, "not saved", HOME=missing)
    suite.verdict("it_is_still_missing", not os.path.exists(missing), missing)
    places.check("without_a_home_nothing_is_saved", None, "STARPU_PERF_MODEL_DIR")
    shared, target = places.directory(0o1777), places.directory()
    os.symlink(target, os.path.join(shared, ".starpu"))
    places.check("links_in_shared_directories_are_not_followed", None, "not saved", HOME=shared)
    suite.verdict("nothing_lies_behind_the_link", not os.listdir(target), os.listdir(target))
    home = places.directory()
    os.symlink(places.directory(), os.path.join(home, ".starpu"))
    places.check("links_of_the_user_are_followed", os.path.join(home, ".starpu", "sampling"), "",
                 HOME=home)
    if os.geteuid() == 0:
        shared = places.directory(0o1777)
        os.mkdir(os.path.join(shared, ".starpu"))
        os.chown(os.path.join(shared, ".starpu"), NOBODY, NOBODY)
        places.check("directories_of_others_are_not_entered", None, "not saved", HOME=shared)


def decimal_comma(suite):
    """Where the application's locale writes 1,5, variables and files have 1.5 all the same."""
    where = os.path.join(suite.directory, "locales")
    os.makedirs(where)
    if not shutil.which("localedef") or subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(where, "de_DE.UTF-8")],
            capture_output=True, check=False).returncode > 1:
        return
    with open(MEASURE, encoding="utf-8") as f:
        text = f.read().replace("#include <starpu.h>", "#include <locale.h>\n#include <stdio.h>\n"
                                "#include <starpu.h>")
    suite.write("comma.c", text.replace("if (starpu_init", "setlocale(LC_ALL, \"\");\n\t"
                                        "fprintf(stderr, \"%.1f\\n\", 1.5);\n\tif (starpu_init"))
    suite.succeeds("cc_builds_a_german_program", "cc", "comma.c", "-o", "comma", says="", times=1)
    models = os.path.join(suite.directory, "comma-models")
    env = dict(os.environ, LOCPATH=where, LC_ALL="de_DE.UTF-8", STARPU_PERF_MODEL_DIR=models,
               STARPU_CALIBRATE="1", STARPU_HOSTNAME="here", STARPU_NCPU="1", ORRERY_NOISE="0.1")
    for i in (1, 2):
        out = subprocess.run(["./comma"], cwd=suite.directory, env=env, timeout=60,
                             capture_output=True, text=True, check=False)
        suite.verdict("a_decimal_comma_changes_nothing_%d" % i, out.returncode == 0 and
                      out.stderr.startswith("1,5\n") and "found \"" not in out.stderr,
                      (out.returncode, out.stderr))
    with open(os.path.join(models, "codelets", "45", "measured.here"), encoding="ascii") as f:
        text = f.read()
    suite.verdict("models_have_points", re.search(r"\d\.\d+e[+-]\d", text)
                  and not re.search(r"\d,\d", text), text)


MODEL = """##################
# Performance Model Version
%d
# number of combinations
1
# number of types devices
1
# device type (CPU - 0, CUDA - 1, OPENCL - 2, MIC - 3)
0
# device id
0
# number of cores
1
# number of implementations
1
# number of entries
1
# sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx maxx
0.0 0.0 0.0 0.0 nan nan 0 0 0
# a b c
nan nan nan
%s# hash size flops mean (us) dev (us) sum sum2 n
%s 4 0.0 100.0 0.0 1000.0 100000.0 10
"""


def simulated(suite):
    """Where a simulation looks for a model, and what it says of where it finds none."""
    suite.succeeds("cc_builds_a_simulation", "cc", "--sim", MEASURE, "-o", "measure-sim", says="",
                   times=1)
    base = os.path.join(suite.directory, "sampling")
    os.environ["STARPU_PERF_MODEL_DIR"] = base
    os.environ.pop("STARPU_HOSTNAME", None)
    command = ("run", "--sim", "lab.toml", "-n", "1", "./measure-sim")
    suite.write("lab.toml", "nodes = 1\nlink = \"HDR\"\n[node]\ncores = 2\ncpu_model = \"here\"\n")
    status, said = suite.orrery(*command)
    footprint = re.search(r"for footprint (\w{8}),", said)
    suite.verdict("says_where_it_looked", status == 1 and footprint and
                  "none; looked for codelets/45/measured.here in " in said and
                  base + "/ (does not exist)" in said and
                  "Remedy: set STARPU_PERF_MODEL_PATH to the directory whose codelets/45" in said, said)
    for where, version, name, says in (
            ("codelets/45", 45, "measured.there", "measured.there is there: STARPU_HOSTNAME=there"),
            ("45", 45, "measured.here", "45/measured.here is there: name the directory"),
            ("codelets/44", 44, "measured.here", "simulated 0.00")):
        os.makedirs(os.path.join(base, where), exist_ok=True)
        path = suite.write(os.path.join(base, where, name), MODEL % (
            version, "" if version == 44 else "0\n", footprint and footprint.group(1)))
        status, said = suite.orrery(*command)
        suite.verdict("%s_in_%s" % (name, where), says in said, said)
        os.remove(path)


def main():
    nfailed = 0
    if configured("sim"):
        with tempfile.TemporaryDirectory() as directory:
            suite = Suite(directory)
            simulated(suite)
            nfailed = suite.nfailed
        os.environ.pop("STARPU_PERF_MODEL_DIR")
    if not configured("mpi"):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        suite.succeeds("cc_builds", "cc", MEASURE, "-o", "measure", says="", times=1)
        run(suite)
        decimal_comma(suite)
    return 1 if suite.nfailed + nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
