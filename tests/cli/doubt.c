/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A chain of tasks of two sizes, of which doubt.py's model has measured one; with the
 * argument "energy", of a codelet with an energy model, too; with "roofline", of so many
 * operations. */
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { NMEASURED = 30, NBETWEEN = 10 };

static size_t size_of(struct starpu_task *task, unsigned implementation)
{
	(void)implementation;
	return (size_t)(uintptr_t)task->cl_arg;
}

static double joules(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 2.5;
}

void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_perfmodel model = {
	.type = STARPU_HISTORY_BASED, .symbol = "doubt.model", .size_base = size_of};
static struct starpu_perfmodel energy_model = {.type = STARPU_COMMON,
					       .cost_function = joules};
static struct starpu_codelet cl = {.cpu_funcs = {work},
				   .cpu_funcs_name = {"work"},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .model = &model};

static double flops;

static int submit(starpu_data_handle_t handle, size_t size)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->handles[0] = handle;
	task->cl_arg = (void *)(uintptr_t)size;
	task->flops = flops;
	return starpu_task_submit(task);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handle;
	int value = 0, ret = 0;

	if (argc > 1 && strcmp(argv[1], "energy") == 0)
		cl.energy_model = &energy_model;
	else if (argc > 1)
		flops = 1e9;
	if (starpu_init(NULL) != 0)
		return 77;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NMEASURED + NBETWEEN && ret == 0; i++)
		ret = submit(handle, i < NMEASURED ? 1000 : 2000);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	starpu_shutdown();
	return ret != 0;
}
