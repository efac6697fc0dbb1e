/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A stencil in which some blocks cost more than others, and a load balancer that moves
 * blocks between neighbours: the same result, sooner.
 *
 * Blocks lie in a row; in each iteration a block is computed from itself and its
 * neighbours of the iteration before, which the tasks tell with STARPU_TAG_ONLY.  Each
 * rank has blocks that lie together, and gives the outermost one to the rank beside it.
 *
 * usage: balance [fixed]    fixed: nothing is balanced
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>
#include <starpu_mpi_lb.h>

enum { BLOCKS_PER_RANK = 12, CELLS = 500, ITERATIONS = 60, HEAVY = 8 };
/* Operations of a cell of the lightest blocks; how fast a simulated core does them. */
enum { OPERATIONS = 1000, OPERATIONS_PER_US = 1000 };

static int rank, size, nblocks;
/* Values of even and of odd iterations. */
static starpu_data_handle_t *blocks[2];

/* ---- the work --------------------------------------------------------- */

/* The first quarter of the blocks costs more than the others. */
static int weight(int block)
{
	return block < nblocks / 4 ? HEAVY : 1;
}

static void relax(double *to, const double *left, const double *at, const double *right,
		  int operations)
{
	for (int i = 0; i < CELLS; i++) {
		double before = i > 0 ? at[i - 1] : left[CELLS - 1];
		double after = i + 1 < CELLS ? at[i + 1] : right[0];
		volatile double x = (before + at[i] + after) / 3;

		for (int k = 0; k < operations / 100; k++)
			x = x + (at[i] - x) / 1024;
		to[i] = x;
	}
}

static void relax_cpu(void *buffers[], void *arg)
{
	int operations;

	starpu_codelet_unpack_args(arg, &operations);
	relax((double *)STARPU_VECTOR_GET_PTR(buffers[0]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[1]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[2]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[3]), operations);
}

/* Microseconds, for simulation. */
static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return task->flops / OPERATIONS_PER_US;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet relaxation = {
	.cpu_funcs = {relax_cpu},
	.nbuffers = 4,
	.modes = {STARPU_W, STARPU_R, STARPU_R, STARPU_R},
	.model = &model,
	.name = "relax",
};

static void insert_iteration(int iteration)
{
	starpu_data_handle_t *to = blocks[(iteration + 1) % 2];
	starpu_data_handle_t *from = blocks[iteration % 2];

	for (int b = 0; b < nblocks; b++) {
		int operations = weight(b) * OPERATIONS;

		starpu_mpi_task_insert(
			MPI_COMM_WORLD, &relaxation, STARPU_W, to[b], STARPU_R,
			from[b > 0 ? b - 1 : b], STARPU_R, from[b], STARPU_R,
			from[b + 1 < nblocks ? b + 1 : b], STARPU_VALUE, &operations,
			sizeof(operations), STARPU_FLOPS, (double)operations * CELLS,
			STARPU_TAG_ONLY, (starpu_tag_t)iteration, 0);
	}
}

/* ---- what the balancer asks ------------------------------------------- */

static int owner(int block)
{
	return starpu_mpi_data_get_rank(blocks[0][block]);
}

static void get_neighbors(int **ids, int *n)
{
	*ids = malloc(2 * sizeof(**ids));
	*n = 0;
	if (rank > 0)
		(*ids)[(*n)++] = rank - 1;
	if (rank + 1 < size)
		(*ids)[(*n)++] = rank + 1;
}

/* The block beside those of dst, with both of its values; the last one stays. */
static void get_unit(starpu_data_handle_t **handles, int *n, int dst)
{
	int first = 0, last = nblocks - 1, block;

	while (first < nblocks && owner(first) != rank)
		first++;
	while (last > first && owner(last) != rank)
		last--;
	*n = 0;
	if (first >= last)
		return;
	block = dst < rank ? first : last;
	*handles = malloc(2 * sizeof(**handles));
	(*handles)[(*n)++] = blocks[0][block];
	(*handles)[(*n)++] = blocks[1][block];
}

