#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run: mistakes of programs end in our words, not in SimGrid's and mpirun's; the
summary of a simulation counts all of it."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from run import ORRERY, SMALL, SRC, Suite, configured

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool.speech import MpirunSpeech, SimgridSpeech  # noqa: E402

SOURCE = os.path.join(SRC, "tests", "cli", "mistake.c")
SLAVES = os.path.join(SRC, "examples", "slaves.c")
THEIR_WORDS = re.compile(r"\[\w+/(CRITICAL|WARNING|INFO)\]|Oops|SimGrid|\.cpp:\d+|-{60}|"
                         r"Per user-direction|Access violation|ERRORS_ARE_FATAL")
DEADLOCK, ABORTED = 3, 128 + signal.SIGABRT
FAULT = 128 + signal.SIGSEGV

# (program's argument, status, what is said)
SIMULATED = [
    ("mpi-receive", DEADLOCK, [r"nothing can make progress; 2 ranks wait",
                               r"rank 0\] its main waits in MPI_Recv",
                               r"rank 1\] its main waits in MPI_Recv"]),
    ("receive", DEADLOCK, [r"rank 1\] its main waits in MPI_Recv"]),
    ("leave", DEADLOCK, [r"rank 1\] its main has ended without starpu_mpi_shutdown\(\)",
                         r"rank 1\] the program ended with status 5"]),
    ("err", 6, [r"no more", r"a function of a library that calls exit\(6\), as err\(\) does"]),
    ("mpi-status", 5, [r"rank 1\] the program ended with status 5"]),
    ("mpi-abort", 4, [r"rank 0\] MPI_Abort: .*status 4"]),
    ("mpi-rank", 0, [r"rank 1\] MPI_Send: param 4 dst \(=77\)"]),
    ("mpi-long", ABORTED, [r"rank 1\] MPI_ERR_TRUNCATE: .*longer than the buffer"]),
    ("pointer", FAULT, [r"signal 11 \(SIGSEGV\): a pointer leads nowhere"]),
    ("stack", FAULT, [r"more stack than the 8 MiB", r"arrays belong on the heap", r"main of rank 0 of 2"]),
]
# Faults of the program's: whose code it was, in both flavours.
SEEN = r"To see where: compile with -g and give orrery run the option --wrapper"
FAULTS = [
    ("fault-kernel", FAULT, [r"rank 1\] signal 11 \(SIGSEGV: .*address 0\) in the kernel of task \"the third\" "
                             r"\(1\) of codelet \"crashing\" on worker 0 \(CPU 0\) of rank 1 of 2", SEEN]),
    ("fault-stack", FAULT, [r"rank 1\] signal 11 .* in the kernel of task \"overflowing\" \(1\) on worker 0", SEEN]),
    ("fault-callback", FAULT, [r"rank 1\] signal 11 .* in a callback of task \"nothing\" \(1\) on worker", SEEN]),
    ("fault-abort", ABORTED, [r"rank 1\] signal 6 \(SIGABRT: abort\(\).* in the main (thread )?of rank 1 of 2", SEEN]),
    ("fault-assert", ABORTED, [r"Assertion .rank == 77. failed", r"rank 1\] signal 6 .* in the main", SEEN]),
    ("fault-raise", 128 + signal.SIGFPE, [r"rank 1\] signal 8 \(SIGFPE\) in the main", SEEN]),
    ("fault-handled", 7, [r"handled by the program"]),
]
REAL = [
    ("stack", FAULT, [r"rank [01]\] signal 11 .* in the main thread of rank [01] of 2"]),
    ("leave", 5, [r"rank 1\] the program ended with status 5"]),
    ("err", 6, [r"no more", r"rank 1\] the program leaves with status 6"]),
    ("mpi-abort", 4, [r"rank [01]\] MPI_Abort: .*status 4|the program ended with status 4"]),
    ("pointer", FAULT, [r"rank [01]\] the program was ended by signal 11 \(SIGSEGV\)"]),
]
OPEN_MPI_ERROR = b"""[vm:7] *** An error occurred in MPI_Recv
[vm:7] *** reported by process [1099956225,1]
[vm:7] *** on communicator MPI_COMM_WORLD
[vm:7] *** MPI_ERR_TRUNCATE: message truncated
[vm:7] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[vm:7] ***    and potentially your MPI job)
"""

IMPROPER = b"""--------------------------------------------------------------------------
mpirun has exited due to process rank 1 with PID 0 on
node vm exiting improperly. There are three reasons this could occur:
--------------------------------------------------------------------------
"""
LEAVES = b"[orrery][rank 1] the program leaves with status 0, at once, after MPI_Init() and without MPI_Finalize()\n"
ABORTS = b"""[orrery][rank 1] MPI_Abort: the program asks to end the run, with status 3
--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
with errorcode 3.
--------------------------------------------------------------------------
"""


