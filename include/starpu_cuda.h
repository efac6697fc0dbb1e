/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Kernels for GPUs are declared in codelets and simulated; the library drives
 * no device itself, so STARPU_USE_CUDA is not defined and nothing is declared.
 */

#ifndef STARPU_CUDA_H
#define STARPU_CUDA_H

#include <starpu_config.h>

#endif /* STARPU_CUDA_H */
