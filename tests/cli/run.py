#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""scripts/orrery: what it starts, and one clear sentence for each thing it cannot start."""
import os
import re
import resource
import subprocess
import sys
import tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
HELLO = os.path.join(SRC, "tests", "cli", "hello.c")
SMALL = os.path.join(SRC, "platforms", "xml", "small4.xml")
LARGE = os.path.join(SRC, "platforms", "xml", "gpu1024.xml")
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))


def configured(what):
    try:
        with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
            return what + "=no" not in f.read().split("\n")
    except OSError:
        return True


class Suite:
    def __init__(self, directory):
        self.directory = directory
        self.nfailed = 0

    def orrery(self, *arguments, limit=None, build=BUILD, **variables):
        """(status, stdout + stderr) of one command; limit: (resource, value)."""
        lower = limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1])))
        out = subprocess.run([sys.executable, ORRERY, *arguments], cwd=self.directory, text=True,
                             capture_output=True, preexec_fn=lower, timeout=100,
                             env=dict(os.environ, ORRERY_BUILD=build, **variables))
        return out.returncode, out.stdout + out.stderr

    def verdict(self, claim, good, why):
        print("PASS " + claim if good else "FAIL %s: %s" % (claim, why), flush=True)
        self.nfailed += not good

    def succeeds(self, claim, *arguments, says, times=1):
        status, output = self.orrery(*arguments)
        self.verdict(claim, status == 0 and output.count(says) == times,
                     "expected status 0 and %d times %r, got %d and %r"
                     % (times, says, status, output))

    def refuses(self, claim, *arguments, says, limit=None):
        """One sentence from us, status 2, no stack trace."""
        status, output = self.orrery(*arguments, limit=limit)
        lines = output.strip().split("\n")
        good = status == 2 and len(lines) == 1 and lines[0].startswith("[orrery] ") and all(
            word in output for word in says)
        self.verdict(claim, good, "expected status 2 and one line with %r, got %d and %r"
                     % (says, status, output))

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as f:
            f.write(text)
        return name


CUDA = """#include <starpu.h>
#ifdef GUARD
#ifndef STARPU_USE_CUDA
#define NO_CUDA
#endif
#endif
#ifndef NO_CUDA
#include <cuda_runtime.h>
#include <starpu_cublas_v2.h>
void on_gpu(void *buffers[], void *arg);
void on_gpu(void *buffers[], void *arg) { cudaStreamSynchronize(starpu_cuda_get_local_stream()); }
#endif
int main(void) { return starpu_init(NULL) != 0; }
"""


def cuda(suite, flavour, words):
    """Sources for GPUs where there is no CUDA, or nothing is said of its libraries."""
    suite.write("on_gpu.c", CUDA)
    status, output = suite.orrery("cc", *flavour, "on_gpu.c", "-o", "on_gpu")
    suite.verdict("cc_says_what_cuda_needs_%d" % len(flavour), status != 0 and
                  "[orrery] cc: on_gpu.c uses CUDA: " in output and words in output and
                  "#ifdef STARPU_USE_CUDA" in output, "%d, %s" % (status, output))
    status, output = suite.orrery("cc", *flavour, "-USTARPU_USE_CUDA", "-DGUARD", "on_gpu.c", "-o", "on_gpu")
    suite.verdict("cc_compiles_what_is_guarded_%d" % len(flavour), (status, output) == (0, ""),
                  "%d, %s" % (status, output))
    suite.write("wrong.c", "#include <starpu.h>\nint x = y;\n")
    status, output = suite.orrery("cc", *flavour, "-c", "wrong.c")
    suite.verdict("cc_speaks_of_cuda_to_nobody_else_%d" % len(flavour), status != 0 and
                  "CUDA" not in output, "%d, %s" % (status, output))


def sanitized(suite):
    """A program links with the sanitizers that the library was built with."""
    build, flags = os.path.join(suite.directory, "sanitized"), "-fsanitize=address,undefined -fno-omit-frame-pointer"
    os.mkdir(build)
    os.symlink(os.path.join(BUILD, ".libs"), os.path.join(build, ".libs"))
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        lines = [line for line in f if not line.startswith(("sanitize=", "instrument="))]
    with open(os.path.join(build, "build.conf"), "w", encoding="utf-8") as f:
        f.writelines(lines + ["sanitize=address,undefined\n", "instrument=%s\n" % flags])
    flavours = ([[]] if configured("mpi") else []) + ([["--sim"]] if configured("sim") else [])
    for flavour in flavours:
        status, output = suite.orrery("cc", "--show", *flavour, HELLO, build=build)
        suite.verdict("cc_passes_sanitizers_on_%d" % len(flavour), status == 0 and flags in output, output)


