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

int MPI_Init(int *argc, char ***argv)
{
	return is_started() ? MPI_SUCCESS : PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	if (is_started())
		return PMPI_Query_thread(provided);
	return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Finalize(void)
{
	int ended = 0;

	PMPI_Finalized(&ended);
	return ended || !is_started() ? MPI_SUCCESS : PMPI_Finalize();
}

double MPI_Wtime(void)
{
	return sim_is_plain_main() ? PMPI_Wtime() : clock_look_s();
}

/* Who asks for the rank in another communicator must be its main. */
int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	int is_world = comm == MPI_COMM_WORLD, status;

	if (!sim_is_main() && is_world) {
		*rank = sim_rank_self()->world_rank;
		return MPI_SUCCESS;
	}
	sim_check_main("MPI_Comm_rank");
	status = PMPI_Comm_rank(comm, rank);
	if (status == MPI_SUCCESS && is_world && sim_rank_self())
		sim_rank_self()->world_rank = *rank;
	return status;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	int is_world = comm == MPI_COMM_WORLD, status;

	if (!sim_is_main() && is_world) {
		*size = sim_rank_self()->world_size;
		return MPI_SUCCESS;
	}
	sim_check_main("MPI_Comm_size");
	status = PMPI_Comm_size(comm, size);
	if (status == MPI_SUCCESS && is_world && sim_rank_self())
		sim_rank_self()->world_size = *size;
	return status;
}
