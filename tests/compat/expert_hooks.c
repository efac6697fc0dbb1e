/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A policy that is a list, says what it decides about, and wakes the worker by its
 * condition; hooks of idle workers; and notices of tasks that will be ready soon.
 */
#include <stdio.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#define NTASKS 12

static struct starpu_task_list tasks;
static starpu_pthread_mutex_t tasks_mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;

static void init_policy(unsigned ctx)
{
	(void)ctx;
	starpu_task_list_init(&tasks);
}

static void deinit_policy(unsigned ctx)
{
	(void)ctx;
}

static int push_task(struct starpu_task *task)
{
	starpu_pthread_mutex_t *mutex;
	starpu_pthread_cond_t *cond;

	STARPU_PTHREAD_MUTEX_LOCK(&tasks_mutex);
	starpu_sched_task_break(task);
	starpu_task_list_push_back(&tasks, task);
	starpu_push_task_end(task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&tasks_mutex);

	starpu_worker_get_sched_condition(0, &mutex, &cond);
	STARPU_PTHREAD_MUTEX_LOCK(mutex);
	STARPU_PTHREAD_COND_SIGNAL(cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(mutex);
	return 0;
}

static struct starpu_task *pop_task(unsigned ctx)
{
	struct starpu_task *task = NULL;

	(void)ctx;
	STARPU_PTHREAD_MUTEX_LOCK(&tasks_mutex);
	if (!starpu_task_list_empty(&tasks))
		task = starpu_task_list_pop_front(&tasks);
	STARPU_PTHREAD_MUTEX_UNLOCK(&tasks_mutex);
	return task;
}

static struct starpu_sched_policy policy = {
	.init_sched = init_policy,
	.deinit_sched = deinit_policy,
	.push_task = push_task,
	.pop_task = pop_task,
	.policy_name = "signalled",
	.policy_description = "one list, and a signal for each task",
};

static int nidle;

static unsigned idle(void *arg)
{
	(void)__sync_fetch_and_add(&nidle, *(int *)arg);
	return 1;
}

static void increment(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static double cost(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 2000.;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};

static struct starpu_codelet codelet = {
	.cpu_funcs = {increment},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &model,
	.name = "increment",
};

static int nsoon;

static void soon(void *data, struct starpu_task *task, double delay)
{
	printf("soon: %s, in %g\n", task->name, delay);
	++*(int *)data;
}

static int count_hooks(void)
{
	int n = 0, one = 1;

	while (n < 1000 && starpu_idle_hook_register(idle, &one) == n)
		n++;
	for (int i = 0; i < n; i++)
		starpu_idle_hook_deregister(i);
	return n;
}

int main(void)
{
	static char names[NTASKS][16];
	starpu_data_handle_t handle;
	struct starpu_conf conf;
	int value = 0, hook, one = 1, *ids;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = conf.nopencl = 0;
	conf.sched_policy = &policy;
	if (starpu_init(&conf) != 0)
		return 77;
	printf("%d hooks\n", count_hooks());
	hook = starpu_idle_hook_register(idle, &one);
	printf("hook %d\n", hook);
	starpu_wake_all_blocked_workers();
	while (__sync_fetch_and_add(&nidle, 0) == 0)
		starpu_sleep(0.001);
	starpu_idle_hook_deregister(hook);

	starpu_task_notify_ready_soon_register(soon, &nsoon);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_pause();
	for (int i = 0; i < NTASKS; i++) {
		snprintf(names[i], sizeof(names[i]), "task %d", i);
		starpu_task_insert(&codelet, STARPU_RW, handle, STARPU_NAME, names[i], 0);
	}
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	printf("%d notices\n", nsoon);
	printf("worker 0 is alone: %d\n",
	       starpu_worker_get_bindid(0) < 0 ||
		       (starpu_bindid_get_workerids(starpu_worker_get_bindid(0), &ids) ==
				1 &&
			ids[0] == 0));
	starpu_shutdown();
#ifdef STARPU_SIMGRID
	return nsoon != NTASKS - 1;
#else
	return nsoon != NTASKS - 1 || value != NTASKS;
#endif
}
