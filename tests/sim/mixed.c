/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Tasks for cores, for GPUs and for both wait together: mixed-sim SCENE N runs N of them,
 * and mixed.py counts the instructions.  Without arguments: the names of the scenes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <schedulers/starpu_scheduler_toolbox.h>

static double cores_or_gpus(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 3000 : 100;
}

static void never_called(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static struct starpu_perfmodel model = {
	.type = STARPU_PER_ARCH, .arch_cost_function = cores_or_gpus, .symbol = "mixed"};
static struct starpu_codelet codelets[] = {
	{.cpu_funcs = {never_called}, .model = &model, .name = "core"},
	{.cuda_funcs = {never_called}, .model = &model, .name = "GPU"},
	{.cpu_funcs = {never_called},
	 .cuda_funcs = {never_called},
	 .model = &model,
	 .name = "both"}};

/* ---- policies with queues of the toolbox ------------------------------- */

static starpu_pthread_mutex_t mutex;
static starpu_st_fifo_taskq_t fifo;
static struct starpu_st_prio_deque deque;

static void init(unsigned ctx)
{
	(void)ctx;
	STARPU_PTHREAD_MUTEX_INIT(&mutex, NULL);
	fifo = starpu_st_fifo_taskq_create();
	starpu_st_prio_deque_init(&deque);
}

static void deinit(unsigned ctx)
{
	(void)ctx;
	starpu_st_fifo_taskq_destroy(fifo);
	starpu_st_prio_deque_destroy(&deque);
	STARPU_PTHREAD_MUTEX_DESTROY(&mutex);
}

static void wake_all(void)
{
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		starpu_wake_worker_relax_light((int)i);
}

static int fifo_push(struct starpu_task *task)
{
	starpu_pthread_mutex_lock(&mutex);
	starpu_st_fifo_taskq_push_task(fifo, task);
	starpu_push_task_end(task);
	starpu_pthread_mutex_unlock(&mutex);
	wake_all();
	return 0;
}

static struct starpu_task *fifo_pop(unsigned ctx)
{
	struct starpu_task *task;

	(void)ctx;
	starpu_pthread_mutex_lock(&mutex);
	task = starpu_st_fifo_taskq_pop_task(fifo, starpu_worker_get_id());
	starpu_pthread_mutex_unlock(&mutex);
	return task;
}

static int deque_push(struct starpu_task *task)
{
	starpu_pthread_mutex_lock(&mutex);
	starpu_st_prio_deque_push_back_task(&deque, task);
	starpu_push_task_end(task);
	starpu_pthread_mutex_unlock(&mutex);
	wake_all();
	return 0;
}

/* GPUs take the last one. */
static struct starpu_task *deque_pop(unsigned ctx)
{
	int worker = starpu_worker_get_id();
	struct starpu_task *task, *skipped;

	(void)ctx;
	starpu_pthread_mutex_lock(&mutex);
	if (starpu_worker_get_type(worker) == STARPU_CPU_WORKER)
		task = starpu_st_prio_deque_pop_task_for_worker(&deque, worker, &skipped);
	else
		task = starpu_st_prio_deque_deque_task_for_worker(&deque, worker,
								  &skipped);
	starpu_pthread_mutex_unlock(&mutex);
	return task;
}

static struct starpu_sched_policy policies[] = {
	{.init_sched = init,
	 .deinit_sched = deinit,
	 .push_task = fifo_push,
	 .pop_task = fifo_pop,
	 .policy_name = "fifo",
	 .policy_description = "a queue of the toolbox"},
	{.init_sched = init,
	 .deinit_sched = deinit,
	 .push_task = deque_push,
	 .pop_task = deque_pop,
	 .policy_name = "deque",
	 .policy_description = "a deque of the toolbox"}};

/* ------------------------------------------------------------------------ */

static const char *const scenes[] = {
	"modular-eager", "modular-eager-prio", "modular-prio",
	"modular-ws",    "modular-heteroprio", "fifo",
	"deque"};

static void start(const char *scene)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy_name = scene;
	conf.precedence_over_environment_variables = 1;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (strcmp(scene, policies[i].policy_name) == 0) {
			conf.sched_policy = &policies[i];
			conf.sched_policy_name = NULL;
		}
	if (starpu_init(&conf) != 0)
		exit(77);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3) {
		for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
			puts(scenes[i]);
		return 0;
	}
	start(argv[1]);
	for (int i = 0; i < n; i++)
		starpu_task_insert(&codelets[i % 8 == 7 ? 2 : i % 2], STARPU_PRIORITY,
				   i % 3, 0);
	starpu_task_wait_for_all();
	printf("%.9f s simulated\n", orrery_virtual_time());
	starpu_shutdown();
	return 0;
}
