/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_CUSOLVERDN_H
#define STANDIN_CUSOLVERDN_H

/* Of the stand-in for CUDA. */
#include "cublas_v2.h"

typedef standin_handle_t cusolverDnHandle_t;
typedef int cusolverStatus_t;

enum { CUSOLVER_STATUS_SUCCESS = 0 };

#ifdef __cplusplus
extern "C" {
#endif

int cusolverDnCreate(cusolverDnHandle_t *handle);
int cusolverDnDestroy(cusolverDnHandle_t handle);
int cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

/* potrf factorises the lower triangle; the others leave the values as they are. */
#define STANDIN_SOLVER(P, real)                                                          \
	int cusolverDn##P##potrf_bufferSize(cusolverDnHandle_t handle, int fill, int n,  \
					    real *a, int lda, int *elements);            \
	int cusolverDn##P##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n,     \
					    real *a, int lda, int *elements);            \
	int cusolverDn##P##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,     \
					    real *a, int lda, int *elements);            \
	int cusolverDn##P##potrf(cusolverDnHandle_t handle, int fill, int n, real *a,    \
				 int lda, real *work, int elements, int *info);          \
	int cusolverDn##P##getrf(cusolverDnHandle_t handle, int m, int n, real *a,       \
				 int lda, real *work, int *pivots, int *info);           \
	int cusolverDn##P##geqrf(cusolverDnHandle_t handle, int m, int n, real *a,       \
				 int lda, real *tau, real *work, int elements,           \
				 int *info);
#define STANDIN_ORTHOGONAL(name, real)                                                   \
	int cusolverDn##name##_bufferSize(cusolverDnHandle_t handle, int side, int op,   \
					  int m, int n, int k, const real *a, int lda,   \
					  const real *tau, const real *c, int ldc,       \
					  int *elements);                                \
	int cusolverDn##name(cusolverDnHandle_t handle, int side, int op, int m, int n,  \
			     int k, const real *a, int lda, const real *tau, real *c,    \
			     int ldc, real *work, int elements, int *info);
STANDIN_SOLVER(S, float)
STANDIN_SOLVER(D, double)
STANDIN_ORTHOGONAL(Sormqr, float)
STANDIN_ORTHOGONAL(Dormqr, double)

#ifdef __cplusplus
}
#endif

#endif
