/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Time per message from one node to another when all are posted at once, by how many
 * there are; the same by plain MPI, which tells how much of a growth is that of MPI and
 * of the memory; the quotient of the two; and what a copy of a large one takes.
 *
 * A batch that takes long is not repeated, and one that would take very long, as what
 * fewer took tells, is left out, with a word: plain MPI compares each message with all
 * receives that are posted.
 *
 * usage: mpirun -n 2 flood [MOST [BYTES]]
 *
 * With BYTES only that size, and MOST of them, by the library alone: for profilers.
 */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum { SMALL = 8, LARGE = 20000, MOST = 100000, BATCHES = 3, MAX_SIZES = 16 };

#define LONG_S      2.0 /* is not repeated */
#define VERY_LONG_S 20.0

static int rank;

static void post(starpu_data_handle_t handle, int tag)
{
	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, tag, MPI_COMM_WORLD, NULL, NULL);
	else
		starpu_mpi_irecv_detached(handle, 0, tag, MPI_COMM_WORLD, NULL, NULL);
}

/* What is sent: by handles, or where there are none by plain MPI. */
struct flood {
	int count, bytes;
	double raw_us, copy_us; /* 0: not measured */
	char *buffer;
	starpu_data_handle_t *handles;
	MPI_Request *requests;
};

static char *part_of(const struct flood *flood, int i)
{
	return flood->buffer + (size_t)i * (size_t)flood->bytes;
}

