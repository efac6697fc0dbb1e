#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What "make install" leaves serves clients that know pkg-config, the MPI compilers and
the MPI launchers, and nothing of Orrery."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
HERE = os.path.join(SRC, "tests", "install")
SMALL = os.path.join(SRC, "platforms", "xml", "small4.xml")
NAMES = ["libstarpu", "libstarpumpi"] + [
    name + "-1.%d" % minor for name in ("starpu", "starpumpi") for minor in range(5)]


class Suite:
    def __init__(self, top):
        with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
            conf = dict(line.strip().partition("=")[::2] for line in f if "=" in line)
        self.is_instrumented = conf.get("sanitize", "") != ""
        self.has_mpi, self.has_sim = conf.get("mpi") != "no", conf.get("sim") != "no"
        self.top, self.nfailed = top, 0
        self.env = {key: value for key, value in os.environ.items()
                    if not re.match(r"ORRERY|STARPU|MAKE|MFLAGS|LD_LIBRARY_PATH|PKG_CONFIG",
                                    key)}
        self.env["OMPI_ALLOW_RUN_AS_ROOT"] = self.env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

    def verdict(self, claim, good, why):
        print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
        self.nfailed += not good
        return good

    def run(self, *command, limit_s=100, **env):
        """(status, output)"""
        out = subprocess.run(command, cwd=self.top, text=True, timeout=limit_s, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env=dict(self.env, **env))
        return out.returncode, out.stdout

    def says(self, claim, words, *command, **env):
        status, output = self.run(*command, **env)
        return self.verdict(claim, status == 0 and words in output,
                            "%s: status %d: %s" % (" ".join(command), status, output))

    # ---- installing ----

    def install(self):
        root = os.path.join(self.top, "root")
        status, output = self.run("make", "-C", BUILD, "install", "DESTDIR=" + root)
        if not self.verdict("make install works with DESTDIR", status == 0, output[-2000:]):
            return False
        found = {name: directory for directory, _, files in os.walk(root)
                 for name in files if name in ("orrery", "orrery.pc")}
        self.prefix = os.path.dirname(found["orrery"])
        self.libdir = os.path.dirname(found["orrery.pc"])
        self.env["LD_LIBRARY_PATH"] = self.libdir
        return True

    def flags(self, name, sim=False):
        """Of a package, as if the prefix were where DESTDIR has put it."""
        directory = os.path.join(self.libdir, "orrery-sim" if sim else ".", "pkgconfig")
        status, output = self.run(
            "pkg-config", "--define-variable=libdir=" + self.libdir,
            "--define-variable=includedir=" + os.path.join(self.prefix, "include"),
            "--cflags", "--libs", name, PKG_CONFIG_PATH=directory)
        return output.split() if status == 0 else ["no package %s: %s" % (name, output)]

    def compiles(self, claim, compiler, source, target, flags):
        status, output = self.run(compiler, "-Wall", os.path.join(HERE, source),
                                  "-o", target, *flags)
        return self.verdict(claim, status == 0 and "warning" not in output, output)

    # ---- the real flavour ----

    def check_names(self):
        for sim in (False, True)[:1 + self.has_sim]:
            missing = [name for name in NAMES if self.flags(name, sim)[0].startswith("no ")]
            self.verdict("clients find every name of StarPU's packages%s"
                         % (", simulated" if sim else ""), not missing, missing)
        status, output = self.run("pkg-config", "--modversion", "starpu-1.4",
                                  PKG_CONFIG_PATH=os.path.join(self.libdir, "pkgconfig"))
        self.verdict("the version is one of StarPU 1.4", output.startswith("1.4."), output)

    def check_real(self):
        if self.compiles("a program without MPI compiles with gcc", "gcc", "alone.c",
                         "./alone", self.flags("starpu-1.4")):
            self.says("it runs by itself", "alone: 10 of 10", "./alone")
        if self.compiles("a program that uses hwloc compiles", "gcc", "machine.c", "./machine",
                         self.flags("starpu-1.4")):
            self.says("it sees the machine", "machine: known", "./machine")
        if not self.has_mpi:
            return
        shutil.copy(os.path.join(HERE, "ring.c"), os.path.join(self.top, "ring.cpp"))
        for compiler, source in (("mpicc", "ring.c"),
                                 ("mpicxx", os.path.join(self.top, "ring.cpp"))):
            language = "C++" if source.endswith("cpp") else "C"
            if self.compiles("%s compiles a %s program" % (compiler, language), compiler,
                             source, "./ring", self.flags("starpumpi-1.4")):
                self.says("mpirun starts the %s program" % language, "ring: 2 of 2",
                          "mpirun", "--oversubscribe", "-n", "2", "./ring")
        if self.compiles("a program links with -lstarpumpi-1.4 -lstarpu-1.4", "mpicc", "ring.c",
                         "./ring", ["-I" + os.path.join(self.prefix, "include", "starpu", "1.4"),
                                    "-L" + self.libdir, "-lstarpumpi-1.4", "-lstarpu-1.4"]):
            self.says("mpirun starts it", "ring: 2 of 2", "mpirun", "--oversubscribe", "-n",
                      "2", "./ring")

    # ---- the simulated flavour ----

    def check_simulated(self):
        hosts = os.path.join(self.top, "hosts")
        with open(hosts, "w", encoding="ascii") as f:
            f.write("".join("node-%d\n" % i for i in range(4)))
        start = ["smpirun", "-np", "4", "-platform", SMALL, "-hostfile", hosts]
        plain = ["--cfg=smpi/simulate-computation:no", "--log=root.thresh:warning"]
        if self.compiles("smpicc compiles with orrery-sim", "smpicc", "ring.c", "./ring-sim",
                         self.flags("orrery-sim")):
            self.says("smpirun starts it", "ring: 4 of 4", *start, *plain, "./ring-sim",
                      ORRERY_EXECUTE="1")
            self.says("smpirun needs no option", "ring: 4 of 4", *start, "./ring-sim",
                      ORRERY_EXECUTE="1")
            status, output = self.run("./ring-sim")
            self.verdict("by itself it says how to start it", status == 2 and
                         "cannot be started by itself" in output, "%d, %s" % (status, output))
        if self.compiles("smpicc compiles with the simulated starpumpi-1.4", "smpicc",
                         "ring.c", "./ring-sim", self.flags("starpumpi-1.4", sim=True)):
            self.says("smpirun starts that, too", "ring: 4 of 4", *start, *plain, "./ring-sim",
                      ORRERY_EXECUTE="1")

    # ---- orrery ----

    def check_tool(self):
        orrery = os.path.join(self.prefix, "bin", "orrery")
        ring = os.path.join(HERE, "ring.c")
        self.says("the installed orrery finds its files", "everything is there", orrery,
                  "doctor")
        if self.has_mpi and self.run(orrery, "cc", ring, "-o", "ring")[0] == 0:
            self.says("orrery cc and run work from the prefix", "ring: 2 of 2", orrery, "run",
                      "-n", "2", "./ring")
        if self.has_sim and self.run(orrery, "cc", "--sim", ring, "-o", "ring-sim")[0] == 0:
            self.says("orrery cc and run work from the prefix, simulated", "ring: 4 of 4",
                      orrery, "run", "--sim", "small4", "-n", "4", "--execute", "./ring-sim")

    def check_calibrate(self):
        """A newcomer's machine, from the installation alone: its libraries are found though
        DESTDIR has put them elsewhere, and what is written is used as it stands."""
        orrery = os.path.join(self.prefix, "bin", "orrery")
        words = [orrery, "calibrate", "-o", "mine", "--name", "4here", "--tiles", "128", "--patience", "0",
                 "--repetitions", "20", "--rounds", "1"]
        for i, says in enumerate(("sgemm", "kernels (as before|have changed)")):
            status, output = self.run(*words, limit_s=300, LD_LIBRARY_PATH="")
            self.verdict("orrery calibrate works from the prefix, run %d" % (i + 1), status == 0
                         and "orrery run --sim mine/4here.toml -n 2 ./app-sim" in output
                         and (i == 0 or re.search(says, output) and re.search(
                             "as before: median|the machine has changed", output)), output)
            words[-1] = "0" # the rest, once more
        for machine in ("mine/4here.toml", "mine/4here.xml"):
            self.says("run --sim %s uses the models beside it" % machine, "(0 % uncalibrated)", orrery,
                      "run", "--sim", machine, "-n", "2", os.path.join(
                          BUILD, "examples", "cholesky", "cholesky-sim"), "--nb", "4", "--tile", "96",
                      STARPU_HOME=self.top, STARPU_SILENT="0", LD_LIBRARY_PATH="")
        helpers = os.path.dirname(next(os.path.join(directory, "calibrate_network")
                                       for directory, _, files in os.walk(self.prefix)
                                       if "calibrate_network" in files))
        for name, says in (("calibrate_costs", "was not installed"),
                           ("calibrate_network", "not installed, since Orrery was built without MPI")):
            os.rename(os.path.join(helpers, name), os.path.join(self.top, name))
            status, output = self.run(*words[:-1], "1")
            self.verdict("without %s it says so" % name, status == 2 and says in output
                         and output.count("\n") == 1, output)
            os.rename(os.path.join(self.top, name), os.path.join(helpers, name))
        os.rename(os.path.join(self.libdir, "liborrery.so.0"), os.path.join(self.top, "kept"))
        status, output = self.run(*words, LD_LIBRARY_PATH="")
        self.verdict("a library that is missing is named", status == 2 and
                     "calibrate_network needs liborrery.so.0, which" in output, output)
        os.rename(os.path.join(self.top, "kept"), os.path.join(self.libdir, "liborrery.so.0"))
        mpirun = ["mpirun", *["--allow-run-as-root"] * (os.geteuid() == 0), "--oversubscribe", "-n", "2"]
        words[words.index("mine")] = "job"
        words[words.index("128")] = "0"
        status, output = self.run(*mpirun, *words, limit_s=300, LD_LIBRARY_PATH="")
        self.verdict("started by mpirun it measures once", status == 0 and
                     output.count("orrery run --sim job/4here.toml") == 1, output)

    def check_beside(self):
        """Manual page, completions, pages of help."""
        orrery = os.path.join(self.prefix, "bin", "orrery")
        for name in ("man/man1/orrery.1", "bash-completion/completions/orrery",
                     "zsh/site-functions/_orrery"):
            path = os.path.join(self.prefix, "share", name)
            self.verdict("share/%s is installed" % name,
                         os.path.exists(path) and os.path.getsize(path) > 500, path)
        self.says("the installed orrery has its pages", "## The platform", orrery, "help", "sim")
        self.says("and its version", "orrery 0.", orrery, "--version")

    def check_flags(self):
        """orrery cc and pkg-config give the same, but for what the compiler knows itself."""
        orrery = os.path.join(self.prefix, "bin", "orrery")
        own = set(self.run("mpicc", "--showme:compile")[1].split()
                  + self.run("mpicc", "--showme:link")[1].split()) if self.has_mpi else set()
        pairs = [("real", "orrery", [])] if self.has_mpi else []
        pairs += [("simulated", "orrery-sim", ["--sim"])] if self.has_sim else []
        for flavour, package, options in pairs:
            status, output = self.run(orrery, "cc", *options, "--show", "x.c")
            ours = {re.sub("^-([IL]).*/\\.\\./", r"-\1", word) for word in output.split()[1:]}
            theirs = set(self.flags(package)) - own
            self.verdict("orrery cc and pkg-config agree, %s" % flavour,
                         status == 0 and ours - {"x.c"} - own == theirs,
                         "only cc: %s; only pkg-config: %s" % (ours - theirs - {"x.c"} - own,
                                                               theirs - ours))

    def check_uninstall(self):
        root = os.path.join(self.top, "root")
        status, output = self.run("make", "-C", BUILD, "uninstall", "DESTDIR=" + root)
        left = [os.path.join(directory, name) for directory, _, files in os.walk(root)
                for name in files]
        self.verdict("make uninstall leaves no file", status == 0 and not left,
                     "status %d, left: %s" % (status, left or output[-1000:]))


def main():
    if not shutil.which("pkg-config"):
        return 77
    with tempfile.TemporaryDirectory(prefix="orrery-install-") as top:
        suite = Suite(top)
        if suite.is_instrumented:
            return 77 # clients would have to be instrumented, too
        if suite.install():
            suite.check_names()
            suite.check_real()
            if suite.has_sim:
                suite.check_simulated()
            suite.check_tool()
            if suite.has_mpi and suite.has_sim:
                suite.check_calibrate()
            suite.check_beside()
            suite.check_flags()
            suite.check_uninstall()
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
