#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Wrong programs and what must be said of each; odd ones of which nothing may be said.
The cases are those of tasks.c (one rank), nodes.c, graphs.c, spread.c, starts.c, calls.c, waits.c, asleep.c, deeper.c, left.c and
in_fortran.f90 (two to four), places.c (one) and odd.c;
beside them tests/bad/run.py has the mistakes in single calls, stuck.py what can never go on.

usage: run.py tasks|nodes|graphs|spread|starts|calls|waits|asleep|deeper|left|places|odd [CASE ...]
"""
import os
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
sys.path.insert(0, os.path.join(TOP, "bad"))
import run as bad  # noqa: E402
from run import CRASH, DEADLOCK, ENDS, REAL, SIM, Case, on  # noqa: E402

ANY = r"[0-2]"
SOON = {"ORRERY_WATCHDOG": "0.5"}
RELEASE = r"is held by the application since starpu_data_acquire\(STARPU_R\)"
GRAPHS = r"perhaps the ranks submitted different task graphs"
ENDED = r"the handle is no longer registered; give one that starpu_\*_data_register\(\) returned"


def wrong(name, *words, program, nranks, **others):
    """In both flavours, with the same words."""
    return Case(name, on(ANY, *words), program=program, nranks=nranks, **others)


def task(name, *words, **others):
    return wrong(name, *words, program="../wrong/tasks", nranks=1, **others)


def node(name, *words, nranks=2, **others):
    return wrong(name, *words, program="../wrong/nodes", nranks=nranks, env=SOON, **others)


def never(name, real, sim, nranks=2):
    """What can never be: found by the ranks together, or by the simulation."""
    yield Case(name, real, where=REAL, program="../wrong/nodes", nranks=nranks, env=SOON)
    yield Case(name, ["nothing can make progress"] + sim, where=SIM, status=DEADLOCK,
               program="../wrong/nodes", nranks=nranks)


def stands(name, *words, nranks=2):
    """Nobody has gone: both flavours list the same."""
    words = list(words)
    return never(name, [r"nothing can happen any more: all %d ranks wait" % nranks] + words
                 + [r"the run ends"], words, nranks)


def lost(name, rank, real, *sim, nranks=2):
    """The other half's rank has shut down."""
    return never(name, on(rank, r"a transfer can never be matched: rank %d has shut down"
                          % (1 - rank if nranks == 2 else 1), r"post the other half", real),
                 [real] + list(sim), nranks)


def refused(name, codelet, where=bad.BOTH):
    return Case(name, on(ANY, r'starpu_task_insert: task "%s": no worker can' % codelet,
                         r"not submitted.*-ENODEV", "returns -19", "(?m)^ends well"),
                program="../wrong/tasks", nranks=1, where=where, status=ENDS)


TASKS = [
    refused("no_function", "empty"),
    refused("no_such_worker", "nothing"),
    refused("only_for_gpus", "only_for_gpus", where=REAL),
    task("too_many_buffers", r'task "add": incoherent number of buffers', r"nbuffers 1",
         r"gives 2 handles"),
    task("nine_buffers", r'task "nine"', r"nbuffers 9", r"gives 1 handles"),
    task("negative_buffers", r'task "negative"', r"nbuffers -3"),
    task("no_mode", r'task "modeless": buffer 0 has access mode 0', r"expected STARPU_R"),
    task("no_end_of_list", r"unrecognised argument 12345678", r"ends with 0"),
    task("only_commute", r"unrecognised argument 16"),
    task("size_of_four_gib", r'SIZE_OF_MINE is "4g": expected less than 2 GiB'),
    Case("unpacks_too_much", [r"\[rank 0\] starpu_codelet_unpack: more arguments are unpacked than were packed"], where=REAL,
         program="../wrong/tasks", nranks=1),
    Case("unpacks_other_size", [r"\[rank 0\] .*8 bytes are asked for, 1 were packed"],
         program="../wrong/tasks", nranks=1),
    task("null_task", r'starpu_task_submit: the argument "task" is NULL'),
    task("zeroed_task", r"task .* is not initialised", r"starpu_task_create\(\)"),
    task("submitted_twice", r'task "add" is submitted already', r"after its end"),
    task("destroyed_running", r'task_destroy: task "add" has not ended', r"starpu_task_wait"),
    task("destroyed_detached", r'task "add" is detached and frees itself', r"detach to 0"),
    task("finished_detached", r'task_finished: task "add" is detached', r"detach to 0"),
    task("resumed_only", r"starpu_resume: there was no starpu_pause"),
    task("shutdown_in_task", r"starpu_shutdown: called from a task", r"worker [01]"),
    task("released_twice", r"data .*v8.* is not acquired", r"starpu_data_acquire"),
    task("ended_twice_by_submit", r"starpu_data_unregister_submit: " + ENDED),
    task("another_interface", r"starpu_vector_get_nx: data .* is no vector"),
    task("home_nowhere", r"starpu_variable_data_register: home node 7", r"expected -1"),
    task("home_at_null", r"home node 0 but no memory", r"home node -1", where=REAL),
    task("rows_overlap", r"leading dimension 2 is less than the 5 elements"),
    task("acquired_as_scratch", r"access mode 0x4", r"expected STARPU_R"),
    task("acquired_without_value", r"starpu_data_acquire\(\) reads data .*v8",
         r"has no value", r"Write it first"),
    task("read_after_invalidate", r'task "add" .* reads data .*v8', r"has no value"),
    task("contributed_without_methods", r'task "unbounded" contributes', r"to data .*v8",
         r"starpu_data_set_reduction_methods\(\)"),
    Case("no_such_hook", on(ANY, r"starpu_idle_hook_deregister: no hook has the number 3",
                            "(?m)^ends well"),
         program="../wrong/tasks", nranks=1, status=ENDS),
    task("thousand_aliases", r'starpu_parallel_task_barrier_init_n: task "nothing" for 1000 workers',
         r"expected 1 to \d+, the CPU workers"),
    task("alias_before_barrier", r'pop_task of scheduling policy "wrong" gave worker \d+ task "nothing"',
         r"has not been submitted", r"after starpu_parallel_task_barrier_init"),
    task("alias_twice", r'worker \d+ was given an alias of task "nothing" a second time'),
    task("barrier_of_own", r"starpu_parallel_task_barrier_init_n: task .* is not one that push_task"),
    *(Case("alias_missing", [r'task "nothing" .*is ready, and not all workers that are to run it',
                             r"starpu_parallel_task_barrier_init\(\)"], where=where,
           program="../wrong/tasks", nranks=1, env=SOON, **ends)
      for where, ends in ((REAL, {}), (SIM, {"status": DEADLOCK}))),
    task("success_of_nothing", r'starpu_task_ft_success: task "nothing" has not been submitted',
         r"expected the task whose prologue_callback_func is"),
    *(task(name, what + r" comes after starpu_transaction_close\(\) of its transaction",
           r"expected one that is open")
      for name, what in (("closed_twice", r"starpu_transaction_close\(\)"),
                         ("epoch_of_closed", r"starpu_transaction_next_epoch\(\)"),
                         ("task_of_closed", r'task "nothing"'))),
    *(task(name, r'starpu_task_submit: task "nothing" is for scheduling context %d' % ctx,
           r"was deleted, or never created", r"before starpu_sched_ctx_delete\(\)")
      for name, ctx in (("task_of_deleted_context", 1), ("thread_of_deleted_context", 1),
                        ("task_of_no_context", 100))),
    *(task(name, r"starpu_perf_knob_%s_float_value: starpu\.%s has type int32; use the function for that type" % what)
      for name, what in (("number_as_float", ("get_global", r"global\.g_calibrate_knob")),
                         ("number_set_to_float", ("set_global", r"global\.g_calibrate_knob")),
                         ("switch_as_float", ("get_per_worker", r"worker\.w_enable_worker_knob")),
                         ("switch_set_to_float", ("set_per_worker", r"worker\.w_enable_worker_knob")))),
    task("disabled_counter", r"starpu_perf_counter_sample_get_int64_value: "
         r"starpu.task.g_total_submitted is not in the listener's set; enable it before"),
    Case("no_such_bus", on(ANY, r"starpu_bus_get_direct: there is no bus 0, nor any other: a "
                           r"bus leads to a memory beside the main one",
                           r"starpu_bus_get_ngpus", r"starpu_bus_set_direct", r"returns -22",
                           "(?m)^ends well"),
         where=REAL, program="../wrong/tasks", nranks=1, status=ENDS),
    Case("pop_that_sleeps", on(ANY, r"call of a scheduling policy of worker \d+ has slept \d+ times",
                               r"expected one that returns"),
         where=SIM, program="../wrong/tasks", nranks=1),
    Case("waited_for_twice", ["ends well"], program="../wrong/tasks", nranks=1, status=ENDS,
         hushes=(CRASH, r"\[orrery\]\[rank")),
]

WAITS_IN_MPI = on(
    1, r"nothing has happened on this rank for .* the run goes on",
    r"rank 0 has nothing to do and waits in MPI_Recv\(\), which its program has called",
    r"rank 1\]   receive from rank 0 tag 7: data .*starpu_mpi_irecv: no message came",
    r"ends well")

