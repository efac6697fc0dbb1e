/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The product of two matrices in tiles, by filters that are mapped. */
#include <starpu.h>
#include <stdio.h>

static unsigned nslicesx = 4, nslicesy = 3, xdim = 22, ydim = 17, zdim = 9;
static float *A, *B, *C;
static starpu_data_handle_t A_handle, B_handle, C_handle;

static void cpu_mult(void *descr[], void *arg)
{
	float *subA = (float *)STARPU_MATRIX_GET_PTR(descr[0]);
	float *subB = (float *)STARPU_MATRIX_GET_PTR(descr[1]);
	float *subC = (float *)STARPU_MATRIX_GET_PTR(descr[2]);
	unsigned nxC = STARPU_MATRIX_GET_NX(descr[2]),
		 nyC = STARPU_MATRIX_GET_NY(descr[2]);
	unsigned nyA = STARPU_MATRIX_GET_NY(descr[0]);
	unsigned ldA = STARPU_MATRIX_GET_LD(descr[0]),
		 ldB = STARPU_MATRIX_GET_LD(descr[1]);
	unsigned ldC = STARPU_MATRIX_GET_LD(descr[2]), i, j, k;

	(void)arg;
	for (i = 0; i < nyC; i++)
		for (j = 0; j < nxC; j++) {
			float sum = 0.0;

			for (k = 0; k < nyA; k++)
				sum += subA[j + k * ldA] * subB[k + i * ldB];
			subC[j + i * ldC] = sum;
		}
}

static struct starpu_perfmodel mult_perf_model = {.type = STARPU_HISTORY_BASED,
						  .symbol = "users_mult"};

static struct starpu_codelet cl = {
	.cpu_funcs = {cpu_mult},
	.cpu_funcs_name = {"cpu_mult"},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_W},
	.model = &mult_perf_model,
};

static void partition_mult_data(void)
{
	starpu_matrix_data_register(&A_handle, STARPU_MAIN_RAM, (uintptr_t)A, ydim, ydim,
				    zdim, sizeof(float));
	starpu_matrix_data_register(&B_handle, STARPU_MAIN_RAM, (uintptr_t)B, zdim, zdim,
				    xdim, sizeof(float));
	starpu_matrix_data_register(&C_handle, STARPU_MAIN_RAM, (uintptr_t)C, ydim, ydim,
				    xdim, sizeof(float));
	struct starpu_data_filter vert;
	memset(&vert, 0, sizeof(vert));
	vert.filter_func = starpu_matrix_filter_vertical_block;
	vert.nchildren = nslicesx;
	struct starpu_data_filter horiz;
	memset(&horiz, 0, sizeof(horiz));
	horiz.filter_func = starpu_matrix_filter_block;
	horiz.nchildren = nslicesy;
	starpu_data_partition(B_handle, &vert);
	starpu_data_partition(A_handle, &horiz);
	/* split into blocks: starpu_data_map_filters is a variable-arity function */
	starpu_data_map_filters(C_handle, 2, &vert, &horiz);
}

int main(void)
{
	unsigned x, y, i, j, k;
	int ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	starpu_malloc((void **)&A, zdim * ydim * sizeof(float));
	starpu_malloc((void **)&B, xdim * zdim * sizeof(float));
	starpu_malloc((void **)&C, xdim * ydim * sizeof(float));
	for (i = 0; i < zdim * ydim; i++)
		A[i] = (float)(i % 7);
	for (i = 0; i < xdim * zdim; i++)
		B[i] = (float)(i % 5);
	partition_mult_data();
	for (x = 0; x < nslicesx; x++)
		for (y = 0; y < nslicesy; y++) {
			struct starpu_task *task = starpu_task_create();

			task->cl = &cl;
			task->handles[0] = starpu_data_get_sub_data(A_handle, 1, y);
			task->handles[1] = starpu_data_get_sub_data(B_handle, 1, x);
			task->handles[2] = starpu_data_get_sub_data(C_handle, 2, x, y);
			ret = starpu_task_submit(task);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
		}
	starpu_task_wait_for_all();
	starpu_data_unpartition(C_handle, STARPU_MAIN_RAM);
	starpu_data_unpartition(B_handle, STARPU_MAIN_RAM);
	starpu_data_unpartition(A_handle, STARPU_MAIN_RAM);
	starpu_data_unregister(A_handle);
	starpu_data_unregister(B_handle);
	starpu_data_unregister(C_handle);
	ret = EXIT_SUCCESS;
	for (i = 0; i < xdim; i++)
		for (j = 0; j < ydim; j++) {
			float sum = 0;

			for (k = 0; k < zdim; k++)
				sum += A[j + k * ydim] * B[k + i * zdim];
			if (sum != C[j + i * ydim])
				ret = EXIT_FAILURE;
		}
	starpu_free_noflag(A, zdim * ydim * sizeof(float));
	starpu_free_noflag(B, xdim * zdim * sizeof(float));
	starpu_free_noflag(C, xdim * ydim * sizeof(float));
	starpu_shutdown();
	return ret;
}
