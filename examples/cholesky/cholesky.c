/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Tiled Cholesky factorisation on several nodes, for real or in simulation.
 *
 * Every node inserts the same tasks in the same order; the runtime runs each on the
 * node that owns the tile it writes, and sends what that needs.
 */
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>
#include <starpu_scheduler.h>

#include "kernels.h"
#include "matrix.h"
#include "options.h"

/* A run that works has a residual well below 1 at any size and precision. */
#define RESIDUAL_LIMIT 3.0

struct run {
	struct options options;
	struct matrix matrix;
	struct kernels *kernels;
	int rank, size;
	int priority_base, priority_range; /* of the scheduler */
	double makespan_s;
	double residual; /* negative: not computed */
};

/*
 * The later a task's tiles, the less urgent: 2 nb - 2 k for potrf, less the distance
 * of the other operands.  Squeezed into the scheduler's range when that is smaller.
 */
static int priority(const struct run *run, int k, int m, int n)
{
	long nb = run->options.nb, raw = 2 * nb - 2L * k - m - n;

	if (!run->options.priorities || run->priority_range <= 0)
		return 0;
	if (run->priority_range > 4 * nb)
		return raw;
	return run->priority_base + (raw + 2 * nb) * run->priority_range / (4 * nb);
}

/* Does a task that writes tile (i, j) and reads the two others concern this node? */
static int concerns(const struct run *run, const int tiles[][2], int ntiles)
{
	if (!run->options.prune)
		return 1;
	for (int t = 0; t < ntiles; t++)
		if (matrix_owner(&run->matrix, tiles[t][0], tiles[t][1]) == run->rank)
			return 1;
	return 0;
}

static void insert_potrf(struct run *run, int k)
{
	double b = run->options.tile;

	if (!concerns(run, (const int[][2]){{k, k}}, 1))
		return;
	starpu_mpi_task_insert(MPI_COMM_WORLD, &run->kernels->potrf, STARPU_RW,
			       matrix_handle(&run->matrix, k, k), STARPU_PRIORITY,
			       priority(run, k, 0, 0), STARPU_FLOPS, b * b * b / 3, 0);
}

static void insert_trsm(struct run *run, int k, int m)
{
	double b = run->options.tile;

	if (!concerns(run, (const int[][2]){{k, k}, {m, k}}, 2))
		return;
	starpu_mpi_task_insert(MPI_COMM_WORLD, &run->kernels->trsm, STARPU_R,
			       matrix_handle(&run->matrix, k, k), STARPU_RW,
			       matrix_handle(&run->matrix, m, k), STARPU_PRIORITY,
			       priority(run, k, m, 0), STARPU_FLOPS, b * b * b, 0);
}

static void insert_syrk(struct run *run, int k, int n)
{
	double b = run->options.tile;

	if (!concerns(run, (const int[][2]){{n, k}, {n, n}}, 2))
		return;
	starpu_mpi_task_insert(MPI_COMM_WORLD, &run->kernels->syrk, STARPU_R,
			       matrix_handle(&run->matrix, n, k), STARPU_RW,
			       matrix_handle(&run->matrix, n, n), STARPU_PRIORITY,
			       priority(run, k, 0, n), STARPU_FLOPS, b * b * b, 0);
}

static inline void insert_update(struct run *run, starpu_data_handle_t left,
				 starpu_data_handle_t right, starpu_data_handle_t updated,
				 int urgency)
{
	double b = run->options.tile;

	starpu_mpi_task_insert(MPI_COMM_WORLD, &run->kernels->gemm, STARPU_R, left,
			       STARPU_R, right, STARPU_RW, updated, STARPU_PRIORITY,
			       urgency, STARPU_FLOPS, 2 * b * b * b, 0);
}

static void insert_gemm(struct run *run, int k, int m, int n)
{
	struct matrix *matrix = &run->matrix;

	if (concerns(run, (const int[][2]){{m, k}, {n, k}, {m, n}}, 3))
		insert_update(run, matrix_handle(matrix, m, k),
			      matrix_handle(matrix, n, k), matrix_handle(matrix, m, n),
			      priority(run, k, m, n));
}

/* All updates of a column, on a node that does not prune: a thousand nodes in one process
 * go through these loops, so that what does not change in them is not asked for again. */
static void insert_whole_column(struct run *run, int k, int n)
{
	struct matrix *matrix = &run->matrix;
	starpu_data_handle_t *panel = matrix_column(matrix, k);
	starpu_data_handle_t *column = matrix_column(matrix, n);
	starpu_data_handle_t right = matrix_handle(matrix, n, k);
	int nb = run->options.nb;

	for (int m = n + 1; m < nb; m++)
		insert_update(run, panel[m] ? panel[m] : matrix_register(matrix, m, k),
			      right,
			      column[m] ? column[m] : matrix_register(matrix, m, n),
			      priority(run, k, m, n));
}

/*
 * The updates of a column: those of all rows below concern whoever has the panel's tile
 * that all of them read, else every p-th row may, in columns of this node.  To leave the
 * others out costs a pruned run less than to ask who has their tiles.
 */
static void insert_column(struct run *run, int k, int n)
{
	const struct options *o = &run->options;
	int first = n + 1, step = 1, row = run->rank / o->q, column = run->rank % o->q;

	if (!o->prune) {
		insert_whole_column(run, k, n);
		return;
	}
	if (matrix_owner(&run->matrix, n, k) != run->rank) {
		if (k % o->q != column && n % o->q != column)
			return;
		step = o->p;
		while (first % step != row % step)
			first++;
	}
	for (int m = first; m < o->nb; m += step)
		insert_gemm(run, k, m, n);
}

