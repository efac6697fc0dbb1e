/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>

#include <orrery.h>

/* Tiles are stored by rows. */
#define AT(tile, row, column) ((tile)[(row)*B + (column)])

static double *tile_of(void *buffer)
{
	return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static void getrf_cpu(void *buffers[], void *arg)
{
	double *a = tile_of(buffers[0]);

	(void)arg;
	for (int k = 0; k < B; k++)
		for (int r = k + 1; r < B; r++) {
			AT(a, r, k) /= AT(a, k, k);
			for (int c = k + 1; c < B; c++)
				AT(a, r, c) -= AT(a, r, k) * AT(a, k, c);
		}
}

/* a := a U^-1 */
static void trsm_below_cpu(void *buffers[], void *arg)
{
	const double *u = tile_of(buffers[0]);
	double *a = tile_of(buffers[1]);

	(void)arg;
	for (int r = 0; r < B; r++)
		for (int k = 0; k < B; k++) {
			AT(a, r, k) /= AT(u, k, k);
			for (int c = k + 1; c < B; c++)
				AT(a, r, c) -= AT(a, r, k) * AT(u, k, c);
		}
}

/* a := L^-1 a, where L has ones on its diagonal */
static void trsm_right_cpu(void *buffers[], void *arg)
{
	const double *l = tile_of(buffers[0]);
	double *a = tile_of(buffers[1]);

	(void)arg;
	for (int k = 0; k < B; k++)
		for (int r = k + 1; r < B; r++)
			for (int c = 0; c < B; c++)
				AT(a, r, c) -= AT(l, r, k) * AT(a, k, c);
}

static void gemm_cpu(void *buffers[], void *arg)
{
	const double *left = tile_of(buffers[0]), *above = tile_of(buffers[1]);
	double *a = tile_of(buffers[2]);

	(void)arg;
	for (int r = 0; r < B; r++)
		for (int k = 0; k < B; k++)
			for (int c = 0; c < B; c++)
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

static double element(int row, int column)
{
	return (row * 7 + column * 13) % 10 + (row == column ? 10.0 * NT * B : 0);
}

int tiles_owner(const struct tiles *tiles, int i, int j)
{
	return i % tiles->p * tiles->q + j % tiles->q;
}

int tiles_tag(int i, int j)
{
	return i * NT + j;
}

static double *new_tile(int i, int j)
{
	double *tile = malloc(B * B * sizeof *tile);

	if (!tile)
		abort();
	for (int r = 0; r < B; r++)
		for (int c = 0; c < B; c++)
			AT(tile, r, c) = element(i * B + r, j * B + c);
	return tile;
}

void tiles_open(struct tiles *tiles)
{
	*tiles = (struct tiles){.p = 1};
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &tiles->rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &tiles->size);
	tiles->executes = !orrery_is_simulated() ||
			  starpu_getenv_number_default("ORRERY_EXECUTE", 0) > 0;
	/* The squarest grid. */
	for (int p = 2; p * p <= tiles->size; p++)
		if (tiles->size % p == 0)
			tiles->p = p;
	tiles->q = tiles->size / tiles->p;
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			int owner = tiles_owner(tiles, i, j), mine = owner == tiles->rank;

			if (mine)
				tiles->memory[i][j] = new_tile(i, j);
			starpu_matrix_data_register(
				&tiles->handles[i][j], mine ? STARPU_MAIN_RAM : -1,
				(uintptr_t)tiles->memory[i][j], B, B, B, sizeof(double));
			starpu_mpi_data_register(tiles->handles[i][j], tiles_tag(i, j),
						 owner);
		}
}

void tiles_close(struct tiles *tiles)
{
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			if (tiles->handles[i][j])
				starpu_data_unregister(tiles->handles[i][j]);
			free(tiles->memory[i][j]);
		}
}

/* ---- check ----------------------------------------------------------- */

static double (*factorise_alone(void))[NT * B]
{
	const int n = NT * B;
	double(*a)[NT * B] = malloc(sizeof(double[NT * B][NT * B]));

	if (!a)
		abort();
	for (int r = 0; r < n; r++)
		for (int c = 0; c < n; c++)
			a[r][c] = element(r, c);
	for (int k = 0; k < n; k++)
		for (int r = k + 1; r < n; r++) {
			a[r][k] /= a[k][k];
			for (int c = k + 1; c < n; c++)
				a[r][c] -= a[r][k] * a[k][c];
		}
	return a;
}

static int count_wrong_of(const struct tiles *tiles, int i, int j,
			  double (*expected)[NT * B])
{
	int nwrong = 0;

	starpu_data_acquire(tiles->handles[i][j], STARPU_R);
	for (int r = 0; r < B; r++)
		for (int c = 0; c < B; c++)
			nwrong += !(fabs(AT(tiles->memory[i][j], r, c) -
					 expected[i * B + r][j * B + c]) < 1e-9);
	starpu_data_release(tiles->handles[i][j]);
	return nwrong;
}

int tiles_count_wrong(const struct tiles *tiles)
{
	double(*expected)[NT * B];
	int nwrong = 0;

	if (!tiles->executes)
		return 0;
	expected = factorise_alone();
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++)
			if (tiles->memory[i][j])
				nwrong += count_wrong_of(tiles, i, j, expected);
	free(expected);
	return nwrong;
}
