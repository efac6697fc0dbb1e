/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Measures one codelet, so that there is a model to be saved. */
#include <starpu.h>

static void kernel(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "measured"};
static struct starpu_codelet codelet = {.cpu_funcs = {kernel},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &model,
					.name = "measured"};

int main(void)
{
	starpu_data_handle_t handle;
	int value = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 20; i++)
		if (starpu_task_insert(&codelet, STARPU_RW, handle, 0) != 0)
			return 1;
	starpu_data_unregister(handle);
	starpu_shutdown();
	return value != 20;
}
