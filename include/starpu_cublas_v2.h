/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Handles of cuBLAS are the program's own: this file declares nothing. */

#ifndef STARPU_CUBLAS_V2_H
#define STARPU_CUBLAS_V2_H

#include <starpu_config.h>

#endif /* STARPU_CUBLAS_V2_H */
