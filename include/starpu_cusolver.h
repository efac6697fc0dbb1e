/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuSOLVER on GPUs' workers: as starpu_cublas.h.  Handles are declared when
 * STARPU_USE_CUDA and STARPU_HAVE_LIBCUSOLVER are defined, which configure does when CUDA
 * has the headers.
 */

#ifndef STARPU_CUSOLVER_H
#define STARPU_CUSOLVER_H

#include <starpu_config.h>

#if defined(STARPU_USE_CUDA) && defined(STARPU_HAVE_LIBCUSOLVER) &&                      \
	!defined(STARPU_DONT_INCLUDE_CUDA_HEADERS)
#include <cusolverDn.h>
#include <cusolverRf.h>
#include <cusolverSp.h>
#define ORRERY_DECLARE_CUSOLVER 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Create handles for each CUDA worker; see starpu_cublas_init(). */
void starpu_cusolver_init(void);

/** See starpu_cublas_shutdown(). */
void starpu_cusolver_shutdown(void);

#ifdef ORRERY_DECLARE_CUSOLVER
/** As starpu_cublas_get_local_handle(); that of refactorisation has no stream. */
cusolverDnHandle_t starpu_cusolverDn_get_local_handle(void);
cusolverSpHandle_t starpu_cusolverSp_get_local_handle(void);
cusolverRfHandle_t starpu_cusolverRf_get_local_handle(void);

/** Says which call failed, where, and the status, and aborts.  Any thread. */
void starpu_cusolver_report_error(const char *func, const char *file, int line,
				  cusolverStatus_t status) __attribute__((noreturn));

#define STARPU_CUSOLVER_REPORT_ERROR(status)                                             \
	starpu_cusolver_report_error(__starpu_func__, __FILE__, __LINE__, status)
#endif

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUSOLVER_H */
