/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The five-point stencil of Jacobi on a torus of tiles, some for each node: each tile is
 * written from itself and its four neighbours, of two sets of tiles in turns.  Each core
 * of a large machine may have one.
 *
 * usage: orrery run --sim PLATFORM -n N stencil5 [STEPS [X Y [EDGE [US]]]]
 *
 * Each node has X x Y tiles of EDGE^2 cells of 8 bytes.  A step of a tile takes US
 * microseconds.  A node inserts its own tasks and those of neighbours that read a tile of
 * it, without what is no concern of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"
#include "stencil.h"

enum { POINTS = 5 };

/* The node's tiles, and those around them: (-1 .. x) by (-1 .. y), without the corners.
 */
struct stencil {
	int steps, x, y, edge;
	int node_x, node_y;   /* place of the node, */
	int nodes_x, nodes_y; /* of so many */
	starpu_data_handle_t *tiles[2];
};

static starpu_data_handle_t *tile(const struct stencil *s, int set, int i, int j)
{
	return &s->tiles[set][(i + 1) * (s->y + 2) + j + 1];
}

static int is_corner(const struct stencil *s, int i, int j)
{
	return (i < 0 || i == s->x) && (j < 0 || j == s->y);
}

static void register_tile(const struct stencil *s, int set, int i, int j)
{
	int width = s->nodes_x * s->x, height = s->nodes_y * s->y;
	int x = (s->node_x * s->x + i + width) % width;
	int y = (s->node_y * s->y + j + height) % height;
	starpu_data_handle_t *handle = tile(s, set, i, j);

	starpu_matrix_data_register(handle, -1, 0, (unsigned)s->edge, (unsigned)s->edge,
				    (unsigned)s->edge, 8);
	starpu_mpi_data_register(*handle, ((int64_t)x * height + y) * 2 + set,
				 x / s->x * s->nodes_y + y / s->y);
}

/* Calls it for each tile that concerns this node. */
static void each_tile(const struct stencil *s, int set,
		      void (*call)(const struct stencil *s, int set, int i, int j))
{
	for (int i = -1; i <= s->x; i++)
		for (int j = -1; j <= s->y; j++)
			if (!is_corner(s, i, j))
				call(s, set, i, j);
}

static int is_own(const struct stencil *s, int i, int j)
{
	return i >= 0 && i < s->x && j >= 0 && j < s->y;
}

static void insert_first(const struct stencil *s, int set, int i, int j)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &step_codelet, STARPU_W,
			       *tile(s, set, i, j), 0);
}

/* Of another node's task the tiles of this one. */
static void insert_step(const struct stencil *s, int set, int i, int j)
{
	static const int away[POINTS][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
	struct starpu_data_descr operands[1 + POINTS];
	int n = 0;

	operands[n].handle = *tile(s, set, i, j);
	operands[n++].mode = STARPU_W;
	for (int p = 0; p < POINTS; p++) {
		int x = i + away[p][0], y = j + away[p][1];

		if (!is_own(s, i, j) && !is_own(s, x, y))
			continue;
		operands[n].handle = *tile(s, !set, x, y);
		operands[n++].mode = STARPU_R;
	}
	starpu_mpi_task_insert(MPI_COMM_WORLD, &step_codelet, STARPU_DATA_MODE_ARRAY,
			       operands, n, 0);
}

static void unregister_tile(const struct stencil *s, int set, int i, int j)
{
	starpu_data_unregister_no_coherency(*tile(s, set, i, j));
}

static void play(struct stencil *s, int rank)
{
	double start_us;

	for (int set = 0; set < 2; set++) {
		s->tiles[set] = calloc((size_t)(s->x + 2) * (size_t)(s->y + 2),
				       sizeof(starpu_data_handle_t));
		each_tile(s, set, register_tile);
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	each_tile(s, 0, insert_first);
	for (int step = 1; step <= s->steps; step++)
		each_tile(s, step % 2, insert_step);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (rank == 0)
		bench_print("stencil5", "steps", "us", starpu_timing_now() - start_us);
	for (int set = 0; set < 2; set++) {
		each_tile(s, set, unregister_tile);
		free(s->tiles[set]);
	}
}

int main(int argc, char **argv)
{
	struct stencil s = {.nodes_x = 1};
	int rank, size;

	s.steps = argument(argc, argv, 1, 100);
	s.x = argument(argc, argv, 2, 1);
	s.y = argument(argc, argv, 3, 1);
	s.edge = argument(argc, argv, 4, 32);
	step_us = argument(argc, argv, 5, 2000);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	/* As near to a square as its divisors allow. */
	for (int n = 1; n * n <= size; n++)
		if (size % n == 0)
			s.nodes_x = n;
	s.nodes_y = size / s.nodes_x;
	if ((s.nodes_x - 1) * s.x < 2 || (s.nodes_y - 1) * s.y < 2) {
		if (rank == 0)
			fprintf(stderr,
				"stencil5: in a grid of %d x %d nodes tiles on both "
				"sides of a node are the same: take more nodes, and "
				"no prime number\n",
				s.nodes_x, s.nodes_y);
		starpu_mpi_shutdown();
		return 77;
	}
	s.node_x = rank / s.nodes_y;
	s.node_y = rank % s.nodes_y;
	play(&s, rank);
	starpu_mpi_shutdown();
	return 0;
}
