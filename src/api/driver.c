/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>

#include "api/api.h"
#include "base/check.h"
#include "core/drive.h"
#include "core/worker.h"

void starpu_drivers_preinit(void)
{
}

/* The worker, or NULL with a message and a code. */
static struct worker *find(const char *func, const struct starpu_driver *d, int *ret)
{
	struct node *node = api_blocking_node(func);
	struct worker *worker = drive_find(node, d);

	*ret = worker ? -ENODEV : -EINVAL;
	if (worker && orr_load(&worker->driven))
		return worker;
	orr_complain(node->rank,
		     "%s: %s; expected a device that conf.not_launched_drivers named at "
		     "starpu_init(), by its type and its number within that type",
		     func,
		     worker ? "the worker of this device has a thread of its own"
			    : "no worker has this device");
	return NULL;
}

/* Of a call that the worker's state forbids. */
static int say(const char *func, const struct worker *worker, int ret)
{
	if (ret == -EBUSY)
		orr_complain(worker->node->rank,
			     "%s: another thread drives worker %d; one thread at a time "
			     "can",
			     func, worker->id);
	else if (ret == -EINVAL)
		orr_complain(worker->node->rank,
			     "%s: nobody drives worker %d; call starpu_driver_init() "
			     "before",
			     func, worker->id);
	return ret;
}

static int drive(const char *func, const struct starpu_driver *d,
		 int (*step)(struct worker *worker))
{
	struct worker *worker;
	int ret;

	api_given(func, "d", d);
	worker = find(func, d, &ret);
	return worker ? say(func, worker, step(worker)) : ret;
}

int starpu_driver_init(struct starpu_driver *d)
{
	return drive(__func__, d, drive_begin);
}

int starpu_driver_run_once(struct starpu_driver *d)
{
	return drive(__func__, d, drive_once);
}

int starpu_driver_deinit(struct starpu_driver *d)
{
	return drive(__func__, d, drive_end);
}

int starpu_driver_run(struct starpu_driver *d)
{
	return drive(__func__, d, drive_on);
}

void starpu_drivers_request_termination(void)
{
	drive_dismiss(api_node(__func__));
}
