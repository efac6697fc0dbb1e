/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>
#include <simgrid/host.h>

#include "plat/net.h"
#include "sim/pthreads.h"

/*
 * mpi_calls.c - functions of MPI that mean more here than in SMPI.
 *
 * Programs for simulations let the library start MPI, and some start it again: one more
 * start or end does no harm.  Clock and rank are known in callbacks and threads, too.
 */
static int is_started(void)
{
	int started = 0;

	PMPI_Initialized(&started);
	return started;
}

/* So that callbacks, kernels and threads can be told. */
static int remember(int status)
{
	struct sim_rank *rank = sim_rank_self();
	int place;

	sim_watch();
	if (status == MPI_SUCCESS && rank) {
		PMPI_Comm_rank(MPI_COMM_WORLD, &place);
		PMPI_Comm_size(MPI_COMM_WORLD, &sim_get()->world_size);
		rank->place = place + 1;
	}
	return status;
}

int MPI_Init(int *argc, char ***argv)
{
	sim_check_main("MPI_Init");
	return is_started() ? MPI_SUCCESS : remember(PMPI_Init(argc, argv));
}

/* Threads take turns in simulation, so any of them may call at any time. */
int MPI_Query_thread(int *provided)
{
	if (provided)
		*provided = MPI_THREAD_MULTIPLE;
	return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int level;

	sim_check_main("MPI_Init_thread");
	MPI_Query_thread(provided);
	return is_started() ? MPI_SUCCESS
			    : remember(PMPI_Init_thread(argc, argv, required, &level));
}

int MPI_Is_thread_main(int *flag)
{
	*flag = sim_is_main() && !sim_is_stranger();
	return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
	const struct sim_rank *rank;

	if (sim_is_stranger() || sim_is_main())
		return PMPI_Initialized(flag);
	rank = sim_rank_self();
	*flag = rank && rank->place;
	return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
	const struct sim_thread *thread = pthreads_self();
	struct sim_thread *caller;
	int status;

	if (!thread)
		return PMPI_Finalized(flag);
	*flag = thread->rank->place && !sim_main_of(thread->rank);
	if (*flag || !thread->rank->place)
		return MPI_SUCCESS;
	caller = sim_enter_mpi("MPI_Finalized");
	status = PMPI_Finalized(flag);
	sim_leave_mpi(caller);
	return status;
}

int MPI_Finalize(void)
{
	const struct node *node = plat_self();
	int ended = 0;

	if (!sim_get()->in_kernel)
		sim_check_main("MPI_Finalize");
	if (node && node->mpi)
		orr_die(node->rank,
			"MPI_Finalize: the MPI layer of the library still runs; call "
			"starpu_mpi_shutdown() first");
	sim_check_main("MPI_Finalize");
	PMPI_Finalized(&ended);
	return ended || !is_started() ? MPI_SUCCESS : PMPI_Finalize();
}

/* SMPI keeps files on disks of the host, and ends the process where it has none. */
int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info,
		  MPI_File *file)
{
	const struct sim_rank *rank = sim_rank_self();
	struct sim_thread *caller;
	unsigned ndisks = 0;
	sg_disk_t *disks;
	int status;

	sim_check_thread("MPI_File_open");
	sg_host_get_disks(sg_host_self(), &ndisks, &disks);
	if (ndisks > 0) {
		caller = sim_enter_mpi("MPI_File_open");
		status = PMPI_File_open(comm, name, mode, info, file);
		sim_leave_mpi(caller);
		return status;
	}
	orr_complain(
		rank && rank->place ? rank->place - 1 : ORR_NO_RANK,
		"MPI_File_open: \"%s\" cannot be opened: files of MPI need a host with "
		"a <disk> of SimGrid's, and %s has none; in simulation (#ifdef "
		"STARPU_SIMGRID) use fopen() or leave the file out",
		name, sg_host_get_name(sg_host_self()));
	report_exit(1);
}

/* SMPI would end one rank after the other, and the process with status 0. */
int MPI_Abort(MPI_Comm comm, int code)
{
	const struct sim_rank *rank = sim_rank_self();

	(void)comm;
	sim_check_thread("MPI_Abort");
	orr_complain(rank && rank->place ? rank->place - 1 : ORR_NO_RANK,
		     "MPI_Abort: the program asks to end the run, with status %d", code);
	report_exit(code && !(code & 255) ? 1 : code);
}

double MPI_Wtime(void)
{
	return sim_is_plain_main() ? PMPI_Wtime() : clock_look_s();
}

/* The rank in MPI_COMM_WORLD, when the caller is no main and MPI has been started. */
static const struct sim_rank *told_rank(MPI_Comm comm)
{
	const struct sim_rank *rank;

	if (sim_is_main() || comm != MPI_COMM_WORLD)
		return NULL;
	rank = sim_rank_self();
	return rank && rank->place ? rank : NULL;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	const struct sim_rank *told = told_rank(comm);
	struct sim_thread *caller;
	int status;

	if (!told) {
		caller = sim_enter_mpi("MPI_Comm_rank");
		status = PMPI_Comm_rank(comm, rank);
		sim_leave_mpi(caller);
		return status;
	}
	*rank = told->place - 1;
	return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	const struct sim_rank *told = told_rank(comm);
	struct sim_thread *caller;
	int status;

	if (!told) {
		caller = sim_enter_mpi("MPI_Comm_size");
		status = PMPI_Comm_size(comm, size);
		sim_leave_mpi(caller);
		return status;
	}
	*size = sim_get()->world_size;
	return MPI_SUCCESS;
}

/* ---- communicators --------------------------------------------------- */

static uint64_t key_of(MPI_Comm comm)
{
	return (uint64_t)(uintptr_t)comm;
}

uint64_t plat_net_birth(const void *comm)
{
	struct sim_rank *rank = sim_rank_self();

	return rank ? births_number(&rank->births, key_of(*(const MPI_Comm *)comm)) : 0;
}

int plat_net_has_ended(const void *comm)
{
	struct sim_rank *rank = sim_rank_self();

	return rank && births_has_ended(&rank->births, key_of(*(const MPI_Comm *)comm));
}

void sim_made_comm(int ret, long parent, long made)
{
	struct sim_rank *rank = sim_rank_self();
	MPI_Comm child;

	if (!rank || ret != MPI_SUCCESS)
		return;
	child = *(MPI_Comm *)made;
	if (parent)
		births_note(&rank->births, key_of(MPI_COMM_WORLD), (uint64_t)parent,
			    child == MPI_COMM_NULL ? 0 : key_of(child));
	else if (child != MPI_COMM_NULL)
		births_note_unknown(&rank->births, key_of(child));
}

/* What is never freed. */
static int is_lasting(MPI_Comm comm)
{
	return comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

void sim_frees_comm(long comm)
{
	struct sim_rank *rank = sim_rank_self();

	if (rank && !is_lasting(*(MPI_Comm *)comm))
		births_end(&rank->births, key_of(*(MPI_Comm *)comm));
}
