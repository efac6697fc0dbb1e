/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_sched_ctx.h>

#include "api/api.h"
#include "api/sched_ctx.h"
#include "base/check.h"
#include "core/sched/collection.h"
#include "core/sched/telling.h"
#include "core/sched/contexts.h"
#include "core/sched/observer.h"
#include "core/sched/teams.h"

void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id)
{
	return api_context(__func__, sched_ctx_id)->policy_data;
}

void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data)
{
	api_context(__func__, sched_ctx_id)->policy_data = policy_data;
}

void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id)
{
	return api_context(__func__, sched_ctx_id)->user_data;
}

void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data)
{
	api_context(__func__, sched_ctx_id)->user_data = user_data;
}

struct starpu_sched_policy *starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id)
{
	const struct sched *sched = api_context(__func__, sched_ctx_id);

	return sched->ops->has_master ? NULL : sched->policy;
}

struct starpu_sched_policy *starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id)
{
	return starpu_sched_ctx_get_sched_policy(sched_ctx_id);
}

struct starpu_sched_policy *starpu_sched_get_sched_policy(void)
{
	return api_context(__func__, 0)->policy;
}

void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(unsigned)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	return sched->id == 0 ? sched->node->conf->sched_policy_callback : sched->init;
}

/* ---- workers --------------------------------------------------------- */

struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id)
{
	return contexts_collection(api_context(__func__, sched_ctx_id));
}

struct starpu_worker_collection *
starpu_sched_ctx_create_worker_collection(unsigned sched_ctx_id,
					  enum starpu_worker_collection_type type)
{
	(void)type;
	return contexts_collection(api_context(__func__, sched_ctx_id));
}

void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id)
{
	api_context(__func__, sched_ctx_id);
}

unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids)
{
	struct starpu_worker_collection *collection =
		contexts_collection(api_context(__func__, sched_ctx_id));

	api_given(__func__, "workerids", workerids);
	*workerids = collection->workerids;
	return collection->nworkers;
}

/* While a policy hears of workers, it sees what it hears. */
static int has(const struct sched *sched, int id)
{
	const struct starpu_worker_collection *seen = telling_seen(sched);

	return (seen && seen->present[id]) ||
	       contexts_owns(sched, &sched->node->workers[id]);
}

unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id, int **workerids)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	struct node *node = sched->node;
	unsigned n = 0;

	api_given(__func__, "workerids", workerids);
	*workerids = orr_alloc(((size_t)node->nworkers + 1) * sizeof(**workerids));
	for (int i = 0; i < node->nworkers; i++)
		if (has(sched, i))
			(*workerids)[n++] = i;
	return n;
}

unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id)
{
	return starpu_sched_ctx_get_nshared_workers(sched_ctx_id, sched_ctx_id);
}

unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	return workerid >= 0 && workerid < sched->node->nworkers && has(sched, workerid);
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

unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid)
{
	struct node *node = api_node(__func__);
	unsigned belongs;

	if (workerid < 0 || workerid >= node->nworkers)
		return 0;
	belongs = (unsigned)orr_load(&node->workers[workerid].belongs);
	return (belongs & (belongs - 1)) != 0;
}

unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx)
{
	struct node *node = api_node(__func__);
	unsigned n = 0;

	api_given(__func__, "sched_ctx", sched_ctx);
	if (worker < 0 || worker >= node->nworkers)
		orr_die(node->rank, "%s: there is no worker %d; expected 0 to %d",
			__func__, worker, node->nworkers - 1);
	*sched_ctx = orr_alloc(STARPU_NMAX_SCHED_CTXS * sizeof(**sched_ctx));
	for (unsigned id = 0; id < STARPU_NMAX_SCHED_CTXS; id++)
		if ((unsigned)orr_load(&node->workers[worker].belongs) >> id & 1)
			(*sched_ctx)[n++] = id;
	return n;
}

unsigned starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
						  unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	for (int i = 0; i < sched->node->nworkers; i++)
		if (contexts_owns(sched, &sched->node->workers[i]) &&
		    (arch == STARPU_ANY_WORKER || sched->node->workers[i].type == arch))
			return 1;
	return 0;
}

