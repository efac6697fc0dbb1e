/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A matrix as columns and as rows, in turn and for reading at once: by hand, then by
 * itself. */
#include <starpu.h>
#include <stdio.h>

#define NX    6
#define NY    6
#define PARTS 2

static int matrix[NX * NY];

static void fill(void *buffers[], void *cl_arg)
{
	unsigned i, j, ld = STARPU_MATRIX_GET_LD(buffers[0]);
	int *val = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);

	(void)cl_arg;
	for (j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			val[(j * ld) + i] = i + 100 * j;
}

static void fmultiple_check_scale(void *buffers[], void *cl_arg)
{
	int start, factor;
	unsigned i, j, ld = STARPU_MATRIX_GET_LD(buffers[0]);
	int *val = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);

	starpu_codelet_unpack_args(cl_arg, &start, &factor);
	for (j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++) {
			STARPU_ASSERT(val[(j * ld) + i] ==
				      start + factor * (int)(i + 100 * j));
			val[(j * ld) + i] *= 2;
		}
}

static void fmultiple_check(void *buffers[], void *cl_arg)
{
	int start, factor;
	unsigned i, j, ld = STARPU_MATRIX_GET_LD(buffers[0]);
	int *val = (int *)STARPU_MATRIX_GET_PTR(buffers[0]);

	starpu_codelet_unpack_args(cl_arg, &start, &factor);
	for (j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			STARPU_ASSERT(val[(j * ld) + i] ==
				      start + factor * (int)(i + 100 * j));
}

static struct starpu_codelet cl_fill = {.cpu_funcs = {fill},
					.cpu_funcs_name = {"fill"},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.name = "matrix_fill"};
static struct starpu_codelet cl_check_scale = {.cpu_funcs = {fmultiple_check_scale},
					       .nbuffers = 1,
					       .modes = {STARPU_RW},
					       .name = "fmultiple_check_scale"};
static struct starpu_codelet cl_check = {.cpu_funcs = {fmultiple_check},
					 .nbuffers = 1,
					 .modes = {STARPU_R},
					 .name = "fmultiple_check"};

static void parts(struct starpu_codelet *cl, enum starpu_data_access_mode mode,
		  starpu_data_handle_t *handles, int factor, int step)
{
	int i, ret;

	for (i = 0; i < PARTS; i++) {
		int start = factor * i * step;

		ret = starpu_task_insert(cl, mode, handles[i], STARPU_VALUE, &start,
					 sizeof(start), STARPU_VALUE, &factor,
					 sizeof(factor), 0);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	}
}

int main(void)
{
	starpu_data_handle_t handle, vert[PARTS], horiz[PARTS];
	int i, j, ret = starpu_init(NULL), zero = 0, one = 64;

	if (ret == -ENODEV)
		return 77;
	starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)matrix, NX, NX,
				    NY, sizeof(matrix[0]));
	struct starpu_data_filter f_vert = {
		.filter_func = starpu_matrix_filter_vertical_block, .nchildren = PARTS};
	struct starpu_data_filter f_horiz = {.filter_func = starpu_matrix_filter_block,
					     .nchildren = PARTS};
	starpu_data_partition_plan(handle, &f_vert, vert);
	starpu_data_partition_plan(handle, &f_horiz, horiz);
	ret = starpu_task_insert(&cl_fill, STARPU_W, handle, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	/* by hand */
	starpu_data_partition_submit(handle, PARTS, vert);
	parts(&cl_check_scale, STARPU_RW, vert, 1, 100 * NY / PARTS);
	starpu_data_unpartition_submit(handle, PARTS, vert, -1);
	starpu_data_partition_readonly_submit(handle, PARTS, horiz);
	starpu_data_partition_readonly_submit(handle, PARTS, vert);
	parts(&cl_check, STARPU_R, horiz, 2, NX / PARTS);
	parts(&cl_check, STARPU_R, vert, 2, 100 * NY / PARTS);
	starpu_data_partition_readwrite_upgrade_submit(handle, PARTS, horiz);
	parts(&cl_check_scale, STARPU_RW, horiz, 2, NX / PARTS);
	starpu_data_partition_readonly_downgrade_submit(handle, PARTS, horiz);
	parts(&cl_check, STARPU_R, horiz, 4, NX / PARTS);
	starpu_data_unpartition_submit(handle, PARTS, horiz, STARPU_MAIN_RAM);
	/* by hand alone */
	cl_check_scale.flags = STARPU_CODELET_NOPLANS;
	starpu_data_partition_submit(handle, PARTS, vert);
	parts(&cl_check_scale, STARPU_RW, vert, 4, 100 * NY / PARTS);
	starpu_data_unpartition_submit(handle, PARTS, vert, -1);
	/* by itself */
	cl_check_scale.flags = 0;
	parts(&cl_check_scale, STARPU_RW, vert, 8, 100 * NY / PARTS);
	parts(&cl_check_scale, STARPU_RW, horiz, 16, NX / PARTS);
	parts(&cl_check_scale, STARPU_RW, vert, 32, 100 * NY / PARTS);
	parts(&cl_check, STARPU_R, horiz, 64, NX / PARTS);
	ret = starpu_task_insert(&cl_check, STARPU_R, handle, STARPU_VALUE, &zero,
				 sizeof(zero), STARPU_VALUE, &one, sizeof(one), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	starpu_data_partition_clean(handle, PARTS, vert);
	starpu_data_partition_clean(handle, PARTS, horiz);
	starpu_data_unregister(handle);
	starpu_shutdown();
	for (j = 0; j < NY; j++)
		for (i = 0; i < NX; i++)
			if (matrix[j * NX + i] != 64 * (i + 100 * j))
				return 1;
	return 0;
}
