/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* What a node costs that does nothing: bytes that malloc() has given out, from one point
 * where all ranks meet to another.  Blocks with pages of their own are not among them:
 * these are tables of the whole run. */
/* SMPI has macros of these names, which the header does not go with. */
#undef malloc
#undef calloc
#undef realloc
#include <malloc.h>
#include <stdio.h>

#include <starpu.h>
#include <starpu_mpi.h>

/* With the 20 workers of the platform. */
enum { MOST_BYTES = 32768 };

static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
	size_t before = 0, each;
	int rank, size, failed = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* What the first message of MPI allocates is not ours. */
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		before = allocated();
	MPI_Barrier(MPI_COMM_WORLD);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		each = (allocated() - before) / (size_t)size;
		failed = each > MOST_BYTES;
		printf("%s a node of %u workers that does nothing has %zu bytes, at most "
		       "%d\n",
		       failed ? "FAIL" : "PASS", starpu_worker_get_count(), each,
		       MOST_BYTES);
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return failed;
}
