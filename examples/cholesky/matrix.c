/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "matrix.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static size_t tile_bytes(const struct matrix *matrix)
{
	size_t tile = matrix->options->tile;

	return tile * tile *
	       (matrix->options->is_double ? sizeof(double) : sizeof(float));
}

static long tag(int i, int j)
{
	return (long)i * (i + 1) / 2 + j;
}

int matrix_owner(const struct matrix *matrix, int i, int j)
{
	const struct options *o = matrix->options;

	return i % o->p * o->q + j % o->q;
}

/* Where the memory of a tile of this node's is kept, among places for all of them. */
static size_t own_place(const struct options *o, int i, int j)
{
	return (size_t)(i / o->p) * (size_t)(o->nb / o->q + 1) + (size_t)(j / o->q);
}

static size_t own_places(const struct options *o)
{
	return (size_t)(o->nb / o->p + 1) * (size_t)(o->nb / o->q + 1);
}

/* A number in [0, 1) from a seed and a position (splitmix64, public domain). */
static double random_number(uint64_t seed, uint64_t at)
{
	uint64_t x = (seed << 32 ^ at) + 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return ((x ^ x >> 31) >> 11) * 0x1p-53;
}

/*
 * Symmetric, and positive definite: a random symmetric matrix of numbers between -1/2
 * and 1/2 has eigenvalues above -sqrt(n / 3) (Wigner's law), the diagonal adds more
 * than that.  A larger diagonal would hide errors elsewhere from the check.
 */
static double element(const struct matrix *matrix, long row, long column)
{
	const struct options *o = matrix->options;
	long n = (long)o->nb * o->tile, low = row < column ? row : column;
	double value = random_number(o->seed, (uint64_t)(row + column - low) * n + low);

	return row == column ? sqrt(n) + 1 + value : value - 0.5;
}

static void fill_tile(const struct matrix *matrix, int i, int j, void *memory)
{
	long tile = matrix->options->tile;

	for (long c = 0; c < tile; c++)
		for (long r = 0; r < tile; r++) {
			double value = element(matrix, i * tile + r, j * tile + c);

			if (matrix->options->is_double)
				((double *)memory)[c * tile + r] = value;
			else
				((float *)memory)[c * tile + r] = value;
		}
}

int matrix_open(struct matrix *matrix, const struct options *options, int rank,
		int has_values)
{
	size_t count = (size_t)options->nb * (options->nb + 1) / 2;

	*matrix = (struct matrix){
		.options = options, .rank = rank, .has_values = has_values};
	matrix->handles = calloc(count, sizeof *matrix->handles);
	matrix->tiles = calloc(own_places(options), sizeof *matrix->tiles);
	if (!matrix->handles || !matrix->tiles)
		return -1;
	for (int i = 0; i < options->nb; i++)
		for (int j = 0; j <= i; j++) {
			void **tile = &matrix->tiles[own_place(options, i, j)];

			if (matrix_owner(matrix, i, j) != rank)
				continue;
			if (starpu_malloc(tile, tile_bytes(matrix)))
				return -1;
			if (has_values)
				fill_tile(matrix, i, j, *tile);
		}
	return 0;
}

void matrix_close(struct matrix *matrix)
{
	size_t nb = matrix->options->nb, count = nb * (nb + 1) / 2;

	for (size_t at = 0; matrix->handles && at < count; at++)
		if (matrix->handles[at])
			starpu_data_unregister(matrix->handles[at]);
	for (size_t at = 0; matrix->tiles && at < own_places(matrix->options); at++)
		if (matrix->tiles[at])
			starpu_free_noflag(matrix->tiles[at], tile_bytes(matrix));
	free(matrix->handles);
	free(matrix->tiles);
}

starpu_data_handle_t matrix_register(struct matrix *matrix, int i, int j)
{
	size_t at = matrix_place(matrix->options, i, j);
	unsigned tile = matrix->options->tile;
	size_t element_bytes =
		matrix->options->is_double ? sizeof(double) : sizeof(float);
	int is_own = matrix_owner(matrix, i, j) == matrix->rank;
	void *memory = is_own ? matrix->tiles[own_place(matrix->options, i, j)] : NULL;

	starpu_matrix_data_register(&matrix->handles[at], memory ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)memory, tile, tile, tile, element_bytes);
	starpu_mpi_data_register(matrix->handles[at], tag(i, j),
				 matrix_owner(matrix, i, j));
	return matrix->handles[at];
}

