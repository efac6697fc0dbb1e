/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * OpenCL is not offered: STARPU_USE_OPENCL is never defined.  Programs that declare a
 * pointer to a program, or build it when the macro is defined, compile.
 */

#ifndef STARPU_OPENCL_H
#define STARPU_OPENCL_H

#include <starpu_config.h>

/** Programs for the OpenCL devices; there are none. */
struct starpu_opencl_program;

#endif /* STARPU_OPENCL_H */
