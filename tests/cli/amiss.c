/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/reasons.py, as slow.c and misuse.c are: slow for one known
 * reason, in iterations as programs have them.  In a real run tasks compute about as long
 * as their models say.
 *
 * usage: amiss REASON; see cases[] below
 */
#include "shapes.h"

enum { NPARTS = 8 };

static double task_us(struct starpu_task *task)
{
	double us = task->flops > 0 ? task->flops : 1000;

	if (strcmp(why, "noisy") == 0 && starpu_worker_get_id() == 1 &&
	    starpu_task_get_job_id(task) % 5 == 0)
		return 8 * us;
	return strcmp(why, "rank") == 0 && rank == 1 ? 3 * us : us;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	compute(task_us(starpu_task_get_current()));
}

static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return task_us(task);
}

/* 20 times as fast on a GPU. */
static double both_cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			unsigned implementation)
{
	(void)implementation;
	return arch->devices[0].type == STARPU_CUDA_WORKER ? task_us(task) / 20
							   : task_us(task);
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_perfmodel both = {.type = STARPU_PER_ARCH,
				       .arch_cost_function = both_cost};
#define CODELET(name_, n, ...)                                                           \
	static struct starpu_codelet name_ = {.cpu_funcs = {kernel},                     \
					      .nbuffers = (n),                           \
					      .modes = {__VA_ARGS__},                    \
					      .model = &model,                           \
					      .name = #name_}
CODELET(update, 1, STARPU_RW);
CODELET(step, 2, STARPU_RW, STARPU_R);
CODELET(commute, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
CODELET(wide, 2, STARPU_RW, STARPU_RW);
CODELET(fresh, 2, STARPU_W, STARPU_R);
static struct starpu_codelet anywhere = {.cpu_funcs = {kernel},
					 .cuda_funcs = {kernel},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &both,
					 .name = "anywhere"};
static struct starpu_codelet gpu_only = {.cuda_funcs = {kernel},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &model,
					 .name = "gpu_only"};

static struct starpu_codelet together = {.cpu_funcs = {kernel},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .type = STARPU_SPMD,
					 .max_parallelism = 4,
					 .model = &model,
					 .name = "together"};

#define INSERT(...) starpu_mpi_task_insert(MPI_COMM_WORLD, __VA_ARGS__, 0)

/* main computes between submissions. */
static void run_computes(void)
{
	for (int i = 0; i < 200; i++) {
		INSERT(&update, STARPU_RW, data[i % NDATA]);
		compute(2000);
	}
}

/* All workers wait until the one that has come to another task is free: the short ones
 * that may pass take less time than the long one. */
static void run_together(void)
{
	for (int i = 0; i < 40; i++) {
		starpu_task_insert(&together, STARPU_RW, data[i % NDATA], 0);
		starpu_task_insert(&update, STARPU_RW, extra[i % NDATA], STARPU_FLOPS,
				   i % 4 == 0 ? 12000.0 : 1000.0, 0);
	}
}

/* A datum for each step. */
static void run_unregister(void)
{
	static float values[4];

	for (int i = 0; i < 60; i++) {
		starpu_data_handle_t handle;

		starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values,
					    4, sizeof(values[0]));
		for (int k = 0; k < 2; k++)
			starpu_task_insert(&update, STARPU_RW, handle, 0);
		starpu_data_unregister(handle);
	}
}

static void run_acquire(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < 4; i++)
			starpu_task_insert(&step, STARPU_RW, data[i], STARPU_R, extra[0],
					   0);
		starpu_task_insert(&step, STARPU_RW, extra[0], STARPU_R, data[0],
				   STARPU_FLOPS, 3000.0, 0);
		starpu_data_acquire(extra[0], STARPU_R);
		starpu_data_release(extra[0]);
	}
}

static void run_many(void)
{
	for (int i = 0; i < 4 * NDATA; i++)
		INSERT(&update, STARPU_RW, data[i % NDATA]);
}

/* Columns of a factorisation, in blocks: the first ranks are done first. */
static void run_blocks(void)
{
	int n = 32;

	for (int k = 0; k < n; k++) {
		INSERT(&update, STARPU_RW, data[k]);
		for (int j = k + 1; j < n; j++)
			INSERT(&step, STARPU_RW, data[j], STARPU_R, data[k]);
	}
}

/* Rank 0 reads what all have, and all read what it makes of that. */
static void run_hotspot(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 1; i < size; i++)
			INSERT(&step, STARPU_RW, extra[0], STARPU_R, data[i],
			       STARPU_FLOPS, 100.0);
		for (int i = 0; i < size; i++)
			INSERT(&step, STARPU_RW, data[i], STARPU_R, extra[0]);
	}
}

/* A sum that goes from rank to rank. */
static void run_chain(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < size; i++)
			INSERT(&update, STARPU_RW, data[i]);
		for (int i = 0; i < size; i++)
			INSERT(&step, STARPU_RW, extra[0], STARPU_R, data[i],
			       STARPU_EXECUTE_ON_NODE, i);
	}
}

static void run_flushed(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < NDATA; i++)
			INSERT(&step, STARPU_RW, data[i], STARPU_R, extra[0],
			       STARPU_FLOPS, 100.0);
		starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
	}
}

/* Each task reads what its neighbour wrote in the round before. */
static void run_tiny(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < NDATA; i++)
			INSERT(&step, STARPU_RW, k % 2 ? extra[i] : data[i], STARPU_R,
			       k % 2 ? data[(i + 1) % NDATA] : extra[(i + 1) % NDATA],
			       STARPU_FLOPS, 2.0);
}

