/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/report.py: 2 simulated ranks or 4, slow for one known reason.
 *
 * usage: slow network|data|dependencies|submission|end|node|uneven|placement|priorities|
 *             pauses|worker|memory|small|noise|work|gpus|commute|tags|waits|
 *             front|first|tied|synchronous|limit|uncached|callbacks|late|alone|swap|
 *             incast|ring|ahead|flushed|few|resent|redux|handed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { NTASKS = 40, VALUES = 25000000 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

/* 1 ms, or what the task says. */
static double microseconds(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return task->flops > 0 ? task->flops : 1000;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
					.cost_function = microseconds};
static struct starpu_codelet on_cpu = {.cpu_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &model,
				       .name = "on a core"};
/* Takes a thirteenth of it. */
static struct starpu_codelet on_gpu = {.cuda_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &model,
				       .name = "on a GPU"};

/* 20 ms on a core, a thirteenth of it on a GPU. */
static double both_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
		      unsigned implementation)
{
	(void)task;
	(void)implementation;
	return arch->devices[0].type == STARPU_CUDA_WORKER ? 20000.0 / 13 : 20000;
}

static struct starpu_perfmodel both_model = {.type = STARPU_PER_ARCH,
					     .arch_cost_function = both_us};
static struct starpu_codelet on_both = {.cpu_funcs = {nothing},
					.cuda_funcs = {nothing},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &both_model,
					.name = "anywhere"};

/* Node 1 takes three times as long. */
static double slow_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return starpu_mpi_world_rank() == 1 ? 3000 : 1000;
}

static struct starpu_perfmodel slow_model = {.type = STARPU_COMMON,
					     .cost_function = slow_us};
static struct starpu_codelet on_slow = {.cpu_funcs = {nothing},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &slow_model,
					.name = "on a core"};

/* The first CPU worker takes three times as long. */
static double apart_us(struct starpu_task *task, unsigned workerid,
		       unsigned implementation)
{
	(void)task;
	(void)implementation;
	return (int)workerid == starpu_worker_get_by_type(STARPU_CPU_WORKER, 0) ? 3000
										: 1000;
}

static struct starpu_perfmodel apart_model = {.type = STARPU_PER_WORKER,
					      .worker_cost_function = apart_us};
static struct starpu_codelet on_apart = {.cpu_funcs = {nothing},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &apart_model,
					 .name = "on a core"};

/* Each eighth task of a node takes ten times as long. */
static double noisy_us(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return starpu_task_get_job_id(task) % 8 ? 1000 : 10000;
}

static struct starpu_perfmodel noisy_model = {.type = STARPU_COMMON,
					      .cost_function = noisy_us};
static struct starpu_codelet on_noisy = {.cpu_funcs = {nothing},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .model = &noisy_model,
					 .name = "on a core"};

static struct starpu_codelet tagged = {
	.cpu_funcs = {nothing}, .nbuffers = 0, .model = &model, .name = "on a core"};
static struct starpu_codelet commutes = {.cpu_funcs = {nothing},
					 .nbuffers = 1,
					 .modes = {STARPU_RW | STARPU_COMMUTE},
					 .model = &model,
					 .name = "adds"};

static struct starpu_codelet reads = {.cpu_funcs = {nothing},
				      .nbuffers = 2,
				      .modes = {STARPU_RW, STARPU_R},
				      .model = &model,
				      .name = "reads"};

static struct starpu_codelet writes = {.cpu_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &model,
				       .name = "writes"};

static struct starpu_codelet zeroes = {.cpu_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &model,
				       .name = "zero"};
static struct starpu_codelet adds = {.cpu_funcs = {nothing},
				     .nbuffers = 2,
				     .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				     .model = &model,
				     .name = "add"};
static struct starpu_codelet contributes = {.cpu_funcs = {nothing},
					    .nbuffers = 1,
					    .modes = {STARPU_REDUX},
					    .model = &model,
					    .name = "contribute"};

/* Each rank adds up contributions of its workers, and then uses the sum. */
static void submit_contributions(starpu_data_handle_t sum)
{
	starpu_data_set_reduction_methods(sum, &adds, &zeroes);
	for (int i = 0; i < 4 * NTASKS; i++)
		if (i % 10 == 0)
			starpu_task_insert(&on_cpu, STARPU_RW, sum, 0);
		else
			starpu_task_insert(&contributes, STARPU_REDUX, sum, 0);
	starpu_task_insert(&on_cpu, STARPU_RW, sum, 0);
}

