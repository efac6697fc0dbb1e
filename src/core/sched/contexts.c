/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/contexts.h"

#include <errno.h>
#include <limits.h>

#include "base/check.h"
#include "core/sched/collection.h"

/* ---- users ----------------------------------------------------------- */

void contexts_join(struct sched *sched)
{
	orr_add(&sched->nusers, 1);
}

void contexts_leave(struct sched *sched)
{
	struct starpu_worker_collection *collection;
	struct node *node = sched->node;
	int id = sched->id, keeps_number = sched->ops->opened != NULL;

	if (orr_add(&sched->nusers, -1) > 0)
		return;
	ORR_ASSERT(!sched->aside.first);
	collection = sched->collection;
	sched->ops->close(sched);
	collection_free(collection);
	/* From now on the number may be another one's. */
	if (keeps_number)
		orr_swap_ptr((void **)&node->closing[id], NULL);
}

/* ---- schedulers ------------------------------------------------------ */

static void set_priorities(struct sched *sched)
{
	const struct starpu_conf *conf = &sched->node->conf;

	if (sched->ops->has_priorities) {
		sched->min_priority = INT_MIN;
		sched->max_priority = INT_MAX;
	}
	if (conf->global_sched_ctx_min_priority != -1)
		sched->min_priority = conf->global_sched_ctx_min_priority;
	if (conf->global_sched_ctx_max_priority != -1)
		sched->max_priority = conf->global_sched_ctx_max_priority;
	sched->min_is_set =
		sched->ops->has_priorities || conf->global_sched_ctx_min_priority != -1;
	sched->max_is_set =
		sched->ops->has_priorities || conf->global_sched_ctx_max_priority != -1;
}

/* Its first user is its place; node->scheds_lock is taken. */
static struct sched *open_at(struct node *node, int id, const struct sched_ops *ops,
			     struct starpu_sched_policy *policy)
{
	struct sched *sched = ops->open(node);

	sched->ops = ops;
	sched->policy = policy;
	sched->node = node;
	sched->id = id;
	sched->nwords = (node->nworkers + 31) / 32;
	sched->nusers = 1;
	sched->is_told = id != 0 || ops->submitted;
	orr_lock_init(&sched->lock);
	set_priorities(sched);
	orr_swap_ptr((void **)&node->scheds[id], sched);
	return sched;
}

struct sched *contexts_create(struct node *node, const struct sched_ops *ops,
			      struct starpu_sched_policy *policy)
{
	struct sched *sched = NULL;
	int id = 1;

	orr_lock(&node->scheds_lock);
	while (id < STARPU_NMAX_SCHED_CTXS &&
	       (node->scheds[id] || orr_load_ptr((void **)&node->closing[id])))
		id++;
	if (id < STARPU_NMAX_SCHED_CTXS)
		sched = open_at(node, id, ops, policy);
	orr_unlock(&node->scheds_lock);
	if (sched && ops->opened)
		ops->opened(sched);
	return sched;
}

struct sched *contexts_find(struct node *node, unsigned id)
{
	struct sched *sched;

	if (id >= STARPU_NMAX_SCHED_CTXS)
		return NULL;
	sched = orr_load_ptr((void **)&node->scheds[id]);
	return sched ? sched : orr_load_ptr((void **)&node->closing[id]);
}

struct starpu_worker_collection *contexts_collection(struct sched *sched)
{
	struct starpu_worker_collection *collection =
		orr_load_ptr((void **)&sched->collection);

	if (collection)
		return collection;
	orr_lock(&sched->node->scheds_lock);
	if (!sched->collection) {
		collection = collection_new(sched->policy->push_task
						    ? sched->policy->worker_type
						    : STARPU_WORKER_LIST);
		SCHED_EACH_WORKER(worker, sched)
		collection->add(collection, worker->id);
		orr_swap_ptr((void **)&sched->collection, collection);
	}
	orr_unlock(&sched->node->scheds_lock);
	return sched->collection;
}

/* ---- sets of workers; node->scheds_lock is taken --------------------- */

static void flip(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->members[worker->id / 32];

	orr_store(word, (int)((unsigned)*word ^ 1u << (worker->id % 32)));
	if (!sched->collection)
		return;
	if (sched_has(sched, (struct worker *)worker))
		sched->collection->add(sched->collection, worker->id);
	else
		sched->collection->remove(sched->collection, worker->id);
}

static void add(struct sched *sched, struct worker *worker)
{
	if (sched->ops->add_worker)
		sched->ops->add_worker(sched, worker);
	contexts_join(sched);
	orr_swap_ptr((void **)&worker->next_sched, sched);
	flip(sched, worker);
}

