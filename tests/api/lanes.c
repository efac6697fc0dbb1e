/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A component that decides for workers of few kinds asks one of each, and puts every task
 * where it would have put it had it asked all: which it does for children that have a
 * method of the program's.  So do those above many workers that share a queue. */
#include <starpu_sched_component.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

int claim_failures;

enum { NTASKS = 700, NDATA = 24, NROUNDS = 4 };

static double cores_or_gpus(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl)
{
	int us = task->cl_arg ? (int)(intptr_t)task->cl_arg : 1;

	(void)nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 20.0 * us : us;
}

static double of_worker(struct starpu_task *task, unsigned worker, unsigned nimpl)
{
	(void)nimpl;
	return (double)(intptr_t)task->cl_arg + worker % 3;
}

static int on_even(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return worker % 2 == 0;
}

static void never_called(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	abort();
}

static struct starpu_perfmodel by_arch = {.type = STARPU_PER_ARCH,
					  .arch_cost_function = cores_or_gpus,
					  .symbol = "lanes_by_arch"};
static struct starpu_perfmodel by_worker = {.type = STARPU_PER_WORKER,
					    .worker_cost_function = of_worker,
					    .symbol = "lanes_by_worker"};

#define CODELET(the_model, ...)                                                          \
	{                                                                                \
		.cpu_funcs = {never_called}, .nbuffers = 2,                              \
		.modes = {STARPU_R, STARPU_RW}, .model = the_model, __VA_ARGS__          \
	}
static struct starpu_codelet codelets[] = {
	CODELET(&by_arch, .cuda_funcs = {never_called}, .cuda_flags = {STARPU_CUDA_ASYNC},
		.name = "anywhere"),
	CODELET(&by_arch, .name = "cores"),
	CODELET(&by_arch, .cuda_funcs = {never_called}, .can_execute = on_even,
		.name = "even"),
	CODELET(&by_worker, .cuda_funcs = {never_called}, .name = "by worker"),
};
static struct starpu_codelet first = {.cpu_funcs = {never_called},
				      .nbuffers = 1,
				      .modes = {STARPU_W},
				      .model = &by_arch,
				      .name = "first"};

/* ---- the policy, with and without a method of ours -------------------- */

static int asks_each;
static unsigned flags;
static double (*usual_end)(struct starpu_sched_component *component);

static double our_end(struct starpu_sched_component *component)
{
	return usual_end(component);
}

/* The queues of workers, or where many share one the workers themselves. */
static void wrap(struct starpu_sched_component *component)
{
	int shared = (flags & STARPU_SCHED_SIMPLE_DECIDE_MASK) ==
		     STARPU_SCHED_SIMPLE_DECIDE_MEMNODES;

	for (unsigned i = 0; i < component->nchildren; i++)
		wrap(component->children[i]);
	if ((shared ? component->nchildren > 0 : component->nparents < 2) ||
	    component->estimated_end == our_end)
		return;
	usual_end = component->estimated_end;
	component->estimated_end = our_end;
}

static void init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_scheduler(
		(starpu_sched_component_create_t)starpu_sched_component_mct_create, NULL,
		STARPU_SCHED_SIMPLE_PERFMODEL | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO | STARPU_SCHED_SIMPLE_IMPL |
			flags,
		ctx);
	if (asks_each)
		wrap(starpu_sched_tree_get(ctx)->root);
}

static void deinit(unsigned ctx)
{
	starpu_sched_tree_deinitialize(ctx);
}

static struct starpu_sched_policy policy = {
	.init_sched = init,
	.deinit_sched = deinit,
	.add_workers = starpu_sched_tree_add_workers,
	.remove_workers = starpu_sched_tree_remove_workers,
	.push_task = starpu_sched_tree_push_task,
	.pop_task = starpu_sched_tree_pop_task,
	.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
	.post_exec_hook = starpu_sched_component_worker_post_exec_hook,
	.policy_name = "lanes",
	.policy_description = "where a task ends first",
};

/* ---- random tasks ----------------------------------------------------- */

static struct starpu_task *some_task(starpu_data_handle_t *data)
{
	static const int durations[] = {50, 100, 100, 200};
	struct starpu_task *task = starpu_task_create();
	int kind = rand() % 12;

	task->cl = &codelets[kind < 6 ? 0 : kind < 9 ? 1 : kind - 9 > 1 ? 3 : 2];
	task->cl_arg = (void *)(intptr_t)durations[rand() % 4];
	task->handles[0] = data[rand() % NDATA];
	task->handles[1] = data[rand() % NDATA];
	if (task->handles[0] == task->handles[1])
		task->handles[0] = data[NDATA];
	task->priority = rand() % 3;
	task->destroy = 0;
	if (rand() % 40 == 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid =
			(unsigned)starpu_worker_get_by_type(STARPU_CPU_WORKER, 1);
		task->cl = &codelets[1];
	}
	return task;
}

static void run(int *workers)
{
	starpu_data_handle_t data[NDATA + 1];
	struct starpu_task *tasks[NTASKS];

	for (int i = 0; i <= NDATA; i++)
		starpu_vector_data_register(&data[i], -1, 0, 1000u << (i % 8), 4);
	for (int i = 0; i <= NDATA; i++)
		starpu_task_insert(&first, STARPU_W, data[i], 0);
	for (int i = 0; i < NTASKS; i++) {
		tasks[i] = some_task(data);
		CLAIM_EQ(starpu_task_submit(tasks[i]), 0);
		if (rand() % 100 == 0)
			starpu_task_wait_for_all();
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < NTASKS; i++) {
		workers[i] = tasks[i]->profiling_info->workerid;
		starpu_task_destroy(tasks[i]);
	}
	for (int i = 0; i <= NDATA; i++)
		starpu_data_unregister_no_coherency(data[i]);
}

static void place_all(int *workers, int each, unsigned seed)
{
	struct starpu_conf conf;

	asks_each = each;
	flags = seed % 2 ? STARPU_SCHED_SIMPLE_FIFO_ABOVE |
				   STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO
			 : STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT;
	flags |= seed / 2 % 2 ? STARPU_SCHED_SIMPLE_DECIDE_MEMNODES
			      : STARPU_SCHED_SIMPLE_DECIDE_WORKERS;
	starpu_conf_init(&conf);
	conf.sched_policy = &policy;
	if (starpu_init(&conf) != 0)
		exit(77);
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	srand(seed);
	run(workers);
	starpu_shutdown();
}

static void the_same_workers_are_chosen(void)
{
	static int by_class[NTASKS], each[NTASKS];

	for (unsigned seed = 0; seed < NROUNDS; seed++) {
		int ndiffer = 0;

		place_all(by_class, 0, seed);
		place_all(each, 1, seed);
		for (int i = 0; i < NTASKS; i++)
			ndiffer += by_class[i] != each[i];
		CLAIM_EQ(ndiffer, 0);
		CLAIM(usual_end != NULL);
	}
}

int main(void)
{
	static const struct claim claims[] = {
		{"the same workers are chosen", the_same_workers_are_chosen},
		{NULL, NULL}};

	return claims_run(claims, 0);
}
