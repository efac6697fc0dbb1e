/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA: the functions of cuBLAS and cuSOLVER that Cholesky by tiles
 * calls, as loops on the stream's thread, and those that its calibration calls besides,
 * which leave their operands as they are.  Their times are nobody's.
 */
#include <math.h>
#include <stdlib.h>

#include <cusolverDn.h>

/* A launch: m, n and k are the shape, a, b and c the operands at the device's addresses.
 */
struct call {
	void (*func)(const struct call *call);
	int m, n, k, lda, ldb, ldc, op;
	double alpha, beta;
	const void *a, *b;
	void *c;
	int *info;
};

static void run(void *arg)
{
	struct call *call = arg;

	call->func(call);
	free(call);
}

static int launch(standin_handle_t handle, struct call call)
{
	struct call *copy = malloc(sizeof(*copy));

	*copy = call;
	return standin_launch(handle->stream, run, copy) != cudaSuccess;
}

static void succeed(const struct call *call)
{
	*(int *)standin_at(call->info) = 0;
}

static void nothing(const struct call *call)
{
	(void)call;
}

int cublasSetMathMode(cublasHandle_t handle, int mode)
{
	(void)handle;
	return mode;
}

int cublasGetProperty(libraryPropertyType which, int *value)
{
	(void)which;
	*value = 0;
	return 0;
}

#define BLAS(P, real)                                                                    \
	static void gemm_##P(const struct call *l)                                       \
	{                                                                                \
		const real *a = standin_at(l->a), *b = standin_at(l->b);                 \
		real *c = standin_at(l->c);                                              \
		size_t across = l->op == CUBLAS_OP_N ? (size_t)l->ldb : 1;               \
		size_t along = l->op == CUBLAS_OP_N ? 1 : (size_t)l->ldb;                \
                                                                                         \
		for (int j = 0; j < l->n; j++) {                                         \
			real *column = c + (size_t)j * (size_t)l->ldc;                   \
                                                                                         \
			for (int i = 0; i < l->m; i++)                                   \
				column[i] *= (real)l->beta;                              \
			for (int k = 0; k < l->k; k++) {                                 \
				const real *from = a + (size_t)k * (size_t)l->lda;       \
				real factor = (real)l->alpha *                           \
					      b[(size_t)j * across + (size_t)k * along]; \
                                                                                         \
				for (int i = 0; i < l->m; i++)                           \
					column[i] += factor * from[i];                   \
			}                                                                \
		}                                                                        \
	}                                                                                \
	static void trsm_##P(const struct call *l)                                       \
	{                                                                                \
		const real *a = standin_at(l->a);                                        \
		real *b = standin_at(l->c);                                              \
                                                                                         \
		for (int j = 0; j < l->n; j++) {                                         \
			real *column = b + (size_t)j * (size_t)l->ldc;                   \
			real pivot = a[(size_t)j * (size_t)(l->lda + 1)];                \
                                                                                         \
			for (int k = 0; k < j; k++)                                      \
				for (int i = 0; i < l->m; i++)                           \
					column[i] -= a[(size_t)k * (size_t)l->lda +      \
						       (size_t)j] *                      \
						     b[(size_t)k * (size_t)l->ldc +      \
						       (size_t)i];                       \
			for (int i = 0; i < l->m; i++)                                   \
				column[i] /= pivot;                                      \
		}                                                                        \
	}                                                                                \
	static void potrf_##P(const struct call *l)                                      \
	{                                                                                \
		real *a = standin_at(l->c);                                              \
		size_t ld = (size_t)l->ldc, n = (size_t)l->n;                            \
                                                                                         \
		*(int *)standin_at(l->info) = 0;                                         \
		for (size_t j = 0; j < n; j++) {                                         \
			for (size_t k = 0; k < j; k++)                                   \
				for (size_t i = j; i < n; i++)                           \
					a[j * ld + i] -= a[k * ld + i] * a[k * ld + j];  \
			if (!(a[j * ld + j] > 0)) {                                      \
				*(int *)standin_at(l->info) = (int)j + 1;                \
				return;                                                  \
			}                                                                \
			a[j * ld + j] = (real)sqrt((double)a[j * ld + j]);               \
			for (size_t i = j + 1; i < n; i++)                               \
				a[j * ld + i] /= a[j * ld + j];                          \
		}                                                                        \
	}                                                                                \
	int cublas##P##scal(cublasHandle_t handle, int n, const real *alpha, real *x,    \
			    int step)                                                    \
	{                                                                                \
		(void)alpha;                                                             \
		(void)step;                                                              \
		return launch(handle, (struct call){.func = nothing, .n = n, .c = x});   \
	}                                                                                \
	int cublas##P##trsm(cublasHandle_t handle, int side, int fill, int op, int diag, \
			    int m, int n, const real *alpha, const real *a, int lda,     \
			    real *b, int ldb)                                            \
	{                                                                                \
		if (side != CUBLAS_SIDE_RIGHT || fill || !op || diag || *alpha != 1)     \
			return 7;                                                        \
		return launch(handle, (struct call){.func = trsm_##P,                    \
						    .m = m,                              \
						    .n = n,                              \
						    .a = a,                              \
						    .lda = lda,                          \
						    .c = b,                              \
						    .ldc = ldb});                        \
	}                                                                                \
	int cublas##P##syrk(cublasHandle_t handle, int fill, int op, int n, int k,       \
			    const real *alpha, const real *a, int lda, const real *beta, \
			    real *c, int ldc)                                            \
	{                                                                                \
		if (fill || op)                                                          \
			return 7;                                                        \
		return cublas##P##gemm(handle, op, CUBLAS_OP_T, n, n, k, alpha, a, lda,  \
				       a, lda, beta, c, ldc);                            \
	}                                                                                \
	int cublas##P##gemm(cublasHandle_t handle, int op_a, int op_b, int m, int n,     \
			    int k, const real *alpha, const real *a, int lda,            \
			    const real *b, int ldb, const real *beta, real *c, int ldc)  \
	{                                                                                \
		if (op_a)                                                                \
			return 7;                                                        \
		return launch(handle, (struct call){.func = gemm_##P,                    \
						    .m = m,                              \
						    .n = n,                              \
						    .k = k,                              \
						    .a = a,                              \
						    .lda = lda,                          \
						    .b = b,                              \
						    .ldb = ldb,                          \
						    .c = c,                              \
						    .ldc = ldc,                          \
						    .op = op_b,                          \
						    .alpha = (double)*alpha,             \
						    .beta = (double)*beta});             \
	}