void contexts_open(struct node *node)
{
	struct starpu_sched_policy *policy;
	const struct sched_ops *ops = sched_choose(node, &policy);
	struct sched *sched;

	orr_lock_init(&node->scheds_lock);
	orr_lock(&node->scheds_lock);
	sched = open_at(node, 0, ops, policy);
	node->policy = policy;
	for (int i = 0; i < node->nworkers; i++) {
		add(sched, &node->workers[i]);
		contexts_join(sched);
		node->workers[i].sched = sched;
	}
	orr_unlock(&node->scheds_lock);
}

void contexts_begin(struct node *node)
{
	struct sched *sched = node->scheds[0];
	int ids[STARPU_NMAXWORKERS];

	if (sched->ops->opened)
		sched->ops->opened(sched);
	for (int i = 0; i < node->nworkers; i++)
		ids[i] = i;
	if (sched->ops->workers_come)
		sched->ops->workers_come(sched, ids, (unsigned)node->nworkers);
}

void contexts_close(struct node *node)
{
	for (int i = 0; i < node->nworkers; i++) {
		contexts_leave(node->workers[i].sched);
		contexts_leave(node->workers[i].next_sched);
	}
	for (int i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		if (!node->scheds[i])
			continue;
		ORR_ASSERT(orr_load(&node->scheds[i]->nusers) == 1);
		contexts_leave(node->scheds[i]);
	}
}

void contexts_schedule(struct node *node)
{
	for (unsigned id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		struct sched *sched = orr_load_ptr((void **)&node->scheds[id]);

		if (sched && sched->ops->schedule)
			sched->ops->schedule(sched);
	}
}

/* ---- changes --------------------------------------------------------- */

void contexts_settle(struct sched *sched)
{
	struct node *node = sched->node;
	struct ready left;
	struct job *job;

	orr_lock(&sched->lock);
	left = sched->aside;
	sched->aside = (struct ready){0};
	orr_unlock(&sched->lock);
	for (int i = 0; sched->ops->remove_worker && i < node->nworkers; i++)
		if (!sched_has(sched, &node->workers[i]))
			sched->ops->remove_worker(sched, &node->workers[i], &left);
	while ((job = left.first)) {
		left.first = job->next;
		sched_push(job);
	}
}

void contexts_move(struct worker *worker, struct sched *to)
{
	struct node *node = worker->node;
	int id = worker->id;
	struct sched *from;

	contexts_join(to);
	if (to->ops->workers_come && !sched_has(to, worker))
		to->ops->workers_come(to, &id, 1);
	orr_lock(&node->scheds_lock);
	from = worker->next_sched;
	if (from != to) {
		add(to, worker);
		flip(from, worker);
		/* Last: who sees it sees the rest. */
		orr_add(&from->changes, 1);
		orr_add(&to->changes, 1);
	}
	orr_unlock(&node->scheds_lock);
	if (from != to) {
		orr_fence();
		contexts_settle(from);
		contexts_settle(to);
		plat_worker_wake(worker);
		contexts_leave(from); /* The worker will not go there. */
	}
	contexts_leave(to);
}

int contexts_follow(struct worker *worker)
{
	struct node *node = worker->node;
	struct sched *from = worker->sched, *to;

	if (worker->npipeline > 0)
		return 0;
	orr_lock(&node->scheds_lock);
	to = worker->next_sched;
	contexts_join(to);
	orr_swap_ptr((void **)&worker->sched, to);
	orr_unlock(&node->scheds_lock);
	contexts_leave(from);
	/* Who pushed before has looked for workers that are there; see workers_wake(). */
	orr_fence();
	return 1;
}

int contexts_delete(struct sched *sched, struct sched *heir)
{
	struct node *node = sched->node;
	struct worker *worker;

	ORR_ASSERT(sched->id != 0 && heir != sched);
	if (orr_load(&sched->njobs) > 0)
		return -EBUSY;
	orr_lock(&node->scheds_lock);
	ORR_ASSERT(node->scheds[sched->id] == sched);
	/* Its policy may ask for it by number until it is closed. */
	if (sched->ops->opened)
		orr_swap_ptr((void **)&node->closing[sched->id], sched);
	orr_swap_ptr((void **)&node->scheds[sched->id], NULL);
	orr_unlock(&node->scheds_lock);
	while ((worker = sched_worker_from(sched, 0)))
		contexts_move(worker, heir);
	contexts_leave(sched);
	return 0;
}