static void insert_all(struct run *run)
{
	int nb = run->options.nb;

	for (int k = 0; k < nb; k++) {
		insert_potrf(run, k);
		for (int m = k + 1; m < nb; m++)
			insert_trsm(run, k, m);
		matrix_forget(&run->matrix, k, k);
		for (int n = k + 1; n < nb; n++) {
			insert_syrk(run, k, n);
			insert_column(run, k, n);
			/* Tile (n, k) was last needed by row n and column n. */
			matrix_forget(&run->matrix, n, k);
		}
	}
}

static void factorise(struct run *run)
{
	int min = starpu_sched_get_min_priority(), max = starpu_sched_get_max_priority();
	long range = (long)max - min;
	double start_us;

	run->priority_base = min;
	run->priority_range = range > 1 << 30 ? 1 << 30 : range;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	insert_all(run);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	run->makespan_s = (starpu_timing_now() - start_us) * 1e-6;
}

static void print_run(const struct run *run, const double sum[4], const double max[3])
{
	const struct options *o = &run->options;
	double n = (double)o->nb * o->tile;

	printf("matrix: %.0f x %.0f, %d x %d tiles of %d, %s precision\n", n, n, o->nb,
	       o->nb, o->tile, o->is_double ? "double" : "single");
	printf("grid: %d x %d nodes%s\n", o->p, o->q, o->prune ? ", pruned" : "");
	printf("tasks: %.0f\nmessages: %.0f\nbytes: %.0f\n", sum[0], sum[1], sum[2]);
	printf("makespan: %.6f s\nspeed: %.2f GFlop/s\n", max[0],
	       n * n * n / 3 / max[0] * 1e-9);
	if (orrery_is_simulated()) {
		printf("uncalibrated tasks: %.0f (%.1f %%)\n", sum[3],
		       sum[0] > 0 ? 100 * sum[3] / sum[0] : 0);
		printf("wall time: %.3f s\nsimulation speed: %.0f tasks/s\n", max[1],
		       sum[0] / max[1]);
		printf("peak memory: %.1f MiB\n", max[2] / 1048576);
	}
	if (run->residual >= 0)
		printf("residual: %.3g (limit %g)\n", run->residual, RESIDUAL_LIMIT);
}

/* Combine the nodes' figures and print them.  The number of tasks that are missing. */
static double report(const struct run *run)
{
	struct orrery_stats stats;
	double sum[4], all_sum[4] = {0}, max[3], all_max[3] = {0};
	double nb = run->options.nb, expected = nb * (nb + 1) * (nb + 2) / 6;
	int is_fake, nprocesses;

	if (orrery_get_stats(&stats))
		return 1;
	sum[0] = stats.tasks_executed;
	sum[1] = stats.messages_sent;
	sum[2] = stats.bytes_sent;
	sum[3] = stats.uncalibrated_tasks;
	max[0] = run->makespan_s;
	max[1] = stats.host_wall_s;
	max[2] = stats.peak_memory_bytes;
	MPI_Reduce(sum, all_sum, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(max, all_max, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	/* One process that plays a node among STARPU_MPI_FAKE_SIZE runs its own part. */
	MPI_Comm_size(MPI_COMM_WORLD, &nprocesses);
	is_fake = nprocesses != run->size;
	if (run->rank && !is_fake)
		return 0;
	print_run(run, all_sum, all_max);
	return is_fake ? 0 : expected - all_sum[0];
}

static int run_all(struct run *run)
{
	int has_values = !orrery_is_simulated() ||
			 starpu_getenv_number_default("ORRERY_EXECUTE", 0) > 0;
	double missing;
	int failed = 0;

	run->kernels = kernels_get(run->options.is_double, !has_values);
	if (matrix_open(&run->matrix, &run->options, run->rank, has_values)) {
		fprintf(stderr, "cholesky: node %d has no memory for its tiles\n",
			run->rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	factorise(run);
	run->residual = -1;
	if (has_values && run->options.check)
		run->residual = matrix_residual(&run->matrix);
	missing = report(run);
	if (missing) {
		fprintf(stderr, "cholesky: %.0f tasks were not executed\n", missing);
		failed = 1;
	}
	if (run->options.check && has_values && !(run->residual <= RESIDUAL_LIMIT)) {
		if (!run->rank)
			fprintf(stderr,
				"cholesky: wrong result: residual %g, at most %g\n",
				run->residual, RESIDUAL_LIMIT);
		failed = 1;
	}
	matrix_close(&run->matrix);
	return failed;
}

int main(int argc, char **argv)
{
	struct run run = {.residual = -1};
	int level, rc;

	/* The reductions below may meet the runtime's own messages. */
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	rc = starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL);
	if (rc) {
		fprintf(stderr, "cholesky: the runtime does not start (%d)\n", rc);
		return 77;
	}
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &run.rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &run.size);
	rc = options_read(&run.options, argc, argv, run.size, run.rank == 0);
	if (!rc)
		rc = run_all(&run);
	else
		rc = rc < 0 ? 2 : 0;
	starpu_mpi_shutdown();
	MPI_Finalize();
	return rc;
}
