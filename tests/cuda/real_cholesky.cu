/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Cholesky by tiles on GPUs, with cuBLAS and cuSOLVER, for scripts/check-gpu: A = L L^T,
 * and at the end L (L^T x) is compared with A x for a random x.
 *
 * usage: real_cholesky [ROWS [ROWS-OF-A-TILE]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

enum { MOST_TILES = 64 };

static int nrows = 2048, tile_rows = 256, ntiles;

static const double one = 1, minus_one = -1;
static int work_doubles; /* that the factorisation of a tile wants */

static double *at(void *buffer)
{
	return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static int ld(void *buffer)
{
	return (int)STARPU_MATRIX_GET_LD(buffer);
}

static void check(cublasStatus_t status)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		STARPU_CUBLAS_REPORT_ERROR(status);
}

/* Columns are contiguous: the lower triangle of A, L, is what is read and written. */
static void potrf(void *buffers[], void *)
{
	cusolverStatus_t status = cusolverDnDpotrf(
		starpu_cusolverDn_get_local_handle(), CUBLAS_FILL_MODE_LOWER, tile_rows,
		at(buffers[0]), ld(buffers[0]),
		(double *)STARPU_VECTOR_GET_PTR(buffers[1]), work_doubles,
		(int *)STARPU_VARIABLE_GET_PTR(buffers[2]));

	if (status != CUSOLVER_STATUS_SUCCESS)
		STARPU_CUSOLVER_REPORT_ERROR(status);
}

static void trsm(void *buffers[], void *)
{
	check(cublasDtrsm(starpu_cublas_get_local_handle(), CUBLAS_SIDE_RIGHT,
			  CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
			  tile_rows, tile_rows, &one, at(buffers[0]), ld(buffers[0]),
			  at(buffers[1]), ld(buffers[1])));
}

static void syrk(void *buffers[], void *)
{
	check(cublasDsyrk(starpu_cublas_get_local_handle(), CUBLAS_FILL_MODE_LOWER,
			  CUBLAS_OP_N, tile_rows, tile_rows, &minus_one, at(buffers[0]),
			  ld(buffers[0]), &one, at(buffers[1]), ld(buffers[1])));
}

static void gemm(void *buffers[], void *)
{
	check(cublasDgemm(starpu_cublas_get_local_handle(), CUBLAS_OP_N, CUBLAS_OP_T,
			  tile_rows, tile_rows, tile_rows, &minus_one, at(buffers[0]),
			  ld(buffers[0]), at(buffers[1]), ld(buffers[1]), &one,
			  at(buffers[2]), ld(buffers[2])));
}

static void ask_work(void *)
{
	int n = 0;

	if (cusolverDnDpotrf_bufferSize(starpu_cusolverDn_get_local_handle(),
					CUBLAS_FILL_MODE_LOWER, tile_rows, NULL, nrows,
					&n) != CUSOLVER_STATUS_SUCCESS)
		abort();
	work_doubles = n;
}

static struct starpu_codelet codelet(starpu_cuda_func_t kernel, const char *name, int n)
{
	struct starpu_codelet cl;

	starpu_codelet_init(&cl);
	cl.cuda_funcs[0] = kernel;
	cl.cuda_flags[0] = STARPU_CUDA_ASYNC;
	cl.nbuffers = n;
	for (int i = 0; i < n; i++)
		cl.modes[i] = i == n - 1 ? STARPU_RW : STARPU_R;
	cl.name = name;
	return cl;
}

static double *a, *factor;
static starpu_data_handle_t tiles[MOST_TILES][MOST_TILES], work, info;

static void factorise(void)
{
	struct starpu_codelet panel = codelet(potrf, "potrf", 3),
			      solve = codelet(trsm, "trsm", 2),
			      rank = codelet(syrk, "syrk", 2),
			      update = codelet(gemm, "gemm", 3);

	panel.modes[0] = STARPU_RW;
	panel.modes[1] = panel.modes[2] = STARPU_SCRATCH;
	for (int k = 0; k < ntiles; k++) {
		starpu_task_insert(&panel, STARPU_RW, tiles[k][k], STARPU_SCRATCH, work,
				   STARPU_SCRATCH, info, 0);
		for (int i = k + 1; i < ntiles; i++)
			starpu_task_insert(&solve, STARPU_R, tiles[k][k], STARPU_RW,
					   tiles[i][k], 0);
		for (int i = k + 1; i < ntiles; i++) {
			starpu_task_insert(&rank, STARPU_R, tiles[i][k], STARPU_RW,
					   tiles[i][i], 0);
			for (int j = k + 1; j < i; j++)
				starpu_task_insert(&update, STARPU_R, tiles[i][k],
						   STARPU_R, tiles[j][k], STARPU_RW,
						   tiles[i][j], 0);
		}
	}
	starpu_task_wait_for_all();
}

/* Symmetric, and its diagonal dominates. */
static void fill(void)
{
	for (int j = 0; j < nrows; j++)
		for (int i = j; i < nrows; i++) {
			double value = i == j ? nrows : drand48() - 0.5;

			a[(size_t)j * nrows + i] = a[(size_t)i * nrows + j] = value;
		}
	for (size_t i = 0; i < (size_t)nrows * nrows; i++)
		factor[i] = a[i];
}

static double *zeros(void)
{
	double *values = (double *)calloc(nrows, sizeof(double));

	if (!values)
		abort();
	return values;
}

/* The largest difference, in parts of the largest element of A x. */
static double residual(void)
{
	double *x = zeros(), *y = zeros(), *z = zeros();
	double most = 0, wrong = 0;

	for (int i = 0; i < nrows; i++)
		x[i] = drand48() - 0.5;
	for (int j = 0; j < nrows; j++)
		for (int i = j; i < nrows; i++)
			y[j] += factor[(size_t)j * nrows + i] * x[i];
	for (int j = 0; j < nrows; j++)
		for (int i = j; i < nrows; i++)
			z[i] += factor[(size_t)j * nrows + i] * y[j];
	for (int i = 0; i < nrows; i++) {
		double expected = 0;

		for (int j = 0; j < nrows; j++)
			expected += a[(size_t)j * nrows + i] * x[j];
		most = fmax(most, fabs(expected));
		wrong = fmax(wrong, fabs(expected - z[i]));
	}
	free(x);
	free(y);
	free(z);
	return wrong / most;
}

static void open_tiles(void)
{
	for (int i = 0; i < ntiles; i++)
		for (int j = 0; j <= i; j++)
			starpu_matrix_data_register(
				&tiles[i][j], STARPU_MAIN_RAM,
				(uintptr_t)&factor[(size_t)j * tile_rows * nrows +
						   (size_t)i * tile_rows],
				nrows, tile_rows, tile_rows, sizeof(double));
	starpu_vector_data_register(&work, -1, 0, (uint32_t)work_doubles, sizeof(double));
	starpu_variable_data_register(&info, -1, 0, sizeof(int));
}

static void close_tiles(void)
{
	for (int i = 0; i < ntiles; i++)
		for (int j = 0; j <= i; j++)
			starpu_data_unregister(tiles[i][j]);
	starpu_data_unregister(work);
	starpu_data_unregister(info);
}

static void read_arguments(int argc, char **argv)
{
	if (argc > 1)
		nrows = atoi(argv[1]);
	if (argc > 2)
		tile_rows = atoi(argv[2]);
	ntiles = tile_rows > 0 ? nrows / tile_rows : 0;
	if (ntiles < 1 || ntiles > MOST_TILES || ntiles * tile_rows != nrows) {
		fprintf(stderr, "%s: %d rows in tiles of %d: expected 1 to %d tiles\n",
			argv[0], nrows, tile_rows, MOST_TILES);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	unsigned first = 0;
	double wrong, start_us, seconds;

	read_arguments(argc, argv);

	if (starpu_init(NULL) != 0 || starpu_cuda_worker_get_count() == 0) {
		puts("skipped: no device");
		return 77;
	}
	starpu_cublas_init();
	starpu_cusolver_init();
	starpu_execute_on_specific_workers(ask_work, NULL, 1, &first, "work");
	starpu_malloc((void **)&a, sizeof(double) * nrows * nrows);
	starpu_malloc((void **)&factor, sizeof(double) * nrows * nrows);
	fill();
	open_tiles();
	start_us = starpu_timing_now();
	factorise();
	seconds = 1e-6 * (starpu_timing_now() - start_us);
	close_tiles();
	wrong = residual();
	starpu_free_noflag(a, sizeof(double) * nrows * nrows);
	starpu_free_noflag(factor, sizeof(double) * nrows * nrows);
	starpu_cusolver_shutdown();
	starpu_cublas_shutdown();
	starpu_shutdown();
	printf("%d rows, tiles of %d: %.4g s, %.4g GFlop/s\n", nrows, tile_rows, seconds,
	       1e-9 / 3 * nrows * (double)nrows * nrows / seconds);
	printf("%s Cholesky with cuBLAS and cuSOLVER: residual %g, expected at most 1e-12\n",
	       wrong <= 1e-12 ? "PASS" : "FAIL", wrong);
	return !(wrong <= 1e-12);
}
