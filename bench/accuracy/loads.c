/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Loads that run for real and in simulation, one beside the other: see
 * bench/accuracy/run.
 *
 * usage: loads LOAD SIZE COUNT
 *
 * lu        factorises COUNT x COUNT tiles of SIZE x SIZE doubles, without pivoting
 * stencil   COUNT steps over 4 blocks of SIZE doubles on each rank; blocks in a row
 * pingpong  COUNT round trips of SIZE bytes between two ranks
 * flood     FLOODS times COUNT messages of SIZE bytes from one rank to another, all at
 * once
 *
 * Values are made by tasks, so that a simulation needs none; kernels are plain loops,
 * whose durations the models keep.  Prints "makespan: SECONDS s", without the making.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#define WORLD MPI_COMM_WORLD

enum { BLOCKS = 4, FLOODS = 10 };

struct load {
	const char *name;
	void (*run)(struct load *load);
	int least_ranks, most_ranks;
	int size, count, rank, nranks;
	int nhandles;
	starpu_data_handle_t *handles;
};

/* ---- kernels; tiles by columns ---------------------------------------- */

static double *tile_of(void *buffers[], int i, int *n)
{
	*n = (int)STARPU_MATRIX_GET_NX(buffers[i]);
	return (double *)STARPU_MATRIX_GET_PTR(buffers[i]);
}

/* Diagonals that are large enough for no pivots. */
static void make_tile(void *buffers[], void *arg)
{
	int n;
	double *a = tile_of(buffers, 0, &n);

	(void)arg;
	for (long i = 0; i < (long)n * n; i++)
		a[i] = i % (n + 1) ? 1.0 / (double)(1 + i % 7) : 4.0 * n;
}

static void getrf(void *buffers[], void *arg)
{
	int n;
	double *a = tile_of(buffers, 0, &n);

	(void)arg;
	for (int k = 0; k < n; k++) {
		for (int i = k + 1; i < n; i++)
			a[i + k * n] /= a[k + k * n];
		for (int j = k + 1; j < n; j++)
			for (int i = k + 1; i < n; i++)
				a[i + j * n] -= a[i + k * n] * a[k + j * n];
	}
}

/* The tile on the right of the diagonal's, by the lower triangle. */
static void solve_row(void *buffers[], void *arg)
{
	int n;
	const double *l = tile_of(buffers, 0, &n);
	double *b = tile_of(buffers, 1, &n);

	(void)arg;
	for (int j = 0; j < n; j++)
		for (int k = 0; k < n; k++)
			for (int i = k + 1; i < n; i++)
				b[i + j * n] -= l[i + k * n] * b[k + j * n];
}

/* The tile below, by the upper triangle. */
static void solve_column(void *buffers[], void *arg)
{
	int n;
	const double *u = tile_of(buffers, 0, &n);
	double *b = tile_of(buffers, 1, &n);

	(void)arg;
	for (int j = 0; j < n; j++) {
		for (int k = 0; k < j; k++)
			for (int i = 0; i < n; i++)
				b[i + j * n] -= b[i + k * n] * u[k + j * n];
		for (int i = 0; i < n; i++)
			b[i + j * n] /= u[j + j * n];
	}
}

static void update(void *buffers[], void *arg)
{
	int n;
	const double *l = tile_of(buffers, 0, &n), *u = tile_of(buffers, 1, &n);
	double *c = tile_of(buffers, 2, &n);

	(void)arg;
	for (int j = 0; j < n; j++)
		for (int k = 0; k < n; k++)
			for (int i = 0; i < n; i++)
				c[i + j * n] -= l[i + k * n] * u[k + j * n];
}

static void make_block(void *buffers[], void *arg)
{
	(void)arg;
	memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * STARPU_VECTOR_GET_ELEMSIZE(buffers[0]));
}

