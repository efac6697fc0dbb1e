/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "sim/pthreads.h"

#include <simgrid/actor.h>

/*
 * mpi_main.c - who may call MPI: SMPI crashes when a callback or a kernel calls a
 * function that communicates, and takes a thread that is no rank for nobody.  Ours come
 * first when the program's symbols are looked up; they refuse the former by name, let
 * SMPI take the latter for the main of its rank, and hand all calls over to SMPI.
 *
 * All parameters of these functions are integers and pointers, each a machine word to
 * the caller, so that one form passes on them all, and what lies behind them, unread.
 * That is why MPI's header must not be included here.
 */
static void refuse(const char *name, const char *where, const char *advice)
{
	const struct sim_rank *rank = sim_rank_self();

	orr_complain(rank && rank->place ? rank->place - 1 : ORR_NO_RANK,
		     "%s: called in %s%s", name, where, advice);
	report_exit(1);
}

void sim_check_thread(const char *name)
{
	if (sim_is_stranger() && kernel_is_there())
		refuse(name, "a thread of the system",
		       ", as OpenMP, BLAS, kernels and callbacks make them, and the "
		       "program with ORRERY_REAL_THREADS=1 or a sanitizer: in simulation "
		       "the main of a rank and its simulated threads may call MPI; let "
		       "one of them do it");
	stack_check(sim_get());
	if (sim_get()->in_kernel)
		refuse(name, "a callback or a kernel",
		       ": in simulation only the main of a rank and its threads may call "
		       "MPI; signal one of them to do it, or use the functions of "
		       "starpu_mpi.h");
}

void sim_check_main(const char *name)
{
	sim_check_thread(name);
	if (pthreads_self())
		refuse(name, "a thread",
		       ": in simulation the main of a rank is MPI's main thread; call it "
		       "there");
}

static void put_on(struct sim_thread *thread, const char *name)
{
	struct posix_thread *posix = thread->posix;
	sg_actor_t main_actor = sim_main_of(thread->rank);

	if (!main_actor)
		refuse(name, "a thread",
		       " after the main of its rank has ended: join it "
		       "before main returns");
	if (!thread->rank->place)
		refuse(name, "a thread",
		       " before the main of its rank has called "
		       "MPI_Init_thread()");
	posix->is_in_guise = kernel_guise_take(main_actor, &posix->guise);
	if (!posix->is_in_guise)
		refuse(name, "a thread",
		       ": this version of SimGrid lets only the main of a "
		       "rank call MPI; signal main to do it");
}

struct sim_thread *sim_enter_mpi(const char *name)
{
	struct sim_thread *thread;

	sim_check_thread(name);
	thread = sg_actor_self() ? sg_actor_self_get_data() : NULL;
	if (!thread)
		return NULL;
	thread->call = name;
	if (thread->posix && !thread->posix->is_in_guise)
		put_on(thread, name);
	return thread;
}

void sim_leave_mpi(struct sim_thread *thread)
{
	if (!thread)
		return;
	thread->call = NULL;
	if (!thread->posix || !thread->posix->is_in_guise)
		return;
	thread->posix->is_in_guise = 0;
	kernel_guise_leave(&thread->posix->guise);
}

int sim_count_in_mpi(const struct sim_rank *rank, const char *last, const char **name)
{
	const struct sim *sim = the_sim;
	const struct sim_thread *thread;
	size_t cursor = 0;
	int n = 0, order;

	while (sim->posix && (thread = table_next(&sim->posix->threads, &cursor))) {
		if (thread->rank != rank || !thread->call ||
		    strcmp(thread->call, last) <= 0)
			continue;
		order = n ? strcmp(thread->call, *name) : -1;
		if (order < 0)
			*name = thread->call;
		if (order <= 0)
			n = order < 0 ? 1 : n + 1;
	}
	return n;
}

#define WORDS(type)                                                                      \
	type a, type b, type c, type d, type e, type f, type g, type h, type i, type j,  \
		type k, type l, type m, type n
