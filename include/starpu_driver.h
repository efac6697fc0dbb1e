/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Designation of a worker by its device, as struct starpu_conf needs it. */

#ifndef STARPU_DRIVER_H
#define STARPU_DRIVER_H

#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_driver {
	enum starpu_worker_archtype type;
	union {
		unsigned cpu_id;
		unsigned cuda_id;
		unsigned hip_id;
	} id;
};

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DRIVER_H */
