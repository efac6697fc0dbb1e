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
	void **tiles;                  /* of this node, NULL elsewhere */
};

int matrix_open(struct matrix *matrix, const struct options *options, int rank,
		int has_values);
void matrix_close(struct matrix *matrix);
int matrix_owner(const struct matrix *matrix, int i, int j);
/* The handle of tile (i, j), i >= j; registered at the first call. */
starpu_data_handle_t matrix_handle(struct matrix *matrix, int i, int j);
/* This node will use the present value of a tile of another node no more. */
void matrix_forget(struct matrix *matrix, int i, int j);

/*
 * ||A x - L (L^T x)|| / (sqrt(n) eps ||A x||) for a random x, in the maximum norm,
 * after the tiles became L: rounding alone gives less than 1.  Collective.
 */
double matrix_residual(struct matrix *matrix);

#endif
