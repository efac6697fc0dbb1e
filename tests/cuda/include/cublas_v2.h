/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_CUBLAS_V2_H
#define STANDIN_CUBLAS_V2_H

/* Of the stand-in for CUDA. */
#include "standin_handle.h"

typedef standin_handle_t cublasHandle_t;
typedef int cublasStatus_t;
typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_DEFAULT_MATH = 0 };
enum { CUBLAS_OP_N, CUBLAS_OP_T };
enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_SIDE_RIGHT = 1, CUBLAS_SIDE_LEFT = 0 };
enum { CUBLAS_DIAG_NON_UNIT };

#define cublasCreate    cublasCreate_v2
#define cublasDestroy   cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2

#ifdef __cplusplus
extern "C" {
#endif

int cublasCreate_v2(cublasHandle_t *handle);
int cublasDestroy_v2(cublasHandle_t handle);
int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
int cublasSetMathMode(cublasHandle_t handle, int mode);
int cublasGetProperty(libraryPropertyType which, int *value);

/* On columns; only what the tests' factorisations call: B = B L^-T, the lower triangle
 * of C += alpha A A^T, and C = alpha A op(B) + beta C. */
#define STANDIN_BLAS(P, real)                                                            \
	int cublas##P##scal(cublasHandle_t handle, int n, const real *alpha, real *x,    \
			    int step);                                                   \
	int cublas##P##trsm(cublasHandle_t handle, int side, int fill, int op, int diag, \
			    int m, int n, const real *alpha, const real *a, int lda,     \
			    real *b, int ldb);                                           \
	int cublas##P##syrk(cublasHandle_t handle, int fill, int op, int n, int k,       \
			    const real *alpha, const real *a, int lda, const real *beta, \
			    real *c, int ldc);                                           \
	int cublas##P##gemm(cublasHandle_t handle, int op_a, int op_b, int m, int n,     \
			    int k, const real *alpha, const real *a, int lda,            \
			    const real *b, int ldb, const real *beta, real *c, int ldc);
STANDIN_BLAS(S, float)
STANDIN_BLAS(D, double)

#ifdef __cplusplus
}
#endif

#endif
