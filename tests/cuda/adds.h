/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_CUDA_ADDS_H
#define ORR_TESTS_CUDA_ADDS_H

/* adds.h - a kernel that adds 1 to all numbers (double) of a vector. */
#include "on_device.h"

static void add(const struct launch *launch)
{
	double *x = standin_at(launch->ptr[0]);

	for (size_t i = 0; i < launch->nx; i++)
		x[i] += 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add,
				    .nx = STARPU_VECTOR_GET_NX(buffers[0]),
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0])}});
}

#endif
