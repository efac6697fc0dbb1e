#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Variables of the environment: what nothing reads is said once, and what follows from some
that are read is seen."""
import os
import re
import subprocess
import sys
import tempfile

from run import BUILD, ORRERY, SRC, Suite, configured

SOURCE = os.path.join(SRC, "tests", "cli", "variables.c")
NTASKS = 10


def said(suite, options, program, **env):
    """(status, stderr)"""
    clean = {name: value for name, value in os.environ.items() if name != "STARPU_SILENT"}
    out = subprocess.run([sys.executable, ORRERY, "run", *options, "--quiet", program],
                         cwd=suite.directory, text=True, capture_output=True, timeout=100,
                         env=dict(clean, STARPU_WORKERS_NOBIND="1", STARPU_NCPU="1", **env))
    return out.returncode, out.stderr


def unread(suite, flavour, options, program):
    status, text = said(suite, options, program, STARPU_NCPUZ="3", ORRERY_TRANSPROT="x")
    suite.verdict(flavour + "_misspelt_variables_are_said_once_with_the_nearest",
                  status == 0 and text.count("STARPU_NCPUZ=3 has no effect") == 1 and
                  "is STARPU_NCPU meant?" in text and
                  text.count("is ORRERY_TRANSPORT meant?") == 1, text)
    status, text = said(suite, options, program, STARPU_NTCPIP_MS="2", STARPU_NOPENCL="0",
                        STARPU_BACKOFF_MAX="5")
    suite.verdict(flavour + "_what_is_not_offered_is_said_where_it_is_asked_for",
                  status == 0 and text.count("has no effect") == 1 and
                  "STARPU_NTCPIP_MS=2 has no effect: ranks are reached by MPI" in text, text)
    status, text = said(suite, options, program, STARPU_NCPUZ="3", STARPU_SILENT="1")
    suite.verdict(flavour + "_silence_hides_it", status == 0 and not text, text)


def progress(suite, program):
    status, text = said(suite, ["-n", "1"], program, STARPU_TASK_PROGRESS="1",
                        ORRERY_PROGRESS_PERIOD="0.04")
    lines = [line for line in text.split("\n") if "tasks/s" in line]
    seen = [int(number) for number in re.findall(r": (\d+) of \d+ tasks,", text)]
    suite.verdict("progress_of_a_real_run_is_said",
                  status == 0 and len(lines) > 2 and seen == sorted(seen) and
                  all(re.search(r" of %d tasks, \d+ tasks/s" % NTASKS, line)
                      for line in lines[:-1]) and re.search(", [1-9]\\d* s more|, 0 s more", text) and
                  "all %d tasks have ended" % NTASKS in lines[-1], text)
    status, text = said(suite, ["-n", "2"], program, ORRERY_PROGRESS="1",
                        ORRERY_PROGRESS_PERIOD="0.04")
    suite.verdict("progress_says_the_rank", status == 0 and
                  all("[orrery][rank %d] " % rank in text for rank in (0, 1)), text)
    status, text = said(suite, ["-n", "1"], program, ORRERY_PROGRESS="1")
    suite.verdict("a_short_run_says_its_end", status == 0 and text.count("\n") == 1 and
                  "all %d tasks have ended" % NTASKS in text, text)
    status, text = said(suite, ["-n", "1"], program)
    suite.verdict("nothing_is_said_unless_wanted", status == 0 and not text, text)


def progress_of_a_simulation(suite, program):
    status, text = said(suite, ["--sim", "small4", "-n", "2"], program, ORRERY_PROGRESS="1")
    suite.verdict("progress_of_a_simulation_ends_with_its_tasks", status == 0 and
                  text.count("\n") == 1 and re.search(
                      r"t=\d+\.\d+ s, all %d tasks have ended" % (2 * NTASKS), text), text)


def bindings(suite, flavour, options, program):
    """Each rank below a line with its name, as StarPU prints them."""
    env = dict(os.environ, STARPU_NCPU="1", STARPU_NCUDA="0", STARPU_DISPLAY_BINDINGS="1")
    run = [sys.executable, ORRERY, "run", *options, "--quiet", program]
    out = subprocess.run(run, cwd=suite.directory, text=True, capture_output=True, timeout=100,
                         env=env)
    # mpirun puts lines of several ranks in an order of its own.
    texts = [out.stdout] if flavour == "sim" else [
        "".join(re.findall(r".*rank %d.*\n" % rank, out.stdout)) for rank in (0, 1)]
    found = re.findall(r"== Binding for rank (\d) on node \S+ ==\n"
                       r"\[orrery\]\[rank (\d)\] worker 0, CPU 0: .*\n", "".join(texts))
    suite.verdict(flavour + "_bindings_are_displayed_rank_by_rank", out.returncode == 0 and
                  found == [("0", "0"), ("1", "1")] and
                  "== End of bindings ==\n" in out.stdout and
                  "== Binding ==" not in out.stdout, out.stdout + out.stderr)
    # starpu_init() cannot know that there will be ranks, and displays its own, with StarPU, too.
    out = subprocess.run(run + ["apart"], cwd=suite.directory, text=True, capture_output=True,
                         timeout=100, env=env)
    suite.verdict(flavour + "_bindings_of_a_node_alone", out.returncode == 0 and
                  out.stdout.count("== Binding ==\n") == 2 and
                  out.stdout.count("== End of binding ==\n") == 2 and
                  out.stdout.count("worker 0, CPU 0: ") == 4 and
                  out.stdout.count("== Binding for rank ") == 2, out.stdout + out.stderr)


def marks(suite, flavour, options):
    """What the caches of both ranks note, said where it is asked for."""
    program = os.path.join(BUILD, "tests", "api", "mpi_marks" + "-sim" * (flavour == "sim"))
    status, text = said(suite, options + ["--execute"] * (flavour == "sim"), program,
                        STARPU_MPI_CACHE_STATS="1")
    suite.verdict(flavour + "_what_a_cache_notes_is_said", status == 0 and
                  "[starpu][0][communication cache] + 8 to 1" in text and
                  "[starpu][0][communication cache] - 8 from 1" in text, text)
    status, text = said(suite, options + ["--execute"] * (flavour == "sim"), program)
    suite.verdict(flavour + "_and_nowhere_else", status == 0 and
                  "communication cache" not in text, text)


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-variables-") as directory:
        suite = Suite(directory)
        flavours = [("real", ["-n", "2"], [])]
        if configured("sim"):
            flavours.append(("sim", ["--sim", "small4", "-n", "2"], ["--sim"]))
        for flavour, options, cc in flavours:
            program = "./variables" + "".join(cc).replace("--", "-")
            status, output = suite.orrery("cc", *cc, SOURCE, "-o", program)
            suite.verdict(flavour + "_program_is_built", status == 0, output)
            unread(suite, flavour, options, program)
            bindings(suite, flavour, options, program)
            marks(suite, flavour, options)
            if flavour == "real":
                progress(suite, program)
            else:
                progress_of_a_simulation(suite, program)
        return suite.nfailed > 0


if __name__ == "__main__":
    sys.exit(main())
