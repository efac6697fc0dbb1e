/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef STANDIN_NVML_H
#define STANDIN_NVML_H

/* Of the stand-in for CUDA. */
#include "standin_handle.h"

typedef struct nvmlDevice_st {
	char bus[32];
} * nvmlDevice_t;

#endif