/* The mean of three blocks, into a fourth. */
static void relax(void *buffers[], void *arg)
{
	const double *left = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const double *here = (double *)STARPU_VECTOR_GET_PTR(buffers[1]);
	const double *right = (double *)STARPU_VECTOR_GET_PTR(buffers[2]);
	double *next = (double *)STARPU_VECTOR_GET_PTR(buffers[3]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[3]);

	(void)arg;
	for (unsigned i = 0; i < n; i++)
		next[i] = (left[n - 1 - i] + 2 * here[i] + right[n - 1 - i] + 1) / 4;
}

#define CODELET(kernel, n, ...)                                                          \
	static struct starpu_perfmodel kernel##_model = {.type = STARPU_HISTORY_BASED,   \
							 .symbol = "loads_" #kernel};    \
	static struct starpu_codelet kernel##_codelet = {.cpu_funcs = {kernel},          \
							 .name = #kernel,                \
							 .nbuffers = n,                  \
							 .modes = {__VA_ARGS__},         \
							 .model = &kernel##_model}

static struct starpu_codelet make_tile_codelet = {.cpu_funcs = {make_tile},
						  .name = "make_tile",
						  .nbuffers = 1,
						  .modes = {STARPU_W},
						  .model = &starpu_perfmodel_nop};
static struct starpu_codelet make_block_codelet = {.cpu_funcs = {make_block},
						   .name = "make_block",
						   .nbuffers = 1,
						   .modes = {STARPU_W},
						   .model = &starpu_perfmodel_nop};
CODELET(getrf, 1, STARPU_RW);
CODELET(solve_row, 2, STARPU_R, STARPU_RW);
CODELET(solve_column, 2, STARPU_R, STARPU_RW);
CODELET(update, 3, STARPU_R, STARPU_R, STARPU_RW);
CODELET(relax, 4, STARPU_R, STARPU_R, STARPU_R, STARPU_W);

/* ---- time -------------------------------------------------------------- */

/* From when all have come here to when all have done everything. */
static double start_us(void)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	return starpu_timing_now();
}

static void stop(const struct load *load, double from_us)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	if (load->rank == 0)
		printf("makespan: %.9f s\n", 1e-6 * (starpu_timing_now() - from_us));
}

static starpu_data_handle_t *make_handles(struct load *load, int n)
{
	load->nhandles = n;
	load->handles = calloc((size_t)n, sizeof(*load->handles));
	return load->handles;
}

/* ---- loads ------------------------------------------------------------- */

/* Rows go around the ranks. */
static void make_tiles(struct load *load)
{
	int nb = load->count;
	unsigned size = (unsigned)load->size;

	make_handles(load, nb * nb);
	for (int at = 0; at < nb * nb; at++) {
		starpu_data_handle_t *tile = &load->handles[at];

		starpu_matrix_data_register(tile, -1, 0, size, size, size,
					    sizeof(double));
		starpu_mpi_data_register(*tile, at, at / nb % load->nranks);
		starpu_mpi_task_insert(WORLD, &make_tile_codelet, STARPU_W, *tile, 0);
	}
}

static void run_lu(struct load *load)
{
	int nb = load->count;
	double from_us;

	make_tiles(load);
	from_us = start_us();
#define TILE(i, j) load->handles[(i)*nb + (j)]
	for (int k = 0; k < nb; k++) {
		starpu_mpi_task_insert(WORLD, &getrf_codelet, STARPU_RW, TILE(k, k), 0);
		for (int i = k + 1; i < nb; i++) {
			starpu_mpi_task_insert(WORLD, &solve_row_codelet, STARPU_R,
					       TILE(k, k), STARPU_RW, TILE(k, i), 0);
			starpu_mpi_task_insert(WORLD, &solve_column_codelet, STARPU_R,
					       TILE(k, k), STARPU_RW, TILE(i, k), 0);
		}
		for (int i = k + 1; i < nb; i++)
			for (int j = k + 1; j < nb; j++)
				starpu_mpi_task_insert(WORLD, &update_codelet, STARPU_R,
						       TILE(i, k), STARPU_R, TILE(k, j),
						       STARPU_RW, TILE(i, j), 0);
	}
#undef TILE
	stop(load, from_us);
}

