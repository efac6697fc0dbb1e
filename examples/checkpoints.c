/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A stencil that survives the loss of a node: a checkpoint every 20 iterations, and a
 *rank that has nothing to do until it takes the place of the one that is lost.
 *
 *	ORRERY_MPI_LOSE=2@0.05 orrery run --sim gpu64 -n 64 ./checkpoints-sim
 *
 * usage: checkpoints [EVERY]    iterations between two checkpoints; 0: none
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery_mpi.h>
#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>

enum { BLOCKS_PER_RANK = 8, CELLS = 16384, ITERATIONS = 200, NEXT_TAG = 1 };

static int rank, size, spare, nblocks;
/* Values of even and of odd iterations, and the iteration that comes next. */
static starpu_data_handle_t *blocks[2];
static int next;

/* ---- the work --------------------------------------------------------- */

static void relax(double *to, const double *left, const double *at, const double *right)
{
	for (int i = 0; i < CELLS; i++) {
		double before = i > 0 ? at[i - 1] : left[CELLS - 1];
		double after = i + 1 < CELLS ? at[i + 1] : right[0];

		to[i] = (before + at[i] + after) / 3;
	}
}

static void relax_cpu(void *buffers[], void *arg)
{
	(void)arg;
	relax((double *)STARPU_VECTOR_GET_PTR(buffers[0]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[1]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[2]),
	      (const double *)STARPU_VECTOR_GET_PTR(buffers[3]));
}

/* Microseconds of a simulated core: it reads and writes 10 GB/s. */
static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 2 * CELLS * sizeof(double) / 10e3;
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

	for (int b = 0; b < nblocks; b++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &relaxation, STARPU_W, to[b],
				       STARPU_R, from[b > 0 ? b - 1 : b], STARPU_R,
				       from[b], STARPU_R,
				       from[b + 1 < nblocks ? b + 1 : b], 0);
}

/* ---- checkpoints -------------------------------------------------------- */

static int backup_of(int of)
{
	return (of + 1) % size;
}

/* Only what the next iteration reads: an even number of iterations lies between two
 * checkpoints. */
static void make_template(starpu_mpi_checkpoint_template_t *template)
{
	starpu_mpi_checkpoint_init();
	starpu_mpi_checkpoint_template_create(template, 1, 0);
	starpu_mpi_checkpoint_template_add_entry(
		template, STARPU_VALUE, &next, (int)sizeof(next),
		(starpu_mpi_tag_t)NEXT_TAG, backup_of, 0);
	for (int b = 0; b < nblocks; b++)
		starpu_mpi_checkpoint_template_add_entry(
			template, STARPU_R, blocks[0][b],
			backup_of(starpu_mpi_data_get_rank(blocks[0][b])), 0);
	starpu_mpi_checkpoint_template_freeze(template);
}

/* Where the lost rank was, the spare goes on. */
static void recover(starpu_mpi_checkpoint_template_t template)
{
	int lost, ret = 0;

	while ((ret == 0 || ret == -EOWNERDEAD) && orrery_mpi_lost_ranks(&lost, 1) > 0) {
		ret = orrery_mpi_checkpoint_restore(template, &lost, &spare, 1);
		if (rank == 0)
			printf("checkpoints: rank %d is lost, rank %d takes its place: "
			       "%d, back to iteration %d\n",
			       lost, spare, ret, next);
	}
	if (ret < 0)
		exit(1);
	/* Nobody needs the values that are not in the template. */
	for (int b = 0; b < nblocks; b++)
		starpu_mpi_data_migrate(MPI_COMM_WORLD, blocks[1][b],
					starpu_mpi_data_get_rank(blocks[0][b]));
}