NODES = [
    # Transfers that do not meet.
    *stands("other_tag", r"rank 0\]   send to rank 1 tag 5: data .*v8.*issend_detached",
            r"rank 1\]   receive from rank 0 tag 6: data .*v8.*starpu_mpi_recv",
            r"rank 1\]   tag 5 came from rank 0 \(8 bytes\).*nobody receives it"),
    *stands("other_communicator", r"rank 0\]   send to rank 1 tag 7: ",
            r"receive from rank 0 tag 7 in communicator 1 \(of 2 ranks\)"),
    *lost("other_source", 2, r"receive from rank 1 tag 7: data .*v8", nranks=3),
    *lost("one_receive_too_many", 1, r"receive from rank 0 tag 7: data .*v8"),
    *stands("receive_from_itself", r"rank 0\]   receive from rank 0 tag 7",
            r"rank 1\]   receive from rank 1 tag 7"),
    *stands("synchronous_to_itself", r"rank 0\]   send to rank 0 tag 7",
            r"rank 1\]   tag 7 came from rank 1 .*nobody receives it"),
    # Legal, as "odd" shows; here the variable leaves too little room.
    *(Case("all_sent_first", common + [
        r"rank 1\]   tag %d came from rank 0 \(24000 bytes\), the sender waits: no temporary memory" % fit,
        r"rank 1\]   1 message that nobody receives yet found no room in temporary memory \(%d of %s bytes "
        r"are used\), and the senders wait: receive sooner, or set ORRERY_MPI_EARLY_BYTES to at least %d\n"
        % (24000 * fit, limit, 24000 * (fit + 1))],
           where=where, status=status, program="../wrong/odd", nranks=2,
           env=dict(SOON, ORRERY_MPI_EARLY_BYTES=limit), claim="all sent first, room for %s bytes" % limit)
      for where, status, common in (
          (REAL, bad.ABORTS, [r"nothing can happen any more: all 2 ranks wait", r"the run ends"]),
          (SIM, DEADLOCK, ["nothing can make progress"]))
      for limit, fit in (("1000", 0), ("30000", 1))),
    node("large_to_itself", r"tag 7 came from rank [01] \(20000 bytes\)",
         r"forget to post a receive"),
    *stands("ring_of_receives", r"rank 0\]   receive from rank 2 tag 7",
            r"rank 1\]   receive from rank 0 tag 7", r"rank 2\]   receive from rank 1",
            nranks=3),
    # MPI's threads are known, too, when the library starts MPI and has threads by then.
    Case("ring_of_receives", [r"nothing can happen any more: all 3 ranks wait",
         r"rank 0\]   receive from rank 2 tag 7", r"the run ends"], where=REAL,
         program="../wrong/nodes", nranks=3, env=dict(SOON, LIBRARY_STARTS_MPI="1"),
         claim="ring of receives, MPI is started by the library"),
    *stands("receive_into_acquired", r"rank 1\]   data .*v8.*" + RELEASE
            + r".*starpu_data_release\(\) is missing", r"receive from rank 0 tag 7: .*came"),
    *lost("unregistered_while_receiving", 1, r"receive from rank 0 tag 7: data .*v8"),
    # Who tests in a loop is told what for; on real machines nothing shows that it will
    # never stop, in simulation that no event is due and no clock was looked at.
    Case("tests_in_vain", on(ANY, r"nothing has happened on this rank for .* the run goes on",
         r"receive from rank [01] tag 7: data .*v8.*starpu_mpi_irecv: no message came",
         r"ends well"), where=REAL, status=ENDS, program="../wrong/nodes", nranks=2, env=SOON),
    *(Case(name, [r"nothing can make progress: for \S+ s loops of the program have called",
                  r"rank 0\] its main calls starpu_mpi_test\(\), sched_yield\(\) or the like again",
                  r"rank 0\]   receive from rank 1 tag 7: data .*irecv: no message came"] + others,
           where=SIM, status=DEADLOCK, program="../wrong/nodes", nranks=nranks, env=dict(env, **SOON),
           claim="%s %s" % (name, env.get("ORRERY_TRANSPORT", "")))
      for name, nranks, others in (
          ("tests_for_ever", 2, [r"rank 1\]   receive from rank 0 tag 7"]),
          ("tests_alone", 3, [r"rank 1\]   receive from rank 0 tag 8",
                              r"rank 2\] its main waits in MPI_Barrier"]))
      for env in ({}, {"ORRERY_TRANSPORT": "mpi"}, {"ORRERY_TRANSPORT": "flows"})),
    Case("waits_in_mpi", WAITS_IN_MPI, where=REAL, status=ENDS, program="../wrong/nodes", nranks=2, env=SOON),
    Case("sends_and_waits_in_mpi", [r"rank 0\] its main waits in MPI_Barrier",
         r"rank 0\] under --transport mpi its messages move only while its main is in a function "
         r"of the library.*--transport routes", r"rank 1\]   receive from rank 0 tag 7"],
         where=SIM, status=DEADLOCK, program="../wrong/nodes", nranks=2,
         env=dict(SOON, ORRERY_TRANSPORT="mpi")),
    *(Case(name, WAITS_IN_MPI, where=REAL, status=ENDS, program=program, nranks=2,
           env=dict(env, **SOON), claim="%s %s" % (name, " ".join(env)))
      for name, program, env in (
          ("waits_in_mpi", "../wrong/nodes", {"STARPU_MPI_DRIVER_CALL_FREQUENCY": "1"}),
          ("fortran_waits_in_mpi", "../wrong/in_fortran", {}),
          ("fortran_waits_in_mpi", "../wrong/in_fortran",
           {"STARPU_MPI_DRIVER_CALL_FREQUENCY": "3"}))),
    # MPI's threads are known when Fortran starts it.
    Case("fortran_receives_first", [r"nothing can happen any more: all 2 ranks wait",
         r"rank 0\]   receive from rank 1 tag 7", r"the run ends"], where=REAL,
         program="../wrong/in_fortran", nranks=2, env=SOON),
    Case("fortran_ends_mpi", on(ANY, r"MPI_Finalize: the MPI layer of the library still runs",
                                r"starpu_mpi_shutdown\(\) first"), where=REAL,
         program="../wrong/in_fortran", nranks=2),
    # Kernels that wait.
    Case("kernel_receives_its_own", on(ANY, r'starpu_mpi_recv: task "receives" waits for a '
         r"receive into data .*v8.*, which it uses itself"), where=REAL,
         program="../wrong/nodes", nranks=2, env=SOON),
    Case("kernel_waits_for_nobody", [r"nothing can happen any more: all 2 ranks wait",
         r"rank 1\]   receive from rank 0 tag 7: data .*v8.*starpu_mpi_recv", r"the run ends"],
         where=REAL, program="../wrong/nodes", nranks=2, env=SOON),
    Case("kernel_waits_for_nobody", on(ANY, r'starpu_mpi_recv: task "receives" waits for a '
         r"message, but a simulated task"), where=SIM, program="../wrong/nodes", nranks=2,
         claim="kernel waits in simulation"),
    node("callback_of_a_task_receives", r"starpu_mpi_recv: called from a task or its callback"),
    # What is sent and received.
    node("receive_into_readonly", r"data .*v8.* is a read-only duplicate",
         r"cannot be written", r"starpu_data_cpy"),
    node("send_no_value", r"a send to rank 1 tag 7 \(starpu_mpi_\w+\) reads data .*v8", r"has no value"),
    node("send_ended", r"starpu_mpi_send: " + ENDED),
    node("receive_ended", r"starpu_mpi_irecv_detached: " + ENDED),
    node("register_ended", r"starpu_mpi_data_register: " + ENDED),
    node("insert_ended", r"task add, argument 0 \(data .*\): the handle was unregistered"),
    node("send_negative_tag", r"starpu_mpi_send: tag -4", r"expected 0 to INT64_MAX"),
    node("packed_sizes_differ", r"tag 1: rank 0 sends 800 bytes, rank 1 receives 400 bytes",
         r"V50x8", r"same size"),
    # Requests.
    node("wait_null", r'starpu_mpi_wait: the argument "req" is NULL'),
    node("test_null", r'starpu_mpi_test: the argument "req" is NULL'),
    node("wait_again", r"starpu_mpi_wait: the request is over", r"give no copy of it"),
    # Communicators.
    node("send_in_null", r"starpu_mpi_send: the communicator is MPI_COMM_NULL"),
    node("insert_in_null", r"starpu_mpi_task_insert: the communicator is not registered",
         r"starpu_mpi_comm_register\(\)"),
    node("register_in_null", r"_data_register: the communicator is MPI_COMM_NULL"),
    node("comm_register_null", r"_comm_register: the communicator is MPI_COMM_NULL"),
    node("barrier_in_null", r"starpu_mpi_barrier: the communicator is MPI_COMM_NULL"),
    node("insert_in_unregistered", r"task_insert: the communicator is not registered",
         r"starpu_mpi_comm_register\(\)"),
    node("rank_in_unregistered", r"comm_rank: the communicator is not registered"),
    # Begin and end.
    node("initialised_twice", r"starpu_mpi_init_comm: the MPI layer runs already",
         r"starpu_mpi_shutdown\(\) first"),
    Case("shut_down_twice", [r"starpu_mpi_shutdown: the library is not initialised",
                             r"call starpu_init\(\)"], program="../wrong/nodes"),
    node("shut_down_below", r"starpu_shutdown: the MPI layer of the library still runs",
         r"call starpu_mpi_shutdown\(\) first"),
    Case("insert_after_shutdown", [r"starpu_mpi_task_insert: the library is not initial"],
         program="../wrong/nodes"),
    Case("returns_early", on(1, r"the program leaves with status 0", r"cannot go on",
                             r"starpu_mpi_shutdown\(\) and MPI_Finalize\(\) first"),
         where=REAL, status="is not 0", program="../wrong/nodes", env=SOON),
    Case("returns_early", on(1, r"its main has ended without starpu_mpi_shutdown"),
         where=SIM, status=DEADLOCK, program="../wrong/nodes"),
    node("never_inserts", r"tag 1 came from rank 0 \(8 bytes\): nobody", GRAPHS),
    *lost("never_fetches", 1, r"receive from rank 0 tag 1: data with tag 1 \(v8\).*"
          r"starpu_mpi_get_data_on_node \(transfer 1 inserted for this pair\)"),
    node("shutdown_in_callback", r"starpu_mpi_shutdown: called from a task or its callback",
         r"worker [01]"),
    Case("wait_in_callback", [r"nothing can happen any more",
                              r"a thread waits for all transfers", r"rank 1 tag 7.*complete"],
         where=REAL, program="../wrong/nodes", env=SOON),
    Case("wait_in_callback", on(ANY, r"a callback calls a function that waits for a trans"),
         where=SIM, program="../wrong/nodes"),
    # Insertion.
    node("on_unowned_data", r"task nothing: STARPU_EXECUTE_ON_DATA names data without owner"),
    node("null_handle_on_its_executor", r'task "copy": buffer 0 is NULL', r"register it"),
    Case("on_no_worker", on(0, r'mpi_task_insert: task "nothing": no worker can ever', "-ENODEV",
                            "(?m)^ends well"), program="../wrong/nodes", status=ENDS),
    *lost("one_task_more", 0, r"receive from rank 1 tag 1: .*, add \(transfer 3 inserted"),
    node("modes_differ", r"tag 1 came from rank 0 .*nobody receives it", GRAPHS),
    *lost("tags_differ", 1, r"receive from rank 0 tag 4: data with tag 4 \(v8\)",
          r"tag 3 came from rank 0", GRAPHS),
    node("tag_on_one_only", r"data .*v8.* has no tag; call starpu_mpi_data_register\(\)"),
    node("cache_on_one_only", r"tag 1 came from rank 0", GRAPHS, r"3 messages without"),
    *lost("flushed_on_one_only", 1, r"receive from rank 0 tag 1: .*, copy \(transfer 2 ins"),
    node("owner_set_on_one_only", r'task "copy" .* reads data with tag 1', r"has no value"),
    node("too_many_policies", r"23 policies are registered already", r"unregister one"),
    node("policy_ended", r"policy 12 is not registered"),
    node("most_data_ended", r"policy 0 is predefined and stays"),
    # Collective calls.
    node("redux_without_methods", r"data with tag 7 \(v8\)",
         r"call starpu_data_set_reduction_methods\(\)"),
    node("scatter_from_nowhere", r"scatter_detached: root is rank 5: expected 0 to 1"),
    node("scatter_unowned", r"scatter_detached: data .*v8.* has no tag", r"on all ranks"),
    node("gather_null_array", r'gather_detached: the argument "data_handles" is NULL'),
    *lost("gather_on_one_only", 0, r"receive from rank 1 tag 1: .*starpu_mpi_gather_detach"),
    node("copy_of_other_size", r"data with tag 1 .* does not fit into data with tag 2", r"800 bytes of 8"),
    node("copy_of_other_kind", r"starpu_mpi_data_cpy: data with tag 1 .* data with tag 2 .*another interface"),
    node("copy_of_null", r"starpu_mpi_data_cpy: the handle is NULL"),
    node("fetch_untagged", r"get_data_on_node: data .*v8.* has neither tag nor owner"),
    node("cached_send_nowhere", r"starpu_mpi_cached_send: rank 9: expected 0 to 1"),
    node("cached_send_unowned", r"starpu_mpi_cached_send: data .* neither tag nor owner"),
    node("predefined_datatype", r"interface 2 is predefined", r"of your own"),
    node("more_tags_than_there_are", r"no 9223372036854775807 consecutive tags are free"),
    node("negative_number_of_tags", r"starpu_mpi_tags_allocate: -5 tags: expected 0 or more"),
    node("tags_freed_twice", r"no tags were allocated from 0", r"starpu_mpi_tags_allocate"),
    node("array_of_null", r"isend_array_detached_unlock_tag\w*: the handle is NULL"),
]


