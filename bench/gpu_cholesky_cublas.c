/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include <starpu.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include "gpu_cholesky_kernels.h"

/* What the factorisation of a tile wants on its device, for each worker. */
static struct {
	double *work;
	int *info;
	int elements;
} rooms[STARPU_NMAXWORKERS];

static const double one = 1, minus_one = -1;

static double *at(void *buffer)
{
	return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static int ld(void *buffer)
{
	return (int)STARPU_MATRIX_GET_LD(buffer);
}

static int rows(void *buffer)
{
	return (int)STARPU_MATRIX_GET_NX(buffer);
}

static void check_blas(cublasStatus_t status)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		STARPU_CUBLAS_REPORT_ERROR(status);
}

static void check_solver(cusolverStatus_t status)
{
	if (status != CUSOLVER_STATUS_SUCCESS)
		STARPU_CUSOLVER_REPORT_ERROR(status);
}

static void check_cuda(cudaError_t status)
{
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

void gpu_potrf(void *buffers[], void *arg)
{
	int worker = starpu_worker_get_id();

	(void)arg;
	check_solver(cusolverDnDpotrf(starpu_cusolverDn_get_local_handle(),
				      CUBLAS_FILL_MODE_LOWER, rows(buffers[0]),
				      at(buffers[0]), ld(buffers[0]), rooms[worker].work,
				      rooms[worker].elements, rooms[worker].info));
}

void gpu_trsm(void *buffers[], void *arg)
{
	int n = rows(buffers[1]);

	(void)arg;
	check_blas(cublasDtrsm(starpu_cublas_get_local_handle(), CUBLAS_SIDE_RIGHT,
			       CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
			       n, n, &one, at(buffers[0]), ld(buffers[0]), at(buffers[1]),
			       ld(buffers[1])));
}

void gpu_syrk(void *buffers[], void *arg)
{
	int n = rows(buffers[1]);

	(void)arg;
	check_blas(cublasDsyrk(starpu_cublas_get_local_handle(), CUBLAS_FILL_MODE_LOWER,
			       CUBLAS_OP_N, n, n, &minus_one, at(buffers[0]),
			       ld(buffers[0]), &one, at(buffers[1]), ld(buffers[1])));
}

void gpu_gemm(void *buffers[], void *arg)
{
	int n = rows(buffers[2]);

	(void)arg;
	check_blas(cublasDgemm(starpu_cublas_get_local_handle(), CUBLAS_OP_N, CUBLAS_OP_T,
			       n, n, n, &minus_one, at(buffers[0]), ld(buffers[0]),
			       at(buffers[1]), ld(buffers[1]), &one, at(buffers[2]),
			       ld(buffers[2])));
}

static void open_room(void *arg)
{
	int worker = starpu_worker_get_id(), n = *(int *)arg;

	check_solver(cusolverDnDpotrf_bufferSize(starpu_cusolverDn_get_local_handle(),
						 CUBLAS_FILL_MODE_LOWER, n, NULL, n,
						 &rooms[worker].elements));
	check_cuda(cudaMalloc((void **)&rooms[worker].work,
			      sizeof(double) * (size_t)(rooms[worker].elements + 1)));
	check_cuda(cudaMalloc((void **)&rooms[worker].info, sizeof(int)));
}

static void close_room(void *arg)
{
	int worker = starpu_worker_get_id();

	(void)arg;
	check_cuda(cudaFree(rooms[worker].work));
	check_cuda(cudaFree(rooms[worker].info));
}

void gpu_kernels_open(int tile_rows)
{
	starpu_cublas_init();
	starpu_cusolver_init();
	starpu_execute_on_each_worker(open_room, &tile_rows, STARPU_CUDA);
}

void gpu_kernels_close(void)
{
	starpu_execute_on_each_worker(close_room, NULL, STARPU_CUDA);
	starpu_cusolver_shutdown();
	starpu_cublas_shutdown();
}

int gpu_kernels_compute(void)
{
	return 1;
}
