/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA: the functions of the runtime API that programs call which
 * measure a device, by those of the driver API.  The default stream is one that
 * waits for all others.
 */
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

#define DECLARE(field, symbol, parameters) int symbol parameters;
CUDA_CALLS(DECLARE)

enum { MOST_STREAMS = 64, FIRST_DEVICE = 100, ALIGNMENT = 4096 };

/* Of the one thread that measures. */
static cudaStream_t streams[MOST_STREAMS];

/* The calling thread uses device 0 when it has chosen none. */
static int enter(void)
{
	void *context;
	int rc;

	if (standin_device() >= 0)
		return 0;
	rc = cuInit(0);
	if (!rc)
		rc = cuDevicePrimaryCtxRetain(&context, FIRST_DEVICE);
	return rc ? rc : cuCtxSetCurrent(context);
}

const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = NULL;

	cuGetErrorString(error, &text);
	return text ? text : "an error without words";
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	return (cudaError_t)cuDriverGetVersion(version);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	return (cudaError_t)cuDriverGetVersion(version);
}

/* ---- streams and events ------------------------------------------------ */

cudaError_t cudaDeviceSynchronize(void)
{
	int rc = enter();

	for (int i = 0; !rc && i < MOST_STREAMS; i++)
		if (streams[i])
			rc = cuStreamSynchronize(streams[i]);
	return (cudaError_t)rc;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	void *made;
	int rc = enter(), i = 0;

	if (!rc)
		rc = cuStreamCreate(&made, flags);
	if (rc)
		return (cudaError_t)rc;
	while (streams[i])
		if (++i == MOST_STREAMS)
			abort();
	*stream = streams[i] = made;
	return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	for (int i = 0; i < MOST_STREAMS; i++)
		if (streams[i] == stream)
			streams[i] = NULL;
	return (cudaError_t)cuStreamDestroy_v2(stream);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	void *made;
	int rc = enter();

	if (!rc)
		rc = cuEventCreate(&made, CUDA_EVENT_TIMED);
	if (!rc)
		*event = made;
	return (cudaError_t)rc;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	return (cudaError_t)cuEventDestroy_v2(event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return (cudaError_t)cuEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	return (cudaError_t)cuEventQuery(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	int rc;

	while ((rc = cuEventQuery(event)) == CUDA_NOT_READY)
		sched_yield();
	return (cudaError_t)rc;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
	return (cudaError_t)cuEventElapsedTime(ms, start, stop);
}

/* ---- memory and copies -------------------------------------------------- */

cudaError_t cudaMalloc(void **at, size_t bytes)
{
	unsigned long long address = 0;
	int rc = enter();

	if (!rc)
		rc = cuMemAlloc_v2(&address, bytes);
	*at = (void *)(uintptr_t)address;
	return (cudaError_t)rc;
}

cudaError_t cudaFree(void *at)
{
	return (cudaError_t)(at ? cuMemFree_v2((uintptr_t)at) : enter());
}

cudaError_t cudaMallocHost(void **at, size_t bytes)
{
	int rc = enter();

	if (rc || posix_memalign(at, ALIGNMENT, bytes))
		return (cudaError_t)(rc ? rc : CUDA_OUT_OF_MEMORY);
	return (cudaError_t)cuMemHostRegister_v2(*at, bytes, 0);
}

cudaError_t cudaFreeHost(void *at)
{
	int rc = cuMemHostUnregister(at);

	free(at);
	return (cudaError_t)rc;
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
	cudaError_t rc = cudaDeviceSynchronize();

	if (rc == cudaSuccess)
		memset(standin_at(at), value, bytes);
	return rc;
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
	cudaError_t rc = cudaStreamSynchronize(stream);

	if (rc == cudaSuccess)
		memset(standin_at(at), value, bytes);
	return rc;
}

/* It has no cache. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	(void)device;
	*value = 0;
	return attribute == cudaDevAttrL2CacheSize ? cudaSuccess
						   : (cudaError_t)INVALID_VALUE;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	cudaError_t rc = cudaDeviceSynchronize();
	char *target = to;
	const char *source = from;

	if (rc != cudaSuccess)
		return rc;
	if (kind != cudaMemcpyDeviceToHost)
		target = standin_at(to);
	if (kind != cudaMemcpyHostToDevice)
		source = standin_at(from);
	memcpy(target, source, bytes);
	return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
			      size_t from_pitch, size_t bytes, size_t rows,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct cuda_rectangle all = {.from_type = CUDA_MEMORY_HOST,
				     .to_type = CUDA_MEMORY_DEVICE,
				     .from_host = from,
				     .to_device = (uintptr_t)to,
				     .from_pitch = from_pitch,
				     .to_pitch = to_pitch,
				     .bytes = bytes,
				     .rows = rows};

	if (kind != cudaMemcpyHostToDevice)
		return cudaErrorInvalidValue;
	return (cudaError_t)cuMemcpy2DAsync_v2(&all, stream);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	return (cudaError_t)cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return (cudaError_t)cuStreamSynchronize(stream);
}

/* ---- words ------------------------------------------------------------ */

static const struct {
	int error;
	const char *name, *text;
} words[] = {{0, "CUDA_SUCCESS", "no error"},
	     {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	     {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	     {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"},
	     {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	     {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	     {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error"},
	     {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"}};

static int word_of(int error)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].error == error)
			return (int)i;
	return -1;
}

int cuGetErrorName(int error, const char **text)
{
	int i = word_of(error);

	*text = i < 0 ? NULL : words[i].name;
	return i < 0 ? 1 : CUDA_SUCCESS;
}

int cuGetErrorString(int error, const char **text)
{
	int i = word_of(error);

	*text = i < 0 ? NULL : words[i].text;
	return i < 0 ? 1 : CUDA_SUCCESS;
}