def graph(name, *words, nranks=3, where=bad.BOTH):
    return Case(name, on(r"\d", *words), program="../wrong/graphs", nranks=nranks, env=SOON,
                where=where)


def graph_stands(name, *words, nranks=3):
    """Nobody can go on: both flavours list the same."""
    yield Case(name, [r"nothing can happen any more: all %d ranks wait" % nranks] + list(words)
               + [r"the run ends"], where=REAL, program="../wrong/graphs", nranks=nranks, env=SOON)
    yield Case(name, ["nothing can make progress"] + list(words), where=SIM, status=DEADLOCK,
               program="../wrong/graphs", nranks=nranks)


IN_BARRIER = r"\]   in starpu_mpi_barrier\(\) or starpu_mpi_shutdown\(\), where not all ranks"
GRAPH_PROGRAMS = [
    *graph_stands("answer_of_a_callback", r"rank 0\]   receive from rank 1 tag 8: .*starpu_mpi_recv",
                  r"rank 1\]   receive from rank 0 tag 7: .*starpu_mpi_irecv_detached: no message",
                  "rank 2" + IN_BARRIER),
    *graph_stands("answer_with_other_tag", r"rank 0\]   receive from rank 1 tag 7: .*starpu_mpi_recv",
                  r"rank 0\]   tag 8 came from rank 1 .*nobody receives it", "rank 1" + IN_BARRIER),
    *graph_stands("tag_of_a_receive", r"rank 0\]   send to rank 1 tag 8: .*issend_detached",
                  r"rank 1\]   a thread is in starpu_tag_wait\(\): tag 42, which no submitted task",
                  r"rank 1\]   receive from rank 0 tag 7: .*irecv_detached_unlock_tag: no message",
                  r"rank 1\]   tag 8 came from rank 0"),
    *graph_stands("ring_of_synchronous_sends", r"rank 0\]   send to rank 1 tag 7: .*starpu_mpi_issend",
                  r"rank 0\]   tag 7 came from rank 2 .*the sender waits for the match",
                  r"rank 2\]   send to rank 0 tag 7"),
    *graph_stands("sends_what_it_holds", r"rank 0\]   data .*v8.* is held by the application since "
                  r"starpu_data_acquire\(STARPU_W\), starpu_data_release\(\) is missing",
                  r"rank 0\]   send to rank 1 tag 7: .*starpu_mpi_send: earlier tasks",
                  r"rank 1\]   receive from rank 0 tag 7", nranks=2),
    *graph_stands("one_step_less", r"rank 0\]   receive from rank 2 tag 2: .*starpu_mpi_recv",
                  r"rank 2\]   tag 2 came from rank 1 .*nobody receives it"),
    graph("from_anybody", r"starpu_mpi_recv: source is rank -\d+: expected 0 to 2"),
    graph("to_nobody", r"starpu_mpi_send: destination is rank -\d+: expected 0 to 2"),
    *graph_stands("sends_what_no_task_writes",
                  r'rank 0\]   task "add" .* waits for task "nothing" .*has not been submitted',
                  r"rank 0\]   send to rank 1 tag 7: .*starpu_mpi_send: earlier tasks",
                  r"rank 1\]   receive from rank 0 tag 7"),
    graph("world_rank_in_half", r"starpu_mpi_send: destination is rank 3: expected 0 to 1", nranks=4),
    *graph_stands("barriers_differ", "rank 0" + IN_BARRIER, "rank 3" + IN_BARRIER, nranks=4),
    graph("halves_meet", r"(destination|source) is rank 1: expected 0 to 0|"
          r"receive from rank 0 tag 7 in communicator", nranks=2),
    graph("trees_differ", r"tag 1 came from rank \d .*nobody receives it", GRAPHS,
          r"messages without a receive", nranks=4),
    *graph_stands("contribution_left_out", r"rank 0\]   receive from rank 2 tag 1: .*"
                  r"starpu_mpi_redux_data \(transfer 1 inserted for this pair\): no message",
                  r"rank 0\]   " + GRAPHS, "rank 2" + IN_BARRIER),
    *graph_stands("migrated_on_one_only", r'waiting for it: task "copy"',
                  r"rank 0\]   receive from rank 1 tag 1: .*copy \(transfer 1 inserted",
                  r"rank 1\]   tag 1 came from rank 0"),
    graph("migrated_nowhere", r"starpu_mpi_data_migrate: rank 3: expected 0 to 2"),
    graph("spread_by_some", r"tag 1 came from rank 0 \(20000 bytes\): nobody receives it", GRAPHS),
    *graph_stands("roots_differ", r"rank 0\]   receive from rank 1 tag 2: .*starpu_mpi_gather_det",
                  r"rank 1\]   receive from rank 0 tag 1: .*starpu_mpi_gather_detached"),
    graph("inserted_locally", r'task "copy" .* reads data with tag 1 .*has no value'),
    *graph_stands("threads_in_two_orders", r"rank 0\]   receive from rank 1 tag 2: .*copy \(transfer 1",
                  r"rank 1\]   receive from rank 0 tag 1: .*copy \(transfer 2 inserted for this pair\)",
                  r"rank 1\]   " + GRAPHS + r".*; several threads insert here: where one writes what "
                  "another reads, make them wait for each other", nranks=2),
    # Nobody polls, and nobody waits in the library, who would look after the watchdog.
    *(Case("crews_wait", on(rank, r"nobody has moved messages for \S+ s, and the threads of the "
           r"program wait", r"ORRERY_MPI_EXPLICIT", r"call orrery_mpi_progress\(\) until",
           r"rank %d\]   receive from rank %d tag 2: .*starpu_mpi_irecv_detached: no message" % (rank, 1 - rank),
           r"ends well"), where=REAL, status=ENDS, program="../wrong/graphs", nranks=2,
           env=dict(SOON, ORRERY_MPI_EXPLICIT="1"), claim="crews wait, says rank %d" % rank)
      for rank in (0, 1)),
    Case("crews_wait", ["(?m)^ends well"], status=ENDS, program="../wrong/graphs", nranks=2,
         env={"ORRERY_WATCHDOG": "2"}, hushes=(CRASH, r"\[orrery\]\[rank")),
    # Loops of the program's own progress go on; each says what for.
    Case("progress_for_ever", on(1, r"nothing has happened on this rank for .* the run goes on",
         r"rank 1\]   receive from rank 0 tag 7: .*starpu_mpi_irecv_detached: no message came",
         r"ends well"), where=REAL, status=ENDS, program="../wrong/graphs", nranks=2,
         env=dict(SOON, ORRERY_MPI_EXPLICIT="1")),
    Case("progress_for_ever", [r"nothing can make progress: for \S+ s loops of the program",
         r"rank 1\] its main calls starpu_mpi_test\(\), sched_yield\(\) or the like again",
         r"rank 1\]   receive from rank 0 tag 7: .*starpu_mpi_irecv_detached: no message came"],
         where=SIM, status=DEADLOCK, program="../wrong/graphs", nranks=2, env=SOON),
]


