/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A client that has a kernel where it was configured with CUDA, and none where not. */
#include <stdint.h>
#include <stdio.h>

#include <starpu.h>

#ifdef STARPU_USE_CUDA
static void add_one(void *at)
{
	*(double *)standin_at(at) += 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	standin_launch(starpu_cuda_get_local_stream(), add_one,
		       (void *)STARPU_VARIABLE_GET_PTR(buffers[0]));
}
#endif

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static struct starpu_codelet adds = {.cpu_funcs = {add_cpu},
#ifdef STARPU_USE_CUDA
				     .cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
#endif
				     .nbuffers = 1,
				     .modes = {STARPU_RW}};

int main(void)
{
	starpu_data_handle_t handle;
	double value = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 10; i++)
		starpu_task_insert(&adds, STARPU_RW, handle, 0);
	starpu_data_unregister(handle);
#ifdef STARPU_HAVE_CUDA
	printf("with CUDA: %.0f of 10\n", value);
#else
	printf("without CUDA: %.0f of 10\n", value);
#endif
	starpu_shutdown();
	return value != 10;
}