static void send_all(struct flood *flood)
{
	for (int i = 0; i < flood->count; i++)
		post(flood->handles[i], i);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static void send_all_raw(struct flood *flood)
{
	for (int i = 0; i < flood->count; i++)
		if (rank == 0)
			MPI_Isend(part_of(flood, i), flood->bytes, MPI_BYTE, 1, i,
				  MPI_COMM_WORLD, &flood->requests[i]);
		else
			MPI_Irecv(part_of(flood, i), flood->bytes, MPI_BYTE, 0, i,
				  MPI_COMM_WORLD, &flood->requests[i]);
	MPI_Waitall(flood->count, flood->requests, MPI_STATUSES_IGNORE);
}

static void barrier(const struct flood *flood)
{
	if (flood->handles)
		starpu_mpi_barrier(MPI_COMM_WORLD);
	else
		MPI_Barrier(MPI_COMM_WORLD);
}

static double once_us(struct flood *flood)
{
	double start;

	barrier(flood);
	start = bench_now_s();
	if (flood->handles)
		send_all(flood);
	else
		send_all_raw(flood);
	barrier(flood);
	return (bench_now_s() - start) / flood->count * 1e6;
}

static void open_flood(struct flood *flood, int is_raw)
{
	size_t n = (size_t)flood->count, bytes = (size_t)flood->bytes;

	flood->handles = is_raw ? NULL : calloc(n, sizeof *flood->handles);
	flood->requests = calloc(n, sizeof *flood->requests);
	flood->buffer = malloc(n * bytes);
	if ((!flood->handles && !is_raw) || !flood->requests || !flood->buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(flood->buffer, 1, n * bytes);
	for (int i = 0; i < flood->count && !is_raw; i++)
		starpu_vector_data_register(&flood->handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)part_of(flood, i), (unsigned)bytes,
					    1);
}

static void close_flood(struct flood *flood)
{
	for (int i = 0; i < flood->count && flood->handles; i++)
		starpu_data_unregister(flood->handles[i]);
	free(flood->handles);
	free(flood->requests);
	free(flood->buffer);
}

/* Few are repeated often enough for the clock. */
static int rounds_of(const struct flood *flood)
{
	return flood->count < 1000 ? 1000 / flood->count : 1;
}

/* What a copy of each takes, by both ranks at a time: the part of the memory. */
static double copy_us(const struct flood *flood)
{
	size_t n = (size_t)flood->count * (size_t)flood->bytes;
	char *from = malloc(n), *to = malloc(n);
	double best = 1e30;

	if (!from || !to)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(from, 1, n);
	memset(to, 2, n);
	for (int batch = 0; batch < BATCHES; batch++) {
		double start = bench_now_s(), us;

		for (int round = 0; round < rounds_of(flood); round++)
			for (size_t at = 0; at < n; at += (size_t)flood->bytes)
				memcpy(to + at, from + at, (size_t)flood->bytes);
		us = (bench_now_s() - start) * 1e6 / rounds_of(flood) / flood->count;
		if (us < best)
			best = us;
	}
	if (to[n - 1] != 1)
		MPI_Abort(MPI_COMM_WORLD, 1);
	free(from);
	free(to);
	return best;
}

/* Rank 0's, which it has measured as the other has: both have to go on alike. */
static double agreed(const struct flood *flood, double value)
{
	starpu_data_handle_t handle;

	if (!flood->handles) {
		MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		return value;
	}
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof value);
	if (rank == 0)
		starpu_mpi_send(handle, 1, MOST, MPI_COMM_WORLD);
	else
		starpu_mpi_recv(handle, 0, MOST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(handle);
	return value;
}

/* The best of some batches. */
static double measure(struct flood *flood, int is_raw)
{
	int rounds = rounds_of(flood);
	double best = 1e30, total_us = 0;

	open_flood(flood, is_raw);
	for (int batch = 0; batch < BATCHES && total_us < LONG_S * 1e6; batch++) {
		double us = 0;

		for (int i = 0; i < rounds; i++)
			us += once_us(flood);
		us = agreed(flood, us);
		total_us += us * flood->count;
		if (us / rounds < best)
			best = us / rounds;
	}
	close_flood(flood);
	return best;
}

/* What the last two of a size took by one library, us for each; is_over: too long. */
struct pace {
	int bytes, is_over;
	double us[2];
};

/* When each takes as many times as long as one of those before as these did: so it is
 * where each is compared with all. */
static double expected_s(const struct flood *flood, const struct pace *pace)
{
	double growth = 1;

	if (pace->us[0] > 0 && pace->us[1] > pace->us[0])
		growth = pace->us[1] / pace->us[0];
	return flood->count * pace->us[1] * growth * 1e-6;
}

/* 0: it would take too long, and so would more of them. */
static double measure_unless_long(struct flood *flood, int is_raw, struct pace *pace)
{
	double us, s;

	if (pace->bytes != flood->bytes)
		*pace = (struct pace){.bytes = flood->bytes};
	s = expected_s(flood, pace);
	if (pace->is_over || s > VERY_LONG_S) {
		if (rank == 0)
			fprintf(stderr,
				"flood: %s%d bytes %d pending would take %.0f s or more: "
				"left out\n",
				is_raw ? "plain MPI, " : "", flood->bytes, flood->count,
				s);
		pace->is_over = 1;
		return 0;
	}
	us = measure(flood, is_raw);
	pace->us[0] = pace->us[1];
	pace->us[1] = us;
	return us;
}

static void print(const struct flood *flood, const char *before, const char *unit,
		  double value)
{
	char name[96];

	snprintf(name, sizeof name, "%s%d bytes %d pending", before, flood->bytes,
		 flood->count);
	if (rank == 0)
		bench_print("flood", name, unit, value);
}

static void show(struct flood *flood, struct pace *pace)
{
	double us = measure_unless_long(flood, 0, pace);

	if (us > 0)
		print(flood, "", "us", us);
	if (flood->raw_us <= 0 || us <= 0)
		return;
	print(flood, "plain MPI, ", "us", flood->raw_us);
	print(flood, "by plain MPI's, ", "quotient", us / flood->raw_us);
	if (flood->bytes == LARGE)
		print(flood, "a copy in memory, ", "us", flood->copy_us);
}

/* Returns how many. */
static int choose(struct flood *floods, int most)
{
	int n = 0;

	for (int count = 10; count <= most && count <= MOST; count *= 10)
		floods[n++] = (struct flood){.count = count, .bytes = SMALL};
	for (int count = 10; count <= most && count < MOST; count *= 10)
		floods[n++] = (struct flood){.count = count, .bytes = LARGE};
	if (most >= MOST)
		floods[n++] = (struct flood){.count = 16000, .bytes = LARGE};
	return n;
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : MOST, size, level, n = 0;
	struct flood floods[MAX_SIZES];
	struct pace raw = {0}, own = {0};

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "flood: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	if (argc > 2)
		floods[n++] = (struct flood){.count = most, .bytes = atoi(argv[2])};
	else
		n = choose(floods, most);
	for (int i = 0; i < n && argc <= 2; i++) {
		floods[i].raw_us = measure_unless_long(&floods[i], 1, &raw);
		floods[i].copy_us = copy_us(&floods[i]);
	}
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	for (int i = 0; i < n; i++)
		show(&floods[i], &own);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