def spread(name, *words, nranks=2, where=bad.BOTH):
    return Case(name, on(r"[0-3]", *words), program="../wrong/spread", nranks=nranks, env=SOON,
                where=where)


def spread_stands(name, *words, nranks=2):
    yield Case(name, [r"nothing can happen any more: all %d ranks wait" % nranks] + list(words)
               + [r"the run ends"], where=REAL, program="../wrong/spread", nranks=nranks, env=SOON)
    yield Case(name, ["nothing can make progress"] + list(words), where=SIM, status=DEADLOCK,
               program="../wrong/spread", nranks=nranks)


PARTED = r"\(V8x8\), which is partitioned into 2 parts: use its parts"
SPREAD = [
    # Sizes, owners and communicators.
    spread("registered_longer_on_one", r"tag 1: rank 0 sends 32 bytes, rank 1 receives 64 bytes",
           r"data with tag 1 \(V8x8\)", r"register data of the same size"),
    spread("owner_beyond_half", r"_data_register: rank 2 does not exist",
           r"expected 0 to 1, the ranks of the communicator", nranks=4),
    spread("world_owner_in_half", r"task add shall execute on rank 3, the owner of argument 0 "
           r"\(data with tag 1 \(v8\)\)", r"expected 0 to 1, the ranks of the communicator", nranks=4),
    spread("rank_set_beyond", r"data_set_rank: rank 7 does not exist", r"expected 0 to 1"),
    spread("world_data_read_in_half", r"reads: rank 3, the owner of data with tag 1 \(v8\), does "
           r"not exist: expected 0 to 1", nranks=4),
    spread("world_data_fetched_in_half", r"get_data_on_node_detached: rank 3, the owner of data "
           r"with tag 1 \(v8\), does not exist: expected 0 to 1", nranks=4),
    spread("world_data_reduced_in_half", r"a reduction of data with tag 1 \(v8\): its owner is not "
           r"in the communicator", nranks=4),
    spread("policy_of_null", r"register_policy: the function is NULL"),
    spread("map_of_unregistered", r"get_redux_map: .* has neither tag nor owner"),
    spread("nodes_too_many", r'task "add": STARPU_NODE_ARRAY gives 2 memory nodes, the '
           r"argument list 1 handles: expected one for each"),
    spread("same_tag_too_soon", r"_data_register: tag 1 for handle", r"belongs to handle .* still: ",
           r"starpu_data_unregister_submit\(\), but tasks", r"call starpu_mpi_wait_for_all\(\) before"),
    spread("unregistered_by_one", r"task add, argument 0 \(data .*\): the handle was unregistered"),
    # Insertion in parts.
    spread("built_and_not_posted", r"tag 1 came from rank 1 \(8 bytes\): nobody", GRAPHS),
    Case("built_and_forgotten", on(1, r'starpu_mpi_shutdown: task "copy" \(\d+\) of '
         r"starpu_mpi_task_build\(\) was never submitted", r"starpu_task_submit\(\)", r"(?m)^ends well"),
         program="../wrong/spread", nranks=2, status=ENDS, env=SOON),
    Case("built_and_never_posted", on(0, r"starpu_mpi_task_post_build\(\) is missing for 1 data",
         r'task "add"') + on(1, r"starpu_mpi_task_post_build\(\) is missing for 1 data",
         r"call it on all ranks", r"(?m)^ends well"),
         program="../wrong/spread", nranks=2, status=ENDS, env=SOON),
    *(Case("built_well", ["(?m)^ends well"], program="../wrong/spread", nranks=nranks, status=ENDS,
           env=SOON, hushes=(CRASH, r"\[orrery\]\[rank"), claim="built well on %d ranks" % nranks)
      for nranks in (2, 3)),
    # SMPI has no communicators of two groups.
    *(spread(name, func + r": the communicator joins two groups of ranks",
             r"MPI_Intercomm_merge\(\)", nranks=nranks, where=REAL)
      for name, func in (("two_groups_registered", "starpu_mpi_comm_register"),
                         ("sent_between_groups", r"starpu_mpi_(send|recv)"))
      for nranks in (2, 3)),
    spread("no_datatype", r"MPI datatype of data .*\(own\).* has returned 0 and no type",
           r"another number than 0"),
    *(Case("datatype_too_long", on(ANY, r"data .*\(own\).*: the datatype of its interface describes "
           r"bytes 0 to 16, but the data has 8", r"get_size\(\)", r"(?m)^ends well"),
           where=where, program="../wrong/spread", nranks=2, status=ENDS, env=SOON)
      for where in (REAL, SIM)),
    Case("datatype_with_field", ["(?m)^ends well"], program="../wrong/spread", nranks=2, status=ENDS,
         env=SOON, hushes=(CRASH, r"\[orrery\]\[rank"), claim="datatype with field"),
    spread("acquired_after_its_task", r"starpu_data_acquire\(\) reads data with tag 1 \(v8\), which has no "
           r"value here: it belongs to rank 0", r"STARPU_MPI_CACHE=0", r"starpu_mpi_get_data_on_node\(\)"),
    Case("owners_differ", on(0, r"starpu_mpi_shutdown: rank [01] has inserted 6 tasks, and all ranks together have "
         r"executed 3", r"starpu_mpi_data_get_rank\(\)", r"(?m)^ends well"),
         program="../wrong/spread", nranks=2, status=ENDS, env=SOON),
    *(Case(name, on(0, r"starpu_mpi_shutdown: the ranks differ about who owns data: all %d have registered the same tags "
           r"and inserted %d tasks each, and together they have executed %d%s" % (nranks, ninserted, nexecuted, how),
           r"compare what starpu_mpi_data_get_rank\(\) says", r"STARPU_MPI_PER_NODE", r"(?m)^ends well"),
           program="../wrong/spread", nranks=nranks, status=ENDS, where=SIM if transport else bad.BOTH,
           env=dict(SOON, ORRERY_TRANSPORT=transport) if transport else SOON,
           claim="%s on %d ranks %s" % (name.replace("_", " "), nranks, transport))
      for transport in ("", "flows", "mpi")
      for nranks in (2, 3)
      for name, ninserted, nexecuted, how in (
          ("owned_by_all", 8, 8 * nranks, ": several ranks have each executed the same ones"),
          ("owners_shifted", *((8, 8, ", some of them on several ranks and as many on none") if nranks == 2
                               else (8, 12, ": several ranks"))),
          ("owner_set_by_each", 2, 1 + nranks, ": several ranks"))),
    Case("own_tasks_apart", ["(?m)^ends well"], program="../wrong/spread", nranks=2, status=ENDS,
         env=SOON, hushes=(CRASH, r"\[orrery\]\[rank"), claim="own tasks apart"),
    *(spread(name, func + r": the communicator has been freed \(MPI_Comm_free\(\)\): keep it")
      for name, func in (("sent_in_freed", r"starpu_mpi_(send|recv)"),
                         ("met_in_freed", "starpu_mpi_barrier"),
                         ("inserted_in_freed", "starpu_mpi_task_insert"))),
    spread("posted_for_another", r"a send to rank 0 tag 1 \(add\) reads data with tag 1 \(v8\)",
           r"has no value", nranks=3),
    spread("inserted_without_value", r"a send to rank 1 tag 1 \(copy\) reads data with tag 1",
           r"has no value"),
    spread("private_and_owned", r"task copy, argument 0 \(data with tag 2 \(v8\)\): all ranks execute",
           r"STARPU_MPI_PER_NODE; it can only read such data"),
    Case("migrated_apart", on(2, r"rank \d has shut down", r"receive from rank 0 tag 1: data with tag "
         r"1 .*starpu_mpi_data_migrate \(transfer 1 inserted"), where=REAL,
         program="../wrong/spread", nranks=3, env=SOON),
    Case("migrated_apart", [r"rank 1\]   tag 1 came from rank 0 \(8 bytes\): nobody receives it",
         r"rank 2\]   receive from rank 0 tag 1: .*starpu_mpi_data_migrate \(transfer 1 inserted"],
         where=SIM, status=DEADLOCK, program="../wrong/spread", nranks=3),
    spread("array_of_nothing", r"STARPU_DATA_ARRAY is followed by NULL and the number 1",
           r"expected an array"),
    spread("negative_array", r"STARPU_DATA_ARRAY is followed by an array and the number -1",
           r"0 or more"),
    spread("contributed_as_update", r'task "updates": buffer 0 \(data with tag 1 \(v8\)\) is given as '
           r"STARPU_REDUX, but the codelet declares STARPU_RW: make them agree"),
    # Parts of data.
    spread("whole_sent_while_parted", r"(a send to rank 1|a receive from rank 0) tag 7 "
           r"\(starpu_mpi_(send|recv)\) (reads|writes) data .*" + PARTED),
    spread("whole_inserted_while_parted", r"a send to rank 1 tag 1 \(copy\) reads data .*" + PARTED),
    # Calls.
    spread("send_without_request", r"starpu_mpi_isend: the pointer to the request is NULL"),
    Case("tag_of_no_transfers", on(ANY, r"a thread is in starpu_tag_wait\(\): tag 5, which no "
         r"submitted task carries"), where=REAL, program="../wrong/spread", nranks=2, env=SOON),
    Case("tag_of_no_transfers", on(ANY, r"a thread is in starpu_tag_wait\(\): tag 5, which no "
         r"submitted task carries"), where=SIM, status=DEADLOCK, program="../wrong/spread", nranks=2),
    spread("library_ends_first", r"starpu_shutdown: the MPI layer of the library still runs",
           r"starpu_mpi_shutdown\(\) first"),
    spread("mpi_ends_first", r"MPI_Finalize: the MPI layer of the library still runs",
           r"starpu_mpi_shutdown\(\) first"),
    spread("other_communicator_ends", r"starpu_mpi_shutdown_comm: expected the communicator given"),
    spread("barrier_in_kernel", r"starpu_mpi_barrier: called from a task or its callback",
           r"worker \d"),
    Case("exits_in_callback", on(1, r"the program leaves with status 0", r"cannot go on"),
         where=REAL, status="is not 0", program="../wrong/spread", env=SOON),
    Case("exits_in_callback", on(1, r"exit\(0\) in a callback, a kernel or a thread ends"),
         where=SIM, status=bad.FAILS, program="../wrong/spread", env=SOON),
    Case("waits_outside", on(0, r"rank 1 has not answered for .*ORRERY_MPI_EXPLICIT",
         r"ends well"), where=REAL, status=ENDS, program="../wrong/spread", nranks=2,
         env=dict(SOON, ORRERY_MPI_EXPLICIT="1")),
]

