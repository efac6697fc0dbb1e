/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Who gets a task under lws, and under ORRERY_STARPU_STEALING, by who has run it.  On
 * launching.xml: a GPU, worker 0, and three cores.
 */
#include <stdlib.h>

#include "../api/claim.h"

int claim_failures;

enum { GPU, FIRST_CORE, SECOND_CORE, THIRD_CORE, NWORKERS };

/* Of the task that is submitted next, on whatever worker. */
static double seconds_of(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned implementation)
{
	(void)arch;
	(void)implementation;
	return 1e6 * (double)(uintptr_t)task->cl_arg;
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = seconds_of, .symbol = "stealing"};
static struct starpu_codelet anywhere = {.cpu_funcs = {(starpu_cpu_func_t)1},
					 .cuda_funcs = {(starpu_cuda_func_t)1},
					 .cuda_flags = {STARPU_CUDA_ASYNC},
					 .model = &model,
					 .name = "anywhere"},
			     on_gpus = {.cuda_funcs = {(starpu_cuda_func_t)1},
					.cuda_flags = {STARPU_CUDA_ASYNC},
					.model = &model,
					.name = "on_gpus"};

static void start(const char *as_starpu, const char *policy, const char *ncpu)
{
	setenv("STARPU_PROFILING", "1", 1);
	setenv("STARPU_SCHED", policy, 1);
	setenv("STARPU_NCPU", ncpu, 1);
	setenv("STARPU_CUDA_PIPELINE", "3", 1);
	setenv("ORRERY_STARPU_STEALING", as_starpu, 1);
	CLAIM_EQ(starpu_init(NULL), 0);
}

static struct starpu_task *submit(struct starpu_codelet *cl, int seconds, int worker,
				  struct starpu_task *after)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *)(uintptr_t)seconds;
	task->cl_arg_size = 0;
	task->destroy = 0;
	task->detach = 0;
	if (worker >= 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)worker;
	}
	if (after)
		starpu_task_declare_deps_array(task, 1, &after);
	CLAIM_EQ(starpu_task_submit(task), 0);
	return task;
}

/* Who has run it. */
static int end_of(struct starpu_task *task)
{
	int worker;

	CLAIM_EQ(starpu_task_wait(task), 0);
	worker = task->profiling_info ? task->profiling_info->workerid : -1;
	starpu_task_destroy(task);
	return worker;
}

/* A GPU and a core have a task each; the next ones are dealt to both. */
static int who_steals(const char *as_starpu, const char *policy)
{
	struct starpu_task *first, *second, *mine, *stolen;
	int worker;

	start(as_starpu, policy, "1");
	first = submit(&anywhere, 10, GPU, NULL);
	second = submit(&anywhere, 10, FIRST_CORE, NULL);
	starpu_sleep(1);
	mine = submit(&anywhere, 10, -1, NULL);
	stolen = submit(&anywhere, 10, -1, NULL);
	CLAIM_EQ(end_of(first), GPU);
	CLAIM_EQ(end_of(second), FIRST_CORE);
	CLAIM_EQ(end_of(mine), GPU);
	worker = end_of(stolen);
	starpu_shutdown();
	return worker;
}

/* Of three cores and a GPU the second core has rested for longest, and the task is dealt
 * to the first of all. */
static int who_is_woken(const char *as_starpu, const char *policy)
{
	static const int seconds[NWORKERS] = {3, 2, 1, 4};
	struct starpu_task *tasks[NWORKERS], *last;
	int worker;

	start(as_starpu, policy, "3");
	for (int i = 0; i < NWORKERS; i++)
		tasks[i] = submit(&anywhere, seconds[i], i, NULL);
	for (int i = 0; i < NWORKERS; i++)
		CLAIM_EQ(end_of(tasks[i]), i);
	last = submit(&anywhere, 1, -1, NULL);
	worker = end_of(last);
	starpu_shutdown();
	return worker;
}

/* The GPU ends a task, after which another one is ready. */
static int who_goes_first(const char *as_starpu, const char *policy)
{
	struct starpu_task *first, *next;
	int worker;

	start(as_starpu, policy, "1");
	first = submit(&on_gpus, 1, GPU, NULL);
	next = submit(&anywhere, 1, -1, first);
	worker = end_of(next);
	CLAIM_EQ(end_of(first), GPU);
	starpu_shutdown();
	return worker;
}

int main(void)
{
	CLAIM_EQ(who_steals("0", "lws"), GPU);
	CLAIM_EQ(who_steals("1", "lws"), FIRST_CORE);
	CLAIM_EQ(who_steals("1", "ws"), GPU);
	CLAIM_EQ(who_is_woken("0", "lws"), GPU);
	CLAIM_EQ(who_is_woken("1", "lws"), SECOND_CORE);
	CLAIM_EQ(who_is_woken("1", "ws"), GPU);
	CLAIM_EQ(who_goes_first("0", "lws"), GPU);
	CLAIM_EQ(who_goes_first("1", "lws"), FIRST_CORE);
	CLAIM_EQ(who_goes_first("1", "eager"), GPU);
	return claim_failures > 0;
}
