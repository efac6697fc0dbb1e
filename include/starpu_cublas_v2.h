/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLAS's handles; starpu_cublas_init() creates them.
 */

#ifndef STARPU_CUBLAS_V2_H
#define STARPU_CUBLAS_V2_H

#include <starpu_config.h>
#include <starpu_cublas.h>

#if defined(STARPU_USE_CUDA) && !defined(STARPU_DONT_INCLUDE_CUDA_HEADERS)
#include <cublas_v2.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The handle of the CUDA worker that calls; for others one on the first GPU, with the
 * default stream.  Without a handle it ends the program with a message. */
cublasHandle_t starpu_cublas_get_local_handle(void);

#ifdef __cplusplus
}
#endif
#endif

#endif /* STARPU_CUBLAS_V2_H */