BLAS(S, float)
BLAS(D, double)

#define WANTED(P, name, real, first)                                                     \
	int cusolverDn##P##name##_bufferSize(cusolverDnHandle_t handle, int first,       \
					     int n, real *a, int lda, int *elements)     \
	{                                                                                \
		(void)handle;                                                            \
		(void)first;                                                             \
		(void)a;                                                                 \
		(void)lda;                                                               \
		*elements = n;                                                           \
		return 0;                                                                \
	}
#define ORTHOGONAL(name, real)                                                           \
	int cusolverDn##name##_bufferSize(cusolverDnHandle_t handle, int side, int op,   \
					  int m, int n, int k, const real *a, int lda,   \
					  const real *tau, const real *c, int ldc,       \
					  int *elements)                                 \
	{                                                                                \
		(void)handle, (void)side, (void)op, (void)m, (void)k, (void)a;           \
		(void)lda, (void)tau, (void)c, (void)ldc;                                \
		*elements = n;                                                           \
		return 0;                                                                \
	}                                                                                \
	int cusolverDn##name(cusolverDnHandle_t handle, int side, int op, int m, int n,  \
			     int k, const real *a, int lda, const real *tau, real *c,    \
			     int ldc, real *work, int elements, int *info)               \
	{                                                                                \
		(void)side, (void)op, (void)m, (void)n, (void)k, (void)a, (void)lda;     \
		(void)tau, (void)c, (void)ldc, (void)work, (void)elements;               \
		return launch(handle, (struct call){.func = succeed, .info = info});     \
	}
#define SOLVER(P, real)                                                                  \
	WANTED(P, potrf, real, fill)                                                     \
	WANTED(P, getrf, real, m)                                                        \
	WANTED(P, geqrf, real, m)                                                        \
	int cusolverDn##P##potrf(cusolverDnHandle_t handle, int fill, int n, real *a,    \
				 int lda, real *work, int elements, int *info)           \
	{                                                                                \
		(void)work;                                                              \
		if (fill || elements < n)                                                \
			return 3;                                                        \
		return launch(handle, (struct call){.func = potrf_##P,                   \
						    .n = n,                              \
						    .c = a,                              \
						    .ldc = lda,                          \
						    .info = info});                      \
	}                                                                                \
	int cusolverDn##P##getrf(cusolverDnHandle_t handle, int m, int n, real *a,       \
				 int lda, real *work, int *pivots, int *info)            \
	{                                                                                \
		(void)m, (void)n, (void)a, (void)lda, (void)work, (void)pivots;          \
		return launch(handle, (struct call){.func = succeed, .info = info});     \
	}                                                                                \
	int cusolverDn##P##geqrf(cusolverDnHandle_t handle, int m, int n, real *a,       \
				 int lda, real *tau, real *work, int elements,           \
				 int *info)                                              \
	{                                                                                \
		(void)m, (void)n, (void)a, (void)lda, (void)tau, (void)work;             \
		(void)elements;                                                          \
		return launch(handle, (struct call){.func = succeed, .info = info});     \
	}
SOLVER(S, float)
SOLVER(D, double)
ORTHOGONAL(Sormqr, float)
ORTHOGONAL(Dormqr, double)
