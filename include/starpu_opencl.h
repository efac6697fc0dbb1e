/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * OpenCL is not offered: STARPU_USE_OPENCL is never defined.  Programs that keep a
 * program's struct, and build it when the macro is defined, compile.
 */

#ifndef STARPU_OPENCL_H
#define STARPU_OPENCL_H

#include <starpu_config.h>

/** A program for each OpenCL device; there are none, but C wants one element. */
struct starpu_opencl_program {
	void *programs[STARPU_MAXOPENCLDEVS + 1];
};

#endif /* STARPU_OPENCL_H */
