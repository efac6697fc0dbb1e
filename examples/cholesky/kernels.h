/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef CHOLESKY_KERNELS_H
#define CHOLESKY_KERNELS_H

#include <starpu.h>

/* The four kernels in one precision. */
struct kernels {
	struct starpu_codelet potrf; /* RW A(k,k):              A = L L^T */
	struct starpu_codelet trsm;  /* R A(k,k), RW A(m,k):    A = A L^-T */
	struct starpu_codelet syrk;  /* R A(n,k), RW A(n,n):    A -= B B^T */
	struct starpu_codelet gemm;  /* R A(m,k), R A(n,k), RW A(m,n): A -= B C^T */
};

/*
 * The codelets, ready to be used.  with_gpus: they declare GPU kernels as well, which
 * take their time in a simulation but compute nothing.
 */
struct kernels *kernels_get(int is_double, int with_gpus);

#endif