void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	unsigned n = starpu_sched_ctx_get_nworkers(sched_ctx_id);
	char name[64];

	api_given(__func__, "f", f);
	fprintf(f, "[sched_ctx %u]: %u worker%s\n", sched_ctx_id, n, n == 1 ? "" : "s");
	for (int i = 0; i < sched->node->nworkers; i++) {
		if (!contexts_owns(sched, &sched->node->workers[i]))
			continue;
		starpu_worker_get_name(i, name, sizeof(name));
		fprintf(f, "\t\t%s\n", name);
	}
}

int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);
	struct node *node = sched->node;
	const struct worker *self = plat_current_worker(node->plat);
	const struct starpu_task *task = plat_caller(node->plat)->task;
	const struct job *job = task ? task->starpu_private : NULL;
	int rank = 0;

	if (!self || !contexts_owns(sched, self))
		return -1;
	/* One may call the kernel for all, in simulation. */
	if (sched->ops->has_master && job && job->sched == sched)
		rank = gang_place(self, job).rank;
	for (int i = 0; rank == 0 && i < self->id; i++)
		rank += contexts_owns(sched, &node->workers[i]);
	return rank;
}

unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id)
{
	int id = starpu_worker_get_id();

	return id >= 0 && starpu_sched_ctx_contains_worker(id, sched_ctx_id)
		       ? (unsigned)id
		       : (unsigned)-1;
}

/* The first context whose master the worker is; parent: that is nested in it, or -1. */
static unsigned context_of_master(struct node *node, int workerid, int parent)
{
	for (unsigned id = 1; id < STARPU_NMAX_SCHED_CTXS; id++) {
		const struct sched *sched = contexts_find(node, id);
		const struct worker *master;

		if (!sched || !sched->ops->has_master ||
		    (parent >= 0 && sched->parent != parent))
			continue;
		master = contexts_master(sched);
		if (master && master->id == workerid)
			return id;
	}
	return STARPU_NMAX_SCHED_CTXS;
}

unsigned starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid,
							 unsigned sched_ctx_id)
{
	const struct sched *sched = api_context(__func__, sched_ctx_id);

	return context_of_master(sched->node, workerid, sched->id);
}

unsigned starpu_sched_ctx_master_get_context(int masterid)
{
	return context_of_master(api_node(__func__), masterid, -1);
}

int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx)
{
	const struct sched *sched = api_context(__func__, sub_ctx);

	for (int i = 0; i < sched->node->nworkers; i++)
		if (contexts_owns(sched, &sched->node->workers[i]))
			return i;
	return -1;
}

unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid)
{
	struct node *node = api_node(__func__);

	if (stream_workerid >= (unsigned)node->nworkers)
		orr_die(node->rank, "%s: there is no worker %u; expected 0 to %d",
			__func__, stream_workerid, node->nworkers - 1);
	for (unsigned id = 1; id < STARPU_NMAX_SCHED_CTXS; id++) {
		const struct sched *sched = contexts_find(node, id);

		if (sched && sched->nsms > 0 &&
		    contexts_owns(sched, &node->workers[stream_workerid]))
			return id;
	}
	return STARPU_NMAX_SCHED_CTXS;
}

/* ---- tasks ----------------------------------------------------------- */

unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task)
{
	api_given(__func__, "task", task);
	return task->sched_ctx;
}

int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id)
{
	return node_nready_of(api_context(__func__, sched_ctx_id));
}

double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id)
{
	return observer_ready_flops(api_context(__func__, sched_ctx_id));
}

unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id,
					       unsigned *awake_workers)
{
	const struct sched *sched = api_context(__func__, sched_ctx_id);

	if (awake_workers && sched->ops->has_master)
		*awake_workers = sched->is_awake;
	return !sched->ops->has_master;
}

/* Policies that share queues count their tasks; ours looks at all queues anyway. */
#define COUNTER(name, first, second, check)                                              \
	void starpu_sched_ctx_list_task_counters_##name(first, second)                   \
	{                                                                                \
		check;                                                                   \
		api_context(__func__, sched_ctx_id);                                     \
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
	return api_context(__func__, sched_ctx_id)->min_priority;
}

int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id)
{
	return api_context(__func__, sched_ctx_id)->max_priority;
}

int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	sched->min_priority = min_prio;
	return 0;
}

int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio)
{
	struct sched *sched = api_context(__func__, sched_ctx_id);

	sched->max_priority = max_prio;
	return 0;
}

int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id)
{
	return api_context(__func__, sched_ctx_id)->min_is_set;
}

int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id)
{
	return api_context(__func__, sched_ctx_id)->max_is_set;
}
