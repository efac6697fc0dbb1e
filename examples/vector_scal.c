/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* One task multiplies a vector by a number: the shortest program. */
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>

enum { N = 1000 };

static void scale_cpu(void *buffers[], void *arg)
{
	float *vector = (float *)STARPU_VECTOR_GET_PTR(buffers[0]), factor;
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

	starpu_codelet_unpack_args(arg, &factor);
	for (unsigned i = 0; i < n; i++)
		vector[i] *= factor;
}

static struct starpu_codelet scale = {
	.cpu_funcs = {scale_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
	.name = "scale",
};

int main(void)
{
	/* Values are computed for real, and in a simulation with ORRERY_EXECUTE=1. */
	int executes, wrong = 0;
	float vector[N], factor = 3;
	starpu_data_handle_t handle;

	if (starpu_init(NULL))
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	for (int i = 0; i < N; i++)
		vector[i] = i;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)vector, N,
				    sizeof vector[0]);
	starpu_task_insert(&scale, STARPU_RW, handle, STARPU_VALUE, &factor,
			   sizeof factor, 0);
	starpu_data_unregister(handle); /* waits for the task */
	for (int i = 0; executes && i < N; i++)
		wrong += vector[i] != factor * i;
	printf("vector_scal: %d of %d values are wrong\n", wrong, N);
	starpu_shutdown();
	return wrong != 0;
}
