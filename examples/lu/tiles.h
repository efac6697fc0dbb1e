/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef LU_TILES_H
#define LU_TILES_H

/*
 * tiles.h - a matrix of NT x NT tiles over a grid of nodes, and what is done with tiles
 * to factorise it into L and U, without pivoting: its diagonal is large.
 */
#include <starpu.h>
#include <starpu_mpi.h>

enum { NT = 6, B = 16 };

struct tiles {
	int rank, size, p, q;   /* this node, and the grid of p x q nodes */
	int executes;           /* kernels really run: tiles have values */
	double *memory[NT][NT]; /* of the tiles that this node owns; else NULL */
	starpu_data_handle_t handles[NT][NT];
};

/* A tile on the diagonal; one below it or right of it, with the factors of that; the
 * rest, less the product of one to the left and one above. */
extern struct starpu_codelet getrf, trsm_below, trsm_right, gemm;

/* Collective; the handles' tags are tiles_tag(). */
void tiles_open(struct tiles *tiles);
int tiles_owner(const struct tiles *tiles, int i, int j);
int tiles_tag(int i, int j);
/* How many numbers of this node's tiles are not those of the factors.  All tasks ended.
 */
int tiles_count_wrong(const struct tiles *tiles);
void tiles_close(struct tiles *tiles);

#endif
