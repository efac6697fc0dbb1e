/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A sparse matrix (CSR) times a vector, by rows. */
#include <starpu.h>
#include <stdio.h>

#define SIZE    50
#define NBLOCKS 4

static void spmv_kernel_cpu(void *descr[], void *arg)
{
	(void)arg;
	float *val = (float *)STARPU_CSR_GET_NZVAL(descr[0]);
	uint32_t *colind = STARPU_CSR_GET_COLIND(descr[0]);
	uint32_t *rowptr = STARPU_CSR_GET_ROWPTR(descr[0]);
	uint32_t nrow = STARPU_CSR_GET_NROW(descr[0]);
	uint32_t firstelem = STARPU_CSR_GET_FIRSTENTRY(descr[0]);
	float *vecin = (float *)STARPU_VECTOR_GET_PTR(descr[1]);
	float *vecout = (float *)STARPU_VECTOR_GET_PTR(descr[2]);
	uint32_t row, index;

	STARPU_ASSERT(nrow == STARPU_VECTOR_GET_NX(descr[2]));
	for (row = 0; row < nrow; row++) {
		float tmp = 0.0f;
		uint32_t firstindex = rowptr[row] - firstelem;
		uint32_t lastindex = rowptr[row + 1] - firstelem;

		for (index = firstindex; index < lastindex; index++)
			tmp += val[index] * vecin[colind[index]];
		vecout[row] = tmp;
	}
}

static struct starpu_codelet spmv_cl = {
	.cpu_funcs = {spmv_kernel_cpu},
	.cpu_funcs_name = {"spmv_kernel_cpu"},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_W},
};

static void three_bands(float *nzval, uint32_t *colind, uint32_t *rowptr,
			float *vector_in)
{
	uint32_t row, pos = 0;

	/* a three-band matrix */
	for (row = 0; row < SIZE; row++) {
		rowptr[row] = pos;
		if (row > 0) {
			nzval[pos] = 1.0f;
			colind[pos] = row - 1;
			pos++;
		}
		nzval[pos] = 5.0f;
		colind[pos] = row;
		pos++;
		if (row < SIZE - 1) {
			nzval[pos] = 1.0f;
			colind[pos] = row + 1;
			pos++;
		}
		vector_in[row] = (float)row;
	}
	rowptr[SIZE] = pos;
}

int main(void)
{
	uint32_t nnz = 3 * SIZE - 2, *colind, *rowptr, row;
	float *nzval, vector_in[SIZE], vector_out[SIZE];
	starpu_data_handle_t sparse_matrix, vin, vout;
	unsigned part;
	int ret = starpu_init(NULL), bad = 0;

	if (ret == -ENODEV)
		return 77;
	starpu_malloc((void **)&nzval, nnz * sizeof(float));
	starpu_malloc((void **)&colind, nnz * sizeof(uint32_t));
	starpu_malloc((void **)&rowptr, (SIZE + 1) * sizeof(uint32_t));
	three_bands(nzval, colind, rowptr, vector_in);
	starpu_csr_data_register(&sparse_matrix, STARPU_MAIN_RAM, nnz, SIZE,
				 (uintptr_t)nzval, colind, rowptr, 0, sizeof(float));
	starpu_vector_data_register(&vin, STARPU_MAIN_RAM, (uintptr_t)vector_in, SIZE,
				    sizeof(float));
	starpu_vector_data_register(&vout, STARPU_MAIN_RAM, (uintptr_t)vector_out, SIZE,
				    sizeof(float));
	struct starpu_data_filter csr_f = {
		.filter_func = starpu_csr_filter_vertical_block, .nchildren = NBLOCKS};
	struct starpu_data_filter vector_f = {.filter_func = starpu_vector_filter_block,
					      .nchildren = NBLOCKS};
	starpu_data_partition(sparse_matrix, &csr_f);
	starpu_data_partition(vout, &vector_f);
	for (part = 0; part < NBLOCKS; part++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &spmv_cl;
		task->handles[0] = starpu_data_get_sub_data(sparse_matrix, 1, part);
		task->handles[1] = vin;
		task->handles[2] = starpu_data_get_sub_data(vout, 1, part);
		ret = starpu_task_submit(task);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
	}
	starpu_task_wait_for_all();
	starpu_data_unpartition(sparse_matrix, STARPU_MAIN_RAM);
	starpu_data_unpartition(vout, STARPU_MAIN_RAM);
	starpu_data_unregister(sparse_matrix);
	starpu_data_unregister(vin);
	starpu_data_unregister(vout);
	for (row = 0; row < SIZE; row++) {
		float expected = 5.0f * row + (row > 0 ? row - 1 : 0) +
				 (row < SIZE - 1 ? row + 1 : 0);

		bad += vector_out[row] != expected;
	}
	starpu_free_noflag(nzval, nnz * sizeof(float));
	starpu_free_noflag(colind, nnz * sizeof(uint32_t));
	starpu_free_noflag(rowptr, (SIZE + 1) * sizeof(uint32_t));
	starpu_shutdown();
	return bad != 0;
}
