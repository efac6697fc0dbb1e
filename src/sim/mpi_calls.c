/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>

#include "sim.h"

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

	sim_watch();
	if (status == MPI_SUCCESS && rank) {
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank->world_rank);
		PMPI_Comm_size(MPI_COMM_WORLD, &rank->world_size);
	}
	return status;
}

int MPI_Init(int *argc, char ***argv)
{
	return is_started() ? MPI_SUCCESS : remember(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	if (is_started())
		return PMPI_Query_thread(provided);
	return remember(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
	const struct node *node = plat_self();
	int ended = 0;

	if (node && node->mpi)
		orr_die(node->rank,
			"MPI_Finalize: the MPI layer of the library still runs; call "
			"starpu_mpi_shutdown() first");

	PMPI_Finalized(&ended);
	return ended || !is_started() ? MPI_SUCCESS : PMPI_Finalize();
}

/* SMPI would end one rank after the other, and the process with status 0. */
int MPI_Abort(MPI_Comm comm, int code)
{
	const struct sim_rank *rank = sim_rank_self();

	(void)comm;
	sim_check_main("MPI_Abort");
	orr_complain(rank && rank->world_size > 0 ? rank->world_rank : ORR_NO_RANK,
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
	return rank && rank->world_size > 0 ? rank : NULL;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	const struct sim_rank *told = told_rank(comm);

	if (!told) {
		sim_check_main("MPI_Comm_rank");
		return PMPI_Comm_rank(comm, rank);
	}
	*rank = told->world_rank;
	return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	const struct sim_rank *told = told_rank(comm);

	if (!told) {
		sim_check_main("MPI_Comm_size");
		return PMPI_Comm_size(comm, size);
	}
	*size = told->world_size;
	return MPI_SUCCESS;
}
