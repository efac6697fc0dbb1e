/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA, tests/cuda/standin.c: what tests use of the runtime API, and
 * what takes the place of kernels.  It is no GPU, and no result of it is one's.
 */
#ifndef STANDIN_CUDA_RUNTIME_H
#define STANDIN_CUDA_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *cudaStream_t;
typedef struct standin_event *cudaEvent_t;
typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault
};

struct cudaDeviceProp {
	char name[256];
	size_t totalGlobalMem;
	int multiProcessorCount;
	int pciBusID;
};

enum { cudaStreamNonBlocking = 1 };

cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

/* standin_runtime.c: what programs that measure a device call. */
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMallocHost(void **at, size_t bytes);
cudaError_t cudaFreeHost(void *at);
cudaError_t cudaMemset(void *at, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream);
enum cudaDeviceAttr { cudaDevAttrL2CacheSize = 38 };
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
		       enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
			      size_t from_pitch, size_t bytes, size_t rows,
			      enum cudaMemcpyKind kind, cudaStream_t stream);

/* Instead of a kernel: call func(arg) when the stream comes to it, on its thread, after
 * a random time. */
cudaError_t standin_launch(cudaStream_t stream, void (*func)(void *arg), void *arg);
/* The bytes of a device's address, for such a function alone: other threads, and the
 * address itself, are not allowed to see them. */
void *standin_at(const void *device_address);
/* Such a function has done what breaks a device: from now on all fails with this. */
void standin_fail(int error);
/* Longest queue that any stream of kernels has had, since the last such call. */
int standin_most_queued(void);
/* Copies of one, two, three dimensions that were asked for, since the last such call. */
int standin_ncopies(int ndims);

/* What the stand-in has counted since the last such call. */
enum standin_count {
	STANDIN_SLOW_COPIES, /* from and to memory that is not pinned */
	STANDIN_PEER_COPIES,
	STANDIN_ALLOCATIONS, /* of devices' memories */
	STANDIN_QUERIES,     /* of events */
	STANDIN_MOST_BYTES,  /* of a device that were allocated at a time */
	STANDIN_LATE_CALLS,  /* after the program has called exit() */
	STANDIN_COUNTS
};
long standin_count(enum standin_count what);
/* So much of a device's memory is other programs' from now on. */
void standin_others(int device, size_t bytes);

/*
 * What runs beside what is told by its order, not by times: the next operation of a kind
 * that begins is held until n operations of another kind have ended since this call
 * (QUEUED: kernels that were launched).  A program that starts these only when the one
 * that is held has ended would wait for ever: it is told so, and ended.
 */
enum standin_kind {
	STANDIN_KERNEL,
	STANDIN_TO_DEVICE,
	STANDIN_FROM_DEVICE,
	STANDIN_PEER,
	STANDIN_QUEUED,
	STANDIN_KINDS
};
void standin_hold(enum standin_kind what, enum standin_kind until, int n);
/* How many of those that were to be held have not begun. */
int standin_nholds(void);

#ifdef __cplusplus
}
#endif

#endif
