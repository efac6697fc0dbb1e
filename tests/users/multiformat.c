/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* An array of structs on processors, a struct of arrays on GPUs. */
#include <starpu.h>
#include <stdio.h>

#define N_ELEMENTS 10

struct point {
	float x;
	float y;
};

struct struct_of_arrays {
	float *x;
	float *y;
};

static struct point array_of_structs[N_ELEMENTS];
static starpu_data_handle_t array_of_structs_handle;

static void multiformat_scal_cpu_func(void *buffers[], void *args)
{
	struct point *aos = (struct point *)STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	unsigned int n = STARPU_MULTIFORMAT_GET_NX(buffers[0]), i;

	(void)args;
	STARPU_ASSERT(STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]) == NULL);
	STARPU_ASSERT(STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]) == NULL);
	for (i = 0; i < n; i++)
		aos[i].x *= aos[i].y;
}

static void cuda_to_cpu(void *buffers[], void *arg)
{
	float *src = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	struct point *dst = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	int i, n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	(void)arg;
	for (i = 0; i < n; i++) {
		dst[i].x = src[i];
		dst[i].y = src[i + n];
	}
}

static struct starpu_codelet cuda_to_cpu_cl = {.where = STARPU_CPU,
					       .cpu_funcs = {cuda_to_cpu},
					       .nbuffers = 1,
					       .name = "codelet_cuda_to_cpu"};
static struct starpu_codelet cpu_to_cuda_cl = {
	.where = STARPU_CUDA, .nbuffers = 1, .name = "codelet_cpu_to_cuda"};

static struct starpu_multiformat_data_interface_ops format_ops = {
	.cuda_elemsize = 2 * sizeof(float),
	.cpu_to_cuda_cl = &cpu_to_cuda_cl,
	.cuda_to_cpu_cl = &cuda_to_cpu_cl,
	.cpu_elemsize = 2 * sizeof(float),
};

static struct starpu_codelet cl = {.where = STARPU_CPU,
				   .cpu_funcs = {multiformat_scal_cpu_func},
				   .nbuffers = 1,
				   .modes = {STARPU_RW}};

int main(void)
{
	int i, ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	for (i = 0; i < N_ELEMENTS; i++) {
		array_of_structs[i].x = 1 + i;
		array_of_structs[i].y = 42;
	}
	starpu_multiformat_data_register(&array_of_structs_handle, STARPU_MAIN_RAM,
					 &array_of_structs, N_ELEMENTS, &format_ops);
	STARPU_ASSERT(starpu_data_get_interface_id(array_of_structs_handle) ==
		      STARPU_MULTIFORMAT_INTERFACE_ID);
	for (i = 0; i < 2; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &cl;
		task->synchronous = 1;
		task->handles[0] = array_of_structs_handle;
		ret = starpu_task_submit(task);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	starpu_data_unregister(array_of_structs_handle);
	starpu_shutdown();
	for (i = 0; i < N_ELEMENTS; i++)
		if (array_of_structs[i].x != (1 + i) * 42.0f * 42.0f)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
