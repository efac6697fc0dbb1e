/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_CUSOLVERSP_H
#define STANDIN_CUSOLVERSP_H

/* Of the stand-in for CUDA. */
#include "standin_handle.h"

typedef standin_handle_t cusolverSpHandle_t;

#endif
