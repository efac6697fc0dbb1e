/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLAS on the CUDA workers.  This build drives no CUDA device, so there is nothing to
 * set up on any worker; the functions exist so that programs need no conditional.
 */

#ifndef STARPU_CUBLAS_H
#define STARPU_CUBLAS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Initialise cuBLAS on every CUDA worker; blocking, from the application's threads. */
void starpu_cublas_init(void);

/** Undo starpu_cublas_init(); blocking, from the application's threads. */
void starpu_cublas_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLAS_H */
