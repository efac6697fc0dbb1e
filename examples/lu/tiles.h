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

enum { NT = 6 };

struct tiles {
	int rank, size, p, q;   /* this node, and the grid of p x q nodes */
	int side;               /* rows and columns of a tile */
	double *memory[NT][NT]; /* of the tiles that this node owns; else NULL */
	starpu_data_handle_t handles[NT][NT];
};

/* A way to do it. */
struct lu_form {
	const char *name;
	int side;        /* of a tile */
	int out_of_core; /* the library allocates tiles, and may move them to a disk */
	void (*factorise)(struct tiles *tiles);
};

/* A tile on the diagonal; one below it or right of it, with the factors of that; the
 * rest, less the product of one to the left and one above. */
extern struct starpu_codelet getrf, trsm_below, trsm_right, gemm;

int tiles_owner(const struct tiles *tiles, int i, int j);
/* Of the tile's handle, and of messages with it. */
int tiles_tag(int i, int j);

/* The whole program: make a matrix, factorise it, compare with the factors that one core
 * computes.  Returns main()'s status. */
int lu_main(int argc, char **argv, const struct lu_form *form);

#endif
