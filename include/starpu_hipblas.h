/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * hipBLAS on the workers that can use it.  Without such workers, as here, there is
 * nothing to start: any thread may call these functions at any time.
 */

#ifndef STARPU_HIPBLAS_H
#define STARPU_HIPBLAS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Start hipBLAS on each worker that can use it: none. */
void starpu_hipblas_init(void);

/** Undo starpu_hipblas_init(). */
void starpu_hipblas_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_HIPBLAS_H */
