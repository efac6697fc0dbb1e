/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Jacobi's method on a cube, in tasks.  A rank is a node; it has bx * by * bz blocks,
 * each a task in each step, which reads its block and those beside it as they were before
 * and writes its own.  A block at the rank's border writes the faces that leave, too, and
 * reads those that came; each face is a message as soon as it is there.
 *
 * Where kernels are called (--execute) the first number of each value says of which step
 * it is, and each task looks whether all that it reads is of the step before.
 *
 * usage: jacobi-sim --px P --py P --pz P --bx B --by B --bz B --nx N --ny N --nz N
 *        --steps S --point-ns T [--gpu 1]
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "common.h"

#define WORLD MPI_COMM_WORLD

struct side {
	int rank;  /* of the neighbour; -1: the edge of the cube */
	int block; /* the neighbour's, of that rank */
	starpu_data_handle_t leaves[2], came[2]; /* faces, between ranks only */
};

struct block {
	starpu_data_handle_t values[2]; /* of even and of odd steps */
	struct side sides[6];
};

struct jacobi {
	double p[3], b[3], n[3], steps, point_ns, gpu;
	int rank, nblocks;
	struct block *blocks;
};

static double block_us; /* of one task, the same on all ranks */
static int nwrong;

static double task_us(struct starpu_task *task, unsigned worker, unsigned implementation)
{
	(void)task;
	(void)worker;
	(void)implementation;
	return block_us;
}

static void update_cpu(void *buffers[], void *arg)
{
	int step, nread, nbuffers, wrong = 0;

	starpu_codelet_unpack_args(arg, &step, &nread, &nbuffers);
	for (int i = 0; i < nread; i++)
		wrong += *(double *)STARPU_VECTOR_GET_PTR(buffers[i]) != step;
	for (int i = nread; i < nbuffers; i++)
		*(double *)STARPU_VECTOR_GET_PTR(buffers[i]) = step + 1;
	__atomic_add_fetch(&nwrong, wrong, __ATOMIC_RELAXED);
}

/* Stands for a GPU kernel in a simulation, which only asks how long it takes. */
static void update_gpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
					.worker_cost_function = task_us};
static struct starpu_codelet update = {.cpu_funcs = {update_cpu},
				       .cuda_funcs = {update_gpu},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = STARPU_VARIABLE_NBUFFERS,
				       .model = &model,
				       .name = "update"};
static struct starpu_codelet start = {.cpu_funcs = {update_cpu},
				      .cuda_funcs = {update_gpu},
				      .cuda_flags = {STARPU_CUDA_ASYNC},
				      .nbuffers = STARPU_VARIABLE_NBUFFERS,
				      .model = &starpu_perfmodel_nop,
				      .name = "start"};

static long face_points(const struct jacobi *j, int side)
{
	int d = side / 2, e = (d + 1) % 3, f = (d + 2) % 3;

	return (long)(j->n[e] / j->p[e] / j->b[e]) * (long)(j->n[f] / j->p[f] / j->b[f]);
}

/* Both halves of a message name it by its sender's block and side, and the level. */
static starpu_mpi_tag_t tag_of(const struct jacobi *j, int rank, int block, int side,
			       int level)
{
	return (((starpu_mpi_tag_t)rank * j->nblocks + block) * 6 + side) * 2 + level;
}

/* The neighbour's rank and block, from where all blocks of the cube are. */
static void find_neighbour(const struct jacobi *j, int block, int side,
			   struct side *found)
{
	int p[3], b[3], place[3], rank_at[3], block_at[3];
	int d = side / 2;

	for (int i = 0; i < 3; i++) {
		p[i] = (int)j->p[i];
		b[i] = (int)j->b[i];
	}
	grid_place(p, j->rank, rank_at);
	grid_place(b, block, block_at);
	for (int i = 0; i < 3; i++)
		place[i] = rank_at[i] * b[i] + block_at[i];
	place[d] += side % 2 ? 1 : -1;
	for (int i = 0; i < 3; i++) {
		rank_at[i] = place[i] < 0 ? -1 : place[i] / b[i];
		block_at[i] = place[i] < 0 ? 0 : place[i] % b[i];
	}
	found->rank = grid_rank(p, rank_at);
	found->block = grid_rank(b, block_at);
}

static starpu_data_handle_t new_value(long npoints)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, npoints, sizeof(double));
	return handle;
}

static void open_block(struct jacobi *j, int at)
{
	struct block *block = &j->blocks[at];
	long npoints = 1;

	for (int d = 0; d < 3; d++)
		npoints *= (long)(j->n[d] / j->p[d] / j->b[d]);
	for (int level = 0; level < 2; level++)
		block->values[level] = new_value(npoints);
	for (int s = 0; s < 6; s++) {
		struct side *side = &block->sides[s];

		find_neighbour(j, at, s, side);
		for (int level = 0; level < 2; level++) {
			if (side->rank < 0 || side->rank == j->rank)
				continue;
			side->leaves[level] = new_value(face_points(j, s));
			side->came[level] = new_value(face_points(j, s));
		}
	}
}

static void close_block(struct block *block)
{
	for (int level = 0; level < 2; level++) {
		starpu_data_unregister_no_coherency(block->values[level]);
		for (int s = 0; s < 6; s++)
			if (block->sides[s].leaves[level]) {
				starpu_data_unregister_no_coherency(
					block->sides[s].leaves[level]);
				starpu_data_unregister_no_coherency(
					block->sides[s].came[level]);
			}
	}
}

