/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A matrix of blocks (BCSR) times a vector: a task for each block. */
#include <starpu.h>
#include <stdio.h>

#define R     2
#define C     3
#define NROWS 4
#define NCOLS 3

static void block_spmv(void *buffers[], void *cl_arg)
{
	float *block = (float *)STARPU_MATRIX_GET_PTR(buffers[0]);
	float *in = (float *)STARPU_VECTOR_GET_PTR(buffers[1]);
	float *out = (float *)STARPU_VECTOR_GET_PTR(buffers[2]);
	unsigned dx = STARPU_MATRIX_GET_NX(buffers[0]),
		 dy = STARPU_MATRIX_GET_NY(buffers[0]);
	unsigned ld = STARPU_MATRIX_GET_LD(buffers[0]), i, j;

	(void)cl_arg;
	STARPU_ASSERT(dx == C && dy == R);
	for (i = 0; i < dx; i++)
		for (j = 0; j < dy; j++)
			out[j] += block[j * ld + i] * in[i];
}

static struct starpu_codelet cl = {.cpu_funcs = {block_spmv},
				   .nbuffers = 3,
				   .modes = {STARPU_R, STARPU_R, STARPU_RW}};

int main(void)
{
	/* blocks (0,0) (0,2) (1,1) (3,0) (3,1) */
	uint32_t colind[5] = {0, 2, 1, 0, 1}, rowptr[NROWS + 1] = {0, 2, 3, 3, 5};
	float nzval[5 * R * C], in[NCOLS * C], out[NROWS * R] = {0},
							   expected[NROWS * R] = {0};
	starpu_data_handle_t sparse, vin, vout;
	unsigned row, k, i, j;
	int bad = 0;

	if (starpu_init(NULL) != 0)
		return 77;
	for (i = 0; i < 5 * R * C; i++)
		nzval[i] = (float)(i + 1);
	for (i = 0; i < NCOLS * C; i++)
		in[i] = (float)(2 * i + 1);
	starpu_bcsr_data_register(&sparse, STARPU_MAIN_RAM, 5, NROWS, (uintptr_t)nzval,
				  colind, rowptr, 0, R, C, sizeof(float));
	starpu_vector_data_register(&vin, STARPU_MAIN_RAM, (uintptr_t)in, NCOLS * C,
				    sizeof(float));
	starpu_vector_data_register(&vout, STARPU_MAIN_RAM, (uintptr_t)out, NROWS * R,
				    sizeof(float));
	/* partition into a list of blocks */
	struct starpu_data_filter bcsr_f = {
		.filter_func = starpu_bcsr_filter_canonical_block,
		.get_nchildren = starpu_bcsr_filter_canonical_block_get_nchildren,
		.get_child_ops = starpu_bcsr_filter_canonical_block_child_ops};
	struct starpu_data_filter in_f = {.filter_func = starpu_vector_filter_block,
					  .nchildren = NCOLS};
	struct starpu_data_filter out_f = {.filter_func = starpu_vector_filter_block,
					   .nchildren = NROWS};
	starpu_data_partition(sparse, &bcsr_f);
	starpu_data_partition(vin, &in_f);
	starpu_data_partition(vout, &out_f);
	STARPU_ASSERT(starpu_data_get_nb_children(sparse) == 5);
	for (row = 0; row < NROWS; row++)
		for (k = rowptr[row]; k < rowptr[row + 1]; k++) {
			int ret = starpu_task_insert(
				&cl, STARPU_R, starpu_data_get_sub_data(sparse, 1, k),
				STARPU_R, starpu_data_get_sub_data(vin, 1, colind[k]),
				STARPU_RW, starpu_data_get_sub_data(vout, 1, row), 0);

			STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
			for (i = 0; i < C; i++)
				for (j = 0; j < R; j++)
					expected[row * R + j] +=
						nzval[(k * R + j) * C + i] *
						in[colind[k] * C + i];
		}
	starpu_data_unpartition(sparse, STARPU_MAIN_RAM);
	starpu_data_unpartition(vin, STARPU_MAIN_RAM);
	starpu_data_unpartition(vout, STARPU_MAIN_RAM);
	starpu_data_unregister(sparse);
	starpu_data_unregister(vin);
	starpu_data_unregister(vout);
	starpu_shutdown();
	for (i = 0; i < NROWS * R; i++)
		bad += out[i] != expected[i];
	return bad != 0;
}
