/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * CUDA for kernels and for interfaces of the application's.
 *
 * The library uses GPUs wherever CUDA's driver is, whether or not it was built where a
 * toolkit is.  What is declared here needs CUDA's own headers, so it is there only when
 * STARPU_USE_CUDA is defined: orrery.pc and its kind do that when configure has found
 * them (--with-cuda), and a program may do it itself, with -I for these headers.
 *
 * A kernel runs on its worker's thread with the device's primary context, which is that
 * of cudaSetDevice(), and is to start its work on starpu_cuda_get_local_stream().
 * See doc/cuda.md.
 */

#ifndef STARPU_CUDA_H
#define STARPU_CUDA_H

#include <starpu_config.h>

#if defined(STARPU_USE_CUDA) && !defined(STARPU_DONT_INCLUDE_CUDA_HEADERS)
#include <string.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#ifdef STARPU_HAVE_NVML_H
#include <nvml.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What starpu_data_interfaces.h asks for. */
#define STARPU_CUDA_DECLARED_ 1
typedef cudaStream_t starpu_cudaStream_t;

/** Says which call failed, where, and CUDA's own words, and aborts.  Any thread. */
void starpu_cuda_report_error(const char *func, const char *file, int line,
			      cudaError_t status) __attribute__((noreturn));

/** The same for what a function of cuBLAS returned: its number. */
void starpu_cublas_report_error(const char *func, const char *file, int line, int status)
	__attribute__((noreturn));

#define STARPU_CUDA_REPORT_ERROR(status)                                                 \
	starpu_cuda_report_error(__starpu_func__, __FILE__, __LINE__, status)
#define STARPU_CUBLAS_REPORT_ERROR(status)                                               \
	starpu_cublas_report_error(__starpu_func__, __FILE__, __LINE__, (int)(status))

/** The stream of the worker that calls, a CUDA worker; others abort with a message. */
cudaStream_t starpu_cuda_get_local_stream(void);

/**
 * Let the calling thread use a device that has a worker, as cudaSetDevice() does; devid
 * is CUDA's number of it (starpu_worker_get_devid()).  Any thread; other devices abort
 * with a message.
 */
void starpu_cuda_set_device(unsigned devid);

#ifdef STARPU_HAVE_NVML_H
/** NVML's device of a CUDA device that has a worker, for nvmlDeviceGet...() and its kind;
 * NULL: it has none, or NVML is not there or does not know it.  NVML is started. */
nvmlDevice_t starpu_cuda_get_nvmldev(unsigned devid);
#endif

/**
 * Copy bytes between two memory nodes, of which kind tells nothing that they do not: on
 * stream, and return -EAGAIN; or, when stream is NULL, before it returns, which is 0.
 * Main memory that is not pinned may be copied before it returns in any case.
 */
int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				unsigned dst_node, size_t ssize, cudaStream_t stream,
				enum cudaMemcpyKind kind);

/** The same for numblocks blocks of blocksize bytes, ld_src and ld_dst bytes apart. */
int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks,
				  size_t ld_src, size_t ld_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind);

/** The same for numblocks_2 times these, ld2_src and ld2_dst bytes apart. */
int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks_1,
				  size_t ld1_src, size_t ld1_dst, size_t numblocks_2,
				  size_t ld2_src, size_t ld2_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind);

/** Of starpu_cuda_get_device_properties(): room for a CUDA worker's, zero at first and
 * the same for each call with as many bytes; workerid is a CUDA worker's number. */
void *orrery_cuda_properties(unsigned workerid, size_t bytes, int *devid);

/**
 * What CUDA says of a CUDA worker's device.  It stays until starpu_shutdown().  Compiled
 * into the program, since the struct differs between releases of CUDA.
 */
static __inline__ const struct cudaDeviceProp *
starpu_cuda_get_device_properties(unsigned workerid)
{
	int devid;
	struct cudaDeviceProp properties, *kept;
	cudaError_t status;

	kept = (struct cudaDeviceProp *)orrery_cuda_properties(workerid, sizeof(*kept),
							       &devid);
	status = cudaGetDeviceProperties(&properties, devid);
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
	/* Whoever comes at once writes the same. */
	memcpy(kept, &properties, sizeof(properties));
	return kept;
}

#ifdef __cplusplus
}
#endif

#endif /* STARPU_USE_CUDA */

#endif /* STARPU_CUDA_H */
