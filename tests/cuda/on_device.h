/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_CUDA_ON_DEVICE_H
#define ORR_TESTS_CUDA_ON_DEVICE_H

/*
 * on_device.h - kernels of tests for the stand-in for CUDA: a kernel puts a function on
 * its worker's stream, with copies of its arguments, as a launch does.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

/* What a launch takes along. */
struct launch {
	void (*func)(const struct launch *launch);
	size_t nx, ny, nz, ldy, ldz;
	double factor;
	char *ptr[4]; /* of the device */
};

static void launch_call(void *arg)
{
	struct launch *launch = (struct launch *)arg;

	launch->func(launch);
	free(launch);
}

/* STANDIN is the library's path; the devices' number and so on are in the environment. */
static inline void standin_use(void)
{
	setenv("ORRERY_CUDA_LIBRARY", STANDIN, 0);
}

static inline void launch_on(cudaStream_t stream, struct launch launch)
{
	struct launch *copy = (struct launch *)malloc(sizeof(*copy));
	cudaError_t status;

	*copy = launch;
	status = standin_launch(stream, launch_call, copy);
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

/* Launch on the worker's stream. */
static inline void launch_here(struct launch launch)
{
	launch_on(starpu_cuda_get_local_stream(), launch);
}

#endif
