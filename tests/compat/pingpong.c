/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Ping-pong with isend, irecv, test and wait, sizes 4 bytes to 1 MiB. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 6

static int wait_by_testing(starpu_mpi_req *req)
{
	MPI_Status status;
	int flag = 0;

	while (!flag) {
		starpu_mpi_test(req, &flag, &status);
	}
	return status.MPI_SOURCE;
}

static void receive(starpu_data_handle_t handle, int other, starpu_mpi_tag_t tag)
{
	starpu_mpi_req req;
	MPI_Status status;
	int ret = starpu_mpi_irecv(handle, &req, other, tag, MPI_COMM_WORLD);

	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_irecv");
	if (tag % 2) {
		wait_by_testing(&req);
	} else {
		ret = starpu_mpi_wait(&req, &status);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_wait");
	}
}

static void transmit(starpu_data_handle_t handle, int other, starpu_mpi_tag_t tag)
{
	starpu_mpi_req req;
	int ret;

	if (tag % 3 == 0)
		ret = starpu_mpi_issend(handle, &req, other, tag, MPI_COMM_WORLD);
	else
		ret = starpu_mpi_isend(handle, &req, other, tag, MPI_COMM_WORLD);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_isend");
	if (tag % 2)
		ret = starpu_mpi_wait(&req, MPI_STATUS_IGNORE);
	else
		wait_by_testing(&req);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_wait");
}

/* The value of each element counts the hops; the main program adds them itself. */
static int exchange(int n, int rank, int other)
{
	starpu_data_handle_t handle;
	int *x = calloc(n, sizeof(*x)), i, round, bad = 0;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x, n,
				    sizeof(x[0]));
	for (round = 0; round < ROUNDS; round++) {
		int sender = round % 2 == rank % 2;

		if (sender) {
			starpu_data_acquire(handle, STARPU_RW);
			for (i = 0; i < n; i++)
				x[i]++;
			starpu_data_release(handle);
			transmit(handle, other, round);
		} else {
			receive(handle, other, round);
		}
	}
	starpu_data_unregister(handle);
#ifdef STARPU_SIMGRID
	if (getenv("CHECK_VALUES"))
#endif
		for (i = 0; i < n; i++)
			bad |= x[i] != ROUNDS;
	if (bad)
		fprintf(stderr, "[%d] %d elements: %d hops\n", rank, n, x[n - 1]);
	free(x);
	return bad;
}

int main(int argc, char **argv)
{
	int ret, rank, size, n, bad = 0, thread_support;
	double start;

	if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &thread_support) !=
	    MPI_SUCCESS) {
		fprintf(stderr, "MPI_Init_thread failed\n");
		exit(1);
	}
	ret = starpu_init(NULL);
	if (ret == -ENODEV) {
		MPI_Finalize();
		return 77;
	}
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	ret = starpu_mpi_init(NULL, NULL, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size % 2 == 0)
		for (n = 1; n <= 1 << 18; n *= 64) {
			starpu_mpi_barrier(MPI_COMM_WORLD);
			start = starpu_timing_now();
			bad |= exchange(n, rank, rank % 2 ? rank - 1 : rank + 1);
			if (rank == 0)
				fprintf(stderr, "%8zu bytes %10.2f us\n", n * sizeof(int),
					(starpu_timing_now() - start) / ROUNDS);
		}
	starpu_mpi_shutdown();
	starpu_shutdown();
	MPI_Finalize();
	return size % 2 ? 77 : bad;
}
