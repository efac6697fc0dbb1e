/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include <cblas.h>
#include <lapacke.h>

#define PTR(i)  ((void *)STARPU_MATRIX_GET_PTR(buffers[i]))
#define LD(i)   ((int)STARPU_MATRIX_GET_LD(buffers[i]))
#define ROWS(i) ((int)STARPU_MATRIX_GET_NX(buffers[i]))

static void check_info(int info)
{
	if (!info)
		return;
	fprintf(stderr,
		"cholesky: potrf returned %d: the matrix is not positive definite\n",
		info);
	abort();
}

static void spotrf_cpu(void **buffers, void *arg)
{
	(void)arg;
	check_info(LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', ROWS(0), PTR(0), LD(0)));
}

static void dpotrf_cpu(void **buffers, void *arg)
{
	(void)arg;
	check_info(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', ROWS(0), PTR(0), LD(0)));
}

static void strsm_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
		    ROWS(1), ROWS(0), 1, PTR(0), LD(0), PTR(1), LD(1));
}

static void dtrsm_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
		    ROWS(1), ROWS(0), 1, PTR(0), LD(0), PTR(1), LD(1));
}

static void ssyrk_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, ROWS(1), ROWS(0), -1, PTR(0),
		    LD(0), 1, PTR(1), LD(1));
}

static void dsyrk_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, ROWS(1), ROWS(0), -1, PTR(0),
		    LD(0), 1, PTR(1), LD(1));
}

static void sgemm_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, ROWS(2), ROWS(1), ROWS(0),
		    -1, PTR(0), LD(0), PTR(1), LD(1), 1, PTR(2), LD(2));
}

static void dgemm_cpu(void **buffers, void *arg)
{
	(void)arg;
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, ROWS(2), ROWS(1), ROWS(0),
		    -1, PTR(0), LD(0), PTR(1), LD(1), 1, PTR(2), LD(2));
}

#define MODEL(name)                                                                      \
	static struct starpu_perfmodel name##_model = {.type = STARPU_HISTORY_BASED,     \
						       .symbol = "orrery_" #name}
MODEL(spotrf);
MODEL(strsm);
MODEL(ssyrk);
MODEL(sgemm);
MODEL(dpotrf);
MODEL(dtrsm);
MODEL(dsyrk);
MODEL(dgemm);

#define CODELET(kernel, n, ...)                                                          \
	{                                                                                \
		.cpu_funcs = {kernel##_cpu}, .cpu_funcs_name = {#kernel "_cpu"},         \
		.nbuffers = n, .modes = {__VA_ARGS__}, .model = &kernel##_model,         \
		.name = #kernel                                                          \
	}

static struct kernels single_kernels = {
	.potrf = CODELET(spotrf, 1, STARPU_RW),
	.trsm = CODELET(strsm, 2, STARPU_R, STARPU_RW),
	.syrk = CODELET(ssyrk, 2, STARPU_R, STARPU_RW),
	.gemm = CODELET(sgemm, 3, STARPU_R, STARPU_R, STARPU_RW),
};

static struct kernels double_kernels = {
	.potrf = CODELET(dpotrf, 1, STARPU_RW),
	.trsm = CODELET(dtrsm, 2, STARPU_R, STARPU_RW),
	.syrk = CODELET(dsyrk, 2, STARPU_R, STARPU_RW),
	.gemm = CODELET(dgemm, 3, STARPU_R, STARPU_R, STARPU_RW),
};

/* Stands for a GPU kernel in a simulation, which only asks how long it takes. */
static void gpu_declared(void **buffers, void *arg)
{
	(void)buffers;
	(void)arg;
	fprintf(stderr, "cholesky: GPU kernels are declared for simulation only\n");
	abort();
}

struct kernels *kernels_get(int is_double, int with_gpus)
{
	struct kernels *kernels = is_double ? &double_kernels : &single_kernels;
	struct starpu_codelet *all[] = {&kernels->potrf, &kernels->trsm, &kernels->syrk,
					&kernels->gemm};

	/* A worker is one core: the library must not take the others. */
	openblas_set_num_threads(1);
	for (unsigned i = 0; with_gpus && i < 4; i++) {
		all[i]->cuda_funcs[0] = gpu_declared;
		all[i]->cuda_flags[0] = STARPU_CUDA_ASYNC;
	}
	return kernels;
}