def real(suite):
    suite.succeeds("cc_builds_a_real_program", "cc", HELLO, "-o", "hello", says="", times=1)
    suite.succeeds("run_starts_the_ranks", "run", "-n", "2", "./hello", "hi",
                   says="of 2, argument hi", times=2)
    suite.succeeds("more_ranks_than_cores_start", "run", "-n", str(2 * os.cpu_count()), "./hello",
                   says="of %d," % (2 * os.cpu_count()), times=2 * os.cpu_count())
    suite.succeeds("run_finds_a_program_without_a_path", "run", "-n", "1", "hello",
                   says="rank 0 of 1")
    status, output = suite.orrery("run", "-n", "1", "./hello", "a", "b")
    suite.verdict("exit_status_is_the_programs", status == 3, "got %d, %r" % (status, output))
    suite.refuses("missing_program", "run", "-n", "1", "./nothing",
                  says=["./nothing does not exist", "orrery cc"])
    suite.refuses("program_that_is_no_program", "run", "-n", "1", suite.write("text", "hello"),
                  says=["text is not an executable"])
    suite.refuses("no_program_given", "run", "-n", "1", says=["no program given"])
    suite.refuses("no_ranks", "run", "-n", "0", "./hello", says=["-n is 0"])
    suite.refuses("simulation_option_without_sim", "run", "-n", "1", "--execute", "./hello",
                  says=["--execute belongs to the simulation", "--sim"])
    suite.refuses("simulated_transport_without_sim", "run", "-n", "1", "--transport", "flows",
                  "./hello", says=["--transport flows belongs to the simulation", "--sim"])
    suite.succeeds("transport_reaches_the_ranks", "run", "-n", "1", "--transport", "ucx",
                   "./hello", says="transport ucx")
    # Nothing else of the environment gets there.
    status, said = suite.orrery("run", "--show", "-n", "2", "--hostfile", suite.write("hosts", "a\nb\n"),
                                "--transport", "ucx", "--progress", "--trace", "events", "./hello")
    suite.verdict("options_reach_other_hosts", status == 0 and all(
        " -x " + name in said for name in ("ORRERY_TRANSPORT", "ORRERY_PROGRESS", "ORRERY_EVENTS",
                                           "OPENBLAS_NUM_THREADS")), said)
    # A batch system's job may have several hosts, which lack directories of this one, too.
    mpirun = os.path.join(suite.directory, "bin", "mpirun")
    os.makedirs(os.path.dirname(mpirun))
    with open(mpirun, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\necho place=$OMPI_MCA_orte_tmpdir_base. arguments=$*\n")
    os.chmod(mpirun, 0o755)
    for name, wanted in ({}, "^place=/"), ({"SLURM_JOB_ID": "7"}, r"^place=\. .* -x OPENBLAS_NUM_THREADS"):
        status, said = suite.orrery("run", "-n", "1", "./hello", **name,
                                    PATH=os.path.dirname(mpirun) + ":" + os.environ["PATH"])
        suite.verdict("hosts_of_%s" % ("a_batch_job" if name else "no_batch_job"),
                      status == 0 and re.search(wanted, said), said)
    suite.refuses("missing_hostfile", "run", "-n", "1", "--hostfile", "nothing", "./hello",
                  says=["host file nothing does not exist"])
    suite.refuses("hostfile_that_is_a_directory", "run", "-n", "1", "--hostfile", ".", "./hello",
                  says=["host file . is a directory"])
    suite.refuses("options_behind_the_program", "run", "./hello", "-n", "2", says=[
        "-n stands behind the program ./hello", "options come first"])
    suite.refuses("an_option_of_smpirun_first", "run", "-platform", "lab.toml", "-np", "2", "./hello",
                  says=["no option -platform", "--sim PLATFORM"])
    suite.refuses("no_number_of_ranks", "run", "--progress", "./hello", says=["how many ranks", "-n N"])
    suite.refuses("a_program_as_an_options_value", "run", "-n", "1", "--trace", "./hello",
                  says=["--trace takes ./hello for its value"])
    suite.refuses("unknown_command", "fly", says=["no command fly"])


ALONE = """#include <starpu.h>
int main(void) { return starpu_init(NULL) != 0; }
"""


def starts_alone(suite):
    """A simulated program says how it is started, and one that smpicc makes for the scripts of
    configure starts."""
    suite.write("alone.c", ALONE)
    words = ["cannot be started by itself", "orrery run --sim PLATFORM -n N PROGRAM"]
    for claim, pretend, said in (("simulated_program_alone", {}, words),
                                 ("program_of_a_configure_script", {"SMPI_PRETEND_CC": "1"},
                                  ["starpu_init: this program is linked with liborrery-sim"])):
        os.environ.update(pretend)
        suite.orrery("cc", "--sim", "alone.c", "-o", "alone-sim")
        out = subprocess.run(["./alone-sim"], cwd=suite.directory, text=True, timeout=100,
                             capture_output=True, check=False)
        for name in pretend:
            del os.environ[name]
        suite.verdict(claim + "_says_why", out.returncode == 2 - len(pretend) and all(word in out.stderr for word in said),
                      "%d, %s" % (out.returncode, out.stderr))


def simulated(suite):
    suite.succeeds("cc_builds_a_simulated_program", "cc", "--sim", HELLO, "-o", "hello-sim",
                   says="", times=1)
    starts_alone(suite)
    suite.succeeds("run_simulates", "run", "--sim", SMALL, "-n", "4", "./hello-sim", "hi",
                   says="of 4, argument hi", times=4)
    suite.succeeds("shipped_platforms_have_names", "run", "--sim", "small4", "-n", "2",
                   "./hello-sim", says="of 2", times=2)
    suite.succeeds("run_simulates_1024_ranks", "run", "--sim", LARGE, "-n", "1024", "./hello-sim",
                   says="of 1024", times=1024)
    suite.succeeds("transport_and_execute_reach_the_program", "run", "--sim", SMALL, "-n", "1",
                   "--transport", "flows", "--execute", "./hello-sim",
                   says="transport flows, execute 1")
    suite.refuses("real_transport_with_sim", "run", "--sim", SMALL, "-n", "1", "--transport",
                  "ucx", "./hello-sim", says=["--transport ucx is for real machines"])
    suite.succeeds("without_privatization", "run", "--sim", SMALL, "-n", "4", "--no-privatize",
                   "./hello-sim", says="of 4", times=4)
    suite.succeeds("hostfile_with_counts", "run", "--sim", SMALL, "-n", "6", "--hostfile",
                   suite.write("six", "node-0:4\nnode-3:2\n"), "./hello-sim", says="of 6", times=6)
    suite.refuses("missing_platform", "run", "--sim", "no/such.xml", "-n", "2", "./hello-sim",
                  says=["no/such.xml does not exist", "small4"])
    bad_platforms(suite)
    suite.refuses("more_ranks_than_hosts", "run", "--sim", SMALL, "-n", "5", "./hello-sim",
                  says=["has 4 hosts", "5 ranks", "-n 4", "--hostfile"])
    suite.refuses("hostfile_with_unknown_host", "run", "--sim", SMALL, "-n", "1", "--hostfile",
                  suite.write("hosts", "node-0\nnowhere\n"), "./hello-sim",
                  says=["hosts:2", "no host nowhere", "node-0"])
    suite.refuses("script_in_simulation", "run", "--sim", SMALL, "-n", "1", ORRERY,
                  says=["not built for the simulation"])
    limits(suite)


def bad_platforms(suite):
    with open(SMALL, encoding="ascii") as f:
        text = f.read()
    for claim, contents, says in (
            ("truncated_platform", text[:len(text) // 2], ["bad.xml:", "malformed or truncated"]),
            ("platform_that_is_no_xml", "hello\n", ["malformed or truncated"]),
            ("xml_with_an_ampersand", text.replace("<cluster id=\"", "<cluster id=\"R&D"),
             ["bad.xml:", "write &amp; for"]),
            ("xml_that_is_no_platform", "<a/>\n", ["outermost element is <a>"]),
            ("platform_without_hosts", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
             '<platform version="4.1"/>', ["has no hosts"]),
            ("cluster_without_speed", text.replace("speed=", "sped="), ["<cluster>", "lacks speed"]),
            ("cluster_with_bad_radical", text.replace('radical="0-3"', 'radical="0-x"'),
             ['radical="0-x"'])):
        suite.refuses(claim, "run", "--sim", suite.write("bad.xml", contents), "-n", "2",
                      "./hello-sim", says=["bad.xml"] + says)


def limits(suite):
    many = suite.write("many", "node-0:100000\n")
    suite.refuses("too_many_memory_maps", "run", "--sim", SMALL, "-n", "100000", "--hostfile", many,
                  "./hello-sim", says=["100000 ranks", "vm.max_map_count", "sysctl -w",
                                       "--no-privatize"])
    suite.refuses("too_little_address_space", "run", "--sim", SMALL, "-n", "1000", "--hostfile",
                  many, "./hello-sim", limit=(resource.RLIMIT_AS, 4 << 30),
                  says=["1000 ranks", "ulimit -v unlimited"])
    suite.refuses("too_few_open_files", "run", "--sim", SMALL, "-n", "1", "./hello-sim",
                  limit=(resource.RLIMIT_NOFILE, 64), says=["open files", "ulimit -n"])
    suite.refuses("too_small_stack", "run", "--sim", SMALL, "-n", "1", "./hello-sim",
                  limit=(resource.RLIMIT_STACK, 1 << 20), says=["stack", "ulimit -s"])


def both(suite):
    suite.refuses("simulated_program_for_real", "run", "-n", "1", "./hello-sim",
                  says=["built for the simulation", "--sim"])
    suite.refuses("real_program_in_simulation", "run", "--sim", SMALL, "-n", "1", "./hello",
                  says=["not built for the simulation", "orrery cc --sim"])
    status, output = suite.orrery("doctor")
    suite.verdict("doctor_finds_this_build", status == 0 and "everything is there" in output,
                  "status %d, %r" % (status, output))


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        sanitized(suite)
        if configured("mpi"):
            cuda(suite, [], "uses CUDA: ")
            real(suite)
        if configured("sim"):
            cuda(suite, ["--sim"], "a simulation has no CUDA")
            simulated(suite)
        if configured("mpi") and configured("sim"):
            both(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
