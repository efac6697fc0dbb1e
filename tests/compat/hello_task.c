/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A task filled in by hand, its argument, its callback; waiting in four ways. */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#define FPRINTF(ofile, fmt, ...)                                                         \
	do {                                                                             \
		if (!getenv("STARPU_SSILENT")) {                                         \
			fprintf(ofile, fmt, ##__VA_ARGS__);                              \
		}                                                                        \
	} while (0)

struct params {
	int i;
	float f;
};

static int ran, called, prologues, popped;

void cpu_func(void *buffers[], void *cl_arg)
{
	struct params *params = (struct params *)cl_arg;

	(void)buffers;
	FPRINTF(stdout, "Hello world (params = {%i, %f}) on worker %d\n", params->i,
		params->f, starpu_worker_get_id());
	if (params->i == 1 && params->f == 2.0f && starpu_task_get_current())
		STARPU_ATOMIC_ADD(&ran, 1);
}

static void callback_func(void *callback_arg)
{
	if (*(int *)callback_arg == 0x42)
		called++;
}

static void prologue_func(void *arg)
{
	prologues += arg == &prologues;
}

static void pop_func(void *arg)
{
	STARPU_ATOMIC_ADD(&popped, arg == &popped);
}

struct starpu_codelet cl = {
	.cpu_funcs = {cpu_func},
	.cpu_funcs_name = {"cpu_func"},
	.nbuffers = 0,
	.name = "hello",
};

static struct params params = {1, 2.0f};
static int callback_arg = 0x42;

static struct starpu_task *hello(void)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->cl_arg = &params;
	task->cl_arg_size = sizeof(params);
	task->callback_func = callback_func;
	task->callback_arg = &callback_arg;
	return task;
}

static int submit_all(void)
{
	struct starpu_task *task, *tasks[2];
	int ret, i;

	task = hello();
	task->synchronous = 1;
	task->prologue_callback_func = prologue_func;
	task->prologue_callback_arg = &prologues;
	ret = starpu_task_submit(task);
	if (ret == -ENODEV)
		return ret;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	STARPU_ASSERT_MSG(called == 1, "the callback comes before the end of submit");

	task = hello();
	task->detach = 0;
	task->prologue_callback_pop_func = pop_func;
	task->prologue_callback_pop_arg = &popped;
	ret = starpu_task_submit(task);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	ret = starpu_task_wait(task);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_wait");

	for (i = 0; i < 2; i++) {
		tasks[i] = hello();
		tasks[i]->detach = 0;
		tasks[i]->destroy = 0;
		if (i)
			starpu_task_declare_deps_array(tasks[1], 1, tasks);
		ret = starpu_task_submit(tasks[i]);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	ret = starpu_task_wait_array(tasks, 2);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_wait_array");
	starpu_task_destroy(tasks[0]);
	starpu_task_destroy(tasks[1]);

	for (i = 0; i < 10; i++) {
		ret = starpu_task_submit(hello());
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	return starpu_task_wait_for_all();
}

int main(void)
{
	int ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	if (starpu_cpu_worker_get_count() == 0) {
		starpu_shutdown();
		return 77;
	}
	ret = submit_all();
	if (ret == -ENODEV) {
		starpu_shutdown();
		return 77;
	}
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_wait_for_all");
	FPRINTF(stderr, "%d tasks, %d callbacks\n", ran, called);
	starpu_shutdown();
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		ran = 14;
#endif
	return ran == 14 && called == 14 && prologues == 1 && popped == 1 ? 0 : 1;
}
