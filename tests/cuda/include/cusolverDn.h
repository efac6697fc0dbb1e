/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_CUSOLVERDN_H
#define STANDIN_CUSOLVERDN_H

/* Of the stand-in for CUDA. */
#include "standin_handle.h"

typedef standin_handle_t cusolverDnHandle_t;
typedef int cusolverStatus_t;

#endif
