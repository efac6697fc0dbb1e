/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/trace_formats.py: random tasks on random ranks, whose data are
 * of all sizes at which messages differ, and some that all ranks read.
 *
 * usage: arrows SEED
 */
#include <stdlib.h>

#include <starpu_mpi.h>

enum { NTASKS = 60, NDATA = 12 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double microseconds(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 20;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
					.cost_function = microseconds};
static struct starpu_codelet reads = {.cpu_funcs = {nothing},
				      .nbuffers = 2,
				      .modes = {STARPU_RW, STARPU_R},
				      .model = &model,
				      .name = "reads"};

static unsigned state;

/* The same numbers on all ranks. */
static int number_below(int n)
{
	state = state * 1103515245u + 12345u;
	return (int)(state >> 16) % n;
}

static void insert(starpu_data_handle_t *data, int to, int from, int rank)
{
	if (to != from)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW, data[to],
				       STARPU_R, data[from], STARPU_EXECUTE_ON_NODE, rank,
				       0);
}

int main(int argc, char **argv)
{
	static const int sizes[] = {1, 5000, 100000};
	starpu_data_handle_t data[NDATA];
	float *values[NDATA] = {NULL};
	int rank, size;

	state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	for (int i = 0; i < NDATA; i++) {
		int n = sizes[i % 3];

		if (i % size == rank)
			values[i] = calloc((size_t)n, sizeof(float));
		starpu_vector_data_register(&data[i], values[i] ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)values[i], n, sizeof(float));
		starpu_mpi_data_register(data[i], i, i % size);
	}
	for (int i = 0; i < NTASKS; i++) {
		int to = number_below(NDATA), from = number_below(NDATA);
		int all = number_below(4) == 0;

		for (int k = 0; k < (all ? size : 1); k++)
			insert(data, all ? (to + k) % NDATA : to, from,
			       all ? k : number_below(size));
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NDATA; i++) {
		starpu_data_unregister(data[i]);
		free(values[i]);
	}
	starpu_mpi_shutdown();
	return 0;
}
