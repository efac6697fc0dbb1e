/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A vector is cut into parts, then a block of three dimensions; a task for each part. */
#include <stdio.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

enum { N = 1000, NX = 6, NY = 4, NZ = 10, PARTS = 5 };

static void fill_vector(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = value;
}

/* The planes of a part are as far apart as those of the whole. */
static void fill_block(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_BLOCK_GET_PTR(buffers[0]), value;
	unsigned nx = STARPU_BLOCK_GET_NX(buffers[0]),
		 ny = STARPU_BLOCK_GET_NY(buffers[0]);
	unsigned ldy = STARPU_BLOCK_GET_LDY(buffers[0]);
	unsigned ldz = STARPU_BLOCK_GET_LDZ(buffers[0]);

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned k = 0; k < STARPU_BLOCK_GET_NZ(buffers[0]); k++)
		for (unsigned j = 0; j < ny; j++)
			for (unsigned i = 0; i < nx; i++)
				x[k * ldz + j * ldy + i] = value;
}

#define CODELET(function)                                                                \
	{                                                                                \
		.cpu_funcs = {function}, .nbuffers = 1, .modes = {STARPU_W},             \
		.model = &starpu_perfmodel_nop, .name = #function                        \
	}
static struct starpu_codelet vector_codelet = CODELET(fill_vector);
static struct starpu_codelet block_codelet = CODELET(fill_block);

/* Each part gets its number. */
static void fill_parts(starpu_data_handle_t whole, struct starpu_data_filter *filter,
		       struct starpu_codelet *codelet)
{
	starpu_data_partition(whole, filter);
	for (int i = 0; i < starpu_data_get_nb_children(whole); i++)
		starpu_task_insert(codelet, STARPU_W,
				   starpu_data_get_sub_data(whole, 1, i), STARPU_VALUE,
				   &i, sizeof i, 0);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM); /* waits for the tasks */
}

int main(void)
{
	struct starpu_data_filter by_blocks = {.filter_func = starpu_vector_filter_block,
					       .nchildren = PARTS};
	struct starpu_data_filter by_depth = {
		.filter_func = starpu_block_filter_depth_block, .nchildren = PARTS};
	int vector[N], block[NZ][NY][NX], executes, wrong = 0;
	starpu_data_handle_t handle;

	if (starpu_init(NULL))
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)vector, N,
				    sizeof vector[0]);
	fill_parts(handle, &by_blocks, &vector_codelet);
	starpu_data_unregister(handle);
	starpu_block_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)block, NX,
				   NX * NY, NX, NY, NZ, sizeof block[0][0][0]);
	fill_parts(handle, &by_depth, &block_codelet);
	starpu_data_unregister(handle);
	for (int i = 0; executes && i < N; i++)
		wrong += vector[i] != i / (N / PARTS);
	for (int k = 0; executes && k < NZ; k++)
		wrong += block[k][NY - 1][NX - 1] != k / (NZ / PARTS);
	printf("filters: %d values are wrong\n", wrong);
	starpu_shutdown();
	return wrong != 0;
}
