#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run: the program gets what was given, its end is passed on, nothing stays behind."""
import os
import random
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time

from run import ORRERY, SMALL, SRC, Suite, configured

ECHO = os.path.join(SRC, "tests", "cli", "echo.c")
WORDS = ["a b", "*", "", "--cfg=smpi/np:1", "--log=root.thresh:debug", "-np", "3", "$(echo x)",
         "it's", '"q"', "--help", "--version", "new\nline", "\\", "-platform", "`x`", ";", "\t"]
WAIT_S = 30
COMPUTES = """#include <starpu.h>
#include <unistd.h>
int main(void)
{
	volatile int go_on = starpu_init(NULL) == 0 && write(1, "up\\n", 3) == 3;

	while (go_on)
		continue;
	return 1;
}
"""


class Flavour:
    """How to start the program for real or in simulation."""

    def __init__(self, suite, name, program, options):
        self.suite, self.name, self.program, self.options = suite, name, program, options
        self.path = os.path.join(os.path.realpath(suite.directory), program[2:])

    def command(self, *words):
        return [sys.executable, ORRERY, "run", *self.options, self.program, *words]

    def run(self, *words, **env):
        out = subprocess.run(self.command(*words), cwd=self.suite.directory, capture_output=True,
                             env=dict(os.environ, **env), timeout=100)
        return out.returncode, out.stdout, out.stderr.decode(errors="replace")

    def gets(self, claim, words, **env):
        status, output, errors = self.run(*words, **env)
        expected = b"".join(word.encode() + b"\0" for word in words)
        self.suite.verdict("%s_%s" % (self.name, claim), status == 0 and output == expected,
                           "expected %r, got %d, %r, %s" % (expected, status, output, errors))

    def ends(self, how, expected):
        status, _, errors = self.run(ECHO_END=how)
        self.suite.verdict("%s_status_after_%s" % (self.name, how), status == expected,
                           "expected %d, got %d, %s" % (expected, status, errors))

    def spinning(self, **env):
        process = subprocess.Popen(self.command("up"), cwd=self.suite.directory,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, ECHO_END="spin", **env))
        process.stdout.read(3) # "up" and its end
        return process

    def directories(self):
        return {found for words in processes(self.path)
                for word in words for found in re.findall(r"/[^\s:]+/orrery-\w+", word)}

    def dies(self, number):
        process = self.spinning()
        directories = self.directories()
        process.send_signal(number)
        status = process.wait(WAIT_S)
        claim = "%s_ends_by_%s" % (self.name, signal.Signals(number).name)
        self.suite.verdict(claim, status == 128 + number, "status %d" % status)
        self.suite.verdict(claim + "_with_all_it_started", not running(self.path),
                           "a process is left")
        left = [name for name in directories if os.path.exists(name)]
        self.suite.verdict(claim + "_and_leaves_nothing", directories and not left,
                           "left %s of %s" % (left, directories))


def processes(path):
    """Command line and environment of those that were started with the program."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f, \
                    open("/proc/%s/environ" % pid, "rb") as g:
                words = f.read().decode(errors="replace").split("\0")
                variables = g.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if path in words:
            yield words + variables


def running(path):
    """Is one left, after the time that the kernel takes to end it?"""
    for _ in range(50):
        if not list(processes(path)):
            return False
        time.sleep(0.1)
    return True


def both_flavours(flavour):
    flavour.gets("program_gets_its_arguments", WORDS)
    flavour.gets("program_starts_from_a_directory_with_a_blank", ["x"],
                 TMPDIR=flavour.suite.directory)
    flavour.ends("seven", 7)
    for number in (signal.SIGINT, signal.SIGTERM):
        flavour.dies(number)


def private_directory(flavour):
    process = flavour.spinning()
    directory, path, mode = "", "", 0
    for words in processes(flavour.path):
        directory = [w for w in words if w.startswith("--cfg=smpi/tmpdir:")][0].split(":")[1]
        mode = stat.S_IMODE(os.stat(directory).st_mode)
        path = [word for word in words if word.startswith("LD_LIBRARY_PATH=")]
    process.terminate()
    process.wait(WAIT_S)
    flavour.suite.verdict("copies_lie_in_a_private_directory", mode == 0o700,
                          "%s has mode %o" % (directory, mode))
    flavour.suite.verdict("libraries_are_not_sought_in_public_directories",
                          not any(part in ("/dev/shm", "/tmp", "") for line in path
                                  for part in line.split("=", 1)[1].split(":")), path)


def killed(flavour):
    """Nobody can tidy up after SIGKILL, but the next run does."""
    process = flavour.spinning()
    directories = flavour.directories()
    other = flavour.spinning()
    others = flavour.directories() - directories
    process.kill()
    process.wait(WAIT_S)
    left = [name for name in directories if os.path.exists(name)]
    flavour.run("x")
    kept = [name for name in others if os.path.exists(name)]
    other.terminate()
    other.wait(WAIT_S)
    flavour.suite.verdict(flavour.name + "_ends_by_SIGKILL_with_all_it_started",
                          not running(flavour.path), "a process is left")
    flavour.suite.verdict(flavour.name + "_next_run_removes_the_directory_of_a_killed_one",
                          left and not any(map(os.path.exists, directories)), directories)
    flavour.suite.verdict(flavour.name + "_next_run_keeps_the_directory_of_a_running_one",
                          others and set(kept) == others, "kept %s of %s" % (kept, others))


def sessions(flavour):
    """What Open MPI's mpirun has in the directory of temporary files goes with it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as top:
            process = flavour.spinning(TMPDIR=top)
            began = os.listdir(top)
            process.send_signal(number)
            process.wait(WAIT_S)
            flavour.suite.verdict("no_session_directory_is_left_by_" + signal.Signals(number).name,
                                  began and not os.listdir(top), "%s, left %s" % (began, os.listdir(top)))