def start(name, *words, rank=ANY, **others):
    return Case(name, on(rank, *words), program="../wrong/starts", nranks=2,
                env={"ORRERY_WATCHDOG": "0.2"}, **others)


def never_starts(name, *says):
    """Real ranks wait for what may yet come; the simulation knows better."""
    yield Case(name, list(says), where=REAL, status="is stopped", program="../wrong/starts",
               nranks=2, env=SOON)
    yield Case(name, ["nothing can make progress", r"must be called by all ranks"],
               where=SIM, status=DEADLOCK, program="../wrong/starts", nranks=2)


def awaits(rank, missing):
    return (r"\[rank %d\] starpu_mpi_init: has waited for \S+ s for rank %d \(of 2\): starpu_mpi_init_conf"
            r"\(\) or the like must be called by all ranks.*the run goes on" % (rank, missing))


def lost(who, **env):
    """Of a master and its slaves; the others name the rank."""
    return Case(who, [r"\[rank \d\] rank \d, %s, is needed, and its process has ended before starpu_shutdown\(\): "
                      ".*the run ends" % who.replace("_", " ")],
                where=REAL, status=ENDS, nranks=3, program="../real/lost_slaves", hushes=("ends well",),
                claim=" ".join([who.replace("_", " "), "is killed", *env.values()]),
                env=dict(SOON, OMPI_MCA_orte_enable_recovery="1", STARPU_NMPI_MS="2", STARPU_NCPU="0",
                         STARPU_NMPIMSTHREADS="1", **env))


def lost_at(moment, *words, **env):
    """Where the launcher lets the others live."""
    return Case(moment, [r"\[rank [02]\] " + words[0]] + list(words[1:]), where=REAL, status=ENDS, nranks=3,
                program="../real/meeting", hushes=("ends well",), claim=" ".join([moment.replace("_", " "), *env.values()]),
                env=dict(SOON, OMPI_MCA_orte_enable_recovery="1", **env))


def held_at(moment, words, **env):
    """Its launcher does not mind."""
    return Case(moment + ":stopped", [r"\[rank [02]\] " + words], where=REAL, status="is not 0", nranks=3,
                program="../real/meeting", hushes=("ends well",), env=dict(SOON, **env),
                claim=" ".join(["stopped", moment.replace("_", " "), *env.values()]))


def goes_on_at(moment, **env):
    return Case(moment + ":continued", ["(?m)^ends well"], where=REAL, status=ENDS, nranks=3, program="../real/meeting",
                hushes=(CRASH, "is needed", "the run ends"), env=dict(SOON, **env),
                claim=" ".join(["stopped for a while", moment.replace("_", " "), *env.values()]))


MOMENTS = [("before_it_comes", {}), ("while_all_meet", {"ORRERY_TRANSPORT": "mpi"}),
           ("while_all_meet", {"ORRERY_TRANSPORT": "ucx"}), ("while_others_wait_in_mpi", {}),
           ("while_others_wait_in_mpi", {"ORRERY_MPI_EXPLICIT": "1"}),
           ("while_others_wait_in_mpi", {"STARPU_MPI_DRIVER_CALL_FREQUENCY": "1"}), ("between_lives", {})]
STOPPED = r".*rank 1 (is needed and )?has been stopped for \S+ s \(SIGSTOP, .*the run ends"
NEEDED = r"starpu_mpi_init: rank 1 is needed, and its process has ended before all ranks had met: .*the run ends"
STARTS = [
    # A rank is killed, which only its launcher knows.
    lost_at("before_it_comes", NEEDED),
    *(lost_at("while_all_meet", NEEDED, ORRERY_TRANSPORT=name) for name in ("mpi", "ucx")),
    Case("of_another_version", [r"\[rank 0\] starpu_mpi_init: this rank has version \S+ of the library, and rank 0 another "
                                "one than rank 1"], where=REAL, status="is not 0", nranks=3, program="../real/meeting",
         hushes=("ends well",), env=dict(SOON), claim="ranks of several versions of the library do not start"),
    lost_at("while_others_wait_in_mpi", r"the program has waited in a call of MPI for \S+ s, and the process of rank 1 "
            r"has ended before starpu_mpi_shutdown\(\)"),
    lost_at("between_lives", r"the program has waited in a call of MPI for \S+ s, and the process of rank 1 has ended "
            r"before all were in MPI_Finalize\(\)"),
    Case("ends_its_threads", [r"\[rank 1\] nothing can happen any more: all threads of the program have ended \(pthread_exit"
                              r"\(\), .*the run ends"], where=REAL, status="is not 0", nranks=3, program="../real/meeting",
         hushes=("ends well",), env=dict(SOON), claim="a rank that has no thread left ends the run"),
    Case("is_cancelled_in_a_wait", ["(?m)^ends well"], where=REAL, status=ENDS, nranks=3, program="../real/meeting",
         hushes=(CRASH, "the run ends"), env=dict(SOON), claim="a main that is cancelled waits to the end"),
    *(held_at(moment, STOPPED, **env) for moment, env in MOMENTS),
    *(goes_on_at(moment, **env) for moment, env in MOMENTS),
    *(lost(who, **env) for who in ("a_slave", "the_master") for env in ({}, {"ORRERY_TRANSPORT": "ucx"})),
    Case("by_another_thread", ["(?m)^ends well"], where=REAL, status=ENDS, program="../real/meeting", nranks=3, env=SOON,
         hushes=(CRASH, r"\[orrery\]\[rank"), claim="a rank goes on when its main has ended by pthread_exit()"),
    Case("not_but_unknown", ["(?m)^ends well"], where=REAL, status=ENDS, program="../real/meeting", nranks=3, env=SOON,
         hushes=(CRASH, "is needed"), claim="a rank that has written over its environment and comes late has not ended"),
    Case("comes_late", [awaits(0, 1), "(?m)^ends well"], where=REAL, status=ENDS, program="../wrong/starts",
         nranks=2, env=SOON),
    Case("comes_late", ["(?m)^ends well"], status=ENDS, program="../wrong/starts", nranks=2,
         env={"ORRERY_WATCHDOG": "0"}, hushes=(CRASH, r"\[orrery\]\[rank"), claim="comes late, without watchdog"),
    *never_starts("never_comes", awaits(0, 1)),
    Case("communicators_differ", [awaits(0, 1), awaits(1, 0)], where=REAL, status="is stopped",
         program="../wrong/starts", nranks=2, env=SOON),
    Case("communicators_differ", ["nothing can make progress"], where=SIM, status=DEADLOCK,
         program="../wrong/starts", nranks=2),
    *never_starts("comes_again_alone", awaits(0, 1)),
    start("starts_alone", r"copy: rank \d of the communicator, which is to (get|send) .*, is not in the one given at "
          r"init: give starpu_mpi_init_conf\(\) one with all ranks"),
    start("meets_beyond_its_own", r"starpu_mpi_barrier: rank [01] of the communicator is not in the one given at "
          r"init", r"MPI_Barrier\(\)"),
    start("meets_in_mpi", r"nothing has happened on this rank", r"rank 1 has nothing to do and waits in MPI_Barrier"
          r"\(\), which its program has called: what this rank waits for must be called there before that",
          r"  not in starpu_mpi_shutdown\(\): rank 1", rank=0, where=REAL, status="is stopped"),
    start("meets_in_mpi", r"waits for:", r"rank 1\] its main waits in MPI_Barrier", rank=0, where=SIM,
          status=DEADLOCK),
    start("ends_without_shutdown", r"the program leaves with status 0", r"cannot go on", where=REAL,
          status="is not 0"),
    start("ends_without_shutdown", r"the program ends without starpu_mpi_shutdown\(\) on 2 of 2 ranks: .*call it",
          where=SIM, status=ENDS),
    *(start(name, r"the program leaves with status 0, %s, after MPI_Init\(\) and without MPI_Finalize\(\)" % how,
            rank=1, where=REAL, status="is not 0")
      for name, how in (("leaves_before", r"by exit\(\) .*"), ("shuts_down_and_leaves", r"by exit\(\) .*"),
                        ("shuts_down_and_leaves_at_once", "at once"))),
    Case("children_leave", ["ends well"], where=REAL, status=ENDS, program="../wrong/starts", nranks=2),
    start("shuts_down_on_one", r"MPI_Finalize: the MPI layer of the library still runs", r"starpu_mpi_shutdown\(\) "
          "first", rank=1),
    Case("starts_after_the_end", [r"starpu_mpi_init: MPI has been finalised and cannot start again", r"MPI_Init_thread"],
         program="../wrong/starts", nranks=2),
    start("starts_only_below", r"starpu_mpi_data_register: the MPI layer is not initialised; call", rank=0),
    Case("starts_in_plain_threads", ["(?m)^ends well"], status=ENDS, program="../wrong/starts", nranks=2),
    Case("starts_in_plain_threads", [r"starpu_init: this thread belongs to no rank: .* ORRERY_REAL_THREADS is set, or .*; let "
                                     r"main, or a thread that main makes, call it", "(?m)^ends well"],
         where=SIM, status=ENDS, program="../wrong/starts", nranks=2, env={"ORRERY_REAL_THREADS": "1"}),
]


