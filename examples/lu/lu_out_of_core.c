/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * LU factorisation of a matrix that does not fit in the memory of its nodes: the library
 * allocates the tiles, and writes those that nobody uses to a disk.
 *
 *   STARPU_LIMIT_CPU_MEM=1 STARPU_DISK_SWAP=/tmp/swap mpirun -n 2 lu_out_of_core
 *
 * All tasks of one column come together ("left-looking"): the column stays in memory,
 * those to its left are only read, and so are written to the disk once.  The form that
 * updates the whole rest in each step reads and writes all of it each time.
 */
#include "tiles.h"

/* Column j, with the columns to its left, which are final. */
static void insert_column(struct tiles *tiles, int j)
{
	starpu_data_handle_t(*a)[NT] = tiles->handles;

	for (int k = 0; k < j; k++) {
		starpu_mpi_task_insert(MPI_COMM_WORLD, &trsm_right, STARPU_R, a[k][k],
				       STARPU_RW, a[k][j], 0);
		for (int i = k + 1; i < NT; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &gemm, STARPU_R, a[i][k],
					       STARPU_R, a[k][j], STARPU_RW, a[i][j], 0);
	}
	starpu_mpi_task_insert(MPI_COMM_WORLD, &getrf, STARPU_RW, a[j][j], 0);
	for (int i = j + 1; i < NT; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &trsm_below, STARPU_R, a[j][j],
				       STARPU_RW, a[i][j], 0);
}

static void factorise(struct tiles *tiles)
{
	for (int j = 0; j < NT; j++)
		insert_column(tiles, j);
}

int main(int argc, char **argv)
{
	static const struct lu_form form = {.name = "lu_out_of_core",
					    .side = 128,
					    .out_of_core = 1,
					    .factorise = factorise};

	return lu_main(argc, argv, &form);
}
