/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * LU factorisation with messages of the program's own: each node submits the tasks that
 * write its tiles, sends a tile when it is final, and receives what its tasks read.  A
 * message waits for the task that writes its tile, and tasks wait for the message.
 */
#include "tiles.h"

/* Does node use the final tile (i, j), of column or row k = min(i, j)? */
static int uses(const struct tiles *tiles, int node, int i, int j)
{
	int k = i < j ? i : j;

	/* The tile on the diagonal goes down and right, others to one side only. */
	for (int other = k + 1; other < NT; other++) {
		if (i <= j && tiles_owner(tiles, other, j) == node)
			return 1;
		if (j <= i && tiles_owner(tiles, i, other) == node)
			return 1;
	}
	return 0;
}

/* Tile (i, j) gets its final value by the tasks submitted so far: send it once to each
 * node that uses it. */
static void send_final(struct tiles *tiles, int i, int j)
{
	int owner = tiles_owner(tiles, i, j), tag = tiles_tag(i, j);

	for (int node = 0; node < tiles->size; node++) {
		if (node == owner || !uses(tiles, node, i, j))
			continue;
		if (owner == tiles->rank)
			starpu_mpi_isend_detached(tiles->handles[i][j], node, tag,
						  MPI_COMM_WORLD, NULL, NULL);
		if (node == tiles->rank)
			starpu_mpi_irecv_detached(tiles->handles[i][j], owner, tag,
						  MPI_COMM_WORLD, NULL, NULL);
	}
}

static int is_mine(const struct tiles *tiles, int i, int j)
{
	return tiles_owner(tiles, i, j) == tiles->rank;
}

static void step(struct tiles *tiles, int k)
{
	starpu_data_handle_t(*a)[NT] = tiles->handles;

	if (is_mine(tiles, k, k))
		starpu_task_insert(&getrf, STARPU_RW, a[k][k], 0);
	send_final(tiles, k, k);
	for (int i = k + 1; i < NT; i++) {
		if (is_mine(tiles, i, k))
			starpu_task_insert(&trsm_below, STARPU_R, a[k][k], STARPU_RW,
					   a[i][k], 0);
		send_final(tiles, i, k);
		if (is_mine(tiles, k, i))
			starpu_task_insert(&trsm_right, STARPU_R, a[k][k], STARPU_RW,
					   a[k][i], 0);
		send_final(tiles, k, i);
	}
	for (int i = k + 1; i < NT; i++)
		for (int j = k + 1; j < NT; j++)
			if (is_mine(tiles, i, j))
				starpu_task_insert(&gemm, STARPU_R, a[i][k], STARPU_R,
						   a[k][j], STARPU_RW, a[i][j], 0);
}

static void factorise(struct tiles *tiles)
{
	for (int k = 0; k < NT; k++)
		step(tiles, k);
}

int main(int argc, char **argv)
{
	static const struct lu_form form = {
		.name = "lu_messages", .side = 16, .factorise = factorise};

	return lu_main(argc, argv, &form);
}
