/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Buffers given to data that had none, and accessors of each interface. */
#include <starpu.h>
#include <stdio.h>

#define N 24

static void set_cpu(void *buffers[], void *arg)
{
	int *to[4], i, base = *(int *)arg;

	to[0] = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	to[1] = (int *)STARPU_VECTOR_GET_PTR(buffers[1]);
	to[2] = (int *)STARPU_MATRIX_GET_PTR(buffers[2]);
	to[3] = (int *)STARPU_BLOCK_GET_PTR(buffers[3]);
	*to[0] = base;
	for (i = 0; i < (int)STARPU_VECTOR_GET_NX(buffers[1]); i++)
		to[1][i] = base + i;
	for (i = 0; i < (int)STARPU_MATRIX_GET_NY(buffers[2]); i++)
		to[2][i * STARPU_MATRIX_GET_LD(buffers[2])] = base + i;
	for (i = 0; i < (int)STARPU_BLOCK_GET_NZ(buffers[3]); i++)
		to[3][i * STARPU_BLOCK_GET_LDZ(buffers[3])] = base + i;
	STARPU_ASSERT(STARPU_VECTOR_GET_OFFSET(buffers[1]) == 0);
	STARPU_ASSERT(STARPU_VECTOR_GET_DEV_HANDLE(buffers[1]) ==
		      STARPU_VECTOR_GET_PTR(buffers[1]));
	STARPU_ASSERT(STARPU_VECTOR_GET_ELEMSIZE(buffers[1]) == sizeof(int));
	STARPU_ASSERT(STARPU_VECTOR_GET_SLICE_BASE(buffers[1]) == 0);
	STARPU_ASSERT(STARPU_VARIABLE_GET_ELEMSIZE(buffers[0]) == sizeof(int));
	STARPU_ASSERT(STARPU_BLOCK_GET_LDY(buffers[3]) >=
		      STARPU_BLOCK_GET_NX(buffers[3]));
}

static struct starpu_codelet cl = {
	.cpu_funcs = {set_cpu},
	.nbuffers = 4,
	.modes = {STARPU_W, STARPU_W, STARPU_W, STARPU_W},
};

int main(void)
{
	starpu_data_handle_t variable, vector, matrix, block, tensor, ndim;
	int x, v[N] = {0}, m[N] = {0}, b[N] = {0}, t[N], n[N], base = 5, i, bad = 0;
	uint32_t nn[2] = {2, 3}, ldn[2] = {1, 4};

	if (starpu_init(NULL) != 0)
		return 77;
	starpu_variable_data_register(&variable, -1, 0, sizeof(int));
	starpu_vector_data_register(&vector, -1, 0, N, sizeof(int));
	starpu_matrix_data_register(&matrix, -1, 0, 2, 2, 3, sizeof(int));
	starpu_block_data_register(&block, -1, 0, 2, 4, 2, 2, 3, sizeof(int));
	starpu_tensor_data_register(&tensor, -1, 0, 1, 1, 1, 1, 1, 1, 2, sizeof(int));
	starpu_ndim_data_register(&ndim, -1, 0, NULL, nn, 2, sizeof(int));
	STARPU_ASSERT(!starpu_data_test_if_allocated_on_node(vector, STARPU_MAIN_RAM));
	STARPU_ASSERT(!starpu_data_handle_to_pointer(vector, STARPU_MAIN_RAM));
	starpu_variable_ptr_register(variable, STARPU_MAIN_RAM, (uintptr_t)&x,
				     (uintptr_t)&x, 0);
	starpu_vector_ptr_register(vector, STARPU_MAIN_RAM, (uintptr_t)v, (uintptr_t)v,
				   0);
	starpu_matrix_ptr_register(matrix, STARPU_MAIN_RAM, (uintptr_t)m, (uintptr_t)m, 0,
				   5);
	starpu_block_ptr_register(block, STARPU_MAIN_RAM, (uintptr_t)b, (uintptr_t)b, 0,
				  3, 7);
	starpu_tensor_ptr_register(tensor, STARPU_MAIN_RAM, (uintptr_t)t, (uintptr_t)t, 0,
				   2, 4, 8);
	starpu_ndim_ptr_register(ndim, STARPU_MAIN_RAM, (uintptr_t)n, (uintptr_t)n, 0,
				 ldn);
	STARPU_ASSERT(starpu_data_test_if_allocated_on_node(vector, STARPU_MAIN_RAM));
	STARPU_ASSERT(starpu_vector_get_local_ptr(vector) == (uintptr_t)v);
	STARPU_ASSERT(starpu_matrix_get_local_ld(matrix) == 5);
	STARPU_ASSERT(starpu_block_get_local_ldz(block) == 7);
	STARPU_ASSERT(starpu_tensor_get_local_ldt(tensor) == 8);
	STARPU_ASSERT(starpu_ndim_get_local_ldi(ndim, 1) == 4);
	STARPU_ASSERT(starpu_ndim_get_ndim(ndim) == 2 &&
		      starpu_ndim_get_ni(ndim, 1) == 3);
	int ret = starpu_task_insert(&cl, STARPU_W, variable, STARPU_W, vector, STARPU_W,
				     matrix, STARPU_W, block, STARPU_CL_ARGS_NFREE, &base,
				     sizeof(base), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	starpu_data_unregister(variable);
	starpu_data_unregister(vector);
	starpu_data_unregister(matrix);
	starpu_data_unregister(block);
	starpu_data_unregister(tensor);
	starpu_data_unregister(ndim);
	starpu_shutdown();
	bad += x != 5;
	for (i = 0; i < N; i++)
		bad += v[i] != 5 + i;
	for (i = 0; i < 3; i++)
		bad += m[5 * i] != 5 + i || b[7 * i] != 5 + i;
	return bad != 0;
}
