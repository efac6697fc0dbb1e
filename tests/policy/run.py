#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A policy in a library of its own: STARPU_SCHED_LIB finds it by name, also for contexts,
before ours; what cannot be used is said.  Both flavours."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
PLATFORM = os.path.join(SRC, "platforms", "xml", "small4.xml")


class Suite:
    def __init__(self, directory):
        self.directory, self.failed = directory, False

    def claim(self, name, output, expected, unexpected=()):
        wrong = ["%r is missing" % w for w in expected if w not in output]
        wrong += ["%r was not expected" % w for w in unexpected if w in output]
        print("PASS %s" % name if not wrong else
              "FAIL %s: %s\n%s" % (name, "; ".join(wrong), output))
        self.failed |= bool(wrong)

    def call(self, *command, **env):
        done = subprocess.run(command, cwd=self.directory, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "ORRERY_BUILD": BUILD, "STARPU_NCPU": "2",
                                   "STARPU_NCUDA": "0", **env})
        return done.stdout + ("status %d\n" % done.returncode if done.returncode else "")

    def orrery(self, *arguments, **env):
        return self.call(sys.executable, ORRERY, *arguments, **env)

    def compile(self, flavour, program, output):
        options = ["--sim"] if flavour == "sim" else []
        return self.orrery("cc", *options, os.path.join(HERE, program), "-o", output)

    def build(self, flavour, program="user.c", library="library.c"):
        options = ["--sim"] if flavour == "sim" else []
        self.library = "./lib%s.so" % flavour
        said = self.compile(flavour, program, flavour)
        compiles = ("gcc", "-shared", "-fPIC", *(["-DSTARPU_SIMGRID=1"] if options else []),
                    "-I" + os.path.join(SRC, "include"), "-I" + os.path.join(BUILD, "include"),
                    os.path.join(HERE, library), "-o")
        said += self.call(*compiles, "./alone.so")
        said += self.call(*compiles, self.library, "-L" + os.path.join(BUILD, ".libs"),
                          "-Wl,-rpath," + os.path.join(BUILD, ".libs"),
                          "-lorrery-sim" if options else "-lorrery")
        return said

    def run(self, flavour, *arguments, **env):
        if flavour == "sim":
            return self.orrery("run", "--sim", PLATFORM, "-n", "1", "./sim",
                               *arguments, **env)
        return self.orrery("run", "-n", "1", "./real", *arguments, **env)

    def play(self, flavour):
        said = self.build(flavour)
        self.claim("policy_library_compiles_%s" % flavour, said, [], ["error", "status"])
        lib = {"STARPU_SCHED_LIB": self.library}
        self.claim("policy_of_a_library_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="stacked", **lib),
                   ["policy stacked", "stacked 20 tasks"], ["status"])
        self.claim("policy_of_a_library_that_is_linked_with_nothing_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="stacked", STARPU_SCHED_LIB="./alone.so"),
                   ["policy stacked", "stacked 20 tasks"], ["status", "going on without"])
        self.claim("policy_of_a_library_in_a_context_%s" % flavour,
                   self.run(flavour, "stacked", STARPU_SCHED="prio", **lib),
                   ["policy prio", "stacked 10 tasks"], ["status", "stacked 20"])
        self.claim("policy_of_a_library_made_of_ours_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="counted", **lib),
                   ["policy counted", "counted 20 tasks"], ["status"])
        self.claim("policy_of_a_library_made_of_ours_in_a_context_%s" % flavour,
                   self.run(flavour, "counted", **lib),
                   ["policy lws", "counted 10 tasks"], ["status"])
        self.claim("policy_of_a_library_is_listed_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="help", **lib),
                   ["heteroprio", "last in, first out"], ["status"])
        self.claim("policy_that_no_library_has_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="heap", **lib),
                   ['"heap" was not found', "policy lws"], ["status"])
        self.claim("library_that_is_not_there_%s" % flavour,
                   self.run(flavour, STARPU_SCHED="stacked", STARPU_SCHED_LIB="./none.so"),
                   ["STARPU_SCHED_LIB", "none.so", "going on without it", "policy lws"],
                   ["status"])


    def play_copies(self, flavour):
        """Of a policy of ours: with functions of its own that call the other's, or forget it."""
        said = self.compile(flavour, "copied.c", flavour)
        self.claim("copy_of_a_policy_compiles_%s" % flavour, said, [], ["error", "status"])
        self.claim("copy_with_another_name_%s" % flavour, self.run(flavour, STARPU_SCHED=""),
                   ["policy copy", "0 calls"], ["status"])
        self.claim("copy_with_a_hook_%s" % flavour, self.run(flavour, "hook", STARPU_SCHED=""),
                   ["policy prio", "20 calls"], ["status"])
        self.claim("copy_that_calls_ours_%s" % flavour, self.run(flavour, "push", STARPU_SCHED=""),
                   ["policy prio", "20 calls"], ["status"])
        self.claim("copy_that_forgets_ours_%s" % flavour,
                   self.run(flavour, "forget", STARPU_SCHED=""),
                   ['whose policy "prio" has not called the init_sched', "status"], ["SIGSEGV"])
        self.claim("copy_of_two_%s" % flavour, self.run(flavour, "two", STARPU_SCHED=""),
                   ['for which that of "prio" has been', "one other", "status"], ["SIGSEGV"])


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        for flavour in ("real", "sim"):
            suite.play(flavour)
            suite.play_copies(flavour)
        return suite.failed


if __name__ == "__main__":
    sys.exit(main())
