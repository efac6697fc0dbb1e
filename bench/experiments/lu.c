/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * LU factorisation without pivoting, as examples/lu/lu_implicit.c but of any size and for
 * thousands of nodes: each inserts the tasks that concern it, and registers no other
 * tile. Time only; examples/lu has the values.
 *
 * usage: lu-sim --nb TILES --tile SIZE [--priorities 0|1] [--prune 0|1]
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>
#include <starpu_scheduler.h>

#include "common.h"

#define WORLD MPI_COMM_WORLD

struct lu {
	double nb, tile, priorities, prune;
	int rank, p, q; /* of a grid of p x q nodes */
	starpu_data_handle_t *tiles;
};

static void only_declared(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	fprintf(stderr, "lu: kernels are declared for simulation only; values: "
			"examples/lu\n");
	abort();
}

/* No such models are shipped: tasks take their operations over the peak of the platform.
 */
#define KERNEL(kernel, n, ...)                                                           \
	static struct starpu_perfmodel kernel##_model = {                                \
		.type = STARPU_HISTORY_BASED, .symbol = "experiment_lu_" #kernel};       \
	static struct starpu_codelet kernel = {.cpu_funcs = {only_declared},             \
					       .cuda_funcs = {only_declared},            \
					       .cuda_flags = {STARPU_CUDA_ASYNC},        \
					       .nbuffers = n,                            \
					       .modes = {__VA_ARGS__},                   \
					       .model = &kernel##_model,                 \
					       .name = #kernel};
KERNEL(getrf, 1, STARPU_RW)
KERNEL(trsm, 2, STARPU_R, STARPU_RW)
KERNEL(gemm, 3, STARPU_R, STARPU_R, STARPU_RW)

static int owner(const struct lu *lu, int i, int j)
{
	return i % lu->p * lu->q + j % lu->q;
}

static starpu_data_handle_t tile(struct lu *lu, int i, int j)
{
	int nb = (int)lu->nb;
	starpu_data_handle_t *handle = &lu->tiles[(size_t)i * nb + j];
	int mine = owner(lu, i, j) == lu->rank;
	unsigned n = (unsigned)lu->tile;
	double *memory = NULL;

	if (*handle)
		return *handle;
	if (mine && starpu_malloc((void **)&memory, (size_t)n * n * sizeof *memory))
		abort();
	starpu_matrix_data_register(handle, mine ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)memory, n, n, n, sizeof *memory);
	starpu_mpi_data_register(*handle, (starpu_mpi_tag_t)i * nb + j, owner(lu, i, j));
	return *handle;
}

/* The nearer to the corner that is factorised next, the sooner: step k's task on tile (i,
 * j), where i and j are k for what a task writes on the diagonal, in its column or row.
 */
static int urgency(const struct lu *lu, int k, int i, int j)
{
	return lu->priorities ? 3 * (int)lu->nb - k - i - j : 0;
}

static int concerns(const struct lu *lu, int writer, int above, int left)
{
	return !lu->prune || writer == lu->rank || above == lu->rank || left == lu->rank;
}

static void insert_trsm(struct lu *lu, int k, int i, int j)
{
	double b = lu->tile;

	if (!concerns(lu, owner(lu, i, j), owner(lu, k, k), -1))
		return;
	starpu_mpi_task_insert(WORLD, &trsm, STARPU_R, tile(lu, k, k), STARPU_RW,
			       tile(lu, i, j), STARPU_PRIORITY, urgency(lu, k, i, j),
			       STARPU_FLOPS, b * b * b, 0);
}

static void insert_gemm(struct lu *lu, int k, int i, int j)
{
	double b = lu->tile;

	if (!concerns(lu, owner(lu, i, j), owner(lu, k, j), owner(lu, i, k)))
		return;
	starpu_mpi_task_insert(WORLD, &gemm, STARPU_R, tile(lu, i, k), STARPU_R,
			       tile(lu, k, j), STARPU_RW, tile(lu, i, j), STARPU_PRIORITY,
			       urgency(lu, k, i, j), STARPU_FLOPS, 2 * b * b * b, 0);
}

