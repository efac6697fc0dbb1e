/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuSPARSE on GPUs' workers: as starpu_cublas.h.  Handles are declared when
 * STARPU_USE_CUDA and STARPU_HAVE_LIBCUSPARSE are defined, which configure does when CUDA
 * has the headers.
 */

#ifndef STARPU_CUSPARSE_H
#define STARPU_CUSPARSE_H

#include <starpu_config.h>

#if defined(STARPU_USE_CUDA) && defined(STARPU_HAVE_LIBCUSPARSE) &&                      \
	!defined(STARPU_DONT_INCLUDE_CUDA_HEADERS)
/* The header's own types are deprecated, which it would say of each use by itself. */
#ifndef DISABLE_CUSPARSE_DEPRECATED
#define DISABLE_CUSPARSE_DEPRECATED
#endif
#include <cusparse.h>
#define ORRERY_DECLARE_CUSPARSE 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Create handles for each CUDA worker; see starpu_cublas_init(). */
void starpu_cusparse_init(void);

/** See starpu_cublas_shutdown(). */
void starpu_cusparse_shutdown(void);

#ifdef ORRERY_DECLARE_CUSPARSE
/** As starpu_cublas_get_local_handle(). */
cusparseHandle_t starpu_cusparse_get_local_handle(void);
#endif

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUSPARSE_H */
