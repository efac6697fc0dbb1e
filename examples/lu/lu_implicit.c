/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * LU factorisation: all nodes insert all tasks.  Each task runs on the node that owns the
 * tile it writes, and what it reads travels there by itself; what the next step waits for
 * goes first, as a task and as a message.
 */
#include "tiles.h"

/*
 * Of the task of step k that writes tile (i, j).  Tiles near the next ones on the
 * diagonal come first, of whichever step: so a node begins with the next step before all
 * of this one's products are done.
 */
static int urgency(int k, int i, int j)
{
	return 3 * NT - k - i - j;
}

static void insert_step(struct tiles *tiles, int k)
{
	starpu_data_handle_t(*a)[NT] = tiles->handles;

	starpu_mpi_task_insert(MPI_COMM_WORLD, &getrf, STARPU_RW, a[k][k],
			       STARPU_PRIORITY, urgency(k, k, k), 0);
	for (int i = k + 1; i < NT; i++) {
		starpu_mpi_task_insert(MPI_COMM_WORLD, &trsm_below, STARPU_R, a[k][k],
				       STARPU_RW, a[i][k], STARPU_PRIORITY,
				       urgency(k, i, k), 0);
		starpu_mpi_task_insert(MPI_COMM_WORLD, &trsm_right, STARPU_R, a[k][k],
				       STARPU_RW, a[k][i], STARPU_PRIORITY,
				       urgency(k, k, i), 0);
	}
	for (int i = k + 1; i < NT; i++)
		for (int j = k + 1; j < NT; j++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &gemm, STARPU_R, a[i][k],
					       STARPU_R, a[k][j], STARPU_RW, a[i][j],
					       STARPU_PRIORITY, urgency(k, i, j), 0);
}

static void factorise(struct tiles *tiles)
{
	for (int k = 0; k < NT; k++)
		insert_step(tiles, k);
}

int main(int argc, char **argv)
{
	static const struct lu_form form = {
		.name = "lu_implicit", .side = 16, .factorise = factorise};

	return lu_main(argc, argv, &form);
}
