/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef SCHEDULERS_STARPU_HETEROPRIO_H
#define SCHEDULERS_STARPU_HETEROPRIO_H

/* Where StarPU 1.4 has it. */
#include <starpu_heteroprio.h>

#endif
