/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef CHOLESKY_MATRIX_H
#define CHOLESKY_MATRIX_H

/*
 * The lower half of a symmetric matrix, in tiles.  Tile (i, j) belongs to node
 * (i mod p) * q + j mod q.  Every node may ask for any handle; memory exists only
 * for the tiles of its own.
 */
#include <starpu_mpi.h>

#include "options.h"

struct matrix {
	const struct options *options;
	int rank;
	int has_values;                /* else addresses are never touched */
	starpu_data_handle_t *handles; /* NULL: not asked for yet */
	void **tiles;                  /* memory of this node's tiles */
};

int matrix_open(struct matrix *matrix, const struct options *options, int rank,
		int has_values);
void matrix_close(struct matrix *matrix);
int matrix_owner(const struct matrix *matrix, int i, int j);
/* Register tile (i, j), i >= j. */
starpu_data_handle_t matrix_register(struct matrix *matrix, int i, int j);
/* This node will use the present value of a tile of another node no more. */
void matrix_forget(struct matrix *matrix, int i, int j);

/*
 * By columns, as the innermost loop of the factorisation goes: neighbours in memory are
 * read one after the other, which counts where a thousand nodes share a cache.  A pruned
 * node names tiles of a few rows: by rows it touches few pages.
 */
static inline size_t matrix_place(const struct options *options, int i, int j)
{
	if (options->prune)
		return (size_t)i * (i + 1) / 2 + j;
	return (size_t)j * (2 * (size_t)options->nb - j + 1) / 2 + (i - j);
}

/* The handles of column j of a matrix that is not pruned: that of tile (i, j) is number
 * i, or NULL if it has not been asked for yet. */
static inline starpu_data_handle_t *matrix_column(struct matrix *matrix, int j)
{
	return matrix->handles + (matrix_place(matrix->options, j, j) - (size_t)j);
}

/* The handle of tile (i, j), i >= j; registered at the first call.  A node asks for three
 * of them for each task of the graph. */
static inline starpu_data_handle_t matrix_handle(struct matrix *matrix, int i, int j)
{
	starpu_data_handle_t handle =
		matrix->handles[matrix_place(matrix->options, i, j)];

	return handle ? handle : matrix_register(matrix, i, j);
}

/*
 * ||A x - L (L^T x)|| / (sqrt(n) eps ||A x||) for a random x, in the maximum norm,
 * after the tiles became L: rounding alone gives less than 1.  Collective.
 */
double matrix_residual(struct matrix *matrix);

#endif
