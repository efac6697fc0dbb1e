/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A block, cut along each axis in turn, into planes and to single elements. */
#include <starpu.h>
#include <stdio.h>

#define NX     6
#define NY     5
#define NZ     4
#define PIECES 2

static int block[NX * NY * NZ];

static void block_func(void *buffers[], void *cl_arg)
{
	int i, j, k, factor = *(int *)cl_arg;
	int *b = (int *)STARPU_BLOCK_GET_PTR(buffers[0]);
	int nx = (int)STARPU_BLOCK_GET_NX(buffers[0]);
	int ny = (int)STARPU_BLOCK_GET_NY(buffers[0]);
	int nz = (int)STARPU_BLOCK_GET_NZ(buffers[0]);
	unsigned ldy = STARPU_BLOCK_GET_LDY(buffers[0]);
	unsigned ldz = STARPU_BLOCK_GET_LDZ(buffers[0]);

	for (k = 0; k < nz; k++)
		for (j = 0; j < ny; j++)
			for (i = 0; i < nx; i++)
				b[(k * ldz) + (j * ldy) + i] += factor;
}

static void plane_func(void *buffers[], void *cl_arg)
{
	int factor = *(int *)cl_arg, *m = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);
	unsigned i, j;

	for (j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			m[j * STARPU_MATRIX_GET_LD(buffers[0]) + i] += factor;
}

static void element_func(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1000;
}

static struct starpu_codelet cl = {.cpu_funcs = {block_func},
				   .nbuffers = 1,
				   .modes = {STARPU_RW},
				   .name = "block"},
			     plane_cl = {.cpu_funcs = {plane_func},
					 .nbuffers = 1,
					 .modes = {STARPU_RW}},
			     element_cl = {.cpu_funcs = {element_func},
					   .nbuffers = 1,
					   .modes = {STARPU_RW}};

static void run(starpu_data_handle_t handle, struct starpu_data_filter *f,
		struct starpu_codelet *codelet)
{
	int i, n, ret;

	starpu_data_partition(handle, f);
	n = starpu_data_get_nb_children(handle);
	for (i = 0; i < n; i++) {
		int *multiplier = malloc(sizeof(*multiplier));
		struct starpu_task *task = starpu_task_create();

		*multiplier = i + 1;
		task->cl = codelet;
		task->cl_arg = multiplier;
		task->cl_arg_size = sizeof(*multiplier);
		task->cl_arg_free = 1;
		task->handles[0] = starpu_data_get_sub_data(handle, 1, i);
		ret = starpu_task_submit(task);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	starpu_data_unpartition(handle, STARPU_MAIN_RAM);
}

int main(void)
{
	starpu_data_handle_t handle;
	uint32_t pos[3] = {1, 2, 3};
	int x, y, z, bad = 0, ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)block, NX,
				   NX * NY, NX, NY, NZ, sizeof(int));
	struct starpu_data_filter fx = {.filter_func = starpu_block_filter_block,
					.nchildren = PIECES};
	struct starpu_data_filter fy = {.filter_func = starpu_block_filter_vertical_block,
					.nchildren = PIECES};
	struct starpu_data_filter fz = {.filter_func = starpu_block_filter_depth_block,
					.nchildren = PIECES};
	struct starpu_data_filter planes = {
		.filter_func = starpu_block_filter_pick_matrix_z,
		.nchildren = NZ,
		.get_child_ops = starpu_block_filter_pick_matrix_child_ops};
	struct starpu_data_filter element = {
		.filter_func = starpu_block_filter_pick_variable,
		.nchildren = 1,
		.get_child_ops = starpu_block_filter_pick_variable_child_ops,
		.filter_arg_ptr = pos};
	run(handle, &fx, &cl);
	run(handle, &fy, &cl);
	run(handle, &fz, &cl);
	run(handle, &planes, &plane_cl);
	run(handle, &element, &element_cl);
	starpu_data_unregister(handle);
	starpu_shutdown();
	for (z = 0; z < NZ; z++)
		for (y = 0; y < NY; y++)
			for (x = 0; x < NX; x++) {
				int expected =
					1 + x / 3 + 1 + (y > 2) + 1 + z / 2 + z + 1;

				if (x == 1 && y == 2 && z == 3)
					expected += 1000;
				if (block[(z * NY + y) * NX + x] != expected)
					bad++;
			}
	if (bad)
		fprintf(stderr, "%d elements are wrong\n", bad);
	return bad != 0;
}
