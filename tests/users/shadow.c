/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Blocks with shadows: a vector with periodic borders is copied block by block. */
#include <starpu.h>
#include <stdio.h>

#define NX     30
#define PARTS  5
#define SHADOW 2

static void cpu_copy(void *buffers[], void *cl_arg)
{
	unsigned i;
	(void)cl_arg;
	/* length of the shadowed source vector */
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
	int *val = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	/* length of the destination vector */
	unsigned n2 = STARPU_VECTOR_GET_NX(buffers[1]);
	int *val2 = (int *)STARPU_VECTOR_GET_PTR(buffers[1]);

	STARPU_ASSERT(n == n2 + 2 * SHADOW);
	for (i = 0; i < n2; i++)
		val2[i] = val[i] + val[i + SHADOW] + val[i + 2 * SHADOW];
}

static struct starpu_codelet cl = {
	.cpu_funcs = {cpu_copy},
	.cpu_funcs_name = {"cpu_copy"},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_W},
	.name = "shadow",
};

int main(void)
{
	int vector[NX + 2 * SHADOW], vector2[NX];
	starpu_data_handle_t handle, handle2;
	unsigned i;
	int ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	for (i = 0; i < NX; i++)
		vector[SHADOW + i] = i;
	for (i = 0; i < SHADOW; i++) {
		vector[i] = vector[i + NX];
		vector[SHADOW + NX + i] = vector[SHADOW + i];
	}
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)vector,
				    NX + 2 * SHADOW, sizeof(vector[0]));
	starpu_vector_data_register(&handle2, STARPU_MAIN_RAM, (uintptr_t)vector2, NX,
				    sizeof(vector[0]));
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block_shadow,
				       .nchildren = PARTS,
				       .filter_arg_ptr = (void *)(uintptr_t)SHADOW};
	starpu_data_partition(handle, &f);
	struct starpu_data_filter f2 = {.filter_func = starpu_vector_filter_block,
					.nchildren = PARTS};
	starpu_data_partition(handle2, &f2);
	for (i = 0; i < PARTS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->handles[0] = starpu_data_get_sub_data(handle, 1, i);
		task->handles[1] = starpu_data_get_sub_data(handle2, 1, i);
		task->cl = &cl;
		task->synchronous = 1;
		ret = starpu_task_submit(task);
		if (ret == -ENODEV)
			return 77;
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	starpu_data_unpartition(handle2, STARPU_MAIN_RAM);
	starpu_data_unregister(handle);
	starpu_data_unregister(handle2);
	starpu_shutdown();
	for (i = 0; i < NX; i++) {
		int expected = (int)((i + NX - SHADOW) % NX + i + (i + SHADOW) % NX);

		if (vector2[i] != expected) {
			fprintf(stderr, "[%u] %d != %d\n", i, vector2[i], expected);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
