/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>

#include <starpu.h>

#include "api/api.h"
#include "base/check.h"
#include "core/worker.h"

/* Joules that the devices have used since some time; 0, or -ENODEV, and why. */
static int read_meter(struct node *node, const char *func, int workerid,
		      enum starpu_worker_archtype archi, double *joules)
{
	int ret = -ENODEV;

	if (archi == STARPU_CPU_WORKER && workerid < node->nworkers &&
	    (workerid < 0 || node->workers[workerid].type == archi)) {
		orr_lock(&node->energy_lock);
		ret = plat_energy_j(node->plat, joules);
		orr_unlock(&node->energy_lock);
	}
	if (ret == 0)
		return 0;
	orr_complain(node->rank,
		     "%s: no energy can be measured of worker %d of type %d; expected -1 "
		     "or a CPU worker, type STARPU_CPU_WORKER, and a real machine with "
		     "counters of RAPL that this user may read (ORRERY_POWERCAP, else "
		     "/sys/class/powercap)",
		     func, workerid, (int)archi);
	return -ENODEV;
}

int starpu_energy_start(int workerid, enum starpu_worker_archtype archi)
{
	struct node *node = api_node(__func__);
	double joules;
	int ret = read_meter(node, __func__, workerid, archi, &joules);

	if (ret < 0)
		return ret;
	orr_lock(&node->energy_lock);
	if (node->is_metering)
		ret = -EBUSY;
	else
		node->metered_from_j = joules;
	node->is_metering = 1;
	orr_unlock(&node->energy_lock);
	if (ret < 0)
		orr_complain(node->rank,
			     "%s: a measurement has begun already; end it with "
			     "starpu_energy_stop() first",
			     __func__);
	return ret;
}

/* 0 and the joules since the start, or -EINVAL. */
static int end_metering(struct node *node, double *joules)
{
	int ret = 0;

	orr_lock(&node->energy_lock);
	if (node->is_metering)
		*joules -= node->metered_from_j;
	else
		ret = -EINVAL;
	node->is_metering = 0;
	orr_unlock(&node->energy_lock);
	return ret;
}

int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task,
		       unsigned nimpl, unsigned ntasks, int workerid,
		       enum starpu_worker_archtype archi)
{
	struct node *node = api_node(__func__);
	int id = workerid >= 0 ? workerid : node->first_worker_of[STARPU_CPU_WORKER];
	double joules;
	int ret;

	api_given(__func__, "model", model);
	api_given(__func__, "task", task);
	ret = read_meter(node, __func__, workerid, archi, &joules);
	if (ret < 0)
		return ret;
	if (end_metering(node, &joules) < 0 || ntasks == 0) {
		orr_complain(node->rank,
			     "%s: %u tasks since a start; expected at least one, and "
			     "starpu_energy_start() before",
			     __func__, ntasks);
		return -EINVAL;
	}
	starpu_perfmodel_update_history_n(
		model, task, starpu_worker_get_perf_archtype(id, STARPU_NMAX_SCHED_CTXS),
		(unsigned)id, nimpl, joules / ntasks, ntasks);
	return 0;
}
