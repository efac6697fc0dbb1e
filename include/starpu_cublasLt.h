/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLASLt on GPUs' workers: as starpu_cublas.h.  Handles are declared when
 * STARPU_USE_CUDA and STARPU_HAVE_LIBCUBLASLT are defined, which configure does when CUDA
 * has the headers.
 */

#ifndef STARPU_CUBLASLT_H
#define STARPU_CUBLASLT_H

#include <starpu_config.h>

#if defined(STARPU_USE_CUDA) && defined(STARPU_HAVE_LIBCUBLASLT) &&                      \
	!defined(STARPU_DONT_INCLUDE_CUDA_HEADERS)
#include <cublasLt.h>
#define ORRERY_DECLARE_CUBLASLT 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Create handles for each CUDA worker; see starpu_cublas_init(). */
void starpu_cublasLt_init(void);

/** See starpu_cublas_shutdown(). */
void starpu_cublasLt_shutdown(void);

#ifdef ORRERY_DECLARE_CUBLASLT
/** As starpu_cublas_get_local_handle(); cuBLASLt gets the stream with each call. */
cublasLtHandle_t starpu_cublasLt_get_local_handle(void);
#endif

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLASLT_H */