/* ---- data and result --------------------------------------------------- */

static void fill(double *values, int block)
{
	for (int i = 0; i < CELLS; i++)
		values[i] = (block * 31 + i * 7) % 23;
}

static void register_blocks(double *values)
{
	for (int b = 0; b < nblocks; b++)
		for (int k = 0; k < 2; k++) {
			double *at = values + (size_t)(2 * b + k) * CELLS;
			int mine = b / BLOCKS_PER_RANK == rank;

			if (mine && k == 0)
				fill(at, b);
			starpu_vector_data_register(
				&blocks[k][b], mine ? STARPU_MAIN_RAM : -1,
				mine ? (uintptr_t)at : 0, CELLS, sizeof(*at));
			starpu_mpi_data_register(blocks[k][b], 2 * b + k,
						 b / BLOCKS_PER_RANK);
		}
}

/* The blocks of this rank are as if one rank had computed all. */
static int count_wrong(void)
{
	size_t n = (size_t)nblocks * CELLS;
	double *now = malloc(n * sizeof(*now)), *next = malloc(n * sizeof(*next));
	int nwrong = 0;

	for (int b = 0; b < nblocks; b++)
		fill(now + (size_t)b * CELLS, b);
	for (int iteration = 0; iteration < ITERATIONS; iteration++) {
		double *swap = now;

		for (int b = 0; b < nblocks; b++) {
			double *at = now + (size_t)b * CELLS;

			relax(next + (size_t)b * CELLS, b > 0 ? at - CELLS : at, at,
			      b + 1 < nblocks ? at + CELLS : at, weight(b) * OPERATIONS);
		}
		now = next;
		next = swap;
	}
	for (int b = 0; b < nblocks; b++) {
		starpu_data_handle_t handle = blocks[ITERATIONS % 2][b];

		if (owner(b) != rank)
			continue;
		starpu_data_acquire(handle, STARPU_R);
		nwrong += memcmp(starpu_data_get_local_ptr(handle),
				 now + (size_t)b * CELLS, CELLS * sizeof(*now)) != 0;
		starpu_data_release(handle);
	}
	free(now);
	free(next);
	return nwrong;
}

int main(int argc, char **argv)
{
	struct starpu_mpi_lb_conf conf = {.get_neighbors = get_neighbors,
					  .get_data_unit_to_migrate = get_unit};
	int balances = argc < 2 || strcmp(argv[1], "fixed") != 0;
	int nowned = 0, nwrong = 0;
	double *values, began_us;

	/* A round every 4 iterations, for differences of at least 100 us. */
	setenv("LB_HEAT_SLEEP_THRESHOLD", "4", 0);
	setenv("LB_HEAT_TIME_THRESHOLD", "100", 0);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	nblocks = size * BLOCKS_PER_RANK;
	for (int k = 0; k < 2; k++)
		blocks[k] = calloc((size_t)nblocks, sizeof(*blocks[k]));
	values = calloc((size_t)nblocks * 2 * CELLS, sizeof(*values));
	register_blocks(values);
	if (balances)
		starpu_mpi_lb_init("heat", &conf);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	began_us = starpu_timing_now();
	for (int iteration = 0; iteration < ITERATIONS; iteration++)
		insert_iteration(iteration);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("balance: %d iterations took %.0f us\n", ITERATIONS,
		       starpu_timing_now() - began_us);
	starpu_mpi_lb_shutdown();
	if (!orrery_is_simulated() || starpu_getenv_number_default("ORRERY_EXECUTE", 0))
		nwrong = count_wrong();
	for (int b = 0; b < nblocks; b++)
		nowned += owner(b) == rank;
	printf("balance: rank %d has %d blocks, of %d at first, and %d wrong ones\n",
	       rank, nowned, BLOCKS_PER_RANK, nwrong);
	for (int b = 0; b < nblocks; b++)
		for (int k = 0; k < 2; k++)
			starpu_data_unregister(blocks[k][b]);
	for (int k = 0; k < 2; k++)
		free(blocks[k]);
	free(values);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
