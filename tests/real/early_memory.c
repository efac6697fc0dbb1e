/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

/*
 * Messages that nobody receives yet take memory once, whichever thread takes them in.
 *
 * Rank 0 sends, rank 1 posts its receives only when all have come: in turn it waits
 * meanwhile, so that its main thread polls, and does not, so that the library's does.
 */
enum { ROUNDS = 4, BYTES = 40 << 20, TOKEN = 1, FIRST_TAG = 100 };

/* Beside the payloads: the rest of what a message takes, and what the first ones of a
 * process take once. */
#define MOST 1.4

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_COUNTED = 0 }; /* Sanitizers keep what is freed. */
#else
enum { IS_COUNTED = 1 };
#endif

struct play {
	int rank, n;
	size_t bytes;
	starpu_data_handle_t payload, token;
	starpu_mpi_req *requests;
	int has_come; /* atomic: the token */
};

static long status_kib(const char *what)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, what, strlen(what)) == 0)
			kib = atol(line + strlen(what));
	if (file)
		fclose(file);
	return kib;
}

static void send_all(struct play *play)
{
	for (int i = 0; i < play->n; i++)
		starpu_mpi_isend(play->payload, &play->requests[i], 1, FIRST_TAG + i,
				 MPI_COMM_WORLD);
	for (int i = 0; i < play->n; i++)
		starpu_mpi_wait(&play->requests[i], MPI_STATUS_IGNORE);
	starpu_mpi_send(play->token, 1, TOKEN, MPI_COMM_WORLD);
	starpu_mpi_recv(play->token, 1, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void come(void *arg)
{
	struct play *play = arg;

	__atomic_store_n(&play->has_come, 1, __ATOMIC_SEQ_CST);
}

static void receive_all(struct play *play, int waits)
{
	__atomic_store_n(&play->has_come, 0, __ATOMIC_SEQ_CST);
	if (waits)
		starpu_mpi_recv(play->token, 0, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		starpu_mpi_irecv_detached(play->token, 0, TOKEN, MPI_COMM_WORLD, come,
					  play);
	while (!waits && !__atomic_load_n(&play->has_come, __ATOMIC_SEQ_CST))
		sched_yield();
	for (int i = play->n - 1; i >= 0; i--)
		starpu_mpi_recv(play->payload, 0, FIRST_TAG + i, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	starpu_mpi_send(play->token, 0, TOKEN, MPI_COMM_WORLD);
}

static int is_bounded(struct play *play)
{
	char *buffer = malloc(play->bytes);
	double value = 0, wanted_kib;
	long before_kib, peak_kib;

	memset(buffer, 1, play->bytes);
	play->n = (int)(BYTES / play->bytes);
	play->requests = calloc((size_t)play->n, sizeof(*play->requests));
	starpu_vector_data_register(&play->payload, STARPU_MAIN_RAM, (uintptr_t)buffer,
				    (uint32_t)play->bytes, 1);
	starpu_variable_data_register(&play->token, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	before_kib = status_kib("VmRSS:");
	for (int i = 0; i < ROUNDS; i++)
		play->rank == 0 ? send_all(play) : receive_all(play, i % 2 == 0);
	peak_kib = status_kib("VmHWM:");
	starpu_data_unregister(play->payload);
	starpu_data_unregister(play->token);
	free(play->requests);
	free(buffer);
	if (play->rank == 0)
		return 1;
	wanted_kib = MOST * BYTES / 1024;
	printf("%s %d messages of %zu bytes that came early took %ld KiB\n",
	       peak_kib - before_kib <= wanted_kib ? "PASS" : "FAIL", play->n,
	       play->bytes, peak_kib - before_kib);
	return peak_kib - before_kib <= wanted_kib;
}

int main(int argc, char **argv)
{
	struct play play = {.bytes = argc > 1 ? (size_t)atol(argv[1]) : 8000};
	int size, is_ok;

	if (!IS_COUNTED ||
	    starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &play.rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	is_ok = size == 2 ? is_bounded(&play) : 0;
	starpu_mpi_shutdown();
	return is_ok ? 0 : 1;
}
