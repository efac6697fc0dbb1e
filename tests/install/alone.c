/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A client without MPI. */
#include <stdint.h>
#include <stdio.h>

#include <starpu.h>

static void add(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet codelet;

int main(void)
{
	starpu_data_handle_t handle;
	int value = 0;

	starpu_codelet_init(&codelet);
	codelet.cpu_funcs[0] = add;
	codelet.nbuffers = 1;
	codelet.modes[0] = STARPU_RW;
	codelet.flags = STARPU_CODELET_SIMGRID_EXECUTE;
	codelet.model = &starpu_perfmodel_nop;
	if (starpu_init(NULL) != 0)
		return 77;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 10; i++)
		starpu_task_insert(&codelet, STARPU_RW, handle, 0);
	starpu_data_unregister(handle);
	printf("alone: %d of 10\n", value);
	starpu_shutdown();
	return value != 10;
}
