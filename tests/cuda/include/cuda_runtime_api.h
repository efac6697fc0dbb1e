/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Of the stand-in for CUDA: the types come with cuda_runtime.h. */
#ifndef STANDIN_CUDA_RUNTIME_API_H
#define STANDIN_CUDA_RUNTIME_API_H

#include <cuda_runtime.h>

#endif
