/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>

#include <starpu_heteroprio.h>

#include "api/api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/sched_heteroprio.h"

static struct sched *context(const char *func, unsigned id)
{
	struct sched *sched = api_context(func, id);

	if (sched->inner)
		sched = sched->inner;
	if (sched->ops != &sched_heteroprio)
		orr_die(api_rank(),
			"%s: context %u has policy \"%s\", expected \"heteroprio\"; call "
			"it from starpu_conf.sched_policy_callback, which that policy "
			"alone calls",
			func, id, sched->ops->object.policy_name);
	return sched;
}

static void check(const char *func, int ret)
{
	if (ret == -EBUSY)
		orr_die(api_rank(),
			"%s: tasks wait in buckets already; call it before the first "
			"task is submitted",
			func);
	if (ret < 0)
		orr_die(api_rank(),
			"%s: a number is out of range; expected types of workers from "
			"enum starpu_worker_archtype, priorities and buckets from 0 to "
			"%d, factors from 0",
			func, HETEROPRIO_BUCKETS - 1);
}

void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id,
				    enum starpu_worker_archtype arch, unsigned max_prio)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	check(__func__, heteroprio_set_npriorities(sched, (unsigned)arch, max_prio));
}

void starpu_heteroprio_set_mapping(unsigned sched_ctx_id,
				   enum starpu_worker_archtype arch, unsigned source_prio,
				   unsigned dest_bucket_id)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	check(__func__,
	      heteroprio_set_bucket(sched, (unsigned)arch, source_prio, dest_bucket_id));
}

void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id,
				       enum starpu_worker_archtype arch,
				       unsigned bucket_id)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	check(__func__, heteroprio_set_fastest(sched, (unsigned)arch, bucket_id));
}

void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id,
					    enum starpu_worker_archtype arch,
					    unsigned bucket_id, float slow_factor)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	check(__func__,
	      heteroprio_set_slowness(sched, (unsigned)arch, bucket_id, slow_factor));
}

void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id, unsigned use_locality)
{
	heteroprio_set_locality(context(__func__, sched_ctx_id), use_locality != 0);
}

void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id)
{
	heteroprio_set_locality(context(__func__, sched_ctx_id), 1);
}

void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id)
{
	const struct sched *sched = context(__func__, sched_ctx_id);

	api_given(__func__, "stream", stream);
	heteroprio_print_groups(sched, stream);
}
