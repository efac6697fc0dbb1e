/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a message between two nodes takes through the library, alone and with others:
 * "orrery calibrate" runs it, for real and simulated, and makes them agree.
 *
 * usage: mpirun -n 2 calibrate_network [REPETITIONS]
 *
 * Lines "network,CASE BYTES,s,VALUE,MEDIAN,MEAN": alone (half of a round trip), both
 * (both ways at once, per message), flood (many at once, per message: its sender and its
 * receiver work on different ones).  VALUE is that
 * below which a tenth of the samples lie, MEAN what a program pays for each.
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

#define WORLD MPI_COMM_WORLD

/* One sample in QUIET is taken to be undisturbed. */
enum { SHORT_FLOOD = 200, FLOOD = 2000, FLOOD_BYTES = 8 << 20, LARGEST = 4 << 20 };
enum { QUIET = 10, LARGE = 65536, LARGE_BYTES = 2 << 20 };

static const unsigned sizes[] = {8,     64,    512,    2048,   4096,    8192,   16384,
				 32768, 65536, 131072, 262144, 1 << 20, LARGEST};

static const unsigned flood_sizes[] = {64, 4096, 8192, 16384, 65536};

enum {
	NSIZES = sizeof(sizes) / sizeof(sizes[0]),
	NFLOODS = sizeof(flood_sizes) / sizeof(flood_sizes[0])
};

struct pair {
	int rank, peer, repetitions;
	char *buffers[2];
	starpu_data_handle_t handles[2], *many;
	int nmany;
};

static double now_s(void)
{
	return starpu_timing_now() * 1e-6;
}

/* One round trip, halved. */
static double alone_s(struct pair *pair)
{
	double start = now_s();

	for (int half = 0; half < 2; half++)
		if (half == pair->rank)
			starpu_mpi_send(pair->handles[0], pair->peer, 1, WORLD);
		else
			starpu_mpi_recv(pair->handles[0], pair->peer, 1, WORLD,
					MPI_STATUS_IGNORE);
	return (now_s() - start) / 2;
}

static double both_s(struct pair *pair)
{
	starpu_mpi_req receive;
	double start = now_s();

	starpu_mpi_irecv(pair->handles[1], &receive, pair->peer, 2, WORLD);
	starpu_mpi_send(pair->handles[0], pair->peer, 2, WORLD);
	starpu_mpi_wait(&receive, MPI_STATUS_IGNORE);
	return now_s() - start;
}

static double flood_s(struct pair *pair)
{
	double start;

	starpu_mpi_barrier(WORLD);
	start = now_s();
	for (int i = 0; i < pair->nmany; i++)
		if (pair->rank == 0)
			starpu_mpi_isend_detached(pair->many[i], 1, 10 + i, WORLD, NULL,
						  NULL);
		else
			starpu_mpi_irecv_detached(pair->many[i], 0, 10 + i, WORLD, NULL,
						  NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	return (now_s() - start) / pair->nmany;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What others on the machine disturb takes longer, never shorter. */
static void measure(struct pair *pair, const char *name, unsigned bytes,
		    double (*once_s)(struct pair *pair))
{
	int n = pair->repetitions;
	double *samples;
	char text[64];

	if (bytes > 65536 || pair->many)
		n = n / 8 + 1;
	samples = malloc((size_t)n * sizeof(*samples));
	once_s(pair);
	starpu_mpi_barrier(WORLD);
	for (int i = 0; i < n; i++)
		samples[i] = once_s(pair);
	qsort(samples, (size_t)n, sizeof(*samples), compare);
	snprintf(text, sizeof(text), "%s %u", name, bytes);
	if (pair->rank == 0)
		printf("network,%s,s,%.6g,%.6g,%.6g\n", text, samples[n / QUIET],
		       samples[n / 2], bench_mean(samples, n));
	free(samples);
}

static void measure_size(struct pair *pair, unsigned bytes)
{
	for (int i = 0; i < 2; i++)
		starpu_vector_data_register(&pair->handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)pair->buffers[i], bytes, 1);
	measure(pair, "alone", bytes, alone_s);
	measure(pair, "both", bytes, both_s);
	for (int i = 0; i < 2; i++)
		starpu_data_unregister(pair->handles[i]);
}

/* Of small ones no more than find the library's own data in caches, of large ones no more
 * than lie there themselves: calibrate_costs has more. */
static int flood_of(unsigned bytes)
{
	int n = (int)((bytes < LARGE ? FLOOD_BYTES : LARGE_BYTES) / bytes);

	if (bytes <= flood_sizes[0])
		return SHORT_FLOOD;
	return n < FLOOD ? n : FLOOD;
}

static void measure_flood(struct pair *pair, unsigned bytes)
{
	int n = flood_of(bytes);

	pair->many = calloc((size_t)n, sizeof(*pair->many));
	pair->nmany = n;
	for (int i = 0; i < n; i++)
		starpu_vector_data_register(
			&pair->many[i], STARPU_MAIN_RAM,
			(uintptr_t)(pair->buffers[0] + (size_t)i * bytes), bytes, 1);
	measure(pair, "flood", bytes, flood_s);
	for (int i = 0; i < n; i++)
		starpu_data_unregister(pair->many[i]);
	free(pair->many);
	pair->many = NULL;
}

int main(int argc, char **argv)
{
	struct pair pair = {.repetitions = argc > 1 ? atoi(argv[1]) : 2000};
	int size, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(WORLD, &pair.rank);
	MPI_Comm_size(WORLD, &size);
	pair.peer = 1 - pair.rank;
	if (size != 2 || pair.repetitions < 1 ||
	    starpu_mpi_init_conf(&argc, &argv, 0, WORLD, NULL)) {
		fprintf(stderr, "calibrate_network: wants 2 ranks and 1 or more "
				"repetitions\n");
		MPI_Finalize();
		return 77;
	}
	for (int i = 0; i < 2; i++)
		pair.buffers[i] = memset(malloc(FLOOD_BYTES), 1, FLOOD_BYTES);
	for (int i = 0; i < NSIZES; i++)
		measure_size(&pair, sizes[i]);
	for (int i = 0; i < NFLOODS; i++)
		measure_flood(&pair, flood_sizes[i]);
	starpu_mpi_shutdown();
	for (int i = 0; i < 2; i++)
		free(pair.buffers[i]);
	MPI_Finalize();
	return 0;
}
