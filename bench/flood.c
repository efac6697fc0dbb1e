/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Time per message from one node to another when all are posted at once, by how many
 * there are.
 *
 * usage: mpirun -n 2 flood [MOST]
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum { SMALL = 8, LARGE = 20000, MOST = 100000, BATCHES = 3 };

static int rank;

static void post(starpu_data_handle_t handle, int tag)
{
	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, tag, MPI_COMM_WORLD, NULL, NULL);
	else
		starpu_mpi_irecv_detached(handle, 0, tag, MPI_COMM_WORLD, NULL, NULL);
}

static double once_us(starpu_data_handle_t *handles, int count)
{
	double start;

	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = bench_now_s();
	for (int i = 0; i < count; i++)
		post(handles[i], i);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return (bench_now_s() - start) / count * 1e6;
}

/* Few are repeated often enough for the clock; the best of some batches. */
static void measure(int count, unsigned bytes)
{
	starpu_data_handle_t *handles = calloc((size_t)count, sizeof *handles);
	int rounds = count < 1000 ? 1000 / count : 1;
	char *buffer = malloc((size_t)count * bytes), name[64];
	double best = 1e30;

	memset(buffer, 1, (size_t)count * bytes);
	for (int i = 0; i < count; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)(buffer + (size_t)i * bytes),
					    bytes, 1);
	for (int batch = 0; batch < BATCHES; batch++) {
		double us = 0;

		for (int i = 0; i < rounds; i++)
			us += once_us(handles, count);
		if (us / rounds < best)
			best = us / rounds;
	}
	snprintf(name, sizeof name, "%u bytes %d pending", bytes, count);
	if (rank == 0)
		bench_print("flood", name, "us", best);
	for (int i = 0; i < count; i++)
		starpu_data_unregister(handles[i]);
	free(handles);
	free(buffer);
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : MOST, size, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "flood: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	for (int count = 10; count <= most; count *= 10)
		measure(count, SMALL);
	for (int count = 10; count <= most && count < MOST; count *= 10)
		measure(count, LARGE);
	if (most >= MOST)
		measure(16000, LARGE);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
