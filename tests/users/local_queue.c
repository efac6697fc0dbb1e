/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A policy without pop_task(): all tasks go to the queues of their workers, at the end
 * where the worker looks first or at the other, and priorities do not matter there. */
#include <starpu.h>
#include <starpu_scheduler.h>

enum { NTASKS = 9 };
enum how { AS_THEY_COME, LAST_FIRST, URGENT_FIRST };

static enum how how;
static int order[NTASKS], nrun, holds, go;

static void init_queues(unsigned ctx)
{
	starpu_sched_ctx_set_min_priority(ctx, -5);
	starpu_sched_ctx_set_max_priority(ctx, 5);
}

static void deinit_queues(unsigned ctx)
{
	(void)ctx;
}

static int push(struct starpu_task *task)
{
	int back = how == URGENT_FIRST ? task->priority > 0 : how == LAST_FIRST;

	return starpu_push_local_task(0, task, back);
}

static struct starpu_sched_policy policy = {.init_sched = init_queues,
					    .deinit_sched = deinit_queues,
					    .push_task = push,
					    .policy_name = "queues",
					    .policy_description = "of workers"};

/* Holds the worker until all tasks are in its queue; a simulated one has not begun. */
static void hold(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
#ifndef STARPU_SIMGRID
	__atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		starpu_usleep(100);
#endif
}

static void note(void *buffers[], void *arg)
{
	(void)buffers;
	starpu_codelet_unpack_args(arg, &order[nrun++]);
}

static struct starpu_codelet holding = {.cpu_funcs = {hold},
					.model = &starpu_perfmodel_nop,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE};
static struct starpu_codelet noting = {.cpu_funcs = {note},
				       .model = &starpu_perfmodel_nop,
				       .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static int play(const int *expected)
{
	struct starpu_conf conf;
	int ret;

	starpu_conf_init(&conf);
	starpu_conf_noworker(&conf);
	conf.ncpus = 1;
	conf.sched_policy = &policy;
	conf.precedence_over_environment_variables = 1;
	ret = starpu_init(&conf);
	if (ret == -ENODEV)
		exit(77);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	nrun = holds = go = 0;
	ret = starpu_task_insert(&holding, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
#ifndef STARPU_SIMGRID
	while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE))
		starpu_usleep(100);
#endif
	for (int i = 0; i < NTASKS; i++) {
		ret = starpu_task_insert(&noting, STARPU_VALUE, &i, sizeof(i),
					 STARPU_PRIORITY, i % 3, 0);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	}
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	starpu_task_wait_for_all();
	starpu_shutdown();
	for (int i = 0; i < NTASKS; i++)
		if (i >= nrun || order[i] != expected[i]) {
			printf("way %d: task %d of %d is %d, expected %d\n", (int)how, i,
			       nrun, order[i], expected[i]);
			return 1;
		}
	return 0;
}

int main(void)
{
	static const int expected[][NTASKS] = {{0, 1, 2, 3, 4, 5, 6, 7, 8},
					       {8, 7, 6, 5, 4, 3, 2, 1, 0},
					       {8, 7, 5, 4, 2, 1, 0, 3, 6}};
	int wrong = 0;

	for (int i = 0; i < 3; i++) {
		how = (enum how)i;
		wrong += play(expected[i]);
	}
	return wrong != 0;
}
