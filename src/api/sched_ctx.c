/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include <starpu_sched_ctx.h>

#include "api.h"
#include "base/check.h"
#include "core/sched/collection.h"
#include "core/sched/contexts.h"

/* The context; ends the program when there is none. */
static struct sched *context(const char *func, unsigned id)
{
	struct sched *sched = contexts_find(api_node(func), id);

	if (!sched)
		orr_die(api_rank(), "%s: there is no scheduling context %u", func, id);
	return sched;
}

void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->policy_data;
}

void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data)
{
	context(__func__, sched_ctx_id)->policy_data = policy_data;
}

void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->user_data;
}

void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data)
{
	context(__func__, sched_ctx_id)->user_data = user_data;
}

struct starpu_sched_policy *starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->policy;
}

struct starpu_sched_policy *starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->policy;
}

struct starpu_sched_policy *starpu_sched_get_sched_policy(void)
{
	return context(__func__, 0)->policy;
}

void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(unsigned)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	return sched->id == 0 ? sched->node->conf.sched_policy_callback : NULL;
}

/* ---- workers --------------------------------------------------------- */

struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id)
{
	return contexts_collection(context(__func__, sched_ctx_id));
}

struct starpu_worker_collection *
starpu_sched_ctx_create_worker_collection(unsigned sched_ctx_id,
					  enum starpu_worker_collection_type type)
{
	(void)type;
	return contexts_collection(context(__func__, sched_ctx_id));
}

void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id)
{
	context(__func__, sched_ctx_id);
}

unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids)
{
	struct starpu_worker_collection *collection =
		contexts_collection(context(__func__, sched_ctx_id));

	api_given(__func__, "workerids", workerids);
	*workerids = collection->workerids;
	return collection->nworkers;
}

unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id, int **workerids)
{
	int *ids;
	unsigned n = starpu_sched_ctx_get_workers_list_raw(sched_ctx_id, &ids);

	api_given(__func__, "workerids", workerids);
	*workerids = orr_alloc((n + 1) * sizeof(*ids));
	memcpy(*workerids, ids, n * sizeof(*ids));
	return n;
}

unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id)
{
	return contexts_collection(context(__func__, sched_ctx_id))->nworkers;
}

unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	return workerid >= 0 && workerid < sched->node->nworkers &&
	       sched_has(sched, &sched->node->workers[workerid]);
}

unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id,
					      unsigned sched_ctx_id2)
{
	unsigned n = 0;

	for (int i = 0; i < api_node(__func__)->nworkers; i++)
		n += starpu_sched_ctx_contains_worker(i, sched_ctx_id) &&
		     starpu_sched_ctx_contains_worker(i, sched_ctx_id2);
	return n;
}

unsigned starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
						  unsigned sched_ctx_id)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	SCHED_EACH_WORKER(worker, sched)
	if (worker->type == arch)
		return 1;
	return 0;
}

int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id)
{
	struct sched *sched = context(__func__, sched_ctx_id);
	struct worker *self = plat_current_worker(sched->node->plat);

	int rank = 0;

	if (!self || !sched_has(sched, self))
		return -1;
	SCHED_EACH_WORKER(worker, sched)
	rank += worker->id < self->id;
	return rank;
}

unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id)
{
	return (unsigned)starpu_sched_ctx_get_worker_rank(sched_ctx_id);
}

/* ---- tasks ----------------------------------------------------------- */

unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task)
{
	api_given(__func__, "task", task);
	return task->sched_ctx;
}

unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id,
					       unsigned *awake_workers)
{
	context(__func__, sched_ctx_id);
	if (awake_workers)
		*awake_workers = 0;
	return 1;
}

/* Policies that share queues count their tasks; ours looks at all queues anyway. */
#define COUNTER(name, first, second, check)                                              \
	void starpu_sched_ctx_list_task_counters_##name(first, second)                   \
	{                                                                                \
		check;                                                                   \
		context(__func__, sched_ctx_id);                                         \
	}

COUNTER(increment, unsigned sched_ctx_id, int workerid, (void)workerid)
COUNTER(decrement, unsigned sched_ctx_id, int workerid, (void)workerid)
COUNTER(reset, unsigned sched_ctx_id, int workerid, (void)workerid)
COUNTER(increment_all_ctx_locked, struct starpu_task *task, unsigned sched_ctx_id,
	api_given(__func__, "task", task))
COUNTER(decrement_all_ctx_locked, struct starpu_task *task, unsigned sched_ctx_id,
	api_given(__func__, "task", task))
COUNTER(reset_all, struct starpu_task *task, unsigned sched_ctx_id,
	api_given(__func__, "task", task))

/* ---- priorities ------------------------------------------------------ */

int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->min_priority;
}

int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->max_priority;
}

int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	sched->min_priority = min_prio;
	sched->min_is_set = 1;
	return 0;
}

int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio)
{
	struct sched *sched = context(__func__, sched_ctx_id);

	sched->max_priority = max_prio;
	sched->max_is_set = 1;
	return 0;
}

int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->min_is_set;
}

int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id)
{
	return context(__func__, sched_ctx_id)->max_is_set;
}