def call(name, *words, rank=ANY, **others):
    return Case(name, on(rank, *words), program="../wrong/calls", nranks=2, env=SOON, **others)


def call_lost(name, *words):
    """The peer of a transfer has shut down, or all wait."""
    yield call(name, r"a transfer can never be matched: rank [01] has shut down", *words, where=REAL)
    yield Case(name, ["nothing can make progress"] + list(words), where=SIM, status=DEADLOCK,
               program="../wrong/calls", nranks=2)


CALLS = [
    # Kernels that do not return.
    call("kernel_exits", r"the program leaves with status 0", rank=1, where=REAL, status="is not 0"),
    call("kernel_exits", r"exit\(0\) in a callback, a kernel or a thread ends the simulation", rank=1, where=SIM,
         status=bad.FAILS),
    call("kernel_ends_its_thread", r"the kernel of task \"leaves\" is left by pthread_exit\(\)", r"Let it return", rank=1,
         where=REAL),
    call("kernel_ends_its_thread", r"pthread_exit\(\) in the kernel of task \"leaves\" .* of rank 1 of 2.* ends the "
         r"simulation of all ranks", r"Return to main", rank=1, where=SIM, status=bad.FAILS),
    call("kernel_faults", r"signal 11 .*address 0x8.* in the kernel of task \"faults\"", r"To see where", rank=1,
         status="is not 0", hushes=(r"std::",)),
    call("kernel_aborts", r"signal 6 .*abort\(\).* in the kernel of task \"aborts\"", rank=1,
         hushes=(r"std::",)),
    Case("kernel_gives_up", [r"with status 3"], where=REAL, status="is not 0", program="../wrong/calls", nranks=2,
         env=SOON),
    call("kernel_gives_up", r"MPI_Abort: called in a callback or a kernel: .*only the main", rank=1, where=SIM,
         status=bad.FAILS),
    call("kernel_finalizes", r"MPI_Finalize: the MPI layer of the library still runs", rank=1),
    # What the ranks say differs.
    *call_lost("tags_allocated_on_one", r"receive from rank 0 tag 0: data with tag 0", GRAPHS),
    *call_lost("tag_changed_on_one", r"receive from rank 0 tag 1: data with tag 1", GRAPHS),
    call("policy_of_nobody", r"node selection policy 1 chose rank -1: expected 0 to 1", rank=ANY),
    call("policy_below_all", r"node selection policy -3 is not registered; call starpu_mpi_node_selection_register_policy",
         rank=ANY),
    call("current_policy_below_all", r"set_current_policy: policy -5 is not registered", rank=ANY),
    call("policy_of_each", r"nothing can happen any more", r"receive from rank 1 tag 2: data with tag 2 \(v8\)",
         r"receive from rank 0 tag 1: data with tag 1 \(v8\)", where=REAL),
    Case("policy_of_each", ["nothing can make progress", r"receive from rank 1 tag 2: data with tag 2 \(v8\)",
         r"receive from rank 0 tag 1: data with tag 1 \(v8\)"], where=SIM, status=DEADLOCK,
         program="../wrong/calls", nranks=2),
    *call_lost("replicas_differ", r"receive from rank 0 tag 1: data with tag 1 .*, add"),
    call("parts_differ", r"tag 11: rank 0 sends 48 bytes, rank 1 receives 32 bytes into data with tag 11",
         r"register data of the same size", rank=1),
    call("methods_on_one", r'task "contribute" contributes \(STARPU_REDUX\) to data with tag 1',
         r"starpu_data_set_reduction_methods\(\)", rank=1),
    call("read_before_reduction", r"starpu_data_acquire\(\) reads data with tag 1 \(v8\), to which 2 ranks contribute",
         r"starpu_mpi_redux_data\(\)", "(?m)^reads 2", "(?m)^ends well", rank=0, status=ENDS),
    Case("read_after_reduction", ["(?m)^reads 3", "(?m)^ends well"], program="../wrong/calls", nranks=2,
         status=ENDS, env=SOON, hushes=(CRASH, r"\[orrery\]\[rank")),
    call("counts_differ", r"a send to rank 1 tag 2 \(starpu_mpi_scatter_detached\) reads data with tag 2",
         r"has no value here: it belongs to rank 1", rank=0),
    call("spread_by_its_owner", r"tag 1 came from rank 0 \(8 bytes\): nobody receives it", GRAPHS, rank=1),
    *call_lost("spread_by_another", r"receive from rank 0 tag 1: .*orrery_mpi_broadcast_detached", GRAPHS),
    call("marked_as_received", r'task "copy" .* reads data with tag 1 .*no value here: it belongs to rank 0', rank=1),
    call("communicator_of_one", r"starpu_mpi_task_insert: the communicator is not registered", rank=0),
    # Single calls.
    call("size_to_null", r'starpu_mpi_comm_size: the argument "size" is NULL'),
    call("rank_to_null", r'starpu_mpi_comm_rank: the argument "rank" is NULL'),
    call("attribute_to_null", r'starpu_mpi_comm_get_attr: the argument "attribute_val" is NULL'),
    call("statistics_to_null", r'starpu_mpi_comm_stats_retrieve: the argument "comm_stats" is NULL'),
    call("negative_sends", r"starpu_mpi_coop_sends_data_handle_nb_sends: -3 sends: expected 0 or more"),
    call("request_of_nobody", r"starpu_mpi_wait: the request is over", r"give no copy of it"),
    call("by_no_ranks", r"starpu_mpi_tasks_insert: task add shall be executed by 0 ranks; give at least one"),
]

NOTHING = r"nothing can happen any more: all"


def waits(name, *words, rank=ANY, **others):
    return Case(name, on(rank, *words), program="../wrong/waits", env=others.pop("env", SOON), **others)


def works(name, where=bad.BOTH, **others):
    """What waits outside of the library for what goes on inside."""
    return Case(name, ["(?m)^ends well"], program="../wrong/waits", status=ENDS, where=where, env=SOON,
                hushes=(CRASH, r"\[orrery\]\[rank"), **others)


def waits_for_ever(name, call):
    """In simulation all is known; on a real machine the system says that a thread sleeps."""
    yield waits(name, NOTHING, r"1 kernels or threads of the program sleep in locks", where=REAL)
    yield waits(name, r"nothing can make progress", r"rank [01]\]   a thread is in %s\(\)" % call, where=SIM,
                status=DEADLOCK)


