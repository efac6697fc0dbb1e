/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Workers that the application runs.  starpu_conf.not_launched_drivers names devices
 * whose workers get no thread: such a worker runs tasks only while one of the
 * application's threads is in a function below for it.  These are called by threads of
 * the application, not from tasks or callbacks.  They return 0, or a negative code with a
 * message: -EINVAL: no worker has the device, or nobody has called starpu_driver_init()
 * for it; -ENODEV: its worker has a thread of its own; -EBUSY: another thread drives it.
 *
 * In simulation the worker's tasks take simulated time, during which the calling thread
 * is blocked; a starpu_driver_run_once() that finds nothing to do takes a microsecond.
 */

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

/* Does nothing: types of devices need no preparation here.  Any thread, any time. */
void starpu_drivers_preinit(void);

/* starpu_driver_init(), run tasks until starpu_drivers_request_termination() or
 * starpu_shutdown(), starpu_driver_deinit(). */
int starpu_driver_run(struct starpu_driver *d);
/* From now on starpu_driver_run() of all drivers returns, once it has ended the tasks
 * that its worker has taken.  Any thread, tasks and callbacks too. */
void starpu_drivers_request_termination(void);

/* The calling thread takes the worker over, and its core where workers are bound. */
int starpu_driver_init(struct starpu_driver *d);
/* Run at most one task to its end; return at once when there is none, after a look at the
 * network. */
int starpu_driver_run_once(struct starpu_driver *d);
/* End the tasks that the worker has taken; after that another thread may take it. */
int starpu_driver_deinit(struct starpu_driver *d);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_DRIVER_H */
