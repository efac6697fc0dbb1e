/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Adaptive refinement in one dimension: blocks split and merge while tasks are in flight,
 * with new handles and tags, old ones ended by submission, and migrations to even the
 * load out. */
#include <starpu.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 64
#define CELLS      16
#define STEPS      60

struct block {
	int level, pos, owner;
	starpu_data_handle_t handle;
};

static int rank, size, nblocks;
static struct block blocks[MAX_BLOCKS];
static double expected[MAX_BLOCKS][CELLS]; /* computed by each rank for itself */
static starpu_mpi_tag_t next_tag;

static double *cells(void *buffer)
{
	return (double *)STARPU_VECTOR_GET_PTR(buffer);
}

static void split(double *left, double *right, const double *from)
{
	for (int i = 0; i < CELLS; i++) {
		left[i] = from[i / 2] + (i % 2 ? 1 : -1);
		right[i] = from[CELLS / 2 + i / 2] + (i % 2 ? 1 : -1);
	}
}

static void merge(double *to, const double *left, const double *right)
{
	for (int i = 0; i < CELLS / 2; i++) {
		to[i] = (left[2 * i] + left[2 * i + 1]) / 2;
		to[CELLS / 2 + i] = (right[2 * i] + right[2 * i + 1]) / 2;
	}
}

static void begin_cpu(void *descr[], void *arg)
{
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int i = 0; i < CELLS; i++)
		cells(descr[0])[i] = first + i;
}

static void split_cpu(void *descr[], void *arg)
{
	(void)arg;
	split(cells(descr[0]), cells(descr[1]), cells(descr[2]));
}

static void merge_cpu(void *descr[], void *arg)
{
	(void)arg;
	merge(cells(descr[0]), cells(descr[1]), cells(descr[2]));
}

static void add_cpu(void *descr[], void *arg)
{
	int n;

	starpu_codelet_unpack_args(arg, &n);
	for (int i = 0; i < CELLS; i++)
		cells(descr[0])[i] += n;
}

static struct starpu_codelet begin_cl = {
	.cpu_funcs = {begin_cpu}, .nbuffers = 1, .modes = {STARPU_W}, .name = "begin"};
static struct starpu_codelet split_cl = {.cpu_funcs = {split_cpu},
					 .nbuffers = 3,
					 .modes = {STARPU_W, STARPU_W, STARPU_R},
					 .name = "split"};
static struct starpu_codelet merge_cl = {.cpu_funcs = {merge_cpu},
					 .nbuffers = 3,
					 .modes = {STARPU_W, STARPU_R, STARPU_R},
					 .name = "merge"};
static struct starpu_codelet add_cl = {
	.cpu_funcs = {add_cpu}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "add"};

static struct block block_new(int level, int pos, int owner)
{
	struct block block = {level, pos, owner, NULL};

	starpu_vector_data_register(&block.handle, -1, 0, CELLS, sizeof(double));
	starpu_mpi_data_register(block.handle, next_tag++, owner);
	return block;
}

static void block_split(int i)
{
	struct block old = blocks[i];
	struct block left = block_new(old.level + 1, 2 * old.pos, old.owner);
	struct block right =
		block_new(old.level + 1, 2 * old.pos + 1, (old.owner + 1) % size);
	double was[CELLS];

	starpu_mpi_task_insert(MPI_COMM_WORLD, &split_cl, STARPU_W, left.handle, STARPU_W,
			       right.handle, STARPU_R, old.handle, STARPU_EXECUTE_ON_DATA,
			       old.handle, 0);
	starpu_data_unregister_submit(old.handle);
	memmove(&blocks[i + 2], &blocks[i + 1], (nblocks - i - 1) * sizeof *blocks);
	memmove(expected[i + 2], expected[i + 1], (nblocks - i - 1) * sizeof *expected);
	blocks[i] = left;
	blocks[i + 1] = right;
	memcpy(was, expected[i], sizeof was);
	split(expected[i], expected[i + 1], was);
	nblocks++;
}

static int are_siblings(int i)
{
	return i + 1 < nblocks && blocks[i].level > 0 &&
	       blocks[i].level == blocks[i + 1].level &&
	       blocks[i].pos / 2 == blocks[i + 1].pos / 2;
}

static void block_merge(int i)
{
	struct block left = blocks[i], right = blocks[i + 1];
	struct block whole = block_new(left.level - 1, left.pos / 2, right.owner);
	double was[CELLS];

	starpu_mpi_task_insert(MPI_COMM_WORLD, &merge_cl, STARPU_W, whole.handle,
			       STARPU_R, left.handle, STARPU_R, right.handle, 0);
	starpu_data_unregister_submit(left.handle);
	starpu_data_unregister_submit(right.handle);
	blocks[i] = whole;
	merge(was, expected[i], expected[i + 1]);
	memcpy(expected[i], was, sizeof was);
	nblocks--;
	memmove(&blocks[i + 1], &blocks[i + 2], (nblocks - i - 1) * sizeof *blocks);
	memmove(expected[i + 1], expected[i + 2], (nblocks - i - 1) * sizeof *expected);
}

static void advance(int step)
{
	for (int b = 0; b < nblocks; b++) {
		/* Some run beside their owner, which gets the value back. */
		int where = (b + step) % 5 ? -1 : (b + 1) % size;

		starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_EXECUTE_ON_NODE,
				       where, STARPU_VALUE, &step, sizeof step, STARPU_RW,
				       blocks[b].handle, 0);
		for (int i = 0; i < CELLS; i++)
			expected[b][i] += step;
	}
}

static void balance(void)
{
	for (int b = 0; b < nblocks; b++) {
		int owner = b * size / nblocks;

		starpu_mpi_data_migrate(MPI_COMM_WORLD, blocks[b].handle, owner);
		blocks[b].owner = owner;
	}
}

static int check(void)
{
	int wrong = 0;

	for (int b = 0; b < nblocks; b++) {
		if (starpu_mpi_data_get_rank(blocks[b].handle) != rank)
			continue;
		starpu_data_acquire(blocks[b].handle, STARPU_R);
		wrong += memcmp(starpu_data_get_local_ptr(blocks[b].handle), expected[b],
				sizeof expected[b]) != 0;
		starpu_data_release(blocks[b].handle);
	}
	if (wrong)
		printf("rank %d: %d blocks are wrong\n", rank, wrong);
	return wrong;
}

static void start(void)
{
	for (nblocks = 0; nblocks < 8; nblocks++) {
		int first = 100 * nblocks;

		blocks[nblocks] = block_new(0, nblocks, nblocks * size / 8);
		starpu_mpi_task_insert(MPI_COMM_WORLD, &begin_cl, STARPU_VALUE, &first,
				       sizeof first, STARPU_W, blocks[nblocks].handle, 0);
		for (int i = 0; i < CELLS; i++)
			expected[nblocks][i] = first + i;
	}
}

int main(int argc, char **argv)
{
	unsigned random = 12345;
	int wrong, all, ret, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	ret = starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	start();
	for (int step = 0; step < STEPS; step++) {
		int i = (random >> 16) % nblocks;

		random = random * 1103515245 + 12345;
		if (random >> 8 & 3 && nblocks < MAX_BLOCKS - 1 && blocks[i].level < 4)
			block_split(i);
		else if (are_siblings(i))
			block_merge(i);
		advance(step);
		if (step % 9 == 8)
			balance();
		if (step % 20 == 19)
			starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	}
	wrong = check();
	for (int b = 0; b < nblocks; b++)
		starpu_data_unregister(blocks[b].handle);
	starpu_mpi_shutdown();
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return all != 0;
}