WAITS = [
    works("yields"), works("naps"), works("on_semaphore"), works("on_condition"), works("until_a_date"),
    works("at_barrier"), works("threads_take_turns"), works("for_own_thread"), works("child_exits_at_once"),
    works("spins", where=REAL), works("computes", nranks=1),
    *(waits(name, r"in the main of rank %d of 2.* and no simulated time passes: for \S+ s of processor time it has "
            r"executed the same instructions with the same values" % who, r"call sched_yield\(\) or usleep\(\) in the "
            r"loop", r"it is in .*waits-sim.*\+0x.* called by main", r"nothing can make progress: code of the program "
            r"spins", rank=who, where=SIM, status=DEADLOCK) for name, who in (("spins", 0), ("spins_on_one", 1))),
    # What comes to ever new values computes: it is told after longer, and goes on.
    waits("computes", r"in the main of rank 0 of 2.*: it has computed for \S+ s of processor time.*The run goes on",
          r"(?m)^ends well", where=SIM, status=ENDS, env={"ORRERY_WATCHDOG": "0.1"}),
    waits("yields_for_ever", r"nothing can make progress: for \S+ s loops of the program have called", r"sched_yield",
          where=SIM, status=DEADLOCK),
    waits("reads_for_long", r"in the main of rank 1 of 2.*it has waited for the system or for another thread",
          r"The run goes on", r"it is in \w*read", rank=1, where=SIM, status="is not 0"),
    *waits_for_ever("never_signalled", "pthread_cond_wait"),
    *waits_for_ever("never_posted", "sem_wait"),
    waits("joined_at_exit", r"nothing can make progress", r"main has ended, on 2 ranks in all, and a destructor of a "
          r"static object of the program waits for a thread", where=SIM, status=DEADLOCK),
    *(waits(name, call + r": a callback or kernel would block for ever, in the kernel of task \"%s\" .* of rank 1 of 2"
            % kernel, r"make a task depend on the other", rank=1, where=SIM) for name, kernel, call in (
                ("kernel_on_semaphore", "waits_on_semaphore", "sem_wait"),
                ("kernel_on_condition", "waits_on_condition", "pthread_cond_wait"),
                ("kernel_at_barrier", "waits_at_barrier", "pthread_barrier_wait"))),
    waits("kernel_spins", r"in the kernel of task \"spinning\" .* of rank 1 of 2.*the same instructions with the same "
          r"values", r"let the task depend on what it waits for", rank=1, where=SIM, status=DEADLOCK),
    # Who leaves is named, and the others do not wait.
    *(waits(name, r"the program leaves by %s\(0\) while the library runs: the other ranks cannot go on" % call,
            r"starpu_mpi_shutdown\(\)", rank=1, where=REAL, status="is not 0")
      for name, call in (("kernel_exits_at_once", "_exit"), ("kernel_exits_quickly", "quick_exit"),
                         ("main_exits_at_once", "_exit"))),
    *(waits(name, r"%s in the %s.* of rank 1 of 2.* ends the simulation of all ranks" % (call, place), r"Return to main",
            rank=1, where=SIM, status=bad.FAILS)
      for name, call, place in (("kernel_exits_at_once", r"_exit\(0\)", "kernel of task"),
                                ("kernel_exits_quickly", r"quick_exit\(0\)", "kernel of task"),
                                ("main_exits_at_once", r"_exit\(0\)", "main"),
                                ("main_ends_its_thread", r"pthread_exit\(\)", "main"))),
    waits("main_ends_its_thread", r"main ends by pthread_exit\(\) while the library runs", r"nobody can call "
          r"starpu_mpi_shutdown", rank=1, where=REAL),
    *(waits("requests_forgotten", r"starpu_mpi_shutdown: %d requests have ended that the program has neither waited for "
            r"nor tested.*: %s tag 7, 8 bytes, %s.*starpu_mpi_wait\(\)" % (n, what, call), r"(?m)^ends well", rank=who,
            status=ENDS, claim="requests forgotten by rank %d" % who)
      for who, n, what, call in ((0, 2, "send to rank 1", "starpu_mpi_isend"),
                                 (1, 1, "receive from rank 0", "starpu_mpi_irecv"))),
]

def asleep(name, *words, rank=1, **others):
    return Case(name, on(rank, *words), program="../wrong/asleep", where=REAL,
                env=dict(SOON, STARPU_NCPU="2", **others.pop("env", {})), **others)


def sleeps(name, n, *words, rank=1):
    """It is proven, so the run ends."""
    return asleep(name, NOTHING, *words, r"%d kernels or threads of the program sleep in locks, conditions or "
                  r"semaphores of its own \(sem_wait\(\)" % n, r"the run ends", rank=rank)


ALL_SLEEP = r"all threads and kernels of the program sleep in locks, conditions or semaphores"


def is_woken(name, **env):
    return Case(name, ["(?m)^ends well"], program="../wrong/asleep", where=REAL, status=ENDS,
                env=dict(SOON, STARPU_NCPU="2", **env), hushes=(CRASH, r"\[orrery\]\[rank"))


def may_be_long(name, codelet):
    """Nothing proves that it never returns: it is told, and a knob ends the run."""
    says = (r'task "%s" .*runs on worker \d: its kernel, a function at asleep\+0x[0-9a-f]+, has not returned' % codelet,)
    yield asleep(name, r"nothing has happened for \S+ s", *says, r"the run goes on: a kernel or a callback has not "
                 r"returned, and may only be long; with STARPU_WATCHDOG_TIMEOUT", status="is stopped")
    yield asleep(name, r"no task has ended for 0.5 s", *says, r"STARPU_WATCHDOG_CRASH asks",
                 env={"STARPU_WATCHDOG_TIMEOUT": "500000", "STARPU_WATCHDOG_CRASH": "1"}, claim=name.replace("_", " ") + ", too long")


ASLEEP = [
    sleeps("kernel_is_never_posted", 1, r'task "awaits" .*runs on worker \d: its kernel, a function at asleep\+0x'),
    sleeps("kernel_is_never_signalled", 1, r"all 2 ranks wait", r'rank 1\]   task "signalled" .*runs on worker \d: its '
           r"kernel, (kernel_with_a_name\(\) \(asleep\)|a function at asleep\+0x)", r"rank 1\]   receive from rank 0 tag 7",
           r"rank 0\]   receive from rank 1 tag 7", rank=0),
    sleeps("kernels_lock_crosswise", 2, r'task "locks" .*runs on worker 0', r'task "locks" .*runs on worker 1'),
    sleeps("callback_is_never_posted", 1, r'task "nothing" .*on worker \d: its callback has not returned'),
    sleeps("main_and_threads_sleep", 4, r'task "awaits" .*runs on worker \d: its kernel'),
    sleeps("mains_join_receivers", 1, r"all 2 ranks wait", r"pthread_join\(\)", r"rank 0\]   receive from rank 1 tag 7",
           r"rank 1\]   receive from rank 0 tag 7", rank=0),
    is_woken("mains_join_late_ones"), is_woken("message_wakes_a_kernel"), is_woken("kernel_naps"), is_woken("kernels_take_turns"),
    is_woken("kernel_spins"), is_woken("kernel_wakes_the_main"), is_woken("thread_wakes_a_kernel"),
    is_woken("message_wakes_the_main"), is_woken("thread_takes_it_in"),
    *(asleep("main_waits_for_nobody", NOTHING, r"1 kernels or threads of the program sleep in locks", r"the run ends",
             env={"ORRERY_MPI_EXPLICIT": value}, claim="main waits for nobody" + how)
      for value, how in (("0", ""), ("1", ", explicit"))),
    # Nobody is left who could take the message in.
    asleep("message_wakes_the_main", r"nobody has moved messages for \S+ s", r"call orrery_mpi_progress\(\) until",
           r"rank 1\]   receive from rank 0 tag 7", ALL_SLEEP, r"the run ends",
           env={"ORRERY_MPI_EXPLICIT": "1"}, claim="message wakes the main, explicit"),
    asleep("kernel_sleeps_beside_main", r"nobody has moved messages for \S+ s", r'task "awaits" .*runs on worker \d: its kernel',
           r"rank 1\]   receive from rank 0 tag 7", ALL_SLEEP, r"the run ends", env={"ORRERY_MPI_EXPLICIT": "1"}),
    is_woken("kernel_naps_beside_main", ORRERY_MPI_EXPLICIT="1"),
    asleep("thread_takes_it_in", r"nobody has moved messages for \S+ s", r"(?m)^ends well", status=ENDS,
           env={"ORRERY_MPI_EXPLICIT": "1"}, claim="thread takes it in, explicit"),
    *may_be_long("kernel_naps_for_ever", "naps"),
    *may_be_long("kernel_spins_for_ever", "spins"),
]


def deeper(name, *words, rank=1, **others):
    return Case(name, on(rank, *words), program="../wrong/deeper", env=SOON, **others)


def refuses_to_wait(name, what):
    return deeper(name, r"a callback calls a function that waits for " + what, r"wait in main\(\)", where=SIM)