void matrix_forget(struct matrix *matrix, int i, int j)
{
	starpu_data_handle_t handle =
		matrix->handles[matrix_place(matrix->options, i, j)];

	if (handle)
		starpu_mpi_cache_flush(MPI_COMM_WORLD, handle);
}

/* ---- Check ----------------------------------------------------------- */

/* Vectors of n elements. */
struct check {
	double *x, *ltx, *llx, *ax;
};

static double tile_element(const struct matrix *matrix, int i, int j, long r, long c)
{
	const void *memory = matrix->tiles[own_place(matrix->options, i, j)];
	long tile = matrix->options->tile;

	if (i == j && c > r)
		return 0; /* the upper half of a diagonal tile is not ours */
	return matrix->options->is_double ? ((const double *)memory)[c * tile + r]
					  : ((const float *)memory)[c * tile + r];
}

/* Add this tile's part of A x, for both halves of A. */
static void add_original(const struct matrix *matrix, int i, int j, struct check *v)
{
	long tile = matrix->options->tile;

	for (long c = 0; c < tile; c++)
		for (long r = 0; r < tile; r++) {
			long row = i * tile + r, column = j * tile + c;
			double a = element(matrix, row, column);

			v->ax[row] += a * v->x[column];
			if (i != j)
				v->ax[column] += a * v->x[row];
		}
}

static void add_transposed(const struct matrix *matrix, int i, int j, struct check *v)
{
	long tile = matrix->options->tile;

	for (long c = 0; c < tile; c++)
		for (long r = 0; r < tile; r++)
			v->ltx[j * tile + c] +=
				tile_element(matrix, i, j, r, c) * v->x[i * tile + r];
}

static void add_product(const struct matrix *matrix, int i, int j, struct check *v)
{
	long tile = matrix->options->tile;

	for (long c = 0; c < tile; c++)
		for (long r = 0; r < tile; r++)
			v->llx[i * tile + r] +=
				tile_element(matrix, i, j, r, c) * v->ltx[j * tile + c];
}

static void each_own_tile(struct matrix *matrix, struct check *v,
			  void (*add)(const struct matrix *, int, int, struct check *))
{
	for (int i = 0; i < matrix->options->nb; i++)
		for (int j = 0; j <= i; j++) {
			starpu_data_handle_t handle;

			if (matrix_owner(matrix, i, j) != matrix->rank)
				continue;
			handle = matrix_handle(matrix, i, j);
			starpu_data_acquire(handle, STARPU_R);
			add(matrix, i, j, v);
			starpu_data_release(handle);
		}
}

static void sum_over_nodes(double *vector, long n)
{
	MPI_Allreduce(MPI_IN_PLACE, vector, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double largest(const double *vector, const double *minus, long n)
{
	double max = 0;

	for (long i = 0; i < n; i++) {
		double value = fabs(vector[i] - (minus ? minus[i] : 0));

		/* Written so that a NaN is kept. */
		if (!(value <= max))
			max = value;
	}
	return max;
}

double matrix_residual(struct matrix *matrix)
{
	long n = (long)matrix->options->nb * matrix->options->tile;
	double epsilon = matrix->options->is_double ? DBL_EPSILON : FLT_EPSILON, residual;
	double *memory = calloc(4 * n, sizeof *memory);
	struct check v = {memory, memory + n, memory + 2 * n, memory + 3 * n};

	if (!memory)
		return NAN;
	for (long i = 0; i < n; i++)
		v.x[i] = random_number(matrix->options->seed + 1, i) - 0.5;
	each_own_tile(matrix, &v, add_original);
	each_own_tile(matrix, &v, add_transposed);
	sum_over_nodes(v.ltx, n);
	each_own_tile(matrix, &v, add_product);
	sum_over_nodes(v.llx, n);
	sum_over_nodes(v.ax, n);
	residual = largest(v.ax, v.llx, n) / (sqrt(n) * epsilon * largest(v.ax, NULL, n));
	free(memory);
	return residual;
}
