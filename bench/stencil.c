/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A stencil in three dimensions on a torus of blocks, some for each node: what a step
 * asks of the simulation when all cores of a large machine have a block.
 *
 * usage: orrery run --sim PLATFORM -n N stencil [STEPS [BX BY BZ [EDGE [US]]]]
 *
 * Each node has BX x BY x BZ blocks of EDGE^3 cells of 8 bytes.  A step of a block takes
 * US microseconds, reads the faces of its six neighbours and writes its own, of which
 * there are two of each, for even and for odd steps.  A node inserts its own tasks and
 * those of neighbours that read a face of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <sys/mman.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"
#include "stencil.h"

enum { FACES = 6, DATA = 1 + 2 * FACES };

struct stencil {
	int rank, steps, edge;
	int nodes[3], per_node[3], blocks[3]; /* along x, y and z */
	starpu_data_handle_t *data; /* DATA of each block: NULL where it is no concern */
	int *concerned,
		nconcerned; /* blocks of this node, and those that read a face of it */
};

/* Three factors of n, as near to each other as may be. */
static void factor(int n, int factors[3])
{
	long best = -1;

	for (int x = 1; x * x * x <= n; x++)
		for (int y = x; n % x == 0 && y * y <= n / x; y++) {
			int z = n / x / y;
			long surface = (long)x * y + (long)y * z + (long)z * x;

			if (n / x % y != 0 || (best >= 0 && surface >= best))
				continue;
			best = surface;
			factors[0] = z;
			factors[1] = y;
			factors[2] = x;
		}
}

static int index_of(const struct stencil *s, const int at[3])
{
	return (at[0] * s->blocks[1] + at[1]) * s->blocks[2] + at[2];
}

static int owner_of(const struct stencil *s, const int at[3])
{
	int node = 0;

	for (int d = 0; d < 3; d++)
		node = node * s->nodes[d] + at[d] / s->per_node[d];
	return node;
}

/* Faces 2d and 2d + 1 look down and up dimension d. */
static void neighbour(const struct stencil *s, const int at[3], int face, int result[3])
{
	int d = face / 2, n = s->blocks[d];

	for (int i = 0; i < 3; i++)
		result[i] = at[i];
	result[d] = (at[d] + (face % 2 ? 1 : n - 1)) % n;
}

static starpu_data_handle_t *data_of(const struct stencil *s, const int at[3])
{
	return &s->data[(size_t)index_of(s, at) * DATA];
}

/* A block is of concern; several faces of it may be. */
static void concerns(struct stencil *s, const int at[3])
{
	starpu_data_handle_t *data = data_of(s, at);
	int n = s->edge;

	if (data[0])
		return;
	s->concerned[s->nconcerned++] = index_of(s, at);
	for (int i = 0; i < DATA; i++) {
		if (i == 0)
			starpu_block_data_register(&data[i], -1, 0, n, n * n, n, n, n, 8);
		else
			starpu_matrix_data_register(&data[i], -1, 0, n, n, n, 8);
		starpu_mpi_data_register(data[i], (int64_t)index_of(s, at) * DATA + i,
					 owner_of(s, at));
	}
}

static void at_of(const struct stencil *s, int index, int at[3])
{
	for (int d = 2; d >= 0; d--) {
		at[d] = index % s->blocks[d];
		index /= s->blocks[d];
	}
}

static void find_concerned(struct stencil *s)
{
	int n = s->per_node[0] * s->per_node[1] * s->per_node[2], first[3];
	int node = s->rank;

	s->concerned = malloc((size_t)n * (1 + FACES) * sizeof(*s->concerned));
	for (int d = 2; d >= 0; d--) {
		first[d] = node % s->nodes[d] * s->per_node[d];
		node /= s->nodes[d];
	}
	for (int i = 0; i < n; i++) {
		int at[3] = {first[0] + i / s->per_node[2] / s->per_node[1],
			     first[1] + i / s->per_node[2] % s->per_node[1],
			     first[2] + i % s->per_node[2]};

		concerns(s, at);
		for (int face = 0; face < FACES; face++) {
			int next[3];

			neighbour(s, at, face, next);
			concerns(s, next);
		}
	}
}

/* Step 0 writes all.  A face that another node reads of a third is no concern of this. */
static void insert_step(const struct stencil *s, int index, int step)
{
	starpu_data_handle_t *data = &s->data[(size_t)index * DATA];
	struct starpu_data_descr operands[1 + 2 * FACES];
	int n = 0, at[3], now = step % 2;

	at_of(s, index, at);
	operands[n].handle = data[0];
	operands[n++].mode = step ? STARPU_RW : STARPU_W;
	for (int face = 0; face < FACES; face++) {
		int next[3];

		operands[n].handle = data[1 + now * FACES + face];
		operands[n++].mode = STARPU_W;
		neighbour(s, at, face, next);
		if (!step || (owner_of(s, at) != s->rank && owner_of(s, next) != s->rank))
			continue;
		operands[n].handle = data_of(s, next)[1 + !now * FACES + (face ^ 1)];
		operands[n++].mode = STARPU_R;
	}
	starpu_mpi_task_insert(MPI_COMM_WORLD, &step_codelet, STARPU_DATA_MODE_ARRAY,
			       operands, n, 0);
}

static void play(struct stencil *s)
{
	double start_us;

	find_concerned(s);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	for (int step = 0; step <= s->steps; step++)
		for (int i = 0; i < s->nconcerned; i++)
			insert_step(s, s->concerned[i], step);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (s->rank == 0)
		bench_print("stencil", "steps", "us", starpu_timing_now() - start_us);
	for (int i = 0; i < s->nconcerned; i++)
		for (int j = 0; j < DATA; j++)
			starpu_data_unregister_no_coherency(
				s->data[(size_t)s->concerned[i] * DATA + j]);
}

/* Of its pages a node touches those of the blocks that concern it: with one table for
 * each of 10,000 nodes the others would take 10 GB. */
static size_t table_bytes(const struct stencil *s)
{
	return (size_t)s->blocks[0] * (size_t)s->blocks[1] * (size_t)s->blocks[2] * DATA *
	       sizeof(*s->data);
}

int main(int argc, char **argv)
{
	struct stencil s = {0};
	int size;

	s.steps = argument(argc, argv, 1, 100);
	s.edge = argument(argc, argv, 5, 128);
	step_us = argument(argc, argv, 6, 2000);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &s.rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	factor(size, s.nodes);
	for (int d = 0; d < 3; d++) {
		s.per_node[d] = argument(argc, argv, 2 + d, 1);
		s.blocks[d] = s.nodes[d] * s.per_node[d];
	}
	s.data = mmap(NULL, table_bytes(&s), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s.data == MAP_FAILED)
		return 1;
	play(&s);
	free(s.concerned);
	munmap(s.data, table_bytes(&s));
	starpu_mpi_shutdown();
	return 0;
}
