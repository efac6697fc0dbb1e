/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Of the stand-in for CUDA, tests/cuda/standin.c: what tests use of CUDA's header. */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

typedef struct CUstream_st *CUstream;

#endif