/* Each task submits the next one when it ends. */
static void hand_on(void *arg)
{
	intptr_t left = (intptr_t)arg;

	if (left > 0)
		starpu_task_insert(&tagged, STARPU_CALLBACK_WITH_ARG_NFREE, hand_on,
				   (void *)(left - 1), 0);
}

static void sleeps(void *arg)
{
	(void)arg;
	starpu_usleep(3000);
}

/* What ranks read of others: the first of four from the others, or each of its neighbour.
 */
static void submit_reads(const char *why, starpu_data_handle_t *handles)
{
	int all = strcmp(why, "ring") == 0;

	for (int i = 0; i < NTASKS - 1; i++)
		if (all || i % 4)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW,
					       handles[all ? i : i - i % 4], STARPU_R,
					       handles[all ? i + 1 : i], 0);
}

/* Each task reads what the one before has written: a front that goes over both ranks. */
static void submit_front(starpu_data_handle_t *handles)
{
	for (int i = 0; i < 4 * NTASKS; i++)
		if (i % NTASKS > 0)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW,
					       handles[i % NTASKS], STARPU_R,
					       handles[i % NTASKS - 1], 0);
		else
			starpu_mpi_task_insert(MPI_COMM_WORLD, &on_cpu, STARPU_RW,
					       handles[0], 0);
}

/* All tasks read what a long one has written. */
static void submit_first(starpu_data_handle_t *handles)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, &on_cpu, STARPU_RW, handles[0],
			       STARPU_FLOPS, 40000.0, 0);
	for (int i = 1; i < NTASKS; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW, handles[i],
				       STARPU_R, handles[0], 0);
}

/* Ready when the program says so. */
static void submit_held(void)
{
	for (int i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		starpu_tag_declare_deps(i, 1, (starpu_tag_t)(NTASKS + i));
		task->cl = &tagged;
		task->use_tag = 1;
		task->tag_id = i;
		if (starpu_task_submit(task))
			abort();
	}
	for (int i = 0; i < NTASKS; i++) {
		starpu_usleep(1000);
		starpu_tag_notify_from_apps(NTASKS + i);
	}
}

static void insert(struct starpu_codelet *cl, starpu_data_handle_t handle, int rank,
		   double us)
{
	starpu_mpi_task_insert(MPI_COMM_WORLD, cl, STARPU_RW, handle,
			       STARPU_EXECUTE_ON_NODE, rank, STARPU_FLOPS, us, 0);
}

/* After the i-th task. */
static void pause_after(const char *why, int i)
{
	if (strcmp(why, "submission") == 0)
		starpu_usleep(10000);
	if (strcmp(why, "pauses") == 0 && i % 10 == 9)
		starpu_usleep(50000);
	if (strcmp(why, "alone") == 0 && i == 5 && starpu_mpi_world_rank() == 1)
		starpu_usleep(100000);
	if (strcmp(why, "waits") == 0 && i % 10 == 9) {
		starpu_task_insert(NULL, 0); /* without a kernel */
		starpu_task_wait_for_all();
	}
}

/* 0: the reason is none of these. */
static int run_other(const char *why, starpu_data_handle_t *handles)
{
	int calls = strcmp(why, "callbacks") == 0, swaps = strcmp(why, "swap") == 0,
	    ahead = strcmp(why, "ahead") == 0, flushed = strcmp(why, "flushed") == 0,
	    reads_others = strcmp(why, "incast") == 0 || strcmp(why, "ring") == 0,
	    reduces = strcmp(why, "redux") == 0, hands_on = strcmp(why, "handed") == 0;

	if (reads_others)
		submit_reads(why, handles);
	if (reduces)
		submit_contributions(handles[starpu_mpi_world_rank()]);
	if (hands_on)
		hand_on((void *)(intptr_t)NTASKS);
	for (int i = 0; i < NTASKS; i++) {
		if (calls)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &on_cpu, STARPU_RW,
					       handles[i], STARPU_CALLBACK, sleeps, 0);
		if (swaps)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &writes, STARPU_W,
					       handles[i], 0);
		if (ahead)
			insert(&on_gpu, handles[i], i % 2, 50000);
		if (flushed) {
			starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW,
					       handles[2 + i % 2], STARPU_R,
					       handles[1 - i % 2], 0);
			starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
		}
	}
	for (int i = 0; swaps && i < NTASKS; i++)
		insert(&on_cpu, handles[i], i % 2, 0);
	return calls || swaps || ahead || flushed || reads_others || reduces || hands_on;
}

