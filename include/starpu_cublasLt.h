/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLASLt on the workers that can use it.  Without such workers, as here, there is
 * nothing to start: any thread may call these functions at any time.
 */

#ifndef STARPU_CUBLASLT_H
#define STARPU_CUBLASLT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Start cuBLASLt on each worker that can use it: none. */
void starpu_cublasLt_init(void);

/** Undo starpu_cublasLt_init(). */
void starpu_cublasLt_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLASLT_H */
