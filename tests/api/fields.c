/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Fields of struct starpu_task that programs fill by hand. */
#include <stdint.h>

#include "claim.h"

/* SMPI has a malloc of its own. */
#ifdef STARPU_SIMGRID
static size_t nlarge(void)
{
	return 0;
}
enum { NLARGE = 0 };
#else
#include <malloc.h>
static size_t nlarge(void)
{
	return mallinfo2().hblks;
}
enum { NLARGE = 6 };
#endif

int claim_failures;

static int order[4], nran;

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static void numbered(void *buffers[], void *arg)
{
	(void)buffers;
	order[nran++] = (int)(intptr_t)arg;
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 125;
}

static struct starpu_perfmodel model = {
	.type = STARPU_COMMON, .symbol = "fields", .cost_function = cost_us};
static struct starpu_codelet codelet = {.cpu_funcs = {work}, .model = &model};
static struct starpu_codelet orderly = {.cpu_funcs = {numbered},
					.model = &model,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE};
static struct starpu_codelet writes = {
	.cpu_funcs = {work}, .model = &model, .nbuffers = 1, .modes = {STARPU_RW}};

static struct starpu_task *make(struct starpu_codelet *cl)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	return task;
}

/* Large enough to be mappings of their own, which malloc counts. */
static void *large(void)
{
	return malloc(16 << 20);
}

static void ignore(void *arg)
{
	(void)arg;
}

static void arguments_are_freed_with_the_task(void)
{
	struct starpu_task *task = make(&codelet);
	size_t before;

	claim_start(1);
	before = nlarge();
	task->cl_arg = large();
	task->cl_arg_size = 16 << 20;
	task->cl_ret = large();
	task->cl_ret_size = 16 << 20;
	task->callback_func = task->epilogue_callback_func = ignore;
	task->prologue_callback_func = task->prologue_callback_pop_func = ignore;
	task->callback_arg = large();
	task->epilogue_callback_arg = large();
	task->prologue_callback_arg = large();
	task->prologue_callback_pop_arg = large();
	task->cl_arg_free = task->cl_ret_free = task->callback_arg_free = 1;
	task->epilogue_callback_arg_free = task->prologue_callback_arg_free = 1;
	task->prologue_callback_pop_arg_free = 1;
	/* A sanitizer's malloc() does not count. */
	CLAIM(nlarge() == before + NLARGE || nlarge() == 0);
	CLAIM_EQ(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CLAIM_EQ(nlarge(), before);
	starpu_shutdown();
}

/* The first writer waits for a tag; who ignores the order of the data does not. */
static void data_without_order(void)
{
	unsigned char no_order[1] = {0};
	struct starpu_task *first, *free_one, *last;
	starpu_data_handle_t handle;
	int value = 0;

	claim_start(1);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	first = make(&writes);
	free_one = make(&writes);
	last = make(&writes);
	first->handles[0] = free_one->handles[0] = last->handles[0] = handle;
	first->use_tag = 1;
	first->tag_id = 1;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	free_one->handles_sequential_consistency = no_order;
	free_one->detach = last->detach = 0;
	free_one->destroy = last->destroy = 0;
	CLAIM_EQ(starpu_task_finished(last), 0); /* It was not submitted. */
	CLAIM_EQ(starpu_task_submit(first), 0);
	CLAIM_EQ(starpu_task_submit(last), 0);
	CLAIM_EQ(starpu_task_submit(free_one), 0);
	CLAIM_EQ(starpu_task_wait(free_one), 0);
	CLAIM_EQ(starpu_task_finished(last), 0);
	starpu_tag_notify_from_apps(2);
	CLAIM_EQ(starpu_task_wait(last), 0);
	starpu_task_destroy(free_one);
	starpu_task_destroy(last);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

static void a_worker_keeps_an_order(void)
{
	int worker;

	claim_start(2);
	worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 1);
	nran = 0;
	for (unsigned i = 4; i > 0; i--) {
		struct starpu_task *task = make(&orderly);

		task->cl_arg = (void *)(intptr_t)i;
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned)worker;
		task->workerorder = i;
		task->priority = (int)i;
		CLAIM_EQ(starpu_task_submit(task), 0);
	}
	starpu_task_wait_for_all();
	CLAIM_EQ(nran, 4);
	for (int i = 0; i < 4; i++)
		CLAIM_EQ(order[i], i + 1);
	starpu_shutdown();
}

static void policies_predict(void)
{
	struct starpu_task *task = make(&codelet);
	struct starpu_conf conf;

	CLAIM(task->predicted != task->predicted &&
	      task->predicted_transfer != task->predicted_transfer &&
	      task->predicted_start != task->predicted_start);
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.ncuda = 0;
	conf.precedence_over_environment_variables = 1;
	conf.sched_policy_name = "dmda";
	if (starpu_init(&conf) != 0)
		exit(77);
	task->destroy = task->detach = 0;
	CLAIM_EQ(starpu_task_submit(task), 0);
	CLAIM_EQ(starpu_task_wait(task), 0);
	CLAIM(task->predicted > 124.99 && task->predicted < 125.01);
	CLAIM(task->predicted_transfer == 0);
	CLAIM_EQ(task->status, STARPU_TASK_FINISHED);
	starpu_task_destroy(task);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"arguments_are_freed_with_the_task", arguments_are_freed_with_the_task},
	{"data_without_order", data_without_order},
	{"a_worker_keeps_an_order", a_worker_keeps_an_order},
	{"policies_predict", policies_predict},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	(void)argv;
	return claims_run(claims, argc > 1);
}