/* What the handles are for: one that ranks share, one of each rank, many of each. */
static void run(const char *why, starpu_data_handle_t *handles)
{
	for (int i = 0; i < NTASKS; i++) {
		if (strcmp(why, "network") == 0)
			insert(&on_cpu, handles[0], i % 2, 0);
		else if (strcmp(why, "data") == 0)
			insert(&on_gpu, handles[i], i % 2, 0);
		else if (strcmp(why, "dependencies") == 0)
			insert(&on_cpu, handles[i % 2], i % 2, 0);
		else if (strcmp(why, "end") == 0)
			insert(&on_cpu, handles[i], i % 2, i == 0 ? 100000 : 0);
		else if (strcmp(why, "node") == 0)
			insert(&on_slow, handles[i], i % 2, 0);
		else if (strcmp(why, "worker") == 0)
			for (int n = 0; n < 3; n++) /* some for the slow one, too */
				insert(&on_apart, handles[(i + 2 * n) % NTASKS], i % 2,
				       0);
		else if (strcmp(why, "memory") == 0)
			insert(&on_gpu, handles[i / 2 * 14 % NTASKS + i % 2], i % 2, 0);
		else if (strcmp(why, "small") == 0)
			insert(&on_cpu, handles[i], i % 2, 0.1);
		else if (strcmp(why, "noise") == 0)
			insert(&on_noisy, handles[i], i % 2, 0);
		else if (strcmp(why, "work") == 0)
			insert(&on_cpu, handles[i], i % 2, i % 2 ? 3000 : 1000);
		else if (strcmp(why, "uneven") == 0)
			insert(&on_cpu, handles[i % 4 ? 0 : 1], i % 4 ? 0 : 1, 0);
		else if (strcmp(why, "gpus") == 0)
			insert(&on_gpu, handles[i], i % 2, 26000);
		else if (strcmp(why, "commute") == 0)
			starpu_task_insert(&commutes, STARPU_RW | STARPU_COMMUTE,
					   handles[starpu_mpi_world_rank()], 0);
		else if (strcmp(why, "tied") == 0)
			starpu_mpi_task_insert(
				MPI_COMM_WORLD, &on_cpu, STARPU_RW, handles[i],
				STARPU_EXECUTE_ON_WORKER,
				starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
		else if (strcmp(why, "synchronous") == 0)
			starpu_task_insert(&tagged, STARPU_TASK_SYNCHRONOUS, 1, 0);
		else if (strcmp(why, "uncached") == 0 || strcmp(why, "resent") == 0)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_RW,
					       handles[2 + i % 2], STARPU_R,
					       handles[1 - i % 2], 0);
		else if (strcmp(why, "tags") == 0 || strcmp(why, "front") == 0 ||
			 strcmp(why, "first") == 0)
			break;
		else if (strcmp(why, "placement") == 0)
			insert(&on_both, handles[i], i % 2, 0);
		else if (strcmp(why, "priorities") == 0)
			insert(&on_cpu, handles[i < NTASKS / 2 ? i : i % 2], i % 2, 0);
		else
			insert(&on_cpu, handles[i], i % 2, 0);
		pause_after(why, i);
	}
	if (strcmp(why, "tags") == 0)
		submit_held();
	if (strcmp(why, "front") == 0)
		submit_front(handles);
	if (strcmp(why, "first") == 0)
		submit_first(handles);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[NTASKS];
	const char *why = argc > 1 ? argv[1] : "end";
	int is_large = strcmp(why, "network") == 0 || strcmp(why, "data") == 0 ||
		       strcmp(why, "memory") == 0 || strcmp(why, "swap") == 0 ||
		       strcmp(why, "incast") == 0 || strcmp(why, "ring") == 0 ||
		       strcmp(why, "ahead") == 0 || strcmp(why, "resent") == 0 ||
		       strcmp(why, "flushed") == 0;
	int size, home = strcmp(why, "swap") == 0 ? -1 : STARPU_MAIN_RAM;
	float *values = malloc(VALUES * sizeof(*values));

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	size = starpu_mpi_world_size();
	for (int i = 0; i < NTASKS; i++) {
		int is_here = i % size == starpu_mpi_world_rank() && home == 0;

		starpu_vector_data_register(&handles[i], is_here ? home : -1,
					    is_here ? (uintptr_t)values : 0,
					    is_large ? VALUES : 1, sizeof(*values));
		starpu_mpi_data_register(handles[i], i, i % size);
	}
	if (strcmp(why, "late") == 0 && starpu_mpi_world_rank() == 1)
		starpu_usleep(100000);
	if (!run_other(why, handles))
		run(why, handles);
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++)
		starpu_data_unregister(handles[i]);
	starpu_mpi_shutdown();
	free(values);
	return 0;
}
