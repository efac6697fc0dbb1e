/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>

#include <starpu.h>

#include "api/api.h"
#include "base/check.h"
#include "core/worker.h"

/* What has used joules since some time. */
struct meter {
	const struct worker *worker; /* of a device; NULL: cores */
	double joules;
};

/* 0, or -ENODEV, and why. */
static int read_meter(struct node *node, const char *func, int workerid,
		      enum starpu_worker_archtype archi, struct meter *meter)
{
	int ret = -ENODEV, is_cpu = archi == STARPU_CPU_WORKER;

	if (workerid >= 0
		    ? workerid < node->nworkers && node->workers[workerid].type == archi
		    : is_cpu) {
		meter->worker = is_cpu ? NULL : &node->workers[workerid];
		orr_lock(&node->energy_lock);
		ret = plat_energy_j(node->plat, meter->worker, &meter->joules);
		orr_unlock(&node->energy_lock);
	}
	if (ret == 0)
		return 0;
	orr_complain(node->rank,
		     "%s: no energy can be measured of worker %d of type %d; expected a "
		     "worker of that type, or -1 for all CPU workers, and on a real "
		     "machine STARPU_CPU_WORKER and counters of RAPL that this user may "
		     "read (ORRERY_POWERCAP, else /sys/class/powercap)",
		     func, workerid, (int)archi);
	return -ENODEV;
}

int starpu_energy_start(int workerid, enum starpu_worker_archtype archi)
{
	struct node *node = api_node(__func__);
	struct meter meter;
	int ret = read_meter(node, __func__, workerid, archi, &meter);

	if (ret < 0)
		return ret;
	orr_lock(&node->energy_lock);
	if (node->is_metering) {
		ret = -EBUSY;
	} else {
		node->metered = meter.worker;
		node->metered_from_j = meter.joules;
	}
	node->is_metering = 1;
	orr_unlock(&node->energy_lock);
	if (ret < 0)
		orr_complain(node->rank,
			     "%s: a measurement has begun already; end it with "
			     "starpu_energy_stop() first",
			     __func__);
	return ret;
}

static int is_same_device(const struct worker *a, const struct worker *b)
{
	return a == b || (a && b && a->type == b->type && a->devid == b->devid);
}

/* 0 and the joules since the start, or -EINVAL. */
static int end_metering(struct node *node, struct meter *meter)
{
	int ret = 0;

	orr_lock(&node->energy_lock);
	if (node->is_metering && is_same_device(node->metered, meter->worker))
		meter->joules -= node->metered_from_j;
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
	struct meter meter;
	int ret;

	api_given(__func__, "model", model);
	api_given(__func__, "task", task);
	ret = read_meter(node, __func__, workerid, archi, &meter);
	if (ret < 0)
		return ret;
	if (end_metering(node, &meter) < 0 || ntasks == 0) {
		orr_complain(node->rank,
			     "%s: %u tasks since a start; expected at least one, and "
			     "starpu_energy_start() before, of the same device",
			     __func__, ntasks);
		return -EINVAL;
	}
	if (!(meter.joules > 0)) {
		orr_complain(node->rank,
			     "%s: no energy was used since the start; expected some, in "
			     "simulation by the energy models of tasks or "
			     "STARPU_IDLE_POWER",
			     __func__);
		return -ENODEV;
	}
	starpu_perfmodel_update_history_n(
		model, task, starpu_worker_get_perf_archtype(id, STARPU_NMAX_SCHED_CTXS),
		(unsigned)id, nimpl, meter.joules / ntasks, ntasks);
	return 0;
}