DEEPER = [
    # Without execution nothing is packed.
    deeper("pack_fails", r"pack_data\(\) of its interface has returned -5 and packed 8 bytes", r"expected 0", rank=0,
           where=REAL),
    *(deeper(name, r"pack_data\(\) of its interface has returned 0 and packed %d bytes at \(nil\): expected" % n, rank=0,
             where=REAL) for name, n in (("pack_gives_nothing", 8), ("pack_gives_less_than_nothing", -8))),
    deeper("unpack_fails", r"peek_data\(\) of its interface has returned -5 for a message of 8 bytes: expected 0",
           where=REAL),
    deeper("callback_divides", r"signal 8 .* in a callback", r"of rank 1 of 2",
           status="is not 0"),
    deeper("callback_asserts", r"signal 6 .* in a callback", r"of rank 1 of 2"),
    deeper("callback_unregisters", r"starpu_data_unregister: the handle is no longer registered"),
    Case("callback_waits_for_tasks", ["(?m)^ends well"], where=REAL, program="../wrong/deeper", status=ENDS, env=SOON),
    refuses_to_wait("callback_waits_for_tasks", "the end of tasks"),
    refuses_to_wait("callback_shuts_down", "a transfer"),
    refuses_to_wait("callback_meets", "a barrier"),
    deeper("callback_shuts_down", r"nothing can happen any more: all 2 ranks wait", r"rank 1\]   a thread waits for all "
           r"transfers", rank=0, where=REAL),
    deeper("callback_meets", r"is in the barrier after 2: each barrier must be called by all ranks", where=REAL),
    deeper("callback_exits_at_once", r"the program leaves by _exit\(0\) while the library runs", where=REAL,
           status="is not 0"),
    deeper("callback_exits_at_once", r"_exit\(0\) in a callback.* of rank 1 of 2.* ends the simulation", where=SIM,
           status=bad.FAILS),
    deeper("callback_is_killed", r"ended by signal 9", where=REAL, status="is not 0"),
    *(deeper(name, r"signal %d .* in the kernel of task \"%s\" .* of rank 1 of 2" % (number, task_name), status="is not 0",
             hushes=(r"std::",))
      for name, number, task_name in (("kernel_overflows", 11, "overflows"), ("kernel_divides", 8, "divides"),
                                      ("kernel_frees_twice", 6, "frees_twice"))),
    deeper("kernel_is_terminated", r"ended by signal 15", where=REAL, status="is not 0"),
    deeper("no_memory_for_receive", r"no memory for data .*: the system refuses 1073741824 bytes", r"use smaller pieces",
           rank=ANY, where=REAL), # the simulation keeps no values
    *(deeper(name, r"signal 11 .* in the main.* of rank 1 of 2", status="is not 0", hushes=(r"std::",))
      for name in ("request_from_nowhere", "handle_from_nowhere")),
    deeper("codelets_differ", r"tag 1 came from rank 0 \(8 bytes\): nobody receives it", GRAPHS),
    deeper("arguments_swapped", r"nobody receives it", rank=ANY, where=REAL), # perhaps before it is said why
    deeper("arguments_swapped", r"rank [01] has inserted 1 tasks, and all ranks together have executed 0",
           r"nobody receives it", rank=0, where=SIM),
    deeper("executors_differ", r"send to rank 1 tag 2: .*earlier tasks on the data are not done", GRAPHS, rank=0,
           status="is not 0"),
    deeper("executors_are_others", r"tag 2.*(no message came|nobody receives it)", GRAPHS, rank=ANY, status="is not 0"),
    *(Case("executors_apart", on(1, r"the first is call 77 of starpu_mpi_task_insert\(\), here task \"nobody\", which rank "
           r"1 executes, on rank 0 task \"nobody\", which rank 0 executes", r"(?m)^ends well"), status=ENDS,
           program="../wrong/deeper", nranks=2, where=SIM if transport else bad.BOTH, claim="executors apart " + transport,
           env=dict(SOON, ORRERY_MPI_COMPARE="1", **({"ORRERY_TRANSPORT": transport} if transport else {})))
      for transport in ("", "mpi")),
    deeper("sizes_decide", GRAPHS + r".*; task swap is executed where most bytes of its data are, and of data with tag 1.* "
           r"get_size\(\).*get_max_size\(\).*STARPU_EXECUTE_ON_NODE", rank=ANY, status="is not 0"),
    deeper("executor_beyond", r"task copy shall execute on rank 7: expected 0 to 1", rank=ANY),
    deeper("no_kernel_at_the_owner", r"task \"copy\": no worker can ever execute it", r"-ENODEV", r"(?m)^ends well",
           status=ENDS),
    deeper("parted_on_one", r"argument 0 \(data .*V4x8.*\): the data has no owner", r"on all ranks", rank=0),
    deeper("late_message", r"tag 7: rank 0 sends 20000 bytes, rank 1 receives 8 bytes", r"data of the same size"),
]

def left(name, what, by=r"longjmp\(\)", where=bad.BOTH, **others):
    """It is told who is left, and by what."""
    return Case(name, on(ANY, what + " is left by " + by, "the functions of the library", "Let it return"),
                program="../wrong/left", env=SOON, where=where, hushes=("goes on", r"std::"), **others)


LEFT = [
    left("callback_of_acquire", "a callback"), left("callback_of_request", "a callback"),
    left("callback_of_empty_task", 'a callback of task "nowhere"'),
    # On a real machine these jump to the stack of another thread, which may be the first to notice.
    left("callback_of_task", 'a callback of task "nothing"', where=SIM),
    left("kernel", 'the kernel of task "jumps"', where=SIM),
    # Another rank's end would wake its main, whose stack is not its own any more.
    left("kernel_beside_main", 'the kernel of task "jumps"', where=REAL, nranks=1),
    left("filter", "a filter function"), left("policy", "push_task of a scheduling policy"),
    left("packing", "pack_data of an interface"),
    left("can_execute", "can_execute of a codelet"), left("number_of_parts", "get_nchildren of a filter"),
    left("cost_function", "the cost function of a performance model"), left("size_of_task", "size_base of a performance model"),
    left("start_of_policy", "init_sched of a scheduling policy"), left("selection", "a node selection policy"),
    left("allocation", "allocate_data_on_node of an interface"),
    left("idle_hook", "a progression or idle hook", by=r"an exception of C\+\+"),
    left("throwing_callback", "a callback", by=r"an exception of C\+\+"),
    left("callback_ends_its_thread", "a callback", by=r"pthread_exit\(\)", where=REAL),
]


def place(name, *says, **others):
    return Case(name, [*says], program="../wrong/places", nranks=1, **dict({"env": SOON}, **others))


def place_works(name, *says, **others):
    return place(name, *says, "(?m)^ends well", status=ENDS, hushes=(CRASH, r"\[orrery\]\[rank"), **others)


NOT_OPEN = r"starpu_\w+: the library is not initialised; .*"
PLACES = [
    place_works("in_constructor", "starts before main", env={"BEFORE_MAIN": "1"}),
    place_works("at_exit_shuts_down", "shut down at exit", where=REAL),
    place_works("at_exit_registered_after", "shut down at exit", where=REAL),
    *(place(name, NOT_OPEN + r"a handler of atexit\(\) or a destructor after the end of all mains", where=SIM)
      for name in ("at_exit_shuts_down", "at_exit_registered_after")),
    place("at_exit_after_shutdown", NOT_OPEN + r"before starpu_shutdown\(\)"),
    place_works("destructor_waits"), place_works("destructor_shuts_down"),
    place("destructor_submits", NOT_OPEN, where=REAL),
    place_works("handler_submits", "1 signals"), place_works("handler_waits", "1 signals"),
    place("handler_interrupts_submission", r"a handler of a signal calls a function of the library", "sig_atomic_t", where=REAL),
    *(place(name, NOT_OPEN + r"a child of fork\(\) starts without it", "child: signal 6", "(?m)^ends well", where=REAL,
            status=ENDS) for name in ("child_submits", "child_shuts_down", "child_unregisters")),
    place_works("child_starts", "child: exit 0"),
    place("thread_submits_late", NOT_OPEN + r"before starpu_shutdown\(\)"),
    place("thread_waits_at_shutdown", r"starpu_shutdown: 1 threads of the program still wait in the library \(one for its turn "
          r"on data\), and will for ever", "join them, before", "(?m)^ends well", status=ENDS),
    place_works("parallel_region_submits", "400 tasks", where=REAL),
    place("parallel_region_submits", NOT_OPEN + "this thread belongs to no rank", where=SIM),
]

# What is interleaved in many ways is so on two ranks; on three in simulation only.
ODD = [Case(name, ["(?m)^ends well"], program="../wrong/odd", nranks=nranks, status=ENDS,
            where=bad.BOTH if nranks == 2 else SIM, hushes=(CRASH, r"\[orrery\]\[rank"),
            env=dict(SOON, ORRERY_EXECUTE="1") if name == "all_sent_first" else SOON,
            claim="%s on %d ranks" % (name.replace("_", " "), nranks))
       for nranks in (2, 3)
       for name in ("to_itself", "early_and_late", "backwards", "all_sent_first",
                    "tag_used_again", "null_where_not_concerned", "pruned",
                    "pruned_and_known", "same_tag_in_parts", "own_without_tag",
                    "letters_are_ones_own", "each_owns_its_copy", "callbacks_insert",
                    "shut_down_with_work_left", "there_and_back", "flushed_by_all",
                    "part_of_the_ranks", "requests_the_other_way_round",
                    "void_and_nothing", "acquired_while_sending",
                    "duplicates_in_another_order", "freed_while_under_way", "freed_after_init")]
# The time that a process is stopped is no silence.
ODD += [Case("stopped_while_it_waits", ["(?m)^ends well"], program="../wrong/odd", nranks=1,
             status=ENDS, where=REAL, hushes=(CRASH, r"\[orrery\]"), env={"ORRERY_WATCHDOG": "2"}),
        Case("stopped_while_it_waits", ["(?m)^ends well"], program="../wrong/odd", nranks=1,
             status=ENDS, where=REAL, hushes=(CRASH, r"\[orrery\]"),
             env={"STARPU_WATCHDOG_TIMEOUT": "2000000"}, claim="stopped, no task ends")]

TABLES = {"tasks": TASKS, "nodes": NODES, "graphs": GRAPH_PROGRAMS, "spread": SPREAD,
          "starts": STARTS, "calls": CALLS, "waits": WAITS, "asleep": ASLEEP,
          "deeper": DEEPER, "left": LEFT, "places": PLACES, "odd": ODD}



def has_fortran():
    with open(os.path.join(bad.BUILD, "build.conf"), encoding="utf-8") as f:
        return "fortran=yes" in f.read().split("\n")


if __name__ == "__main__":
    table = TABLES.get(sys.argv.pop(1) if len(sys.argv) > 1 else None)
    if table is None:
        sys.exit(__doc__)
    if not has_fortran():
        table = [case for case in table if not case.program.endswith("in_fortran")]
    sys.exit(bad.main(lambda _top: table, bad.run))