static void forget(struct lu *lu, int i, int j)
{
	starpu_data_handle_t handle = lu->tiles[(size_t)i * (size_t)lu->nb + j];

	if (handle)
		starpu_mpi_cache_flush(WORLD, handle);
}

static void insert_step(struct lu *lu, int k)
{
	int nb = (int)lu->nb;
	double b = lu->tile;

	if (concerns(lu, owner(lu, k, k), -1, -1))
		starpu_mpi_task_insert(WORLD, &getrf, STARPU_RW, tile(lu, k, k),
				       STARPU_PRIORITY, urgency(lu, k, k, k),
				       STARPU_FLOPS, b * b * b * 2 / 3, 0);
	for (int i = k + 1; i < nb; i++) {
		insert_trsm(lu, k, i, k);
		insert_trsm(lu, k, k, i);
	}
	forget(lu, k, k);
	for (int i = k + 1; i < nb; i++)
		for (int j = k + 1; j < nb; j++)
			insert_gemm(lu, k, i, j);
	for (int i = k + 1; i < nb; i++) {
		forget(lu, i, k);
		forget(lu, k, i);
	}
}

static void close_tiles(struct lu *lu)
{
	int nb = (int)lu->nb;
	size_t bytes = (size_t)(lu->tile * lu->tile) * sizeof(double);

	for (int at = 0; at < nb * nb; at++) {
		int mine = owner(lu, at / nb, at % nb) == lu->rank;
		void *memory = NULL;

		if (!lu->tiles[at])
			continue;
		if (mine)
			memory = (void *)starpu_matrix_get_local_ptr(lu->tiles[at]);
		starpu_data_unregister_no_coherency(lu->tiles[at]);
		if (mine)
			starpu_free_noflag(memory, bytes);
	}
	free(lu->tiles);
}

static double run(struct lu *lu, int size)
{
	double start_us, time_s;
	size_t ntiles = (size_t)(lu->nb * lu->nb);

	lu->p = 1;
	for (int p = 2; p * p <= size; p++)
		if (size % p == 0)
			lu->p = p;
	lu->q = size / lu->p;
	lu->tiles = calloc(ntiles, sizeof *lu->tiles);
	if (!lu->tiles)
		abort();
	starpu_mpi_barrier(WORLD);
	start_us = starpu_timing_now();
	for (int k = 0; k < lu->nb; k++)
		insert_step(lu, k);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	time_s = (starpu_timing_now() - start_us) * 1e-6;
	close_tiles(lu);
	return time_s;
}

int main(int argc, char **argv)
{
	struct lu lu = {.nb = 8, .tile = 256, .priorities = 1, .prune = 1};
	const struct setting settings[] = {{"nb", &lu.nb},
					   {"tile", &lu.tile},
					   {"priorities", &lu.priorities},
					   {"prune", &lu.prune}};
	double time_s = 0;
	int size, rc;

	if (starpu_mpi_init_conf(&argc, &argv, 1, WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(WORLD, &lu.rank);
	starpu_mpi_comm_size(WORLD, &size);
	rc = settings_read(settings, 4, argc, argv, lu.rank == 0);
	if (!rc && (lu.nb < 1 || lu.tile < 1)) {
		if (!lu.rank)
			fprintf(stderr,
				"lu: %g x %g tiles of %g: expected at least one tile, of "
				"at least one row\n",
				lu.nb, lu.nb, lu.tile);
		rc = -1;
	}
	if (!rc)
		time_s = run(&lu, size);
	if (!rc && !lu.rank)
		printf("time: %.9f s\nspeed: %.3f GFlop/s\n", time_s,
		       lu.nb * lu.nb * lu.nb * lu.tile * lu.tile * lu.tile * 2e-9 / 3 /
			       time_s);
	starpu_mpi_shutdown();
	return rc ? 2 : 0;
}
