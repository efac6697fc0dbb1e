/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>

#include <orrery.h>

/* Tiles are stored by rows, of n numbers. */
#define AT(tile, row, column) ((tile)[(row)*n + (column)])

static double *tile_of(void *buffer)
{
	return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static int side_of(void *buffer)
{
	return (int)STARPU_MATRIX_GET_NX(buffer);
}

static void getrf_cpu(void *buffers[], void *arg)
{
	double *a = tile_of(buffers[0]);
	int n = side_of(buffers[0]);

	(void)arg;
	for (int k = 0; k < n; k++)
		for (int r = k + 1; r < n; r++) {
			AT(a, r, k) /= AT(a, k, k);
			for (int c = k + 1; c < n; c++)
				AT(a, r, c) -= AT(a, r, k) * AT(a, k, c);
		}
}

/* a := a U^-1 */
static void trsm_below_cpu(void *buffers[], void *arg)
{
	const double *u = tile_of(buffers[0]);
	double *a = tile_of(buffers[1]);
	int n = side_of(buffers[0]);

	(void)arg;
	for (int r = 0; r < n; r++)
		for (int k = 0; k < n; k++) {
			AT(a, r, k) /= AT(u, k, k);
			for (int c = k + 1; c < n; c++)
				AT(a, r, c) -= AT(a, r, k) * AT(u, k, c);
		}
}

/* a := L^-1 a, where L has ones on its diagonal */
static void trsm_right_cpu(void *buffers[], void *arg)
{
	const double *l = tile_of(buffers[0]);
	double *a = tile_of(buffers[1]);
	int n = side_of(buffers[0]);

	(void)arg;
	for (int k = 0; k < n; k++)
		for (int r = k + 1; r < n; r++)
			for (int c = 0; c < n; c++)
				AT(a, r, c) -= AT(l, r, k) * AT(a, k, c);
}

static void gemm_cpu(void *buffers[], void *arg)
{
	const double *left = tile_of(buffers[0]), *above = tile_of(buffers[1]);
	double *a = tile_of(buffers[2]);
	int n = side_of(buffers[0]);

	(void)arg;
	for (int r = 0; r < n; r++)
		for (int k = 0; k < n; k++)
			for (int c = 0; c < n; c++)
				AT(a, r, c) -= AT(left, r, k) * AT(above, k, c);
}

struct starpu_codelet getrf = {.cpu_funcs = {getrf_cpu},
			       .nbuffers = 1,
			       .modes = {STARPU_RW},
			       .model = &starpu_perfmodel_nop,
			       .name = "getrf"};
struct starpu_codelet trsm_below = {.cpu_funcs = {trsm_below_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "trsm_below"};
struct starpu_codelet trsm_right = {.cpu_funcs = {trsm_right_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_R, STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "trsm_right"};
struct starpu_codelet gemm = {.cpu_funcs = {gemm_cpu},
			      .nbuffers = 3,
			      .modes = {STARPU_R, STARPU_R, STARPU_RW},
			      .model = &starpu_perfmodel_nop,
			      .name = "gemm"};

/* ---- the matrix ------------------------------------------------------ */

static double element(int row, int column, int nrows)
{
	return (row * 7 + column * 13) % 10 + (row == column ? 10.0 * nrows : 0);
}

static void fill_tile(double *tile, int n, int i, int j)
{
	for (int r = 0; r < n; r++)
		for (int c = 0; c < n; c++)
			AT(tile, r, c) = element(i * n + r, j * n + c, NT * n);
}

static void fill_cpu(void *buffers[], void *arg)
{
	int i, j;

	starpu_codelet_unpack_args(arg, &i, &j);
	fill_tile(tile_of(buffers[0]), side_of(buffers[0]), i, j);
}

static struct starpu_codelet fill = {.cpu_funcs = {fill_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "fill"};

int tiles_owner(const struct tiles *tiles, int i, int j)
{
	return i % tiles->p * tiles->q + j % tiles->q;
}

int tiles_tag(int i, int j)
{
	return i * NT + j;
}

static double *new_tile(int side, int i, int j)
{
	double *tile = malloc(sizeof *tile * (size_t)(side * side));

	if (!tile)
		abort();
	fill_tile(tile, side, i, j);
	return tile;
}

static void open_tile(struct tiles *tiles, int i, int j, int out_of_core)
{
	starpu_data_handle_t *handle = &tiles->handles[i][j];
	int owner = tiles_owner(tiles, i, j), mine = owner == tiles->rank;
	uint32_t side = (uint32_t)tiles->side;

	if (mine && !out_of_core)
		tiles->memory[i][j] = new_tile(tiles->side, i, j);
	starpu_matrix_data_register(handle, tiles->memory[i][j] ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)tiles->memory[i][j], side, side, side,
				    sizeof(double));
	starpu_mpi_data_register(*handle, tiles_tag(i, j), owner);
	if (mine && out_of_core)
		starpu_task_insert(&fill, STARPU_W, *handle, STARPU_VALUE, &i, sizeof i,
				   STARPU_VALUE, &j, sizeof j, 0);
}

static void tiles_open(struct tiles *tiles, const struct lu_form *form)
{
	*tiles = (struct tiles){.p = 1, .side = form->side};
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &tiles->rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &tiles->size);
	/* The squarest grid. */
	for (int p = 2; p * p <= tiles->size; p++)
		if (tiles->size % p == 0)
			tiles->p = p;
	tiles->q = tiles->size / tiles->p;
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++)
			open_tile(tiles, i, j, form->out_of_core);
}

static void tiles_close(struct tiles *tiles)
{
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			if (tiles->handles[i][j])
				starpu_data_unregister(tiles->handles[i][j]);
			free(tiles->memory[i][j]);
		}
}

