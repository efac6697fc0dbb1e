#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Programs that can never go on end with the reasons; those that only look so go on; when
a rank goes, the others end with its name.  The table gives for each case of stuck.c what
must be said.

usage: stuck.py [CASE ...]
"""
import os
import re
import signal
import subprocess
import sys

import run as bad
from run import CRASH, DEADLOCK, ENDS, REAL, SIM, Case

# Real runs end soon, and what takes long takes some limits.
SOON = {"ORRERY_WATCHDOG": "0.2"}
ENDED = r"nothing can happen any more"
GOES_ON = r"the run goes on"
BARRIER_OF_ONE = (r"rank 1 has come to starpu_mpi_shutdown\(\) after 0 calls of starpu_mpi_barrier"
                  r".* rank 0 is in the barrier after 1: each barrier must be called by all")
SILENT = (r"nothing (has|can) happen", CRASH)


def hangs(name, says, where=bad.BOTH):
    """One rank, stuck in both flavours, with the same list."""
    if REAL[0] in where:
        yield Case(name, [ENDED] + says + [r"the run ends"], where=REAL, program="stuck",
                   nranks=1, env=SOON)
    if SIM[0] in where:
        yield Case(name, ["nothing can make progress"] + says, where=SIM, status=DEADLOCK,
                   program="stuck", nranks=1)


def stuck_ranks(name, says):
    """Two ranks."""
    yield Case(name, [ENDED + ": all 2 ranks wait"] + says, where=REAL, program="stuck",
               env=SOON)
    yield Case(name, ["nothing can make progress"] + says, where=SIM, status=DEADLOCK,
               program="stuck")


def goes_on(name, says, nranks=1):
    """A pause is no standstill."""
    hushes = (ENDED, CRASH) if says else SILENT
    yield Case(name, says, where=REAL, status=ENDS, program="stuck", nranks=nranks,
               env=SOON, hushes=hushes)


def goes(name, says, status="is not 0"):
    """A rank goes: the other ends, too."""
    yield Case(name, says, where=REAL, status=status, program="stuck", hushes=())


def cases(_top):
    held = r"is held by the application since starpu_data_acquire\(STARPU_%s\)"
    table = [
        hangs("unreleased_task", [r'data "table" \(v8\) ' + held % "RW", r"_release\(\) is",
                                  r'waiting for it: task "add" \(\d+\)']),
        hangs("unreleased_acquire", [r"a thread is in starpu_data_acquire\(\)", held % "RW"]),
        hangs("unreleased_unregister", [r"starpu_data_unregister\(\)", held % "R"]),
        [Case("pending_and_watched", [r"no task has ended for 0.05 s \(STARPU_WATCHDOG_TIM",
                                          r"which has not been submitted", ENDED],
              where=REAL, program="stuck", nranks=1, case="unsubmitted_predecessor",
              env=dict(SOON, STARPU_WATCHDOG_TIMEOUT="50000")),
         Case("pending_until_it_crashes", [r"no task has ended", r"STARPU_WATCHDOG_CRASH asks"],
              where=REAL, program="stuck", nranks=1, case="unsubmitted_predecessor",
              env={"ORRERY_WATCHDOG": "0", "STARPU_WATCHDOG_TIMEOUT": "50000",
                   "STARPU_WATCHDOG_CRASH": "1"})],
        hangs("tag_never", [r"starpu_tag_wait\(\): tag 42, which no submitted task carries"]),
        hangs("tag_circle", [r'tag 1 \(of task "first", \d+\) waits for tag 2 \(of task "sec',
                             r'tag 2 \(of task "second", \d+\) waits for tag 1']),
        hangs("task_circle", [r'task "first" \(\d+\) waits for task "second" \(\d+\)',
                              r'task "second" \(\d+\) waits for task "first" \(\d+\)']),
        hangs("unsubmitted_predecessor", [r'task "second" \(\d+\) waits for task "first"',
                                          r"which has not been submitted"]),
        hangs("wait_unsubmitted", [r'starpu_task_wait\(\): task "first"',
                                   r"has not been submitted \(starpu_task_submit\(\)\)"]),
        hangs("end_dependency", [r'task "first" \(\d+\) has run, 1 end dep',
                                 r"starpu_task_end_dep_release\(\)"]),
        hangs("context_without_workers", [r'task "nothing" \(\d+\) is ready, and no worker of its '
                                          r"scheduling context can run it"]),
        hangs("paused", [r"the library is paused", r"starpu_resume\(\)"]),
        hangs("crossed", [r"(?s)(a thread is in starpu_data_acquire.*){2}",
                          r"(?s)(is held by the application.*){2}"], where=REAL),
        goes_on("released_by_a_thread", [r"nothing has happened for", held % "RW", GOES_ON]),
        goes_on("notified_by_a_signal", [r"tag 7, which no", GOES_ON, r"a signal"]),
        goes_on("long_kernel", []),
        goes_on("long_callbacks", []),
        goes_on("long_main", []),
        stuck_ranks("unreleased_receive", [r"rank 1\]   data .*" + held % "RW",
                                           r"rank 1\]   receive from rank 0 tag 7"]),
        stuck_ranks("synchronous_sends", [r"rank 0\]   send to rank 1 tag 7",
                                          r"rank 1\]   send to rank 0 tag 7",
                                          r"rank 1\]   tag 7 came from rank 0"]),
        stuck_ranks("barrier_and_receive", [r"rank 0\]   in starpu_mpi_barrier\(\)",
                                            r"rank 1\]   receive from rank 0 tag 7"]),
        goes("barrier_of_one", [BARRIER_OF_ONE]),
        [Case("barrier_of_one", [BARRIER_OF_ONE.replace("rank 1", "rank 2")], where=REAL,
              status="is not 0", program="stuck", nranks=3, hushes=(),
              claim="barrier of one of three")],
        goes("shutdown_before_the_barrier", [BARRIER_OF_ONE]),
        [Case("barrier_of_one", ["nothing can make progress", r"each must be called by all"],
              where=SIM, status=DEADLOCK, program="stuck")],
        [Case("barrier_of_one", ["nothing can make progress", r"each must be called by all"],
              where=SIM, status=DEADLOCK, program="stuck", env={"ORRERY_TRANSPORT": "mpi"},
              claim="barrier of one under transport mpi")],
        [Case(name, [ENDED, r"rank 0\]   receive from rank 1 tag 8",
                     r"rank 1\]   receive from rank 0 tag 8"], where=REAL, program="stuck",
              env=SOON)
         for name in ("callbacks_receive", "callbacks_receive_aside")],
        [Case("acquisitions_receive", [ENDED + "|called from a task or its callback"],
              where=REAL, program="stuck", env=SOON)],
        goes_on("send_late_to_callback", [], nranks=2),
        goes_on("long_callback_in_a_wait", [], nranks=2),
        [Case("callbacks_receive", [r"a callback calls a function that waits for a transfer",
                                    r"simulation: use the form"], where=SIM, program="stuck")],
        [Case("callbacks_meet", [r"a callback calls a function that waits for a barrier"],
              where=SIM, program="stuck")],
        [Case("callbacks_meet", [], where=REAL, status=ENDS, program="stuck")],
        [Case("callbacks_acquire", [r"a callback calls a function that waits for its turn on"],
              where=SIM, program="stuck")],
        [Case("local_tag", [r"rank 1\] " + ENDED, r"rank 1\]   a thread is in starpu_tag_wait"],
              where=REAL, program="stuck", env=SOON)],
        goes_on("receive_from_a_busy_rank", [], nranks=2),
        goes_on("barrier_with_a_busy_rank", [], nranks=2),
        goes("exits_well", [r"rank 1\] the program leaves with status 0", r"cannot go on"]),
        goes("exits_badly", [r"rank 1\] the program leaves with status 9"]),
        goes("aborts", [r"rank 1\W.*signal 6"]),
        goes("faults", [r"rank 1\W.*signal 11"]),
        goes("finalizes", [r"rank 1\] MPI_Finalize: .* still runs", r"starpu_mpi_shutdown"]),
        [Case("killed", [r"rank 1\W.*signal 9"], where=REAL, status="is not 0",
              case="waits_for_its_fate", program="stuck", hushes=())],
        # As srun does, unless it is told otherwise.
        *([Case("killed_unnoticed", [r"rank 0\] (rank 1 is needed, and its process has ended before "
                                     r"starpu_mpi_shutdown\(\): it was killed|UCX: .* rank 1: .*has ended)"], where=REAL, status=ENDS,
                case=case, program="stuck", hushes=(), env=dict(SOON, OMPI_MCA_orte_enable_recovery="1"),
                claim="who is killed is named where the launcher lets the others live, " + claim)]
          for case, claim in (("waits_for_its_fate", "by one that waits"),
                              ("waits_beside_a_kernel", "and by one with a kernel"))),
        [Case("stopped", [r"rank 1 has not answered for", r"rank 1 answers again"],
              where=REAL, status=ENDS, case="waits_for_its_fate", program="stuck", env=SOON,
              claim="who is stopped is named, and the run goes on when it does")],
        [Case("stopped_for_good",
              [r"rank 1 has not answered for", r"rank 1 is needed and has been stopped for"],
              where=REAL, status="is not 0", case="waits_for_its_fate", program="stuck",
              env=SOON, hushes=(), claim="who stays stopped ends the run"),
         Case("stopped_for_good_reversed",
              [r"rank 1 has not answered for", r"rank 1 is needed and has been stopped for"],
              where=REAL, status="is not 0", case="waits_for_its_fate", program="stuck",
              env=dict(SOON, STUCK_REVERSED="1"), hushes=(),
              claim="also where the program's communicator has its ranks in another order")],
        [Case("forks", [], where=REAL, status=ENDS, program="stuck")],
    ]
    return [case for some in table for case in some]


def kill(name, process):
    """Do to rank 1 what the case is named for; what was printed up to then."""
    seen, pid = "", None
    for line in process.stdout:
        seen += line
        found = re.search(r"rank 1 has pid (\d+)", line)
        if found:
            pid = int(found.group(1))
            os.kill(pid, signal.SIGKILL if "killed" in name else signal.SIGSTOP)
            if "killed" in name:
                break
        if "has not answered" in line and name == "stopped":
            os.kill(pid, signal.SIGCONT)
            break
    return seen


def tell(name, process):
    """Let the program go on once the watchdog has spoken; what was printed up to then."""
    seen, pid = "", None
    for line in process.stdout:
        seen += line
        found = re.search(r"rank 0 has pid (\d+)", line)
        pid = int(found.group(1)) if found else pid
        if re.search(GOES_ON, line):
            if name == "notified_by_a_signal":
                os.kill(pid, signal.SIGALRM)
            else:
                process.stdin.write("\n")
            break
    process.stdin.close()
    process.stdin = None
    return seen


def run(case, flavour):
    act = {"waits_for_its_fate": kill, "waits_beside_a_kernel": kill, "released_by_a_thread": tell,
           "notified_by_a_signal": tell}.get(case.case)
    if not act:
        return bad.run(case, flavour)
    process = bad.start(case, flavour, stdin=subprocess.PIPE if act is tell else None)
    seen = act(case.name, process)
    return seen + process.communicate(timeout=bad.LIMIT_S)[0], process.returncode


if __name__ == "__main__":
    sys.exit(bad.main(cases, run))
