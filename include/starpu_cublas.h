/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLAS on GPUs' workers: a handle for each, with the stream of its kernels, so that
 * these need not wait.  The library is that of the program, or the newest that is
 * installed; it is opened when it is asked for.  Where no worker has a GPU these
 * functions do nothing.  Any thread of the application's may call starpu_cublas_init()
 * and starpu_cublas_shutdown(), between starpu_init() and starpu_shutdown().
 * starpu_cublas_v2.h has the function that returns the handle.
 */

#ifndef STARPU_CUBLAS_H
#define STARPU_CUBLAS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Create a handle for each CUDA worker, and start cuBLAS for functions without handles.
 * Says when the library is not found; ends the program when it refuses. */
void starpu_cublas_init(void);

/** In a kernel: let cuBLAS's functions without handles, those of its first version, use
 * the worker's stream.  Nothing elsewhere. */
void starpu_cublas_set_stream(void);

/** Destroy the handles, when there were as many calls as of starpu_cublas_init();
 * starpu_shutdown() does so, too.  No kernel may use them. */
void starpu_cublas_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLAS_H */