static void run_stencil(struct load *load)
{
	int n = BLOCKS * load->nranks;
	starpu_data_handle_t *blocks = make_handles(load, 2 * n);
	double from_us;

	for (int at = 0; at < 2 * n; at++) {
		starpu_vector_data_register(&blocks[at], -1, 0, (unsigned)load->size,
					    sizeof(double));
		starpu_mpi_data_register(blocks[at], at, at % n / BLOCKS);
		starpu_mpi_task_insert(WORLD, &make_block_codelet, STARPU_W, blocks[at],
				       0);
	}
	from_us = start_us();
	for (int step = 0; step < load->count; step++) {
		starpu_data_handle_t *old = blocks + step % 2 * n;
		starpu_data_handle_t *new = blocks + (step + 1) % 2 * n;

		for (int i = 0; i < n; i++)
			starpu_mpi_task_insert(WORLD, &relax_codelet, STARPU_R,
					       old[(i + n - 1) % n], STARPU_R, old[i],
					       STARPU_R, old[(i + 1) % n], STARPU_W,
					       new[i], 0);
	}
	stop(load, from_us);
}

static void make_messages(struct load *load, int n)
{
	make_handles(load, n);
	for (int i = 0; i < n; i++) {
		starpu_vector_data_register(&load->handles[i], -1, 0,
					    (unsigned)load->size, 1);
		starpu_task_insert(&make_block_codelet, STARPU_W, load->handles[i], 0);
	}
	starpu_task_wait_for_all();
}

static void run_pingpong(struct load *load)
{
	double from_us;
	int other = 1 - load->rank;

	make_messages(load, 1);
	from_us = start_us();
	for (int i = 0; i < load->count; i++)
		for (int turn = 0; turn < 2; turn++) {
			starpu_data_handle_t value = load->handles[0];

			if (turn == load->rank)
				starpu_mpi_send(value, other, turn, WORLD);
			else
				starpu_mpi_recv(value, other, turn, WORLD,
						MPI_STATUS_IGNORE);
		}
	stop(load, from_us);
}

static void flood(const struct load *load)
{
	for (int i = 0; i < load->count; i++)
		if (load->rank == 0)
			starpu_mpi_isend_detached(load->handles[i], 1, i, WORLD, NULL,
						  NULL);
		else
			starpu_mpi_irecv_detached(load->handles[i], 0, i, WORLD, NULL,
						  NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

/* The first one finds memory that nobody has used, and does not count. */
static void run_flood(struct load *load)
{
	double from_us;

	make_messages(load, load->count);
	flood(load);
	from_us = start_us();
	for (int i = 0; i < FLOODS; i++)
		flood(load);
	stop(load, from_us);
}

static struct load loads[] = {{.name = "lu", .run = run_lu, 1, 1024},
			      {.name = "stencil", .run = run_stencil, 1, 1024},
			      {.name = "pingpong", .run = run_pingpong, 2, 2},
			      {.name = "flood", .run = run_flood, 2, 2}};

/* NULL, with a message: there is none of that name for so many ranks. */
static struct load *find(int argc, char **argv, int nranks)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && argc == 4; i++) {
		struct load *load = &loads[i];

		load->size = atoi(argv[2]);
		load->count = atoi(argv[3]);
		load->nranks = nranks;
		if (!strcmp(load->name, argv[1]) && load->size > 0 && load->count > 0 &&
		    nranks >= load->least_ranks && nranks <= load->most_ranks)
			return load;
	}
	fprintf(stderr,
		"loads: expected lu, stencil, pingpong or flood, a size and a count; "
		"the last two run on 2 ranks, not %d\n",
		nranks);
	return NULL;
}

int main(int argc, char **argv)
{
	struct load *load;
	int rank, nranks;

	if (starpu_mpi_init_conf(&argc, &argv, 1, WORLD, NULL) != 0)
		return 77;
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &nranks);
	load = find(argc, argv, nranks);
	if (load) {
		load->rank = rank;
		load->run(load);
		for (int i = 0; i < load->nhandles; i++)
			starpu_data_unregister(load->handles[i]);
		free(load->handles);
	}
	starpu_mpi_shutdown();
	return load ? 0 : 2;
}
