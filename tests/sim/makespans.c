/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Patterns of communication whose virtual time exact.py compares over transports.
 * usage: makespans ring|stencil|gather|pairs BYTES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>

#define WORLD MPI_COMM_WORLD

/*
 * Tasks of some length: transport "mpi" starts messages only when a rank's main polls,
 * which for tasks of 1 us is up to half of the time.
 */
enum { ROUNDS = 5, STEPS = 6, TASK_US = 20, NPAIRS = 20 };

static int rank, size;
static unsigned nbytes;

static double task_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = task_us};
static struct starpu_codelet touch = {.cpu_funcs = {nothing},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &model,
				      .name = "touch"};
static struct starpu_codelet mean = {.cpu_funcs = {nothing},
				     .nbuffers = 3,
				     .modes = {STARPU_RW, STARPU_R, STARPU_R},
				     .model = &model,
				     .name = "mean"};

static starpu_data_handle_t block(int owner, int tag)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, nbytes, 1);
	starpu_mpi_data_register(handle, tag, owner);
	starpu_mpi_task_insert(WORLD, &touch, STARPU_W, handle, 0);
	return handle;
}

static void ring(void)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, nbytes, 1);
	for (int round = 0; round < ROUNDS; round++) {
		if (round > 0 || rank > 0)
			starpu_mpi_recv(handle, (rank + size - 1) % size, 1, WORLD,
					MPI_STATUS_IGNORE);
		starpu_task_insert(&touch, STARPU_W, handle, 0);
		if (round < ROUNDS - 1 || rank < size - 1)
			starpu_mpi_send(handle, (rank + 1) % size, 1, WORLD);
	}
	starpu_data_unregister(handle);
}

/* Three blocks a rank, in a circle; each task reads its neighbours. */
static void stencil(void)
{
	int n = 3 * size;
	starpu_data_handle_t *blocks = calloc((size_t)n, sizeof *blocks);

	for (int i = 0; i < n; i++)
		blocks[i] = block(i / 3, i);
	for (int step = 0; step < STEPS; step++)
		for (int i = 0; i < n; i++)
			starpu_mpi_task_insert(WORLD, &mean, STARPU_RW, blocks[i],
					       STARPU_R, blocks[(i + n - 1) % n],
					       STARPU_R, blocks[(i + 1) % n], 0);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < n; i++)
		starpu_data_unregister(blocks[i]);
	free(blocks);
}

/* Rank 0 reads what all others have: many messages share one link. */
static void gather(void)
{
	starpu_data_handle_t sum = block(0, 0);
	starpu_data_handle_t *blocks = calloc((size_t)size, sizeof *blocks);

	for (int i = 1; i < size; i++)
		blocks[i] = block(i, i);
	for (int i = 1; i + 1 < size; i += 2)
		starpu_mpi_task_insert(WORLD, &mean, STARPU_RW, sum, STARPU_R, blocks[i],
				       STARPU_R, blocks[i + 1], 0);
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 1; i < size; i++)
		starpu_data_unregister(blocks[i]);
	starpu_data_unregister(sum);
	free(blocks);
}

/* Each rank with its opposite, both ways at once. */
static void pairs(void)
{
	starpu_data_handle_t sent[NPAIRS], got[NPAIRS];
	int other = (rank + size / 2) % size;

	for (int i = 0; i < NPAIRS; i++) {
		starpu_vector_data_register(&sent[i], -1, 0, nbytes, 1);
		starpu_vector_data_register(&got[i], -1, 0, nbytes, 1);
		starpu_task_insert(&touch, STARPU_W, sent[i], 0);
		starpu_mpi_isend_detached(sent[i], other, i, WORLD, NULL, NULL);
		starpu_mpi_irecv_detached(got[i], other, i, WORLD, NULL, NULL);
	}
	starpu_mpi_wait_for_all(WORLD);
	for (int i = 0; i < NPAIRS; i++) {
		starpu_data_unregister(sent[i]);
		starpu_data_unregister(got[i]);
	}
}

static const struct pattern {
	const char *name;
	void (*play)(void);
} patterns[] = {
	{"ring", ring}, {"stencil", stencil}, {"gather", gather}, {"pairs", pairs}};

int main(int argc, char **argv)
{
	const struct pattern *pattern = NULL;
	double times_s[2], span_s[2];

	for (size_t i = 0; argc == 3 && i < sizeof patterns / sizeof patterns[0]; i++)
		if (strcmp(argv[1], patterns[i].name) == 0)
			pattern = &patterns[i];
	if (!pattern) {
		fprintf(stderr, "usage: makespans ring|stencil|gather|pairs BYTES\n");
		return 64;
	}
	nbytes = (unsigned)strtoul(argv[2], NULL, 10);
	MPI_Init(&argc, &argv);
	if (starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL) != 0)
		return 77;
	starpu_mpi_comm_rank(WORLD, &rank);
	starpu_mpi_comm_size(WORLD, &size);
	starpu_mpi_barrier(WORLD);
	times_s[0] = orrery_virtual_time();
	pattern->play();
	times_s[1] = orrery_virtual_time();
	/* Ranks leave a barrier at different times. */
	MPI_Reduce(times_s, span_s, 2, MPI_DOUBLE, MPI_MAX, 0, WORLD);
	if (rank == 0)
		printf("makespan: %.9f s\n", span_s[1] - span_s[0]);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
