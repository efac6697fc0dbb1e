/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * When the last of many tasks has run whose data come from other nodes: do the transports
 * of the simulation agree?  Tasks take as long as is said, whatever the machine.
 *
 * usage: orrery run --sim PLATFORM -n N --transport T small_messages PATTERN[,PATTERN...]
 * BYTES ROUNDS US
 *
 * In each round of PATTERN burst node 0 sends a value to all others, of incast all send
 * one to node 0, of ring each to the next, of all each to each; flood: node 0 posts
 * ROUNDS messages for node 1 at once, without tasks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

struct play {
	int rank, size, rounds, bytes;
	starpu_data_handle_t *data; /* of each round one of each node */
};

static double task_us;

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		   unsigned implementation)
{
	(void)task;
	(void)arch;
	(void)implementation;
	return task_us;
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = cost, .symbol = "small_messages"};
static struct starpu_codelet codelet = {.cpu_funcs = {nothing},
					.nbuffers = 2,
					.modes = {STARPU_R, STARPU_RW},
					.model = &model,
					.name = "small_messages"};

static starpu_data_handle_t *of(const struct play *play, int round, int node)
{
	return &play->data[(round % play->rounds) * play->size + node % play->size];
}

static void send(const struct play *play, int round, int from, int to)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet, STARPU_R, *of(play, round, from),
			       STARPU_RW, *of(play, round, to), 0);
}

static void burst(const struct play *play, int round)
{
	for (int i = 1; i < play->size; i++)
		send(play, round, 0, i);
}

static void incast(const struct play *play, int round)
{
	for (int i = 1; i < play->size; i++)
		send(play, round, i, 0);
}

static void ring(const struct play *play, int round)
{
	for (int i = 0; i < play->size; i++)
		send(play, round, i, i + 1);
}

static void all(const struct play *play, int round)
{
	for (int i = 0; i < play->size; i++)
		for (int j = 0; j < play->size; j++)
			if (i != j)
				starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet, STARPU_R,
						       *of(play, round, i), STARPU_RW,
						       *of(play, round + 1, j), 0);
}

static void flood(const struct play *play, int round)
{
	if (play->rank == 0)
		starpu_mpi_isend_detached(*of(play, round, 0), 1, round, MPI_COMM_WORLD,
					  NULL, NULL);
	else if (play->rank == 1)
		starpu_mpi_irecv_detached(*of(play, round, 0), 0, round, MPI_COMM_WORLD,
					  NULL, NULL);
}

static const struct {
	const char *name;
	void (*insert)(const struct play *play, int round);
} patterns[] = {{"burst", burst},
		{"incast", incast},
		{"ring", ring},
		{"all", all},
		{"flood", flood}};

static void open_data(struct play *play)
{
	int n = play->rounds * play->size;

	play->data = calloc((size_t)n, sizeof(*play->data));
	for (int i = 0; i < n; i++) {
		int is_here = i % play->size == play->rank;

		starpu_vector_data_register(
			&play->data[i], is_here ? STARPU_MAIN_RAM : -1,
			is_here ? (uintptr_t)malloc(play->bytes) : 0, play->bytes, 1);
		starpu_mpi_data_register(play->data[i], i, i % play->size);
	}
}

static int find_pattern(const char *name, size_t length)
{
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (strlen(patterns[i].name) == length &&
		    strncmp(patterns[i].name, name, length) == 0)
			return (int)i;
	return -1;
}

static void play_pattern(struct play *play, int pattern)
{
	double start_us;

	open_data(play);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	for (int round = 0; round < play->rounds; round++)
		patterns[pattern].insert(play, round);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (play->rank == 0)
		bench_print("small_messages", patterns[pattern].name, "us",
			    starpu_timing_now() - start_us);
	for (int i = 0; i < play->rounds * play->size; i++)
		starpu_data_unregister(play->data[i]);
	free(play->data);
}

int main(int argc, char **argv)
{
	struct play play = {0};
	const char *names = argv[1];

	if (argc != 5)
		return 2;
	play.bytes = atoi(argv[2]);
	play.rounds = atoi(argv[3]);
	task_us = atof(argv[4]);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &play.rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &play.size);
	for (size_t length; *names; names += length + (names[length] == ',')) {
		int pattern;

		length = strcspn(names, ",");
		pattern = find_pattern(names, length);
		if (pattern >= 0)
			play_pattern(&play, pattern);
		else if (play.rank == 0)
			fprintf(stderr, "small_messages: no pattern \"%.*s\"\n",
				(int)length, names);
	}
	starpu_mpi_shutdown();
	return 0;
}
