/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_HANDLE_H
#define STANDIN_HANDLE_H

/*
 * Of the stand-in for CUDA: what its libraries' handles are, for tests to look at.
 */
#include <cuda_runtime.h>

typedef struct standin_handle {
	const char *library;
	int device;
	cudaStream_t stream; /* NULL: the default one */
} * standin_handle_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Handles that have been created and not destroyed. */
int standin_nhandles(void);
/* The stream of cuBLAS's functions without handles, on the caller's device; NULL: none.
 */
cudaStream_t standin_cublas_stream(void);

#ifdef __cplusplus
}
#endif

#endif