def run(suite, *arguments, **env):
    out = subprocess.run([sys.executable, ORRERY, "run", *arguments], cwd=suite.directory,
                         text=True, capture_output=True, timeout=100,
                         env=dict(os.environ, **env))
    return out.returncode, out.stdout, out.stderr


def mistakes(suite, flavour, options, program, cases):
    for name, expected, says in cases:
        status, _, said = run(suite, *options, "-n", "2", program, name)
        good = status != 0 if expected == "not 0" else status == expected
        missing = [text for text in says if not re.search(text, said)]
        theirs = THEIR_WORDS.search(said)
        suite.verdict("%s_%s" % (flavour, name.replace("-", "_")),
                      good and not missing and not theirs,
                      "status %s (expected %s), missing %r, their words %r: %r"
                      % (status, expected, missing, theirs and theirs.group(0), said))


def faults(suite, flavour, options, program):
    """A library's handler tells whose code it was, and the program ends as it would have."""
    mistakes(suite, flavour, options, program, FAULTS)
    said = run(suite, *options, "-n", "2", program, "fault-kernel")[2]
    dated = re.search(r"of rank 1 of 2, after [0-9.e-]+ s of simulated time: the program ends$", said, re.M)
    suite.verdict(flavour + "_faults_have_a_date_where_there_is_one", bool(dated) == bool(options),
                  said)
    said = run(suite, *options, "-n", "2", program, "fault-handled")[2]
    suite.verdict(flavour + "_handlers_of_the_program_go_first", "signal" not in said, said)
    said = run(suite, *options, "-n", "2", program, "fault-kernel", STARPU_CATCH_SIGNALS="0")[2]
    suite.verdict(flavour + "_faults_are_not_looked_at_where_signals_are_not_caught",
                  "To see where" not in said, said)
    said = run(suite, *options, "-n", "2", "--quiet", program, "finalize")[2]
    suite.verdict(flavour + "_what_the_library_has_explained_is_no_fault",
                  "call starpu_mpi_shutdown() first" in said and "To see where" not in said, said)


def wrapped(suite, flavour, options, program):
    """Another program starts ours: a debugger, valgrind."""
    said = run(suite, *options, "-n", "1", "--quiet", "--wrapper", "env -u NONE STARPU_CALIBRATE=7",
               program, "fine")[2]
    suite.verdict(flavour + "_has_a_wrapper", "STARPU_CALIBRATE is 7" in said, said)
    for wrapper, words in (("no-such-tool --args", "there is no command \"no-such-tool\""),
                           ("'open", "No closing quotation")):
        status, _, said = run(suite, *options, "-n", "1", "--wrapper", wrapper, program, "fine")
        suite.verdict("%s_refuses_the_wrapper_%s" % (flavour, re.sub(r"\W+", "_", wrapper)),
                      status == 2 and words in said, said)


def passes(suite, flavour, options, program):
    """What the program says on stderr comes through as it is."""
    said = run(suite, *options, "-n", "1", "--quiet", program, "say")[2]
    suite.verdict(flavour + "_stderr_passes_unchanged",
                  said == "[not orrery] word\n[0.5] [half/a] line", repr(said))


def speech(suite):
    for kind in (SimgridSpeech, MpirunSpeech):
        talk = kind()
        said = [talk.feed(part) for part in (b"50 ", b"%\r[or", b"rery] a\n[orr", b"ery] b")]
        suite.verdict("%s_shows_unfinished_lines_at_once" % kind.__name__,
                      said[:2] == [b"50 ", b"%\r[or"] and
                      b"".join(said) + talk.close() == b"50 %\r[orrery] a\n[orrery] b", said)
    suite.verdict("errors_of_open_mpi_are_one_line", MpirunSpeech().feed(OPEN_MPI_ERROR)
                  == b"[orrery][rank 1] MPI_Recv: MPI_ERR_TRUNCATE: message truncated; the run "
                  b"ends\n", MpirunSpeech().feed(OPEN_MPI_ERROR))
    said = MpirunSpeech().feed(IMPROPER)
    suite.verdict("a_rank_that_leaves_in_silence_is_explained", said.count(b"\n") == 1 and
                  said.startswith(b"[orrery][rank 1] mpirun has seen") and b"were stopped" in said, said)
    suite.verdict("one_that_says_so_is_not", MpirunSpeech().feed(LEAVES + IMPROPER) == LEAVES, IMPROPER)
    for said in (b"-" * 80 + b"\nname value\n", b"-" * 74 + b"\nname value\n" + b"-" * 74 + b"\n",
                 b"=" * 74 + b"\n" + b"-" * 74 + b"\n"):
        talk = MpirunSpeech()
        at_once = talk.feed(said)
        suite.verdict("lines_that_a_program_draws_stay_%d" % len(said), at_once + talk.close() == said and
                      (at_once == said or said.endswith(b"=\n" + b"-" * 74 + b"\n")), at_once)
    suite.verdict("who_aborts_is_named_once", MpirunSpeech().feed(ABORTS) == ABORTS.splitlines(True)[0], ABORTS)
    talk = SimgridSpeech()
    said = b"".join(talk.feed(
        b"[node-%d:%d:(%d) 0.1] ./a.cpp:3: [smpi_kernel/WARNING] SMPI process did not return 0."
        b" Return value : 1\n" % (i, i, i + 1)) for i in range(1000)) + talk.close()
    suite.verdict("a_thousand_ranks_do_not_flood",
                  said.count(b"\n") < 10 and b"and 995 lines like these" in said, said[-200:])


