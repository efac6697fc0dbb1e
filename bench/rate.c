/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * How many small messages per second go from one node to another when all are sent at
 * once, detached; and by plain MPI, 64 at a time.
 *
 * usage: mpirun -n 2 rate [MESSAGES [BYTES [BATCHES]]]
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum { RAW_AT_A_TIME = 64 };

struct flood {
	int rank, count, bytes;
	char *buffer;
	starpu_data_handle_t *handles;
};

static double orrery_s(const struct flood *flood)
{
	double start;

	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = bench_now_s();
	for (int i = 0; i < flood->count; i++)
		if (flood->rank == 0)
			starpu_mpi_isend_detached(flood->handles[i], 1, i, MPI_COMM_WORLD,
						  NULL, NULL);
		else
			starpu_mpi_irecv_detached(flood->handles[i], 0, i, MPI_COMM_WORLD,
						  NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return bench_now_s() - start;
}

/* Few at a time: plain MPI looks at all that wait for each that comes. */
static double raw_s(const struct flood *flood)
{
	MPI_Request requests[RAW_AT_A_TIME];
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = bench_now_s();
	for (int i = 0; i < flood->count;) {
		int n = 0;

		for (; n < RAW_AT_A_TIME && i < flood->count; n++, i++) {
			char *at = flood->buffer + (size_t)i * (size_t)flood->bytes;

			if (flood->rank == 0)
				MPI_Isend(at, flood->bytes, MPI_BYTE, 1, 0,
					  MPI_COMM_WORLD, &requests[n]);
			else
				MPI_Irecv(at, flood->bytes, MPI_BYTE, 0, 0,
					  MPI_COMM_WORLD, &requests[n]);
		}
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return bench_now_s() - start;
}

static double best_s(double (*once_s)(const struct flood *flood),
		     const struct flood *flood, int batches)
{
	double best = 1e30;

	for (int i = 0; i < batches; i++) {
		double seconds = once_s(flood);

		if (seconds < best)
			best = seconds;
	}
	return best;
}

static void measure(struct flood *flood, int batches)
{
	size_t count = (size_t)flood->count, bytes = (size_t)flood->bytes;
	double raw = best_s(raw_s, flood, batches), ours;
	char name[64];

	flood->handles = calloc(count, sizeof(*flood->handles));
	for (size_t i = 0; i < count; i++)
		starpu_vector_data_register(&flood->handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)(flood->buffer + i * bytes),
					    (uint32_t)bytes, 1);
	ours = best_s(orrery_s, flood, batches);
	for (size_t i = 0; i < count; i++)
		starpu_data_unregister(flood->handles[i]);
	free(flood->handles);
	if (flood->rank != 0)
		return;
	snprintf(name, sizeof(name), "%d of %d bytes", flood->count, flood->bytes);
	bench_print("rate", name, "us", ours / flood->count * 1e6);
	snprintf(name, sizeof(name), "%d of %d bytes plain MPI", flood->count,
		 flood->bytes);
	bench_print("rate", name, "us", raw / flood->count * 1e6);
}

int main(int argc, char **argv)
{
	struct flood flood = {.count = argc > 1 ? atoi(argv[1]) : 100000,
			      .bytes = argc > 2 ? atoi(argv[2]) : 64};
	int batches = argc > 3 ? atoi(argv[3]) : 5, level, size;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &flood.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "rate: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	flood.buffer = calloc((size_t)flood.count, (size_t)flood.bytes);
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	measure(&flood, batches);
	starpu_mpi_shutdown();
	free(flood.buffer);
	MPI_Finalize();
	return 0;
}
