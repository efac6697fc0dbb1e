/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* HIP is not offered: STARPU_USE_HIP is never defined, and this file declares nothing. */

#ifndef STARPU_HIP_H
#define STARPU_HIP_H

#include <starpu_config.h>

#endif /* STARPU_HIP_H */
