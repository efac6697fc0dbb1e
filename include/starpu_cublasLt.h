/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * cuBLASLt on GPUs' workers.  The library starts nothing and keeps no handles of it: a
 * kernel makes its own, with the stream of starpu_cuda_get_local_stream().  Any thread
 * may call these functions at any time.
 */

#ifndef STARPU_CUBLASLT_H
#define STARPU_CUBLASLT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Nothing, so far: see above. */
void starpu_cublasLt_init(void);

/** Undo starpu_cublasLt_init(). */
void starpu_cublasLt_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_CUBLASLT_H */
