/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* random_device.cu - kernels of random programs on devices. */
extern "C" {
#include "random.h"
}

enum { THREADS = 128, MAX_BLOCKS = 1024 };

static __global__ void cook_all(struct cook cook)
{
	uint32_t n = view_count(&cook.views[cook.which]);

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * blockDim.x)
		cook_element(&cook, i);
}

extern "C" void random_launch(const struct cook *cook, cudaStream_t stream)
{
	uint32_t n = view_count(&cook->views[cook->which]);
	uint32_t nblocks = (n + THREADS - 1) / THREADS;
	cudaError_t status;

	cook_all<<<nblocks < MAX_BLOCKS ? nblocks : MAX_BLOCKS, THREADS, 0, stream>>>(
		*cook);
	status = cudaGetLastError();
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

extern "C" int random_launches_by_default(void)
{
	return 1;
}

extern "C" void random_choose_library(void)
{
}

extern "C" void random_hold_context(void)
{
	cudaFree(NULL);
}
