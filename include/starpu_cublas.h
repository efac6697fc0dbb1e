/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLAS on the workers that can use it.  Without such workers, as here, there is
 * nothing to start: any thread may call these functions at any time.
 */

#ifndef STARPU_CUBLAS_H
#define STARPU_CUBLAS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Start cuBLAS on each worker that can use it: none. */
void starpu_cublas_init(void);

/** Undo starpu_cublas_init(). */
void starpu_cublas_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLAS_H */