static void run_big(void)
{
	for (int k = 0; k < NROUNDS; k++) {
		for (int i = 0; i < size; i++)
			INSERT(&step, STARPU_RW, data[i], STARPU_R, extra[(i + 1) % size],
			       STARPU_FLOPS, 500.0);
		for (int i = 0; i < size; i++)
			INSERT(&step, STARPU_RW, extra[i], STARPU_R, data[i],
			       STARPU_FLOPS, 500.0);
	}
}

static void run_eager(void)
{
	for (int i = 0; i < 100; i++)
		INSERT(&anywhere, STARPU_RW, data[i % NDATA], STARPU_FLOPS, 50000.0);
}

static void run_gpuonly(void)
{
	for (int i = 0; i < 4 * NDATA; i++)
		INSERT(&gpu_only, STARPU_RW, data[i % NDATA]);
}

static void run_gpumem(void)
{
	for (int k = 0; k < NROUNDS; k++)
		for (int i = 0; i < NDATA; i++)
			INSERT(&gpu_only, STARPU_RW, data[i]);
}

static void run_inverted(void)
{
	for (int k = 0; k < 40; k++) {
		INSERT(&update, STARPU_RW, data[0], STARPU_PRIORITY, -1);
		for (int i = 0; i < 3; i++)
			INSERT(&update, STARPU_RW, extra[(3 * k + i) % NDATA],
			       STARPU_PRIORITY, 1);
	}
}

static void run_coarse(void)
{
	for (int i = 0; i < 5 * size; i++)
		INSERT(&update, STARPU_RW, data[i % NDATA], STARPU_FLOPS, 20000.0);
}

static void run_war(void)
{
	for (int k = 0; k < 50; k++) {
		INSERT(&fresh, STARPU_W, extra[rank], STARPU_R, data[0],
		       STARPU_EXECUTE_ON_NODE, 0);
		INSERT(&step, STARPU_RW, data[1 + k % 50], STARPU_R, extra[rank],
		       STARPU_EXECUTE_ON_NODE, 0);
	}
}

static void run_rw(void)
{
	for (int i = 0; i < 100; i++)
		starpu_task_insert(&wide, STARPU_RW, data[i % NDATA], STARPU_RW, extra[0],
				   0);
}

static void long_callback(void *arg)
{
	(void)arg;
	starpu_usleep(3000);
}

static void run_callbacks(void)
{
	for (int i = 0; i < 100; i++)
		starpu_task_insert(&update, STARPU_RW, data[i % NDATA], STARPU_CALLBACK,
				   long_callback, 0);
}

/* A vector is cut and put together again for each task. */
static void run_partitions(void)
{
	struct starpu_data_filter pieces = {.filter_func = starpu_vector_filter_block,
					    .nchildren = NPARTS};

	for (int k = 0; k < 100; k++) {
		starpu_data_handle_t parts[NPARTS];

		starpu_data_partition_plan(data[0], &pieces, parts);
		starpu_data_partition_submit(data[0], NPARTS, parts);
		starpu_task_insert(&update, STARPU_RW, parts[k % NPARTS], 0);
		starpu_data_unpartition_submit(data[0], NPARTS, parts, STARPU_MAIN_RAM);
		starpu_data_partition_clean(data[0], NPARTS, parts);
	}
}

static void run_syncpart(void)
{
	struct starpu_data_filter pieces = {.filter_func = starpu_vector_filter_block,
					    .nchildren = NPARTS};

	for (int k = 0; k < 100; k++) {
		starpu_data_partition(data[0], &pieces);
		for (int i = 0; i < 2; i++)
			starpu_task_insert(&update, STARPU_RW,
					   starpu_data_get_sub_data(data[0], 1, i), 0);
		starpu_data_unpartition(data[0], STARPU_MAIN_RAM);
	}
}

static void run_commute(void)
{
	for (int i = 0; i < 200; i++)
		starpu_task_insert(&commute, STARPU_RW | STARPU_COMMUTE, extra[0],
				   STARPU_R, data[i % NDATA], 0);
}

static void run_small(void)
{
	for (int i = 0; i < 20000; i++)
		starpu_task_insert(&update, STARPU_RW, data[i % NDATA], STARPU_FLOPS, 0.5,
				   0);
}

/* Nothing to complain of, unless some of them take longer. */
static void run_fine(void)
{
	for (int i = 0; i < 400; i++)
		starpu_task_insert(&update, STARPU_RW, data[i % NDATA], STARPU_FLOPS,
				   2000.0, 0);
}

static const struct shape cases[] = {{"computes", run_computes, 0},
				     {"acquire", run_acquire, 0},
				     {"unregister", run_unregister, 0},
				     {"together", run_together, 0},
				     {"limit", run_many, 0},
				     {"rank", run_many, 0},
				     {"blocks", run_blocks, 0},
				     {"hotspot", run_hotspot, 1},
				     {"chain", run_chain, 0},
				     {"flushed", run_flushed, 1},
				     {"tiny", run_tiny, 0},
				     {"big", run_big, 8},
				     {"eager", run_eager, 0},
				     {"gpuonly", run_gpuonly, 0},
				     {"gpumem", run_gpumem, 8},
				     {"inverted", run_inverted, 0},
				     {"coarse", run_coarse, 0},
				     {"war", run_war, 0},
				     {"rw", run_rw, 0},
				     {"callbacks", run_callbacks, 0},
				     {"partitions", run_partitions, 1},
				     {"syncpart", run_syncpart, 1},
				     {"commute", run_commute, 0},
				     {"small", run_small, 0},
				     {"fine", run_fine, 0},
				     {"noisy", run_fine, 0}};

/* The 32 columns of a factorisation lie in blocks, all else in turn. */
static int owner(int i)
{
	if (strcmp(why, "blocks") == 0)
		return i < 32 ? i * size / 32 : size - 1;
	return i % size;
}

int main(int argc, char **argv)
{
	return shape_run(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), owner);
}