# Two ranks end; then it hangs, as Open MPI's may when ranks are ended at once.
HANGING = """
import os, sys, time
if os.fork() and os.fork():
    sys.stderr.write("%s\\n%s\\n%s\\n" % ("-" * 74, "mpirun noticed that process rank 1 with PID 7 on "
                     "node here exited on signal 6 (Aborted).", "-" * 74))
    sys.stderr.flush()
    time.sleep(600)
time.sleep(1)
"""
HANGS = """
import sys
from orrery_tool import child, speech
child.HANG_S = 1
run = child.Child([sys.executable, "-c", sys.argv[1]], None, speech.MpirunSpeech(), 2)
sys.exit(run.wait())
"""

# As many agents as ranks, which are elsewhere; and one of each here.  The last waits for its end.
AGENTS = """
import os, time
for told in (%s):
    if os.fork() == 0:
        os.execvpe("sleep", ["sleep", "0.5"], dict(os.environ, **told))
time.sleep(5)
"""
ENDS = HANGS.replace("), 2)", "), 2, has_hosts=True)")


# Three ranks that end in turn, mpirun after them.  Half a second after the start 100 s are over:
# as when all have been stopped.
SLOW = """
import os, time
for ends_s in (0.1, 1, 1.5):
    if not os.fork():
        time.sleep(ends_s * %d)
        os._exit(0)
time.sleep(2)
"""
STOPPED = """
import sys, time
from orrery_tool import child, speech
class Clock:
    begin_s = time.monotonic()
    def monotonic(self):
        now_s = time.monotonic()
        return now_s + 100 * (now_s > self.begin_s + 0.5)
child.time = Clock()
run = child.Child([sys.executable, "-c", sys.argv[1]], None, speech.MpirunSpeech(), 3)
ranks = None
while sys.argv[2:] and (not ranks or len(ranks.ends) < 3):
    ranks = child.Ranks(run.find_ranks())
sys.exit(run.wait() if not ranks or ranks.wait(10) else "ranks are left")
"""


# Three ranks that are looked at several times: what that opens, and who sleeps to look again.
LOOKS = """
import os, sys, time
from orrery_tool import child, speech
opened, naps = [], []
sys.addaudithook(lambda event, given: event == "open" and opened.append(str(given[0])))
sleep, time.sleep = time.sleep, lambda seconds: (naps.append(seconds), sleep(seconds))
child.LOOK_S = (0.1, 0.1)
run = child.Child([sys.executable, "-c", sys.argv[1]], None, speech.MpirunSpeech(), 3)
status = run.wait()
looks = [path for path in opened if path.startswith("/proc/") and path.endswith("/stat")]
print(len(looks) >= 3, "/proc/%d/stat" % os.getpid() in looks, naps)
sys.exit(status)
"""


def child(*words):
    try:
        return subprocess.run([sys.executable, "-c", *words], text=True, timeout=60,
                              capture_output=True,
                              env=dict(os.environ, PYTHONPATH=os.path.join(SRC, "scripts")))
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], None, "", "does not end")


def stopped(suite):
    out = child(STOPPED, SLOW % 0)
    suite.verdict("a_stop_is_no_mpirun_that_hangs", out.returncode == 0 and not out.stderr, out)
    out = child(STOPPED, SLOW % 1, "ranks")
    suite.verdict("a_stop_is_no_rank_that_does_not_end", out.returncode == 0 and not out.stderr, out)


def looks(suite):
    """A look at all processes, or each of many looks, takes from a rank the core that it has."""
    if not os.path.exists("/proc/self/task/%d/children" % os.getpid()):
        return # this Linux tells no children
    out = child(LOOKS, SLOW % 1)
    suite.verdict("looks_at_ranks_are_short_and_few", out.returncode == 0 and
                  out.stdout == "True False []\n", out)


