# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery report: reasons why workers wait for tasks that have not been submitted yet."""
from orrery_tool import events as e
from orrery_tool.events import FOR_END, FOR_READY
from orrery_tool.report_time import NETWORK, SUBMISSION
from orrery_tool.report_words import seconds, several

LEAST_SHARE = 0.03         # of the run: what explains less is no reason
SMALL_S = 1e-4             # tasks below are small when what is around them takes as long
LATE = 0.05                # of the run: a node that submits nothing before has come late
ALONE = 0.8                # of what all do, what one node does
BY_DATA = "Let dependencies order the tasks instead."
# By enum wait_kind: who waits, and what helps.
WAITS = {
    FOR_END: ("starpu_task_wait_for_all() or the like", BY_DATA),
    e.FOR_TASK: ("starpu_task_wait() or for tasks with STARPU_TASK_SYNCHRONOUS", BY_DATA),
    e.FOR_TAG: ("starpu_tag_wait() or the like", BY_DATA),
    e.FOR_TURN: ("starpu_data_acquire()", "Let a task do what the program does with the data, or have "
                 "them called back (starpu_data_acquire_cb())."),
    e.FOR_USERS: ("starpu_data_unregister(), starpu_data_unpartition() or the like", "Give data back "
                  "later, or without a wait (starpu_data_unregister_submit(), "
                  "starpu_data_unpartition_submit())."),
    e.FOR_DATA: ("starpu_data_fetch_on_node() or the like", "Ask for data ahead "
                 "(starpu_data_prefetch_on_node())."),
    e.FOR_PARTS: ("starpu_data_partition() and starpu_data_unpartition()", "Let them follow the tasks "
                  "without a wait (starpu_data_partition_submit(), "
                  "starpu_data_unpartition_submit()), or let tasks use the parts only."),
    e.FOR_TRANSFER: ("starpu_mpi_send(), starpu_mpi_recv(), starpu_mpi_wait() or the like",
                     "Let tasks and messages follow each other by the data that they use "
                     "(starpu_mpi_task_insert(), starpu_mpi_isend_detached())."),
    e.FOR_BARRIER: ("starpu_mpi_barrier()", BY_DATA),
}
OTHER_WAIT = ("calls of the library", BY_DATA)


def total_s(gaps):
    return sum(gap_s for gap_s, _ in gaps)


class Submission:
    """Part of Reasons."""

    def gaps(self):
        """[(seconds between submissions, rank)], in order."""
        return sorted((later - date, node.rank) for node in self.run.nodes
                      for date, later in zip(node.submitted, node.submitted[1:]))

    def pauses(self):
        """The long ones, when they are most of all gaps."""
        gaps = self.gaps()
        usual_s = gaps[len(gaps) // 2][0] if gaps else 0.0
        pauses = [gap for gap in gaps if gap[0] > 20 * usual_s and gap[0] > 0.01 * self.span_s]
        return pauses if total_s(pauses) >= 0.5 * total_s(gaps) else []

    def late(self):
        """Nodes that submit their first task long after the others do."""
        firsts = {node.rank: node.first_s for node in self.run.nodes if node.first_s is not None}
        share, begin_s = self.lost(SUBMISSION, NETWORK), min(firsts.values(), default=0.0)
        late = [rank for rank, first_s in firsts.items()
                if first_s - begin_s >= LATE * self.span_s]
        if not late or 2 * len(late) > len(firsts) or share < LEAST_SHARE:
            return
        rank = max(late, key=firsts.get)
        others_s = max(first_s for rank, first_s in firsts.items() if rank not in late)
        self.add("a node starts late", (firsts[rank] - others_s) / self.span_s,
                 "node %d%s submits its first task %s after the others have.  Look for what the "
                 "program does there before (reading input, other starts of MPI), and for a machine "
                 "that is slow to start." % (
                     rank, "" if len(late) == 1 else " and %d more" % (len(late) - 1),
                     seconds(firsts[rank] - others_s)))

    def submission(self):
        share = self.lost(SUBMISSION)
        if share < LEAST_SHARE:
            return
        gaps, pauses = self.gaps(), self.pauses()
        nheld = sum(node.nheld for node in self.run.nodes)
        if nheld > sum(node.nprompt for node in self.run.nodes):
            self.add("the program holds tasks back", share,
                     "%d tasks were ready %s on average after they had been submitted, when the "
                     "program told so (starpu_tag_notify_from_apps(), the release of a datum).  Do "
                     "that earlier, or let tasks wait for tasks." % (
                         nheld, seconds(sum(node.held_s for node in self.run.nodes) / nheld)))
            return
        if not gaps:
            return
        waited = self.run.waits_for()
        if sum(waited.values()) >= 0.5 * total_s(gaps):
            self.waits(share, waited, self.run.left_by_waits())
        elif pauses:
            self.add("pauses of the program", share,
                     "between submissions %s, for %s in sum: it computes by itself, or waits for what "
                     "the library does not know (input, calls of MPI, other programs).  Submit what "
                     "comes later before, or make a task of what it does." % (
                         self.who_pauses(pauses), seconds(total_s(pauses))))
        elif total_s(gaps) >= 0.5 * share * self.span_s:
            self.add("slow submission", share,
                     "a node submits a task each %s%s.  Submit larger tasks, prune the insertion to "
                     "what concerns a node, or submit before the workers need them." % (
                         seconds(total_s(gaps) / len(gaps)), ": it computes in between"
                         if total_s(gaps) >= SMALL_S * len(gaps) else ""))

    def who_pauses(self, pauses):
        by_rank = {}
        for gap_s, rank in pauses:
            by_rank[rank] = by_rank.get(rank, 0.0) + gap_s
        rank = max(by_rank, key=by_rank.get)
        alone = len(self.run.nodes) > 1 and by_rank[rank] >= ALONE * total_s(pauses)
        return "%s pauses %s" % ("the program of node %d alone" % rank if alone else "the program",
                                 "once" if len(pauses) == 1 else several(len(pauses), "time"))

    def waits(self, share, waited, left):
        """waited: {enum wait_kind: seconds}"""
        kind, whole_s = max(waited, key=waited.get), sum(waited.values())
        if left and kind in (FOR_END, FOR_READY):
            self.add("a limit of submitted tasks", share,
                     "programs wait for %s in sum until no more than %s left, and submit only then: "
                     "by STARPU_LIMIT_MAX_SUBMITTED_TASKS and STARPU_LIMIT_MIN_SUBMITTED_TASKS, or "
                     "starpu_task_wait_for_n_submitted().  Allow more." % (
                         seconds(whole_s), "1 task is" if left == 1 else "%d tasks are" % left))
            return
        functions, remedy = WAITS.get(kind, OTHER_WAIT)
        self.add("pauses of the program", share,
                 "between submissions it waits for %s in sum, most of it in %s%s.  %s" % (
                     seconds(whole_s), functions,
                     ", each time until all tasks before have ended" if left == 0 else "", remedy))
