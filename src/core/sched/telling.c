/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/telling.h"

#include "core/outside.h"
#include "core/sched/collection.h"

static int bit_of(const struct worker *worker)
{
	return (int)(1u << (worker->id % 32));
}

int telling_knows(const struct sched *sched, const struct worker *worker)
{
	return (orr_load(&sched->told[worker->id / 32]) & bit_of(worker)) != 0;
}

static void flip_told(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->told[worker->id / 32], old;

	do
		old = orr_load(word);
	while (!orr_cas(word, old, old ^ bit_of(worker)));
}

static int take_turn(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->telling[worker->id / 32], old;

	do {
		old = orr_load(word);
		if (old & bit_of(worker))
			return 0;
	} while (!orr_cas(word, old, old | bit_of(worker)));
	return 1;
}

/* The set is read after it: who changed it meanwhile has found the turn taken. */
static void give_turn(struct sched *sched, const struct worker *worker)
{
	int *word = &sched->telling[worker->id / 32], old;

	do
		old = orr_load(word);
	while (!orr_cas(word, old, old & ~bit_of(worker)));
}

/* ---- what the policy sees meanwhile ---------------------------------- */

struct starpu_worker_collection *telling_seen(const struct sched *sched)
{
	const struct telling_view *view;

	if (orr_load((int *)&sched->nviews) == 0)
		return NULL;
	view = plat_caller(sched->node->plat)->view;
	return view && view->sched == sched ? view->workers : NULL;
}

/* The set, and those beside it. */
static struct starpu_worker_collection *all_of(struct sched *sched, const int *ids, int n)
{
	struct starpu_worker_collection *all = collection_new(
		sched->policy ? sched->policy->worker_type : STARPU_WORKER_LIST);

	SCHED_EACH_WORKER(worker, sched)
	all->add(all, worker->id);
	for (int i = 0; i < n; i++)
		all->add(all, ids[i]);
	return all;
}

typedef void tell_t(struct sched *sched, int *ids, unsigned n);

/* The policy sees workers, which are freed. */
static void show(struct sched *sched, struct starpu_worker_collection *workers,
		 tell_t *tell, int *ids, int n)
{
	struct plat_caller *caller = plat_caller(sched->node->plat);
	struct telling_view view = {.sched = sched, .workers = workers};
	const struct telling_view *before = caller->view;

	caller->view = &view;
	orr_add(&sched->nviews, 1);
	tell(sched, ids, (unsigned)n);
	orr_add(&sched->nviews, -1);
	caller->view = before;
	collection_free(workers);
}

static void speak(struct sched *sched, tell_t *tell, int *ids, int n)
{
	show(sched, all_of(sched, ids, n), tell, ids, n);
}

static void open_policy(struct sched *sched, int *ids, unsigned n)
{
	OUTSIDE(outside);

	(void)ids;
	(void)n;
	if (!sched->policy->init_sched)
		return;
	outside_enter(&outside, sched->node, "init_sched of a scheduling policy");
	sched->policy->init_sched((unsigned)sched->id);
	outside_end(&outside);
}

void telling_open(struct sched *sched)
{
	show(sched, collection_new(sched->policy->worker_type), open_policy, NULL, 0);
}

static void close_policy(struct sched *sched, int *ids, unsigned n)
{
	(void)ids;
	(void)n;
	sched->ops->closing(sched);
}

void telling_close(struct sched *sched, const int *ids, int n)
{
	speak(sched, close_policy, (int *)(uintptr_t)ids, n);
	sched->is_closed = 1;
}

/* ---- telling --------------------------------------------------------- */

/* The caller has the turn.  Between the two flips the policy has all that it keeps for
 * the worker. */
static void tell(struct sched *sched, struct worker *worker, int comes)
{
	int id = worker->id;

	if (comes) {
		speak(sched, sched->ops->workers_come, &id, 1);
		flip_told(sched, worker);
	} else {
		flip_told(sched, worker);
		speak(sched, sched->ops->workers_leave, &id, 1);
	}
}

/* Returns whether something was told. */
static int settle(struct sched *sched, struct worker *worker)
{
	int n = 0;

	while (telling_knows(sched, worker) != sched_has(sched, worker) &&
	       take_turn(sched, worker)) {
		int comes = sched_has(sched, worker);

		if (telling_knows(sched, worker) != comes) {
			tell(sched, worker, comes);
			n++;
		}
		give_turn(sched, worker);
	}
	return n > 0;
}

int telling_begin(struct sched *sched, const int *ids, int n, int *mine)
{
	int fresh[STARPU_NMAXWORKERS];
	int nfresh = 0, nmine = 0;

	for (int i = 0; i < n; i++) {
		const struct worker *worker = &sched->node->workers[ids[i]];

		if (!take_turn(sched, worker))
			continue;
		mine[nmine++] = ids[i];
		if (!telling_knows(sched, worker))
			fresh[nfresh++] = ids[i];
	}
	if (!nfresh)
		return nmine;
	speak(sched, sched->ops->workers_come, fresh, nfresh);
	for (int i = 0; i < nmine; i++)
		if (!telling_knows(sched, &sched->node->workers[mine[i]]))
			flip_told(sched, &sched->node->workers[mine[i]]);
	return nmine;
}

int telling_end(struct sched *sched, struct worker *worker)
{
	give_turn(sched, worker);
	return settle(sched, worker);
}

int telling_hold(struct sched *sched, const int *ids, int n, int *mine)
{
	int nmine = 0;

	for (int i = 0; i < n; i++)
		if (take_turn(sched, &sched->node->workers[ids[i]]))
			mine[nmine++] = ids[i];
	return nmine;
}

int telling_gone(struct sched *sched, const int *mine, int n)
{
	struct worker *workers = sched->node->workers;
	int gone[STARPU_NMAXWORKERS], ngone = 0, more = 0;

	for (int i = 0; i < n; i++) {
		struct worker *worker = &workers[mine[i]];

		if (!telling_knows(sched, worker) || sched_has(sched, worker))
			continue;
		flip_told(sched, worker);
		gone[ngone++] = mine[i];
	}
	if (ngone)
		speak(sched, sched->ops->workers_leave, gone, ngone);
	for (int i = 0; i < n; i++)
		more |= telling_end(sched, &workers[mine[i]]);
	return more || ngone > 0;
}

void telling_first(struct sched *sched)
{
	int ids[STARPU_NMAXWORKERS];
	unsigned n = 0;

	SCHED_EACH_WORKER(worker, sched)
	{
		flip_told(sched, worker);
		ids[n++] = worker->id;
	}
	sched->ops->workers_come(sched, ids, n);
}

void telling_settle(struct sched *sched)
{
	orr_fence();
	for (int i = 0; i < sched->node->nworkers; i++)
		settle(sched, &sched->node->workers[i]);
}
