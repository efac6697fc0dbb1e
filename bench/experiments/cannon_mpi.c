/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Cannon's product of two matrices in plain MPI: without communication, blocking, or
 * overlapped by hand with a second pair of blocks.  Time only, as in jacobi_mpi.c: a rank
 * is a node whose threads share the product of two blocks evenly.  The blocks are where
 * the first product needs them.
 *
 * usage: cannon_mpi-sim --variant 0|1|2 --p P --n N --steps S --cores C --gflops G
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "common.h"

enum { NONE, BLOCKING, OVERLAPPED };

struct cannon {
	double variant, p, n, steps, cores, gflops;
	int left, right, above, below;
	size_t block_bytes;
	double product_s;
};

/* What is sent and received; nobody looks at it. */
static char *blocks;

static void lay_out(struct cannon *c, int rank)
{
	int p = (int)c->p, row = rank / p, column = rank % p;
	double b = c->n / c->p;

	c->left = row * p + (column + p - 1) % p;
	c->right = row * p + (column + 1) % p;
	c->above = (row + p - 1) % p * p + column;
	c->below = (row + 1) % p * p + column;
	c->block_bytes = (size_t)(8 * b * b);
	c->product_s = 2 * b * b * b / (c->cores * c->gflops * 1e9);
	if (!blocks)
		blocks = malloc(c->block_bytes);
	if (!blocks)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void shift(const struct cannon *c, MPI_Request requests[4])
{
	int bytes = (int)c->block_bytes;

	MPI_Irecv(blocks, bytes, MPI_BYTE, c->right, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(blocks, bytes, MPI_BYTE, c->below, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(blocks, bytes, MPI_BYTE, c->left, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(blocks, bytes, MPI_BYTE, c->above, 1, MPI_COMM_WORLD, &requests[3]);
}

/* The product of the last step is followed by no shift. */
static void step(const struct cannon *c, int is_last)
{
	MPI_Request requests[4];
	int shifts = c->variant != NONE && !is_last;

	if (shifts && c->variant == OVERLAPPED)
		shift(c, requests);
	compute_s(c->product_s);
	if (shifts && c->variant == BLOCKING)
		shift(c, requests);
	if (shifts)
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static int read_all(struct cannon *c, int argc, char **argv, int rank, int size)
{
	const struct setting settings[] = {
		{"variant", &c->variant}, {"p", &c->p},         {"n", &c->n},
		{"steps", &c->steps},     {"cores", &c->cores}, {"gflops", &c->gflops},
	};
	int n = sizeof settings / sizeof *settings;

	if (settings_read(settings, n, argc, argv, rank == 0))
		return -1;
	if (c->p * c->p == size && c->cores >= 1 && c->gflops > 0 && c->variant <= 2)
		return 0;
	if (!rank)
		fprintf(stderr,
			"cannon_mpi: a grid of %g x %g with %d ranks, %g cores of %g "
			"GFlop/s, variant %g: expected as many ranks as the grid has "
			"places, a core, a speed, and variant 0 (none), 1 (blocking) "
			"or 2 (overlapped)\n",
			c->p, c->p, size, c->cores, c->gflops, c->variant);
	return -1;
}

int main(int argc, char **argv)
{
	struct cannon c = {.p = 1, .n = 1024, .steps = 4, .cores = 1, .gflops = 1};
	double own_s, largest_s = 0;
	int rank, size, rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rc = read_all(&c, argc, argv, rank, size);
	if (!rc) {
		lay_out(&c, rank);
		own_s = -MPI_Wtime();
		for (int s = 0; s < c.steps; s++)
			step(&c, s + 1 >= c.steps);
		own_s += MPI_Wtime();
		MPI_Reduce(&own_s, &largest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	}
	if (!rc && !rank)
		printf("time: %.9f s\n", largest_s);
	MPI_Finalize();
	return rc ? 2 : 0;
}