def hanging(suite):
    out = child(HANGS, HANGING)
    suite.verdict("an_mpirun_that_hangs_is_killed", out.returncode == ABORTED and
                  "[rank 1] the program was ended by signal 6" in out.stderr and
                  "mpirun has not within 1 s; it was killed" in out.stderr, out)


    rank = {"OMPI_COMM_WORLD_RANK": "0"}
    for claim, told in (("agents_are_no_ranks", ({}, {})), ("a_rank_here_is_not_all", ({}, rank)),
                        ("an_agent_and_all_ranks", ({}, rank, rank))):
        out = child(ENDS, AGENTS % ", ".join(map(repr, told)))
        suite.verdict(claim, (out.returncode == 0 and not out.stderr) == (len(told) == 2), out)


def summary(suite):
    sim = ["--sim", SMALL, "-n", "3", "./mistake-sim", "lives"]
    status, stdout, said = run(suite, *sim)
    suite.verdict("summary_counts_all_lives_of_all_ranks", status == 0 and re.search(
        r"simulated \S+ s, 3 ranks: 30 tasks under dmdas \(0 % uncalibrated\), 2 messages, 16 bytes\n"
        r"\[orrery\] the GPUs ran none of the tasks: a codelet has \.cuda_funcs for them.*\n"
        r"\[orrery\] the simulation took \S+ s and \S+ MiB\n$", said) and not stdout,
        "%r, %r" % (stdout, said))
    date = re.search(r"simulated (\S+) s", said)
    suite.verdict("its_date_is_that_of_the_end", date and float(date.group(1)) > 0, said)
    said = run(suite, *sim, ORRERY_NOISE="0.25", ORRERY_NOISE_SEED="7")[2]
    suite.verdict("noise_is_told_with_its_seed", "(0 % uncalibrated, noise 0.25 of seed 7)" in said, said)
    for claim, options, env in (("quiet_means_no_summary", ["--quiet"], {}),
                                ("silent_means_no_summary", [], {"STARPU_SILENT": "1"})):
        status, _, said = run(suite, *options, *sim, **env)
        suite.verdict(claim, status == 0 and not said, repr(said))
    for claim, env, words in (
            ("a_value_out_of_range_is_told_once", {"STARPU_CALIBRATE": "7"},
             "STARPU_CALIBRATE is 7: expected 0 to 2"),
            ("too_many_workers_are_told_once", {"STARPU_NCPU": "5000"}, "5000 CPU workers")):
        status, _, said = run(suite, *sim, **env)
        suite.verdict(claim, status == 0 and said.count(words) == 1, repr(said))
    path = os.path.join(suite.directory, "figures")
    status, _, said = run(suite, *sim, ORRERY_SUMMARY=path)
    with open(path, encoding="ascii") as f:
        figures = f.read()
    suite.verdict("figures_can_be_kept", "tasks=30\n" in figures and "inits=6\n" in figures,
                  figures)
    # The master's policy; what slaves execute is not the master's, too.
    suite.succeeds("slaves_build", "cc", "--sim", SLAVES, "-o", "slaves-sim", says="", times=1)
    status, _, said = run(suite, "--sim", SMALL, "-n", "3", "./slaves-sim", STARPU_NMPI_MS="2",
                          STARPU_SCHED="prio")
    suite.verdict("summary_counts_tasks_of_slaves_once", status == 0 and re.search(
        r"simulated \S+ s, 3 ranks: 40 tasks under prio \(.*\), [1-9]\d+ messages, [1-9]", said), said)


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        speech(suite)
        looks(suite)
        hanging(suite)
        stopped(suite)
        if configured("mpi"):
            suite.succeeds("it_builds", "cc", SOURCE, "-o", "mistake", says="", times=1)
            mistakes(suite, "real", [], "./mistake", REAL)
            faults(suite, "real", [], "./mistake")
            wrapped(suite, "real", [], "./mistake")
            passes(suite, "real", [], "./mistake")
        if configured("sim"):
            suite.succeeds("it_builds_simulated", "cc", "--sim", SOURCE, "-o", "mistake-sim",
                           says="", times=1)
            mistakes(suite, "simulated", ["--sim", SMALL], "./mistake-sim", SIMULATED)
            faults(suite, "simulated", ["--sim", SMALL, "--execute"], "./mistake-sim")
            wrapped(suite, "simulated", ["--sim", SMALL], "./mistake-sim")
            passes(suite, "simulated", ["--sim", SMALL], "./mistake-sim")
            summary(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