#define CALL(name, before, after)                                                        \
	int PMPI_##name(WORDS(long));                                                    \
	int MPI_##name(WORDS(long));                                                     \
	int MPI_##name(WORDS(long))                                                      \
	{                                                                                \
		struct sim_thread *caller = sim_enter_mpi("MPI_" #name);                 \
		int ret;                                                                 \
                                                                                         \
		before;                                                                  \
		SIM_YIELDS(ret = PMPI_##name(a, b, c, d, e, f, g, h, i, j, k, l, m, n)); \
		sim_leave_mpi(caller);                                                   \
		after;                                                                   \
		return ret;                                                              \
	}
#define MAIN(name) CALL(name, , )
/* It writes whether it has found anything. */
#define LOOK(name, found) CALL(name, , sim_looked(caller, ret != 0 || *(int *)(found)))
/* The first parameter is a communicator; it writes one that it has made of that. */
#define MAKE(name, made)         CALL(name, , sim_made_comm(ret, a, made))
#define MAKE_SOMEHOW(name, made) CALL(name, , sim_made_comm(ret, 0, made))

/* clang-format off */
MAIN(Accumulate) MAIN(Allgather) MAIN(Allgatherv) MAIN(Allreduce)
MAIN(Alltoall) MAIN(Alltoallv) MAIN(Alltoallw) MAIN(Barrier) MAIN(Bcast) MAIN(Bsend)
MAIN(Bsend_init) MAIN(Cancel) MAKE(Cart_create, f) MAIN(Cart_shift) MAKE(Cart_sub, c)
MAIN(Comm_accept) MAIN(Comm_connect) MAKE(Comm_create, c)
MAKE_SOMEHOW(Comm_create_group, d)
MAIN(Comm_disconnect) MAKE(Comm_dup, b) MAKE(Comm_dup_with_info, c)
CALL(Comm_free, sim_frees_comm(a), )
MAKE_SOMEHOW(Comm_idup, b) MAIN(Comm_join) MAIN(Comm_spawn) MAIN(Comm_spawn_multiple)
MAKE(Comm_split, d) MAKE(Comm_split_type, e) MAIN(Compare_and_swap)
MAKE_SOMEHOW(Dist_graph_create, i)
MAKE_SOMEHOW(Dist_graph_create_adjacent, j) MAIN(Exscan) MAIN(Fetch_and_op)
MAIN(File_close)
MAIN(File_delete) MAIN(File_iread) MAIN(File_iread_all) MAIN(File_iread_at)
MAIN(File_iread_at_all) MAIN(File_iread_shared) MAIN(File_iwrite) MAIN(File_iwrite_all)
MAIN(File_iwrite_at) MAIN(File_iwrite_at_all) MAIN(File_iwrite_shared)
MAIN(File_preallocate) MAIN(File_read) MAIN(File_read_all) MAIN(File_read_all_begin)
MAIN(File_read_all_end) MAIN(File_read_at) MAIN(File_read_at_all)
MAIN(File_read_at_all_begin) MAIN(File_read_at_all_end) MAIN(File_read_ordered)
MAIN(File_read_ordered_begin) MAIN(File_read_ordered_end) MAIN(File_read_shared)
MAIN(File_seek) MAIN(File_seek_shared) MAIN(File_set_atomicity) MAIN(File_set_info)
MAIN(File_set_size) MAIN(File_set_view) MAIN(File_sync) MAIN(File_write)
MAIN(File_write_all) MAIN(File_write_all_begin) MAIN(File_write_all_end)
MAIN(File_write_at) MAIN(File_write_at_all) MAIN(File_write_at_all_begin)
MAIN(File_write_at_all_end) MAIN(File_write_ordered) MAIN(File_write_ordered_begin)
MAIN(File_write_ordered_end) MAIN(File_write_shared) MAIN(Gather) MAIN(Gatherv)
MAIN(Group_rank)
MAIN(Get)
MAIN(Get_accumulate) MAKE_SOMEHOW(Graph_create, f) MAIN(Iallgather) MAIN(Iallgatherv)
MAIN(Iallreduce) MAIN(Ialltoall) MAIN(Ialltoallv) MAIN(Ialltoallw) MAIN(Ibarrier)
MAIN(Ibcast) MAIN(Ibsend) MAIN(Iexscan) MAIN(Igather) MAIN(Igatherv) LOOK(Improbe, d)
MAIN(Imrecv) MAIN(Ineighbor_allgather) MAIN(Ineighbor_allgatherv)
MAIN(Ineighbor_alltoall) MAIN(Ineighbor_alltoallv) MAIN(Ineighbor_alltoallw)
MAKE_SOMEHOW(Intercomm_create, f) MAKE_SOMEHOW(Intercomm_merge, c) LOOK(Iprobe, d)
MAIN(Irecv) MAIN(Ireduce)
MAIN(Ireduce_scatter) MAIN(Ireduce_scatter_block) MAIN(Irsend) MAIN(Iscan)
MAIN(Iscatter)
MAIN(Iscatterv) MAIN(Isend) MAIN(Issend) MAIN(Mprobe) MAIN(Mrecv)
MAIN(Neighbor_allgather) MAIN(Neighbor_allgatherv) MAIN(Neighbor_alltoall)
MAIN(Neighbor_alltoallv) MAIN(Neighbor_alltoallw) MAIN(Put) MAIN(Raccumulate)
MAIN(Recv) MAIN(Recv_init) MAIN(Reduce) MAIN(Reduce_scatter) MAIN(Reduce_scatter_block)
MAIN(Request_free) MAIN(Rget) MAIN(Rget_accumulate) MAIN(Rput) MAIN(Rsend)
MAIN(Rsend_init) MAIN(Scan) MAIN(Scatter) MAIN(Scatterv) MAIN(Send) MAIN(Send_init)
MAIN(Sendrecv) MAIN(Sendrecv_replace) MAIN(Ssend) MAIN(Ssend_init) MAIN(Start)
MAIN(Startall) LOOK(Test, b) LOOK(Testall, c) LOOK(Testany, d) LOOK(Testsome, c)
MAIN(Wait) MAIN(Waitall) MAIN(Waitany) MAIN(Waitsome) MAIN(Win_allocate)
MAIN(Win_allocate_shared)
MAIN(Win_attach) MAIN(Win_complete) MAIN(Win_create) MAIN(Win_create_dynamic)
MAIN(Win_detach) MAIN(Win_fence) MAIN(Win_flush) MAIN(Win_flush_all)
MAIN(Win_flush_local) MAIN(Win_flush_local_all) MAIN(Win_free) MAIN(Win_lock)
MAIN(Win_lock_all) MAIN(Win_post) MAIN(Win_shared_query) MAIN(Win_start) MAIN(Win_sync)
LOOK(Win_test, b) MAIN(Win_unlock) MAIN(Win_unlock_all) MAIN(Win_wait)

int PMPI_Probe(WORDS(long));
int MPI_Probe(WORDS(long));

/* SMPI looks until something has come, for ever where looks take no time. */
int MPI_Probe(WORDS(long))
{
	struct sim_thread *caller = sim_enter_mpi("MPI_Probe");
	int found = sim_get()->look_s <= 0, ret = 0;

	while (ret == 0 && !found) {
		SIM_YIELDS(ret = PMPI_Iprobe(a, b, c, (long)&found, d, e, f, g, h, i, j,
					     k, l, m));
		sim_looked(caller, ret != 0 || found);
	}
	if (ret == 0)
		SIM_YIELDS(ret = PMPI_Probe(a, b, c, d, e, f, g, h, i, j, k, l, m, n));
	sim_leave_mpi(caller);
	return ret;
}