/* ---- check ----------------------------------------------------------- */

/* The factors of the whole matrix, by rows. */
static double *factorise_alone(int n)
{
	double *a = malloc(sizeof *a * (size_t)(n * n));

	if (!a)
		abort();
	for (int r = 0; r < n; r++)
		for (int c = 0; c < n; c++)
			AT(a, r, c) = element(r, c, n);
	for (int k = 0; k < n; k++)
		for (int r = k + 1; r < n; r++) {
			AT(a, r, k) /= AT(a, k, k);
			for (int c = k + 1; c < n; c++)
				AT(a, r, c) -= AT(a, r, k) * AT(a, k, c);
		}
	return a;
}

static int count_wrong_of(const struct tiles *tiles, int i, int j, const double *factors)
{
	int nwrong = 0, side = tiles->side, n = NT * side;
	const double *tile;

	starpu_data_acquire(tiles->handles[i][j], STARPU_R);
	tile = (const double *)starpu_matrix_get_local_ptr(tiles->handles[i][j]);
	for (int r = 0; r < side; r++)
		for (int c = 0; c < side; c++)
			nwrong += !(fabs(tile[r * side + c] -
					 AT(factors, i * side + r, j * side + c)) < 1e-9);
	starpu_data_release(tiles->handles[i][j]);
	return nwrong;
}

/* Of this node's tiles; all tasks ended. */
static int count_wrong(const struct tiles *tiles)
{
	double *factors = factorise_alone(NT * tiles->side);
	int nwrong = 0;

	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++)
			if (tiles_owner(tiles, i, j) == tiles->rank)
				nwrong += count_wrong_of(tiles, i, j, factors);
	free(factors);
	return nwrong;
}

/* Kernels really run: tiles have values. */
static int executes(void)
{
	return !orrery_is_simulated() ||
	       starpu_getenv_number_default("ORRERY_EXECUTE", 0) > 0;
}

static void print_memory(const struct tiles *tiles)
{
	size_t tile = sizeof(double) * (size_t)(tiles->side * tiles->side);

	printf("%d tiles of %zu KiB; main memory may have %lld KiB", NT * NT, tile >> 10,
	       (long long)starpu_memory_get_total(STARPU_MAIN_RAM) >> 10);
	if (starpu_disk_swap_node >= 0)
		printf(", and the disk has %zu KiB",
		       starpu_memory_get_used((unsigned)starpu_disk_swap_node) >> 10);
	printf("\n");
}

int lu_main(int argc, char **argv, const struct lu_form *form)
{
	struct tiles tiles;
	int nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	tiles_open(&tiles, form);
	form->factorise(&tiles);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	if (form->out_of_core && tiles.rank == 0)
		print_memory(&tiles);
	if (executes())
		nwrong = count_wrong(&tiles);
	if (nwrong || tiles.rank == 0)
		printf("%s: node %d of %d: %d wrong numbers\n", form->name, tiles.rank,
		       tiles.size, nwrong);
	tiles_close(&tiles);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
