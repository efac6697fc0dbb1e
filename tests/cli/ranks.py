#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""What a process has once, simulated ranks have each; where they cannot, it is said."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from run import SRC, Suite, configured

HERE = os.path.join(SRC, "tests", "cli")
RUN = ["run", "--sim", "small4", "-n", "3", "--quiet"]


def in_c(suite):
    status, output = suite.orrery("cc", "--sim", os.path.join(HERE, "ranks.c"), "-o", "ranks")
    suite.verdict("c_is_built", status == 0, output)
    for claim, argument in (("random_numbers_words_and_sleeps", []),
                            ("a_child_of_fork_ends_by_exit", ["fork"])):
        status, output = suite.orrery(*RUN, "./ranks", *argument)
        suite.verdict(claim, status == 0 and output == "each has its own\n", output)
    status, output = suite.orrery(*RUN, "./ranks", "file")
    suite.verdict("files_of_mpi_are_refused", status == 1 and output.count("\n") == 1 and all(
        word in output for word in ("[rank 0] MPI_File_open: \"results.dat\"", "<disk>",
                                    "use fopen()")), output)


def in_cpp(suite):
    source = os.path.join(HERE, "ranks.cpp")
    status, output = suite.orrery("cc", "--sim", source, "-o", "cpp")
    suite.verdict("cpp_is_built", status == 0, output)
    status, output = suite.orrery(*RUN, "./cpp")
    suite.verdict("singletons_and_clocks_of_cpp", status == 0 and output == "the end\n", output)
    shown = suite.orrery("cc", "--sim", "--show", source, "-o", "unique")[1]
    if "-fno-gnu-unique " not in shown: # no g++: there are no such statics
        return
    subprocess.run(shown.replace("-fno-gnu-unique ", ""), shell=True, check=True,
                   cwd=suite.directory)
    status, output = suite.orrery(*RUN, "./unique")
    suite.verdict("statics_that_ranks_share_are_told", re.search(
        r"all ranks share (Settings::get\(\)::only|Counter<double>::n) and 1 more variable of "
        "unique, .* compile with -fno-gnu-unique", output), output)


def sanitized(suite):
    suite.write("counted.c", """#include <starpu_mpi.h>
static int calls, zeros[4];
static const int limit = 3;
int main(void)
{
	if (starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL))
		return 77;
	++calls;
	starpu_mpi_shutdown();
	return calls > limit || zeros[0];
}
""")
    status, output = suite.orrery("cc", "--sim", "-fsanitize=undefined", "counted.c", "-o", "counted")
    suite.verdict("a_sanitizer_is_linked", status == 0, output)
    words = r"with a sanitizer all ranks share (calls|zeros) and 1 more variable of counted, "
    status, output = suite.orrery(*RUN, "./counted")
    suite.verdict("what_sanitized_ranks_share_is_told", status == 0 and output.count("\n") == 1 and
                  re.search(words, output), output)
    for name, option in (("alone", ("-n", "1")), ("wanted", ("--no-privatize",))):
        status, output = suite.orrery(*RUN, *option, "./counted")
        suite.verdict("it_is_not_told_" + name, (status, output) == (0, ""), output)


def in_fortran(suite):
    status, output = suite.orrery("cc", "--sim", os.path.join(HERE, "ranks.f90"), "-o", "fortran")
    suite.verdict("fortran_is_built", status == 0, output)
    status, output = suite.orrery(*RUN, "./fortran")
    suite.verdict("clocks_of_fortran", status == 0 and output == "slept 2.000 and 2.000\n", output)
    for ending, expected, says in (("stop", 0, ""), ("text", 0, "STOP here\n"), ("code", 5, "STOP 5\n"),
                                   ("error", 1, "ERROR STOP wrong\n"), ("number", 6, "ERROR STOP 6\n"),
                                   ("exit", 7, "")):
        status, output = suite.orrery(*RUN, "./fortran", ending)
        stops = 3 if says else 0
        suite.verdict("each_rank_ends_by_" + ending, status == expected and output.count("STOP") == stops and
                      output.count(says or "STOP") == stops and output.count("ends\n") == 3 and
                      "goes on" not in output, (status, output))


def main():
    if not configured("sim"):
        return 77
    with tempfile.TemporaryDirectory(prefix="orrery-ranks-") as directory:
        suite = Suite(directory)
        in_c(suite)
        in_cpp(suite)
        sanitized(suite)
        if shutil.which("smpif90") and configured("fortran"):
            in_fortran(suite)
        return suite.nfailed > 0


if __name__ == "__main__":
    sys.exit(main())
