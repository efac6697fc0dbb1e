#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A profiling tool is told what happens: as a library (STARPU_PROF_TOOL) in both flavours,
preloaded in a real run; what cannot be used is said."""
import os
import sys
import tempfile

from run import SRC, Suite

GPUS = os.path.join(SRC, "platforms", "xml", "gpu64.xml")
REFUSED = "event 1 and command 1 cannot be registered"
REAL = "tool: init 1 1 1, driver 2 2 2 2, cpu 10 10, gpu 0 0, transfers 0 0 of 0 bytes, 0 wrong"
SIM = ("tool: init 1 1 1, driver 3 3 3 3, cpu 10 10, gpu 10 10, transfers 2 2 of 8000 bytes, "
       "0 wrong")


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        for flavour in ("real", "sim"):
            said = suite.build(flavour, "tooled.c", "tool.c")
            suite.claim("tool_compiles_%s" % flavour, said, [], ["error", "status"])
            suite.claim("tool_that_is_not_there_%s" % flavour,
                        suite.run(flavour, STARPU_PROF_TOOL="./none.so"),
                        ["STARPU_PROF_TOOL", "none.so", "going on without it"], ["status"])
        suite.claim("tool_is_told_real", suite.run("real", STARPU_PROF_TOOL="./libreal.so"),
                    [REAL, REFUSED], ["status"])
        suite.claim("preloaded_tool_is_told", suite.call("./real", LD_PRELOAD="./libreal.so"),
                    [REAL, REFUSED], ["status"])
        suite.claim("no_tool_is_told_nothing", suite.run("real"), [], ["tool", "status"])
        suite.claim("tool_is_told_sim",
                    suite.orrery("run", "--sim", GPUS, "-n", "1", "./sim",
                                 STARPU_PROF_TOOL="./libsim.so", STARPU_NCUDA="1"),
                    [SIM, REFUSED], ["status"])
        return suite.failed


if __name__ == "__main__":
    sys.exit(main())
