/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLAS on GPUs' workers.  The library starts nothing and keeps no handles of it: a
 * kernel makes its own, with the stream of starpu_cuda_get_local_stream().  Any thread
 * may call these functions at any time.
 */

#ifndef STARPU_CUBLAS_H
#define STARPU_CUBLAS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Nothing, so far: see above. */
void starpu_cublas_init(void);

/** Undo starpu_cublas_init(). */
void starpu_cublas_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLAS_H */
