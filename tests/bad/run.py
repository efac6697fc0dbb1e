#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Mistakes of applications: each ends soon, with a message that says who, what, what else
and what to do.  The table below gives for each case of bad.c the words of the message.

usage: run.py [CASE ...]
"""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("ORRERY_BUILD", os.path.join(SRC, "build"))
ORRERY = os.environ.get("ORRERY", os.path.join(SRC, "scripts", "orrery"))
SMALL = os.path.join(SRC, "platforms", "xml", "small4.xml")
LIMIT_S = 60          # for a machine that is busy with other tests; 20 s otherwise

ABORTS, DEADLOCK, FAILS, ENDS, REFUSED = "aborts", 3, 1, 0, 2
BOTH, REAL, SIM = ("real", "sim"), ("real",), ("sim",)


CRASH = r"terminate called|Segmentation|Assertion|std::"


class Case:
    """says: patterns that must all be found; each may span what others find.  hushes:
    patterns that must not be found."""

    def __init__(self, name, says, where=BOTH, status=ABORTS, claim=None, case=None, env=None,
                 platform=SMALL, program="bad", nranks=2, hushes=(CRASH,), hosts=None):
        self.name, self.says, self.where, self.status = name, says, where, status
        self.claim = claim or name.replace("_", " ")
        self.case, self.env, self.platform = case or name, env or {}, platform
        self.program, self.nranks, self.hushes = program, nranks, hushes
        self.hosts = hosts         # of a plain smpirun, which checks no platform first


# A message begins with its rank, names its object and what was expected, and ends with a
# remedy.  R is the rank that speaks, where it is known.
def on(rank, *words):
    return [r"\[orrery\]\[rank %s\] " % rank] + list(words)


ANY = r"[01]"
WATCH = {"ORRERY_WATCHDOG": "0.5"}
SLAVES = {"STARPU_NMPI_MS": "1", "STARPU_NCPU": "1", "STARPU_NMPIMSTHREADS": "1"}
CASES = [
    # A handle that nobody registered.
    Case("null_handle", on(ANY, r'task "add": buffer 0 is NULL', r"register it first")),
    Case("null_sent", on(ANY, r"starpu_mpi_send: the handle is NULL", r"_data_register\(\)")),
    Case("null_registered", on(ANY, r"starpu_mpi_data_register: the handle is NULL",
                               r"register the data first")),
    Case("handle_without_owner", on(ANY, r"task add, argument 0 \(data .*v8\)+", r"no owner",
                                    r"starpu_mpi_data_register\(\)")),
    Case("handle_without_tag", on(ANY, r"data .*v8.* has no tag",
                                  r"starpu_mpi_data_register\(\)")),
    Case("pointer_without_buffer", on(ANY, r"starpu_data_get_local_ptr: data .*v8.* no buffer",
                                      r"memory node 0", r"acquire it there")),
    Case("rank_of_unregistered", on(ANY, r"starpu_mpi_data_get_rank: data .*v8",
                                    r"neither tag", r"starpu_mpi_data_register\(\) first")),
    Case("ended_again", on(ANY, r"starpu_data_unregister: the handle is no longer registered",
                           r"has not been unregistered")),
    Case("ended_acquired", on(ANY, r"starpu_data_acquire: the handle is no longer registered")),
    Case("ended_in_task", on(ANY, r'task "add": buffer 0 is a handle that was unregistered')),
    Case("ending_in_task", on(ANY, r"buffer 0 is a handle that was given to "
                              r"starpu_data_unregister_submit")),
    Case("same_tag_twice", on(ANY, r"starpu_mpi_data_register: tag 7", r"belongs to handle",
                              r"a tag of its own")),
    Case("negative_tag", on(ANY, r"tag -7", r"expected 0 to INT64_MAX")),
    Case("no_value", on(ANY, r'task "add" \(\d+\) reads data .*v8', r"has no value",
                        r"Write it first")),
    # A master and slaves.
    Case("unknown_kernel", on(1, r'the kernel "nowhere"', r"-rdynamic"), where=REAL,
         program="slaves", env=SLAVES),
    Case("dying_slave", [r"1 workers of slaves", r"signal 9|Killed"], where=REAL,
         status="is not 0", program="slaves", env=SLAVES),
    Case("mpi_beside_slaves", on(0, r"starpu_mpi_init_comm: this rank is the master",
                                 r"STARPU_NMPI_MS", r"unset it"),
         program="slaves", env=SLAVES),
    Case("pointer_for_slave", on(0, r"has a cl_arg without cl_arg_size", r"set cl_arg_size"),
         where=REAL, status=ENDS, program="slaves", env=SLAVES),
    Case("more_slaves_than_ranks", on(0, r"9 slaves are asked for", r"has 1 ranks beside",
                                      r"mpirun -np 10") + ["the end"], status=ENDS,
         program="slaves", env=dict(SLAVES, STARPU_NMPI_MS="9")),
    Case("slaves_of_one_rank", on(0, r"1 slaves are asked for", r"has one rank",
                                  r"mpirun -np 2") + ["0 workers of slaves", "the end"],
         status=ENDS, program="slaves", env=SLAVES, nranks=1),
    Case("master_is_no_rank", on(ANY, r"STARPU_MPI_MASTER_NODE is 7", r"from 0 to 1")
         + ["starpu_init has failed"], status="is not 0", program="slaves",
         env=dict(SLAVES, STARPU_MPI_MASTER_NODE="7")),
    # Reductions.
    Case("redux_without_methods", on(ANY, r'task "contributes" contributes .* to data .*v8',
                                     r"starpu_data_set_reduction_methods\(\)"),
         program="redux", case="without_methods"),
    Case("redux_beside_reading", on(ANY, r'"contributes" contributes .* and accesses it '
                                    r"otherwise", r"one of both"),
         program="redux", case="beside_reading"),
    Case("redux_methods_swapped", on(ANY, r"starpu_data_set_reduction_methods",
                                     r"neither 2 nor 3 buffers", r"STARPU_RW\|STARPU_COMMUTE, STARPU_R"),
         program="redux", case="methods_swapped"),
    Case("redux_without_tag", on(ANY, r"starpu_mpi_redux_data: data .*v8.* has no tag",
                                 r"starpu_mpi_data_register\(\)"),
         program="redux", case="without_tag"),
    Case("redux_acquired", on(ANY, r"starpu_data_acquire\w*: access mode 0x8",
                              r"STARPU_R, STARPU_W or STARPU_RW"),
         program="redux", case="acquired"),
    # Ranks that do not exist.
    Case("lb_neighbour_beyond", on(ANY, r"get_neighbors\(\) .*neighbour 0 of 1 is rank 2",
                                   r"expected 0 to 1"), program="lb", case="neighbour_beyond"),
    Case("lb_neighbour_itself", on(ANY, r"get_neighbors\(\) .*is rank [01]", "not this rank"),
         program="lb", case="neighbour_itself"),
    Case("lb_neighbours_nowhere", on(ANY, r"get_neighbors\(\) .*3 neighbours at \(nil\)",
                                     r"malloc\(\)"), program="lb", case="neighbours_nowhere"),
    Case("lb_unit_of_another", on(0, r"get_data_unit_to_migrate\(\)", "to move to rank 1",
                                  "belongs to rank 1", "this rank"),
         program="lb", case="unit_of_another"),
    Case("lb_unit_null", on(0, r"get_data_unit_to_migrate\(\) .*handle 0 of 1 for rank 1 is NULL",
                            "that this rank owns"), program="lb", case="unit_null"),
    Case("lb_unit_nowhere", on(0, r"get_data_unit_to_migrate\(\) .*-1 handles",
                               "expected at least 0"), program="lb", case="unit_nowhere"),
    Case("lb_iteration_skipped", on(ANY, r"rank [01] balances before iteration [23]",
                                    r"rank [01] before iteration [23]", "STARPU_TAG_ONLY"),
         program="lb", case="iteration_skipped"),
    Case("lb_stops_early", on(ANY, r"starpu_mpi_lb_shutdown: rank 1 stops, but rank 0 balances "
                                   r"before iteration 2", "stop after the same"),
         program="lb", case="stops_early"),
    Case("lb_on_one_rank", on(ANY, r"starpu_mpi_lb_init: rank [01] .*balance", "does not balance",
                              "give all ranks the same"), program="lb", case="on_one_rank"),
    Case("lb_policy_unknown", on(0, r"nothing is balanced: the policy is unknown .policy \"cold\"",
                                 r'there is: "heat"'), program="lb", case="policy_unknown",
         status=ENDS),
    Case("lb_too_few_iterations", on(0, r"nothing was balanced: the iterations went from 0 to 7",
                                     "LB_HEAT_SLEEP_THRESHOLD"), program="lb",
         case="too_few_iterations", status=ENDS),
    *(Case("lb_" + case, on(0, r"load balancer: 3 rounds moved nothing; loads were up to \d+ us apart, the largest in the "
                               r"last \d+ % above the mean: " + why), program="lb", case=case, status=ENDS)
      for case, why in (
          ("stays_alone", r"no rank has neighbours"),
          ("stays_even", r"no neighbour's load was less by more than LB_HEAT_TIME_THRESHOLD"),
          ("unit_of_none", r"get_data_unit_to_migrate\(\) named no data for a neighbour with less load"),
          ("unit_of_all", r"the data that get_data_unit_to_migrate\(\) named cost more than twice .* smaller units"))),
    Case("cp_not_started", on(ANY, r"starpu_mpi_checkpoint_template_create: call "
                                   r"starpu_mpi_checkpoint_init\(\) first"),
         program="checkpoints", case="not_started", status=ENDS),
    Case("cp_without_owner", on(ANY, r"checkpoint template 1, entry 0: data .*v8.* has no owner",
                                r"starpu_mpi_data_register\(\)"),
         program="checkpoints", case="without_owner", status=ENDS),
    Case("cp_backup_on_itself", on(ANY, r"entry 0: data .*v8.* of rank 0 is backed up on rank 0",
                                   "expected another rank"),
         program="checkpoints", case="backup_on_itself", status=ENDS),
    Case("cp_backup_beyond", on(ANY, r"entry 0: data .*v8.* of rank 0 is backed up on rank 2",
                                "expected another rank"),
         program="checkpoints", case="backup_beyond", status=ENDS),
    Case("cp_value_on_itself", on(ANY, r"entry 4: the value with tag 3 of rank 0 is backed up on "
                                       r"rank 0", "expected another rank"),
         program="checkpoints", case="value_on_itself", status=ENDS),
    Case("cp_not_frozen", on(ANY, r"starpu_mpi_checkpoint_template_submit: checkpoint template 1 "
                                  r"is not frozen", "template_freeze"),
         program="checkpoints", case="not_frozen", status=ENDS),
    Case("cp_entry_on_one_rank", on(0, r"checkpoint template 1: the value with tag 10 is sent by "
                                       r"its owner, but no rank keeps the backup",
                                    "all ranks must add the same entries"),
         program="checkpoints", case="entry_on_one_rank"),
    Case("cp_entries_on_one_rank", on(0, r"checkpoint template 1: owners send 3 values more than "
                                         r"other ranks keep", "all ranks must add"),
         program="checkpoints", case="entries_on_one_rank"),
    Case("cp_data_ended", on(ANY, r"checkpoint template 1, entry 0: the data was unregistered",
                             r"starpu_mpi_checkpoint_shutdown\(\)"),
         program="checkpoints", case="data_ended"),
    Case("cp_never_submitted", on(0, r"orrery_mpi_checkpoint_restore: no checkpoint of template 1 "
                                     r"is complete", r"orrery_mpi_checkpoint_wait\(\)"),
         program="checkpoints", case="never_submitted", status=ENDS),
    Case("cp_lost_differ", on(ANY, r"orrery_mpi_checkpoint_restore: the lost ranks .* differ",
                              "all ranks must make the same call"),
         program="checkpoints", case="lost_differ", status=ENDS),
    Case("cp_restored_on_one_rank", on(0, r"rank 1 has shut down", r"post the other half",
                                       r"orrery_mpi_checkpoint_restore"),
         program="checkpoints", case="restored_on_one_rank", where=REAL, env=WATCH),
    Case("cp_restored_on_one_rank", ["nothing can make progress", r"receive from rank 1",
                                     r"orrery_mpi_checkpoint_restore"],
         program="checkpoints", case="restored_on_one_rank", where=SIM, status=DEADLOCK),
    Case("cp_lose_unknown", on(ANY, r'ORRERY_MPI_LOSE is "7@1": expected RANK@SECONDS',
                               "ranks from 0 to 1"), program="checkpoints", case="never_submitted",
         env={"ORRERY_MPI_LOSE": "7@1"}),
    Case("register_negative", on(ANY, r"starpu_mpi_data_register: rank -5", r"expected 0 to 1",
                                 r"STARPU_MPI_PER_NODE")),
    Case("register_beyond", on(ANY, r"rank 2 does not exist", r"expected 0 to 1")),
    Case("block_on_itself", on(ANY, r"starpu_block_data_register: in a block of 3 x 5 x 5",
                               r"start 4, planes that start 15 elements apart", "overlap")),
    Case("tensor_on_itself", on(ANY, r"starpu_tensor_data_register: in a tensor of 3 x 5 x 5 x 2",
                                r"blocks that start 70 elements apart", "overlap")),
    Case("ndim_on_itself", on(ANY, r"starpu_ndim_data_register: with these strides",
                              r"some of 3 dimensions overlap", r"expected ldn\[i\]")),
    Case("ndim_apart", on(ANY, r"starpu_ndim_data_register: ldn\[0\] is 2", r"expected 1")),
    Case("ndim_fourth", on(ANY, r"starpu_ndim_get_local_ldi: dimension 3", r"have 3")),
    # Operations of the application's interfaces that refuse.
    Case("own_memory_refused", on(ANY, r"no memory for data .*V4x4", r"16 bytes")),
    Case("own_memory_absent", on(ANY, r"data .*V4x4", r"has no allocate_data_on_node")),
    # Simulated without execution, nothing is copied.
    Case("own_copy_fails", on(ANY, r"data .*V4x4.* cannot be copied from memory node 0 to 0",
                              r"the method failed \(-5\)", r"to return 0"), where=REAL),
    Case("own_unpack_fails", on(1, r"data .*V4x4.*: (unpack|peek)_data\(\) of its interface has returned -?\d+ for a "
                                r"message of \d+ bytes: expected 0"),
         where=REAL),
    Case("send_negative", on(ANY, r"starpu_mpi_isend: destination is rank -1",
                             r"expected 0 to 1")),
    Case("send_beyond", on(ANY, r"starpu_mpi_isend_detached: destination is rank 2",
                           r"expected 0 to 1")),
    Case("receive_negative", on(ANY, r"starpu_mpi_recv: source is rank -1",
                                r"expected 0 to 1")),
    Case("receive_beyond", on(ANY, r"starpu_mpi_irecv_detached: source is rank 2",
                              r"expected 0 to 1")),
    Case("execute_negative", on(ANY, r"task add .*rank -3", r"expected 0 to 1")),
    Case("execute_beyond", on(ANY, r"task add .*rank 2", r"expected 0 to 1")),
    Case("fetch_beyond", on(ANY, r"starpu_mpi_get_data_on_node_detached: rank 2",
                            r"expected 0 to 1")),
    Case("migrate_beyond", on(ANY, r"rank 2", r"expected 0 to 1")),
    Case("policy_beyond", on(ANY, r"policy 1 chose rank 2", r"expected 0 to 1")),
    Case("policy_unknown", on(ANY, r"policy 9 is not registered",
                              r"starpu_mpi_node_selection_register_policy")),
    # A receive that nothing is sent for.
    Case("receive_never_sent", on(0, r"receive from rank 1 tag 7", r"rank 1 has shut down",
                                  r"post the other half"), where=REAL, env=WATCH),
    Case("receives_never_sent", on(0, r"nothing can happen any more: all 2 ranks wait",
                                   r"rank 0\]   receive from rank 1 tag 7",
                                   r"rank 1\]   receive from rank 0 tag 8"),
         where=REAL, env=WATCH, claim="receives on both sides are listed and end the run"),
    Case("detached_receive_never_sent", on(0, r"rank 1 has shut down", r"post the other half"),
         where=REAL, env=WATCH),
    Case("receive_never_sent", ["nothing can make progress", "2 ranks wait",
                                r"rank 0\]   receive from rank 1 tag 7",
                                r"rank 1\]   in starpu_mpi_barrier\(\) or"],
         where=SIM, status=DEADLOCK),
    Case("receives_never_sent", ["nothing can make progress",
                                 r"rank 0\]   receive from rank 1 tag 7",
                                 r"rank 1\]   receive from rank 0 tag 8"],
         where=SIM, status=DEADLOCK),
    Case("detached_receive_never_sent", ["nothing can make progress",
                                         r"rank 0\]   receive from rank 1 tag 7"],
         where=SIM, status=DEADLOCK),
    # A send that nobody receives.
    Case("sent_never_received", on(1, r"tag 7 came from rank 0 \(8 bytes\)",
                                   r"forget to post a receive",
                                   r"each send needs a receive with the same tag"), env=WATCH),
    Case("large_never_received", on(0, r"rank 1 has shut down", r"tag 7"), where=REAL,
         env=WATCH),
    Case("large_never_received", ["nothing can make progress",
                                  r"rank 0\]   send to rank 1 tag 7"],
         where=SIM, status=DEADLOCK),
    Case("synchronous_never_received", on(0, r"rank 1 has shut down", r"tag 7"), where=REAL,
         env=WATCH),
    Case("synchronous_never_received", ["nothing can make progress",
                                        r"rank 0\]   send to rank 1 tag 7"],
         where=SIM, status=DEADLOCK),
    # Sizes that differ.
    Case("shorter_receive", on(1, r"tag 7: rank 0 sends 100 bytes, rank 1 receives 50 bytes",
                               r"same size")),
    Case("longer_receive", on(1, r"rank 0 sends 50 bytes, rank 1 receives 100 bytes",
                              r"same size")),
    Case("shorter_large_receive", on(1, r"rank 0 sends 20000 bytes, rank 1 receives 19999",
                                     r"same size")),
    Case("shorter_large_receive", on(1, r"rank 0 sends 20000 bytes, rank 1 receives 19999",
                                     r"same size"),
         where=REAL, env={"ORRERY_MPI_PIECE": "1000"}, claim="shorter receive that waits"),
    Case("large_for_small_receive", on(1, r"rank 0 sends 20000 bytes, rank 1 receives 8 bytes",
                                       r"same size")),
    # Ranks that submit different graphs.
    Case("task_left_out", on(1, r"tag 1 .*nobody receives",
                             r"each send needs a receive", r"different task graphs"), env=WATCH),
    Case("task_added", on(1, r"rank 0 has shut down", r"tag 1", r"post the other half",
                          r"different task graphs"), where=REAL, env=WATCH),
    Case("task_added", ["nothing can make progress", r"rank 1\]   receive from rank 0 tag 1",
                        r"rank 1\]   perhaps the ranks submitted different task graphs"],
         where=SIM, status=DEADLOCK),
    Case("places_differ", ["nothing can happen any more",
                           r"rank [01]\]   perhaps the ranks submitted different task graphs"],
         where=REAL, env=WATCH),
    Case("owners_differ", [r"\[rank [01]\]", r"tag 7"], env=WATCH, status="is not 0"),
    # Calls in the wrong order or place.
    Case("release_unacquired", on(ANY, r"starpu_data_release: data .*v8.*is not acquired",
                                  r"starpu_data_acquire")),
    Case("wait_detached", on(ANY, r'starpu_task_wait: task "add" is detached',
                             r"set task->detach to 0")),
    Case("null_request", on(ANY, r"starpu_mpi_isend: the pointer to the request is NULL")),
    Case("wait_in_task", on(ANY, r"starpu_task_wait_for_all: called from a task",
                            r"worker [01]",
                            r"call it from the application's threads")),
    Case("receive_in_task", [r"nothing can happen any more",
                             r"\[rank 0\] +receive from rank 1 tag 7"],
         where=REAL, env=WATCH),
    Case("receive_in_task", on(ANY, r'starpu_mpi_recv: task "block" waits for a message',
                               r"use a form with a callback"), where=SIM),
    Case("acquire_in_task", on(ANY, r"starpu_data_acquire\w*: called from a task",
                               r"the form with a callback")),
    Case("before_init", [r"\[orrery\] starpu_variable_data_register: .*not initialised",
                         r"call starpu_init\(\)"]),
    Case("before_mpi_init", [r"\[orrery\].*starpu_mpi_barrier: .*",
                             r"starpu_mpi_init"]),
    # Arguments.
    Case("too_few_buffers", on(ANY, r'task "copy": incoherent number of buffers',
                               r"nbuffers 2", r"gives 1 handles")),
    Case("other_mode", [r"\[rank \d\] ", r'task "add": buffer 0 \(.*\) is given as STARPU_R,',
                        r"declares STARPU_RW: make them agree"]),
    Case("unknown_key", on(ANY, r"unrecognised argument", r"STARPU_\* key")),
    Case("tags_not_allocated", on(ANY, r"no tags were allocated from 12345",
                                  r"starpu_mpi_tags_allocate")),
    # Variables.
    Case("scheduler", on(ANY, r'scheduling policy "wonderful" was not found',
                         r"expected eager, prio, .* or graph_test", r"using lws", r"(?m)^ends well"),
         case="nothing", status=ENDS, env={"STARPU_SCHED": "wonderful"}),
    Case("scheduler_on_each_rank", [r"\[rank 0\] scheduling policy", r"\[rank 1\] scheduling policy"],
         case="nothing", where=REAL, status=ENDS, env={"STARPU_SCHED": "wonderful"}),
    Case("scheduler_misspelt", on(ANY, r'scheduling policy "dmdaa" was not found \(did you mean dmda\?\)',
                                  r"using lws", r"(?m)^ends well"),
         case="nothing", status=ENDS, env={"STARPU_SCHED": "dmdaa"}),
    Case("more_than_the_limit", on(ANY, r"task .* needs 3145728 bytes in memory node 0",
                                   r"1048576", r"STARPU_LIMIT_CPU_MEM", r"smaller pieces"),
         where=REAL, env={"STARPU_LIMIT_CPU_MEM": "1"}),
    Case("knob", [r'STARPU_NCPU is "many"', r"must be a whole number from 0 to 1000000000 \(workers"], case="nothing",
         env={"STARPU_NCPU": "many"}),
    Case("knob_range", [r"ORRERY_MPI_EAGER is -4", r"expected 0 to", r"using 0",
                        r"(?m)^ends well"],
         case="nothing", status=ENDS, env={"ORRERY_MPI_EAGER": "-4"}),
    # Before the MPI layer there are no ranks to name.
    Case("no_worker", [r"\[orrery\] starpu_init: there is no worker: 0 CPU", r"and machine \S+ has"],
         case="nothing", status="is not 0", env={"STARPU_NCPU": "0", "STARPU_NCUDA": "0"},
         hushes=(CRASH, r"\[rank \d\] starpu_init")),
    Case("bindings", [r"\[rank 0\] worker 0, .*: (core \d|not bound)", r"\[rank 1\] worker 1, "],
         case="nothing", status=ENDS, env={"STARPU_DISPLAY_BINDINGS": "1"}),
    Case("transport", on(ANY, r'ORRERY_TRANSPORT is "pigeons"', r"expected routes"),
         case="nothing", where=SIM, status=70, env={"ORRERY_TRANSPORT": "pigeons"}),
]


def model_file(directory, text):
    """A directory for STARPU_PERF_MODEL_DIR with our model for a machine named "here"."""
    codelets = os.path.join(directory, "codelets", "45")
    os.makedirs(codelets)
    path = os.path.join(codelets, "orrery_test_bad.here")
    if text is None:
        os.mkdir(path)
    else:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    return {"STARPU_PERF_MODEL_DIR": directory, "STARPU_HOSTNAME": "here",
            "STARPU_SCHED": "dmda"}


MODEL = ("45\n1\n1\n0\n0\n1\n1\n1\n"
         "0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n"
         "12345678\t4096\t0\t100\t1\t1000\t100000\t10\n")


def model_cases(top):
    def models(name, text):
        return model_file(os.path.join(top, name), text)

    truncated = MODEL[:MODEL.index("12345678")]
    garbled = MODEL.replace("4096", "many")
    looked_for = [r"orrery_test_bad", r"codelet modelled", r"rank [01]"]
    yield Case("model_unreadable", [r"orrery_test_bad.here cannot be read",
                                    r"expected a readable file", "check its permissions"],
               case="with_model", env=models("unreadable", None), where=REAL, status=ENDS)
    yield Case("model_truncated", [r"orrery_test_bad.here ends after line", r"truncated"],
               case="with_model", env=models("truncated", truncated), where=REAL, status=ENDS)
    yield Case("model_garbled", [r"orrery_test_bad.here, line 12: found \"many\"", "expected"],
               case="with_model", env=models("garbled", garbled), where=REAL, status=ENDS)
    yield Case("model_unreadable", looked_for + [r"orrery_test_bad.here cannot be read"],
               case="with_model", env=models("unreadable-sim", None), where=SIM, status=FAILS)
    yield Case("model_truncated", looked_for + [r"orrery_test_bad.here ends after line"],
               case="with_model", env=models("truncated-sim", truncated), where=SIM,
               status=FAILS)
    yield Case("model_absent", looked_for + [r"footprint [0-9a-f]{8}, 8 bytes",
                                             r"STARPU_PERF_MODEL_DIR", r"calibrate"],
               case="with_model", where=SIM, status=FAILS)
    yield Case("model_without_size", looked_for + [r"footprint [0-9a-f]{8}, 8 bytes",
                                                   r"no entry",
                                                   r"file: .*size/.*orrery_test_bad.here",
                                                   r"calibrate"],
               case="with_model", env=models("size", MODEL), where=SIM, status=FAILS)
    yield Case("no_model", [r"codelet unmodelled has no performance model",
                            r"set its \.model"],
               case="without_model", where=SIM, status=FAILS)


def platform_cases(top):
    with open(SMALL, encoding="utf-8") as f:
        text = f.read()

    def platform(name, changed):
        path = os.path.join(top, name + ".xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(changed)
        return path

    yield Case("platform_truncated", [r"truncated.xml:\d+: platform file is malformed or truncated",
                                      r"complete SimGrid platform"],
               case="nothing", where=SIM, status=REFUSED,
               platform=platform("truncated", text[:len(text) // 2]))
    yield Case("platform_missing", [r"missing.xml does not exist", r"shipped names"],
               case="nothing", where=SIM, status=REFUSED,
               platform=os.path.join(top, "missing.xml"))
    yield Case("platform_empty", [r"empty.xml", r"is empty|malformed or truncated|has no hosts"],
               case="nothing", where=SIM, status=REFUSED, platform=platform("empty", ""))
    # What is no number is refused before the simulation starts.
    for name, value in (("cpus", "1e30"), ("gpus", "99999999999"), ("gpu_mem_bytes", "1e300"),
                        ("gpus", "inf"), ("pcie_bw", "fast"), ("pcie_lat", "nan"),
                        ("gpus", "-1"), ("pcie_bw", "1e300")):
        changed, n = re.subn(r'(id="%s" value=")[^"]*' % name, r"\g<1>" + value, text)
        assert n > 0
        yield Case("platform_%s_%s" % (name, value), [
            r'%s%s.xml:\d+: <prop>: %s is "%s", expected a (whole )?number' % (name, value, name, value)],
                   case="nothing", where=SIM, status=REFUSED, platform=platform(name + value, changed))
    yield from lists(top, text, platform)


def lists(top, text, platform):
    """Properties that are lists, and figures that are too large: the tool refuses them, and so
    does the library, for who starts it by smpirun."""
    hosts = os.path.join(top, "hosts")
    with open(hosts, "w", encoding="utf-8") as f:
        f.write("node-0\nnode-1\n")
    for name, value, of_list in (
            ("cold_costs", "many", "bytes:seconds"), ("cold_costs", "0:-1e-6", "bytes:seconds"),
            ("cold_costs", "0:1e-6:3", "bytes:seconds"), ("cold_costs", "0:1e6", "bytes:seconds"),
            ("push_costs", "lws", "POLICY:SECONDS"), ("push_costs", "lws:2", "POLICY:SECONDS"),
            ("push_costs", "lws:1e-6;:1e-6", "POLICY:SECONDS"), ("push_costs", "lws:1e-6 dmda:1", "POLICY:SECONDS"),
            ("copy_factors", "half", "bytes:factor"), ("copy_factors", "0:-1", "bytes:factor"),
            ("small_copy_factors", "0:0", "bytes:factor"), ("lone_copy", "2", "a number from 0 to 1 "),
            ("wake_cost", "5", "a number from 0 to 1 "), ("gpu_launch", "2", "a number from 0 to 1 "),
            ("host_bw", "1e300", r"a number from 0 to 1e\+")):
        path = platform(re.sub(r"\W", "-", name + value), text.replace(
            '<prop id="cpus"', '<prop id="%s" value="%s"/><prop id="cpus"' % (name, value)))
        yield Case("platform_%s_%s" % (name, value), [
            r'\.xml:\d+: <prop>: %s is "%s", expected ' % (name, value)],
                   case="nothing", where=SIM, status=REFUSED, platform=path)
        yield Case("plain_%s_%s" % (name, value), [
            r'property "%s" of host node-0 is "%s"' % (name, value), of_list],
                   case="nothing", where=SIM, status=70, platform=path, hosts=hosts)


def start(case, flavour, stdin=None, stdout=subprocess.PIPE):
    """The process of a case."""
    command = [sys.executable, ORRERY, "run", "-n", str(case.nranks)]
    program = os.path.join(BUILD, "tests", "bad", case.program)
    if flavour == "sim":
        command += ["--sim", case.platform]
        program += "-sim"
    if case.hosts:
        command = ["smpirun", "-np", str(case.nranks), "-platform", case.platform, "-hostfile", case.hosts,
                   "--cfg=smpi/simulate-computation:no"]
    env = dict(os.environ, STARPU_NCPU="2", ORRERY_BUILD=BUILD)
    env.pop("STARPU_SILENT", None)
    env.update(case.env)
    return subprocess.Popen(command + [program, case.case], env=env, text=True,
                            stdout=stdout, stderr=subprocess.STDOUT,
                            stdin=stdin or subprocess.DEVNULL, errors="replace",
                            start_new_session=True)


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_until_said(case, flavour):
    """(output, None, or the status when it has ended): it is stopped when all is said."""
    with tempfile.NamedTemporaryFile("w", prefix="orrery-said-") as out:
        process = start(case, flavour, stdout=out)
        deadline_s = time.monotonic() + LIMIT_S
        while True:
            ended = process.poll() is not None
            with open(out.name, encoding="utf-8", errors="replace") as f:
                output = f.read()
            if ended or time.monotonic() > deadline_s or all(re.search(word, output) for word in case.says):
                break
            time.sleep(0.1)
        if ended:
            return output, process.returncode
        stop(process)
        return output, None


def run(case, flavour):
    """(output, status or None when the time was up)"""
    if case.status == "is stopped":
        return run_until_said(case, flavour)
    process = start(case, flavour)
    try:
        return process.communicate(timeout=LIMIT_S)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            output = process.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0]
        return output, None


def judge(case, output, status):
    """What is wrong, or None."""
    if status is None and case.status != "is stopped":
        return "it does not end within %d s" % LIMIT_S
    if case.status == ABORTS and status not in (134, 6, -6):
        return "status %d, expected an abort (134)" % status
    if case.status == "is not 0" and status == 0:
        return "status 0, expected a failure"
    if isinstance(case.status, int) and status != case.status:
        return "status %d, expected %d" % (status, case.status)
    for pattern in case.says:
        if not re.search(pattern, output):
            return "no \"%s\" in the output" % pattern
    for pattern in case.hushes:
        if re.search(pattern, output):
            return "\"%s\" in the output" % pattern
    return None


def main(cases_of, run_case):
    with open(os.path.join(BUILD, "build.conf"), encoding="utf-8") as f:
        conf = f.read().split("\n")
    if any(re.match("sanitize=.", line) for line in conf):
        return 77 # aborts end with other codes
    flavours = [flavour for flavour, missing in (("real", "mpi=no"), ("sim", "sim=no"))
                if missing not in conf]
    if os.environ.get("ORRERY_TRANSPORT") == "ucx":
        flavours = flavours[:1] # a real machine's
    nfailed = 0
    with tempfile.TemporaryDirectory(prefix="orrery-bad-") as top, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(case, flavour, pool.submit(run_case, case, flavour))
                for case in cases_of(top) for flavour in case.where if flavour in flavours
                and (not sys.argv[1:] or case.name in sys.argv[1:])]
        for case, flavour, job in jobs:
            output, status = job.result()
            wrong = judge(case, output, status)
            claim = "%s, %s" % (case.claim, flavour)
            print("FAIL %s: %s" % (claim, wrong) if wrong else "PASS " + claim, flush=True)
            if wrong:
                nfailed += 1
                print("\n".join("  | " + line for line in output.rstrip().split("\n")[:25]))
            elif sys.argv[1:]:
                print(output)
    return 1 if nfailed else 0


def all_cases(top):
    return CASES + list(model_cases(top)) + list(platform_cases(top))


if __name__ == "__main__":
    sys.exit(main(all_cases, run))