static int run(starpu_mpi_checkpoint_template_t template, int every)
{
	int ninserted = 0;

	next = 0;
	if (every) {
		starpu_mpi_checkpoint_template_submit(template, 0);
		orrery_mpi_checkpoint_wait(template, 0);
	}
	while (next < ITERATIONS) {
		insert_iteration(next++);
		ninserted++;
		if (!every || (next % every != 0 && next < ITERATIONS))
			continue;
		starpu_mpi_checkpoint_template_submit(template, 0);
		/* The one before is complete; at the end, all are. */
		if (orrery_mpi_checkpoint_wait(template, next < ITERATIONS) ==
		    -EOWNERDEAD)
			recover(template);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return ninserted;
}

/* ---- data and result ------------------------------------------------------ */

static void fill(double *values, int block)
{
	for (int i = 0; i < CELLS; i++)
		values[i] = (block * 31 + i * 7) % 23;
}

/* values: of the blocks of this rank. */
static void register_blocks(double *values)
{
	for (int b = 0; b < nblocks; b++)
		for (int k = 0; k < 2; k++) {
			int mine = b / BLOCKS_PER_RANK == rank;
			int place = 2 * (b % BLOCKS_PER_RANK) + k;
			double *at = mine ? values + (size_t)place * CELLS : NULL;

			if (mine && k == 0)
				fill(at, b);
			starpu_vector_data_register(&blocks[k][b],
						    mine ? STARPU_MAIN_RAM : -1,
						    (uintptr_t)at, CELLS, sizeof(*at));
			starpu_mpi_data_register(blocks[k][b], 2 * b + k,
						 b / BLOCKS_PER_RANK);
		}
}

/* What a block must be: a cell depends on others that are at most ITERATIONS away, so
 * three blocks are enough to compute it.  Returns where it is in them. */
static double *compute(double *three[2], int block)
{
	int first = block > 0 ? block - 1 : 0;
	int n = (block + 1 < nblocks ? block + 1 : block) - first + 1;

	for (int b = 0; b < n; b++)
		fill(three[0] + (size_t)b * CELLS, first + b);
	for (int iteration = 0; iteration < ITERATIONS; iteration++)
		for (int b = 0; b < n; b++) {
			double *at = three[iteration % 2] + (size_t)b * CELLS;

			relax(three[(iteration + 1) % 2] + (size_t)b * CELLS,
			      b > 0 ? at - CELLS : at, at, b + 1 < n ? at + CELLS : at);
		}
	return three[ITERATIONS % 2] + (size_t)(block - first) * CELLS;
}

/* The blocks of this rank are as if nothing had been lost. */
static int count_wrong(void)
{
	double *three[2];
	int nwrong = 0;

	for (int k = 0; k < 2; k++)
		three[k] = malloc(3 * CELLS * sizeof(**three));
	for (int b = 0; b < nblocks; b++) {
		starpu_data_handle_t handle = blocks[ITERATIONS % 2][b];

		if (starpu_mpi_data_get_rank(handle) != rank)
			continue;
		starpu_data_acquire(handle, STARPU_R);
		nwrong += memcmp(starpu_data_get_local_ptr(handle), compute(three, b),
				 CELLS * sizeof(**three)) != 0;
		starpu_data_release(handle);
	}
	for (int k = 0; k < 2; k++)
		free(three[k]);
	return nwrong;
}

int main(int argc, char **argv)
{
	starpu_mpi_checkpoint_template_t template = NULL;
	int every = argc > 1 ? atoi(argv[1]) : 20, ninserted, nwrong = 0;
	double *values, began_us;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	spare = size - 1;
	nblocks = spare * BLOCKS_PER_RANK;
	if (size < 3 || every % 2) {
		fprintf(stderr, "checkpoints: expected at least 3 ranks, and an even "
				"number of iterations between checkpoints\n");
		starpu_mpi_shutdown();
		return 64;
	}
	for (int k = 0; k < 2; k++)
		blocks[k] = calloc((size_t)nblocks, sizeof(*blocks[k]));
	values = calloc((size_t)BLOCKS_PER_RANK * 2 * CELLS, sizeof(*values));
	register_blocks(values);
	if (every)
		make_template(&template);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	began_us = starpu_timing_now();
	ninserted = run(template, every);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("checkpoints: %d iterations took %.0f us, %d were repeated\n",
		       ITERATIONS, starpu_timing_now() - began_us,
		       ninserted - ITERATIONS);
	if (!orrery_is_simulated() || starpu_getenv_number_default("ORRERY_EXECUTE", 0))
		nwrong = count_wrong();
	if (nwrong || rank == 0)
		printf("checkpoints: rank %d has %d wrong blocks\n", rank, nwrong);
	if (every)
		starpu_mpi_checkpoint_shutdown();
	for (int k = 0; k < 2; k++) {
		for (int b = 0; b < nblocks; b++)
			starpu_data_unregister(blocks[k][b]);
		free(blocks[k]);
	}
	free(values);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