def damaged_platforms(suite):
    """A sentence for each; or it still is a platform."""
    with open(SMALL, encoding="ascii") as f:
        text = f.read()
    draw, bad = random.Random(7), []
    for _ in range(25):
        at = draw.randrange(len(text))
        suite.write("damaged.xml", text[:at] + draw.choice("0<>\"=/x-& ")
                    + text[at + draw.choice((0, 1, 20)):])
        status, output = suite.orrery("run", "--sim", "damaged.xml", "-n", "2", "./echo b-sim")
        one_line = output.startswith("[orrery] ") and output.count("\n") == 1
        if status != 0 and not (status == 2 and one_line):
            bad.append((status, output))
    suite.verdict("damaged_platforms_are_refused_in_a_sentence", not bad, bad[:1])


def blamed(suite):
    """Ctrl-C while a main computes: SimGrid ends the process then, which is nobody's mistake."""
    suite.write("computes.c", COMPUTES)
    suite.succeeds("cc_builds_what_computes", "cc", "--sim", "computes.c", "-o", "computes", says="")
    process = subprocess.Popen([sys.executable, ORRERY, "run", "--sim", SMALL, "-n", "1", "./computes"],
                               cwd=suite.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(3)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=WAIT_S)[1].decode(errors="replace")
    suite.verdict("who_is_interrupted_is_blamed_for_nothing",
                  process.returncode == 128 + signal.SIGINT and "[orrery]" not in said,
                  "%d, %s" % (process.returncode, said))


def simulated(suite):
    suite.succeeds("cc_builds_into_a_path_with_a_blank", "cc", "--sim", ECHO, "-o", "echo b-sim",
                   says="", times=1)
    with open(SMALL, encoding="ascii") as f:
        platform = suite.write("small 4.xml", f.read())
    flavour = Flavour(suite, "simulated", "./echo b-sim", ["--sim", platform, "-n", "2"])
    both_flavours(flavour)
    flavour.ends("abort", 128 + signal.SIGABRT)
    flavour.ends("crash", 128 + signal.SIGSEGV)
    private_directory(flavour)
    killed(flavour)
    blamed(suite)
    suite.refuses("argument_that_simgrid_takes", "run", "--sim", SMALL, "-n", "1", "./echo b-sim",
                  "--", says=['"--"', "leave it out"])
    suite.refuses("empty_hostfile", "run", "--sim", SMALL, "-n", "1", "--hostfile",
                  suite.write("empty", "\n"), "./echo b-sim", says=["empty is empty"])
    suite.refuses("host_that_nobody_counts", "run", "--sim", SMALL, "-n", "1", "--hostfile",
                  suite.write("odd", "node-0:x\n"), "./echo b-sim", says=["odd:1", "HOST:COUNT"])
    damaged_platforms(suite)


LITTLE = """mount -t tmpfs -o size=4m none "$0" || exit 77
TMPDIR="$0" exec "$@"
"""


def no_room(suite):
    """mpirun has no room for its files, and would wait."""
    directory = os.path.join(suite.directory, "little")
    os.mkdir(directory)
    try:
        out = subprocess.run(["unshare", "-rm", "sh", "-c", LITTLE, directory, sys.executable, ORRERY, "run",
                              "-n", "2", "./echo b"], cwd=suite.directory, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=60, check=False)
    except FileNotFoundError:
        out = None
    if not out or out.returncode == 77 or "unshare:" in out.stdout:
        print("no file system of our own can be made here: a full disk is not tried")
        return
    suite.verdict("a_full_disk_is_told_before_mpirun_waits",
                  out.returncode != 0 and "little has" in out.stdout and "set TMPDIR" in out.stdout, out.stdout)


def real(suite):
    suite.succeeds("cc_builds_a_real_program", "cc", ECHO, "-o", "echo b", says="", times=1)
    flavour = Flavour(suite, "real", "./echo b", ["-n", "2"])
    both_flavours(flavour)
    sessions(flavour)
    killed(flavour)
    no_room(suite)
    for text in ("0", "-1", "two", "1000000000", "9" * 30):
        suite.refuses("ranks_%s" % text[:10], "run", "-n", text, "./echo b", says=["-n is"])


def main():
    with tempfile.TemporaryDirectory(prefix="a blank ") as directory:
        suite = Suite(directory)
        status, output = suite.orrery("--version")
        suite.verdict("it_has_a_version", status == 0 and output.startswith("orrery 0."), output)
        if configured("mpi"):
            real(suite)
        if configured("sim"):
            simulated(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
