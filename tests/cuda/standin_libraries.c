/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA: cuBLAS and its like, and NVML, as far as handles go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvml.h>

#include "standin.h"
#include "standin_handle.h"

enum { INVALID_HANDLE = 7, DEVICES = 8 };

static int nhandles; /* atomic */
static cudaStream_t streams[DEVICES];
static char started[DEVICES];

int standin_nhandles(void)
{
	return __atomic_load_n(&nhandles, __ATOMIC_SEQ_CST);
}

static int create(const char *function, const char *library, standin_handle_t *handle)
{
	int rc = standin_injected(function);

	if (rc)
		return rc;
	*handle = malloc(sizeof(**handle));
	**handle = (struct standin_handle){library, standin_device(), NULL};
	if ((*handle)->device < 0)
		abort();
	__atomic_add_fetch(&nhandles, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int destroy(standin_handle_t handle)
{
	if (standin_device() != handle->device)
		abort();
	free(handle);
	__atomic_add_fetch(&nhandles, -1, __ATOMIC_SEQ_CST);
	return 0;
}

static int set_stream(standin_handle_t handle, cudaStream_t stream)
{
	if (standin_device() != handle->device)
		return INVALID_HANDLE;
	handle->stream = stream;
	return 0;
}

#define LIBRARY(prefix, version)                                                         \
	int prefix##Create##version(standin_handle_t *handle);                           \
	int prefix##Create##version(standin_handle_t *handle)                            \
	{                                                                                \
		return create(__func__, #prefix, handle);                                \
	}                                                                                \
	int prefix##Destroy##version(standin_handle_t handle);                           \
	int prefix##Destroy##version(standin_handle_t handle)                            \
	{                                                                                \
		return destroy(handle);                                                  \
	}

#define STREAM(prefix, version)                                                          \
	int prefix##SetStream##version(standin_handle_t handle, cudaStream_t stream);    \
	int prefix##SetStream##version(standin_handle_t handle, cudaStream_t stream)     \
	{                                                                                \
		return set_stream(handle, stream);                                       \
	}

LIBRARY(cublas, _v2)
STREAM(cublas, _v2)
LIBRARY(cublasLt, )
LIBRARY(cusparse, )
STREAM(cusparse, )
LIBRARY(cusolverDn, )
STREAM(cusolverDn, )
LIBRARY(cusolverSp, )
STREAM(cusolverSp, )
LIBRARY(cusolverRf, )

/* ---- cuBLAS without handles -------------------------------------------- */

int cublasInit(void);
int cublasShutdown(void);
int cublasSetKernelStream(cudaStream_t stream);

int cublasInit(void)
{
	started[standin_device()] = 1;
	return 0;
}

int cublasShutdown(void)
{
	started[standin_device()] = 0;
	streams[standin_device()] = NULL;
	return 0;
}

int cublasSetKernelStream(cudaStream_t stream)
{
	if (!started[standin_device()])
		return 1;
	streams[standin_device()] = stream;
	return 0;
}

cudaStream_t standin_cublas_stream(void)
{
	return streams[standin_device()];
}

/* ---- NVML -------------------------------------------------------------- */

static struct nvmlDevice_st devices[DEVICES];

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *found);

int nvmlInit_v2(void)
{
	for (int i = 0; i < DEVICES; i++)
		snprintf(devices[i].bus, sizeof(devices[i].bus), "0000:0%d:00.0", i);
	return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *found)
{
	for (int i = 0; i < DEVICES; i++)
		if (!strcmp(devices[i].bus, bus)) {
			*found = &devices[i];
			return 0;
		}
	return 6;
}
