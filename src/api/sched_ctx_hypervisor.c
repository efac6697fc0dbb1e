/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu_sched_ctx_hypervisor.h>

#include "api/api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/lasting.h"
#include "core/sched/observer.h"

void starpu_sched_ctx_set_perf_counters(unsigned sched_ctx_id, void *perf_counters)
{
	observer_set(api_context(__func__, sched_ctx_id), perf_counters);
}

void starpu_sched_ctx_call_pushed_task_cb(int workerid, unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	if (workerid < 0 || workerid >= sched->node->nworkers)
		orr_die(sched->node->rank, "%s: there is no worker %d; expected 0 to %d",
			__func__, workerid, sched->node->nworkers - 1);
	observer_pushed(sched, workerid);
}

void starpu_sched_ctx_notify_hypervisor_exists(void)
{
	orr_store(&lasting_get()->has_hypervisor, 1);
}

unsigned starpu_sched_ctx_check_if_hypervisor_exists(void)
{
	return (unsigned)orr_load(&lasting_get()->has_hypervisor);
}