/* The task that makes a block's values of step + 1; step -1 needs nothing. */
static void insert_update(struct jacobi *j, struct block *block, int step)
{
	struct starpu_data_descr descr[14];
	int from = step & 1, to = !from, n = 0, nread, is_border = 0;

	if (step >= 0)
		descr[n++] = (struct starpu_data_descr){block->values[from], STARPU_R};
	for (int s = 0; s < 6; s++) {
		struct side *side = &block->sides[s];
		int is_here = side->rank == j->rank;

		is_border |= side->rank >= 0 && !is_here;
		if (step >= 0 && side->rank >= 0)
			descr[n++] = (struct starpu_data_descr){
				is_here ? j->blocks[side->block].values[from]
					: side->came[from],
				STARPU_R};
	}
	nread = n;
	descr[n++] = (struct starpu_data_descr){block->values[to], STARPU_W};
	for (int s = 0; s < 6; s++)
		if (block->sides[s].leaves[to])
			descr[n++] = (struct starpu_data_descr){
				block->sides[s].leaves[to], STARPU_W};
	starpu_task_insert(step < 0 ? &start : &update, STARPU_DATA_MODE_ARRAY, descr, n,
			   STARPU_VALUE, &step, sizeof step, STARPU_VALUE, &nread,
			   sizeof nread, STARPU_VALUE, &n, sizeof n, STARPU_PRIORITY,
			   is_border, 0);
}

static void exchange(struct jacobi *j, int at, int level)
{
	for (int s = 0; s < 6; s++) {
		struct side *side = &j->blocks[at].sides[s];

		if (!side->leaves[level])
			continue;
		starpu_mpi_isend_detached(side->leaves[level], side->rank,
					  tag_of(j, j->rank, at, s, level), WORLD, NULL,
					  NULL);
		starpu_mpi_irecv_detached(
			side->came[level], side->rank,
			tag_of(j, side->rank, side->block, s ^ 1, level), WORLD, NULL,
			NULL);
	}
}

static void insert_step(struct jacobi *j, int step)
{
	for (int at = 0; at < j->nblocks; at++)
		insert_update(j, &j->blocks[at], step);
	for (int at = 0; at < j->nblocks && step + 1 < j->steps; at++)
		exchange(j, at, (step + 1) & 1);
}

static double run(struct jacobi *j)
{
	double start_us;

	insert_step(j, -1);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	start_us = starpu_timing_now();
	for (int step = 0; step < j->steps; step++)
		insert_step(j, step);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	return (starpu_timing_now() - start_us) * 1e-6;
}

static int read_all(struct jacobi *j, int argc, char **argv, int size)
{
	const struct setting settings[] = {
		{"px", &j->p[0]},     {"py", &j->p[1]}, {"pz", &j->p[2]},
		{"bx", &j->b[0]},     {"by", &j->b[1]}, {"bz", &j->b[2]},
		{"nx", &j->n[0]},     {"ny", &j->n[1]}, {"nz", &j->n[2]},
		{"steps", &j->steps}, {"gpu", &j->gpu}, {"point-ns", &j->point_ns},
	};
	int n = sizeof settings / sizeof *settings;

	if (settings_read(settings, n, argc, argv, j->rank == 0))
		return -1;
	if (j->p[0] * j->p[1] * j->p[2] == size && j->b[0] * j->b[1] * j->b[2] >= 1)
		return 0;
	if (!j->rank)
		fprintf(stderr,
			"jacobi: a grid of %g x %g x %g with %d ranks: expected as many "
			"ranks as the grid has places, and a block each\n",
			j->p[0], j->p[1], j->p[2], size);
	return -1;
}

/* The first of the blocks' values were made by tasks of the last step but one. */
static double compute_all(struct jacobi *j)
{
	double time_s;

	j->nblocks = (int)(j->b[0] * j->b[1] * j->b[2]);
	block_us = j->point_ns * 1e-3;
	for (int d = 0; d < 3; d++)
		block_us *= j->n[d] / j->p[d] / j->b[d];
	update.where = start.where = j->gpu ? STARPU_CUDA : STARPU_CPU;
	j->blocks = calloc((size_t)j->nblocks, sizeof *j->blocks);
	if (!j->blocks)
		abort();
	for (int at = 0; at < j->nblocks; at++)
		open_block(j, at);
	time_s = run(j);
	for (int at = 0; at < j->nblocks; at++)
		close_block(&j->blocks[at]);
	free(j->blocks);
	return time_s;
}

int main(int argc, char **argv)
{
	struct jacobi j = {.p = {1, 1, 1},
			   .b = {1, 1, 1},
			   .n = {96, 96, 96},
			   .steps = 4,
			   .point_ns = 10};
	int size, rc;
	double time_s = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(WORLD, &j.rank);
	starpu_mpi_comm_size(WORLD, &size);
	rc = read_all(&j, argc, argv, size);
	if (!rc)
		time_s = compute_all(&j);
	if (!rc && !j.rank)
		printf("time: %.9f s\nwrong: %d\n", time_s, nwrong);
	starpu_mpi_shutdown();
	return rc ? 2 : 0;
}
