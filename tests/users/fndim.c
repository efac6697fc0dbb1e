/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* An array of four dimensions as tensors, blocks, matrices, vectors and variables. */
#include <starpu.h>
#include <stdio.h>

#define NX 4
#define NY 3
#define NZ 5
#define NT 6

static int arr[NX * NY * NZ * NT];

static void arr4d_cpu_func(void *buffers[], void *cl_arg)
{
	int factor = *(int *)cl_arg, i, j, k, l;
	int *a = (int *)STARPU_NDIM_GET_PTR(buffers[0]);
	int *nn = (int *)STARPU_NDIM_GET_NN(buffers[0]);
	unsigned *ldn = STARPU_NDIM_GET_LDN(buffers[0]);
	int nx = nn[0], ny = nn[1], nz = nn[2], nt = nn[3];

	STARPU_ASSERT(STARPU_NDIM_GET_NDIM(buffers[0]) == 4);
	for (l = 0; l < nt; l++)
		for (k = 0; k < nz; k++)
			for (j = 0; j < ny; j++)
				for (i = 0; i < nx; i++)
					a[(l * ldn[3]) + (k * ldn[2]) + (j * ldn[1]) +
					  i] *= factor;
}

static void tensor_cpu_func(void *buffers[], void *cl_arg)
{
	int *t = (int *)STARPU_TENSOR_GET_PTR(buffers[0]), add = *(int *)cl_arg;
	unsigned i, j, k, l;

	for (l = 0; l < STARPU_TENSOR_GET_NT(buffers[0]); l++)
		for (k = 0; k < STARPU_TENSOR_GET_NZ(buffers[0]); k++)
			for (j = 0; j < STARPU_TENSOR_GET_NY(buffers[0]); j++)
				for (i = 0; i < STARPU_TENSOR_GET_NX(buffers[0]); i++)
					t[l * STARPU_TENSOR_GET_LDT(buffers[0]) +
					  k * STARPU_TENSOR_GET_LDZ(buffers[0]) +
					  j * STARPU_TENSOR_GET_LDY(buffers[0]) + i] +=
						add;
}

static void block_cpu_func(void *buffers[], void *cl_arg)
{
	int *b = (int *)STARPU_BLOCK_GET_PTR(buffers[0]), add = *(int *)cl_arg;
	unsigned i, j, k;

	for (k = 0; k < STARPU_BLOCK_GET_NZ(buffers[0]); k++)
		for (j = 0; j < STARPU_BLOCK_GET_NY(buffers[0]); j++)
			for (i = 0; i < STARPU_BLOCK_GET_NX(buffers[0]); i++)
				b[k * STARPU_BLOCK_GET_LDZ(buffers[0]) +
				  j * STARPU_BLOCK_GET_LDY(buffers[0]) + i] += add;
}

static void variable_cpu_func(void *buffers[], void *cl_arg)
{
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += *(int *)cl_arg;
}

static struct starpu_codelet
	ndim_cl = {.cpu_funcs = {arr4d_cpu_func}, .nbuffers = 1, .modes = {STARPU_RW}},
	tensor_cl = {.cpu_funcs = {tensor_cpu_func}, .nbuffers = 1, .modes = {STARPU_RW}},
	block_cl = {.cpu_funcs = {block_cpu_func}, .nbuffers = 1, .modes = {STARPU_RW}},
	variable_cl = {
		.cpu_funcs = {variable_cpu_func}, .nbuffers = 1, .modes = {STARPU_RW}};

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle, int value)
{
	int ret = starpu_task_insert(cl, STARPU_RW, handle, STARPU_CL_ARGS_NFREE, &value,
				     sizeof(value), STARPU_TASK_SYNCHRONOUS, 1, 0);

	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
}

static void pick(starpu_data_handle_t handle, int *expected)
{
	uint32_t pos[4] = {1, 2, 3, 4};
	int i;

	/* pick two blocks at T = 3 and 4 */
	starpu_data_handle_t blocks[2];
	struct starpu_data_filter fb = {.filter_func = starpu_ndim_filter_4d_pick_block,
					.filter_arg = 3,
					.filter_arg_ptr = (void *)(uintptr_t)3,
					.nchildren = 2,
					.get_child_ops =
						starpu_ndim_filter_pick_block_child_ops};
	starpu_data_partition_plan(handle, &fb, blocks);
	for (i = 0; i < 2; i++)
		submit(&block_cl, blocks[i], 100);
	starpu_data_partition_clean(handle, 2, blocks);
	for (i = 0; i < NX * NY * NZ * NT; i++)
		if (i / (NX * NY * NZ) == 3 || i / (NX * NY * NZ) == 4)
			expected[i] += 100;
	/* one element */
	struct starpu_data_filter fv = {
		.filter_func = starpu_ndim_filter_pick_variable,
		.filter_arg_ptr = pos,
		.nchildren = 1,
		.get_child_ops = starpu_ndim_filter_pick_variable_child_ops};
	starpu_data_partition(handle, &fv);
	submit(&variable_cl, starpu_data_get_sub_data(handle, 1, 0), 7);
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	expected[1 + NX * (2 + NY * (3 + NZ * 4))] += 7;
}

int main(void)
{
	starpu_data_handle_t handle;
	unsigned nn[4] = {NX, NY, NZ, NT}, ldn[4] = {1, NX, NX * NY, NX * NY * NZ};
	int i, bad = 0, expected[NX * NY * NZ * NT];

	if (starpu_init(NULL) != 0)
		return 77;
	for (i = 0; i < NX * NY * NZ * NT; i++)
		arr[i] = expected[i] = i;
	starpu_ndim_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)arr, ldn, nn, 4,
				  sizeof(int));
	/* Partition the 4-dim array along the T dimension */
	struct starpu_data_filter f = {
		.filter_func = starpu_ndim_filter_block, .filter_arg = 3, .nchildren = 3};
	starpu_data_partition(handle, &f);
	for (i = 0; i < starpu_data_get_nb_children(handle); i++)
		submit(&ndim_cl, starpu_data_get_sub_data(handle, 1, i), i + 2);
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	for (i = 0; i < NX * NY * NZ * NT; i++)
		expected[i] *= 2 + i / (NX * NY * NZ) / 2;
	/* into tensors along Z */
	struct starpu_data_filter ft = {.filter_func = starpu_ndim_filter_to_tensor,
					.filter_arg = 2,
					.nchildren = 2,
					.get_child_ops =
						starpu_ndim_filter_to_tensor_child_ops};
	starpu_data_partition(handle, &ft);
	for (i = 0; i < 2; i++)
		submit(&tensor_cl, starpu_data_get_child(handle, i), 10 * (i + 1));
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
	for (i = 0; i < NX * NY * NZ * NT; i++)
		expected[i] += i / (NX * NY) % NZ < 3 ? 10 : 20;
	pick(handle, expected);
	starpu_data_unregister(handle);
	starpu_shutdown();
	for (i = 0; i < NX * NY * NZ * NT; i++)
		bad += arr[i] != expected[i];
	if (bad)
		fprintf(stderr, "%d elements are wrong\n", bad);
	return bad != 0;
}
