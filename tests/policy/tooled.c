/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What tests/policy/tool.c counts: 10 tasks on cores; where there are GPUs, 10 on them,
 * which take one vector of 4000 bytes there, and back. */
#include <stdio.h>

#include <starpu.h>

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double cost_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 10;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost_us};
static struct starpu_codelet on_cpu = {.cpu_funcs = {work}, .model = &model};
static struct starpu_codelet on_gpu = {
	.cuda_funcs = {work}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &model};

int main(void)
{
	static float values[1000];
	starpu_data_handle_t vector;
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	if (starpu_init(&conf) != 0)
		return 77;
	starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)values, 1000,
				    sizeof(values[0]));
	for (int i = 0; i < 10; i++)
		if (starpu_task_insert(&on_cpu, 0) != 0)
			return 1;
	for (int i = 0; i < 10 && starpu_cuda_worker_get_count() > 0; i++)
		if (starpu_task_insert(&on_gpu, STARPU_RW, vector, 0) != 0)
			return 1;
	starpu_task_wait_for_all();
	starpu_data_unregister(vector);
	starpu_shutdown();
	return 0;
}
