/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * y = A x with a sparse matrix: A is cut into bands of rows, a CSR matrix each, and each
 * band is multiplied by a task.  A is the 1-dimensional Laplacian: 2 on the diagonal, -1
 * beside it, so that A x is 0 for x = 1, 2, 3, ... but for the last element.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { N = 1200, BANDS = 4, ROWS = N / BANDS };

struct band {
	uint32_t nnz, colind[3 * ROWS], rowptr[ROWS + 1];
	double values[3 * ROWS];
	starpu_data_handle_t a, y;
};

static void spmv_cpu(void *buffers[], void *arg)
{
	const double *values = (const double *)STARPU_CSR_GET_NZVAL(buffers[0]);
	const uint32_t *colind = STARPU_CSR_GET_COLIND(buffers[0]);
	const uint32_t *rowptr = STARPU_CSR_GET_ROWPTR(buffers[0]);
	const double *x = (const double *)STARPU_VECTOR_GET_PTR(buffers[1]);
	double *y = (double *)STARPU_VECTOR_GET_PTR(buffers[2]);

	(void)arg;
	for (uint32_t row = 0; row < STARPU_CSR_GET_NROW(buffers[0]); row++) {
		y[row] = 0;
		for (uint32_t i = rowptr[row]; i < rowptr[row + 1]; i++)
			y[row] += values[i] * x[colind[i]];
	}
}

static struct starpu_codelet spmv = {.cpu_funcs = {spmv_cpu},
				     .nbuffers = 3,
				     .modes = {STARPU_R, STARPU_R, STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "spmv"};

static void fill_band(struct band *band, int first_row)
{
	for (int row = 0; row < ROWS; row++) {
		band->rowptr[row] = band->nnz;
		for (int column = first_row + row - 1; column <= first_row + row + 1;
		     column++) {
			if (column < 0 || column >= N)
				continue;
			band->colind[band->nnz] = (uint32_t)column;
			band->values[band->nnz++] = column == first_row + row ? 2 : -1;
		}
	}
	band->rowptr[ROWS] = band->nnz;
}

static int check(const double *y)
{
	int wrong = 0;

	for (int i = 0; i < N; i++)
		wrong += y[i] != (i == N - 1 ? N + 1 : 0);
	printf("%d of %d elements are wrong\n", wrong, N);
	return wrong != 0;
}

int main(void)
{
	static struct band bands[BANDS];
	static double x[N], y[N];
	starpu_data_handle_t x_handle;

	if (starpu_init(NULL) != 0)
		return 77;
	for (int i = 0; i < N; i++)
		x[i] = i + 1;
	starpu_vector_data_register(&x_handle, STARPU_MAIN_RAM, (uintptr_t)x, N,
				    sizeof(*x));
	for (int i = 0; i < BANDS; i++) {
		struct band *band = &bands[i];

		fill_band(band, i * ROWS);
		starpu_csr_data_register(&band->a, STARPU_MAIN_RAM, band->nnz, ROWS,
					 (uintptr_t)band->values, band->colind,
					 band->rowptr, 0, sizeof(*band->values));
		starpu_vector_data_register(&band->y, STARPU_MAIN_RAM,
					    (uintptr_t)(y + i * ROWS), ROWS, sizeof(*y));
		starpu_task_insert(&spmv, STARPU_R, band->a, STARPU_R, x_handle, STARPU_W,
				   band->y, 0);
	}
	for (int i = 0; i < BANDS; i++) {
		starpu_data_unregister(bands[i].a);
		starpu_data_unregister(bands[i].y);
	}
	starpu_data_unregister(x_handle);
	starpu_shutdown();
	return check(y);
}
