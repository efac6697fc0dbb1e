/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/contexts.h"

#include <errno.h>
#include <limits.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/sched/library.h"
#include "core/sched/observer.h"
#include "core/sched/collection.h"
#include "core/sched/inner.h"
#include "core/sched/masters.h"
#include "core/sched/telling.h"
#include "core/task/callback.h"

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
	if (sched->ops->schedule)
		orr_add(&node->nputting_off, -1);
	sched->ops->close(sched);
	collection_free(collection);
	/* From now on the number may be another one's, or is already. */
	if (keeps_number)
		orr_cas_ptr((void **)&node->closing[id], sched, NULL);
}

/* ---- schedulers ------------------------------------------------------ */

static void set_priorities(struct sched *sched)
{
	const struct starpu_conf *conf = sched->node->conf;

	sched->min_priority = sched->ops->least;
	sched->max_priority = sched->ops->most;
	if (sched->id != 0)
		return;
	sched->min_is_set = conf->global_sched_ctx_min_priority != -1;
	sched->max_is_set = conf->global_sched_ctx_max_priority != -1;
	if (sched->min_is_set)
		sched->min_priority = conf->global_sched_ctx_min_priority;
	if (sched->max_is_set)
		sched->max_priority = conf->global_sched_ctx_max_priority;
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
	sched->heir = sched->parent = -1;
	sched->outer = sched;
	sched->is_told = id != 0 || ops->submitted;
	orr_lock_init(&sched->lock);
	set_priorities(sched);
	if (ops->schedule)
		orr_add(&node->nputting_off, 1);
	orr_swap_ptr((void **)&node->scheds[id], sched);
	return sched;
}

void contexts_start(struct sched *sched)
{
	if (sched->ops->opened)
		sched->ops->opened(sched);
	orr_store(&sched->is_open, 1);
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
	struct starpu_worker_collection *collection = telling_seen(sched);

	if (!collection)
		collection = orr_load_ptr((void **)&sched->collection);
	if (collection)
		return collection;
	orr_lock(&sched->node->scheds_lock);
	if (!sched->collection) {
		collection = collection_new(sched->policy->worker_type);
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
	inner_flip(sched->inner, worker);
	if (!sched->collection)
		return;
	if (sched_has(sched, worker))
		sched->collection->add(sched->collection, worker->id);
	else
		sched->collection->remove(sched->collection, worker->id);
}

static void enter(struct sched *sched, struct worker *worker)
{
	if (sched->ops->add_worker)
		sched->ops->add_worker(sched, worker);
	contexts_join(sched);
	orr_swap_ptr((void **)&worker->scheds[sched->id], sched);
	flip(sched, worker);
}

/* The user that the worker was is the caller's now. */
static void quit(struct sched *sched, struct worker *worker)
{
	orr_swap_ptr((void **)&worker->scheds[sched->id], NULL);
	flip(sched, worker);
}

/* Who has a knob for it does under any policy. */
static unsigned char takes_ahead(const struct worker *worker)
{
	if (worker->kind->pipeline)
		return 1;
	for (int i = 0; i < worker->njoined; i++)
		if (!sched_ops_inside(worker->joined[i])->places)
			return 0;
	return 1;
}

void contexts_open(struct node *node)
{
	struct starpu_sched_policy *policy;
	const struct sched_ops *ops;
	struct sched *sched;

	library_open(node);
	ops = sched_choose(node, &policy);
	orr_lock_init(&node->scheds_lock);
	orr_lock(&node->scheds_lock);
	sched = open_at(node, 0, ops, policy);
	node->policy = policy;
	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];

		enter(sched, worker);
		contexts_join(sched);
		worker->belongs = 1;
		worker->joined[worker->njoined++] = sched;
		worker->takes_ahead = takes_ahead(worker);
	}
	orr_unlock(&node->scheds_lock);
}

void contexts_begin(struct node *node)
{
	struct sched *sched = node->scheds[0];

	contexts_start(sched);
	for (int i = 0; i < node->nworkers; i++)
		node->workers[i].takes_ahead = takes_ahead(&node->workers[i]);
	if (sched->ops->workers_come)
		telling_first(sched);
}

void contexts_close(struct node *node)
{
	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];

		for (int k = 0; k < worker->njoined; k++)
			contexts_leave(worker->joined[k]);
		for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++)
			if (worker->scheds[id])
				contexts_leave(worker->scheds[id]);
	}
	for (int i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		if (!node->scheds[i])
			continue;
		ORR_ASSERT(orr_load(&node->scheds[i]->nusers) == 1);
		contexts_leave(node->scheds[i]);
	}
}

/* Those that wish and are ready for it; they may be deleted meanwhile, and stay until
 * contexts_leave(). */
static int join_all(struct node *node, int (*wishes)(const struct sched_ops *ops),
		    struct sched **joined)
{
	int n = 0;

	orr_lock(&node->scheds_lock);
	for (unsigned id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		struct sched *sched = node->scheds[id];

		if (!sched || !wishes(sched->ops) || !orr_load(&sched->is_open))
			continue;
		contexts_join(sched);
		joined[n++] = sched;
	}
	orr_unlock(&node->scheds_lock);
	return n;
}

static int has_schedule(const struct sched_ops *ops)
{
	return ops->schedule != NULL;
}

void contexts_schedule(struct node *node)
{
	struct sched *asked[STARPU_NMAX_SCHED_CTXS];
	int n;

	/* Every wait comes here. */
	if (orr_load(&node->nputting_off) == 0)
		return;
	n = join_all(node, has_schedule, asked);
	for (int i = 0; i < n; i++) {
		asked[i]->ops->schedule(asked[i]);
		contexts_leave(asked[i]);
	}
}

static int has_quiet(const struct sched_ops *ops)
{
	return ops->quiet != NULL;
}

void contexts_quiet(struct node *node, unsigned memory)
{
	struct sched *told[STARPU_NMAX_SCHED_CTXS];
	int n = join_all(node, has_quiet, told);

	for (int i = 0; i < n; i++) {
		told[i]->ops->quiet(told[i], memory);
		contexts_leave(told[i]);
	}
}

/* ---- changes --------------------------------------------------------- */

/* What waits for workers that are not of the set. */
static void collect(struct sched *sched, struct ready *left)
{
	struct node *node = sched->node;

	if (sched->ops->workers_come)
		telling_settle(sched);
	else if (sched->ops->remove_worker)
		for (int i = 0; i < node->nworkers; i++)
			if (!sched_has(sched, &node->workers[i]))
				sched->ops->remove_worker(sched, &node->workers[i], left);
}

void contexts_settle(struct sched *sched)
{
	struct ready left = {0}, aside;
	struct job *job;

	/* First: what was put aside may be for a worker that the policy hears of now. */
	collect(sched, &left);
	orr_lock(&sched->lock);
	aside = sched->aside;
	sched->aside = (struct ready){0};
	orr_unlock(&sched->lock);
	while ((job = aside.first)) {
		aside.first = job->next;
		ready_append(&left, job);
	}
	while ((job = left.first)) {
		left.first = job->next;
		sched_push(job);
	}
	inner_settle(sched->inner);
	/* Who left may have been woken for a task that only those who stay will take. */
	orr_fence();
	workers_wake(sched, ~0u, 1);
}

/* What is to change about a worker: numbers of schedulers, reasons to hold it. */
struct change {
	unsigned joins, leaves, holds, frees;
};

/* Whose tasks it takes when all is done. */
static unsigned aims_at(const struct worker *worker, unsigned belongs, unsigned held)
{
	unsigned aims = 0;

	if (held >> HELD_FOR_CODE)
		return 0;
	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		const struct sched *sched = worker->node->scheds[id];

		if (sched && (belongs >> id & 1) && (!held || sched->ops->has_master))
			aims |= 1u << id;
	}
	return aims;
}

static unsigned belongs_after(const struct worker *worker, struct change change)
{
	return ((unsigned)worker->belongs & ~change.leaves) | change.joins;
}

static unsigned held_after(const struct worker *worker, struct change change)
{
	return ((unsigned)worker->held & ~change.frees) | change.holds;
}

/* Policies hear of a worker before it comes, with nothing locked.  Returns how many were
 * told, each with a user for the caller. */
static int announce(struct worker *worker, struct change change, struct sched *told[])
{
	struct sched *asked[STARPU_NMAX_SCHED_CTXS];
	struct node *node = worker->node;
	int nasked = 0, n = 0, mine;
	unsigned aims;

	orr_lock(&node->scheds_lock);
	aims = aims_at(worker, belongs_after(worker, change), held_after(worker, change));
	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		struct sched *sched = node->scheds[id];

		if (!(aims >> id & 1) || !sched->ops->workers_come ||
		    sched_has(sched, worker))
			continue;
		contexts_join(sched);
		asked[nasked++] = sched;
	}
	orr_unlock(&node->scheds_lock);
	for (int i = 0; i < nasked; i++) {
		if (telling_begin(asked[i], &worker->id, 1, &mine))
			told[n++] = asked[i];
		else
			contexts_leave(asked[i]);
	}
	return n;
}

/* Make worker->scheds what it is to be.  Returns how many of them changed, each with a
 * user for the caller. */
static int update(struct worker *worker, struct sched *changed[])
{
	unsigned aims =
		aims_at(worker, (unsigned)worker->belongs, (unsigned)worker->held);
	int n = 0;

	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		struct sched *old = worker->scheds[id];
		int is_in = aims >> id & 1;

		if ((old != NULL) == is_in)
			continue;
		changed[n] = old ? old : worker->node->scheds[id];
		if (old) {
			quit(old, worker);
		} else {
			contexts_join(changed[n]);
			enter(changed[n], worker);
		}
		n++;
	}
	/* Last: who sees it sees the rest. */
	for (int i = 0; i < n; i++)
		orr_add(&changed[i]->changes, 1);
	if (n)
		orr_add(&worker->nchanges, 1);
	return n;
}

static void apply(struct worker *worker, struct change change)
{
	struct sched *changed[STARPU_NMAX_SCHED_CTXS];
	struct sched *told[STARPU_NMAX_SCHED_CTXS];
	struct node *node = worker->node;
	int n, ntold;

	ntold = announce(worker, change, told);
	orr_lock(&node->scheds_lock);
	orr_store(&worker->belongs, (int)belongs_after(worker, change));
	worker->held = (int)held_after(worker, change);
	n = update(worker, changed);
	masters_lead(node);
	orr_unlock(&node->scheds_lock);
	orr_fence();
	for (int i = 0; i < ntold; i++) {
		if (telling_end(told[i], worker))
			contexts_settle(told[i]);
		contexts_leave(told[i]);
	}
	for (int i = 0; i < n; i++) {
		contexts_settle(changed[i]);
		contexts_leave(changed[i]);
	}
	/* Before its policy had been told it may have looked in vain. */
	if (n || ntold)
		plat_worker_wake(worker);
}

/* Of a scheduler without a policy, all but the master are held. */
static void choose_master(struct sched *sched)
{
	const struct worker *master = contexts_master(sched);
	unsigned reason = 1u << sched->id;

	for (int i = 0; sched->ops->has_master && i < sched->node->nworkers; i++) {
		struct worker *worker = &sched->node->workers[i];
		int sleeps = contexts_owns(sched, worker) && worker != master &&
			     !sched->is_awake;

		apply(worker, sleeps ? (struct change){.holds = reason}
				     : (struct change){.frees = reason});
	}
}

/* Will the policy hear of the worker?  node->scheds_lock is taken. */
static int is_news(const struct sched *sched, const struct worker *worker,
		   struct change change)
{
	unsigned aims = aims_at(worker, belongs_after(worker, change),
				held_after(worker, change));

	return sched->ops->workers_come && (aims >> sched->id & 1) &&
	       !sched_has(sched, worker);
}

/* The workers come to the scheduler, whose policy hears of them together; and what else
 * is to change about each. */
static void bring(struct sched *sched, const int *ids, int n, struct change change)
{
	int coming[STARPU_NMAXWORKERS], mine[STARPU_NMAXWORKERS], ncoming = 0, nmine = 0;
	struct worker *workers = sched->node->workers;
	int more = 0;

	change.joins |= 1u << sched->id;
	contexts_join(sched);
	orr_lock(&sched->node->scheds_lock);
	for (int i = 0; i < n && ncoming < STARPU_NMAXWORKERS; i++)
		if (is_news(sched, &workers[ids[i]], change))
			coming[ncoming++] = ids[i];
	orr_unlock(&sched->node->scheds_lock);
	if (ncoming)
		nmine = telling_begin(sched, coming, ncoming, mine);
	for (int i = 0; i < n; i++) {
		apply(&workers[ids[i]], change);
		choose_master(sched);
	}
	for (int i = 0; i < nmine; i++)
		more |= telling_end(sched, &workers[mine[i]]);
	if (more)
		contexts_settle(sched);
	/* Before its policy had been told each may have looked in vain. */
	for (int i = 0; i < nmine; i++)
		plat_worker_wake(&workers[mine[i]]);
	contexts_leave(sched);
}

void contexts_add(struct sched *sched, const int *ids, int n)
{
	bring(sched, ids, n, (struct change){0});
}

/* Its policy will hear by part() together of those of the workers that leave. */
static int gather(struct sched *sched, const int *ids, int n, int *mine)
{
	contexts_join(sched);
	return sched->ops->workers_come ? telling_hold(sched, ids, n, mine) : 0;
}

static void part(struct sched *sched, const int *mine, int nmine)
{
	if (telling_gone(sched, mine, nmine))
		contexts_settle(sched);
	contexts_leave(sched);
}

void contexts_remove(struct sched *sched, const int *ids, int n)
{
	int mine[STARPU_NMAXWORKERS], nmine = gather(sched, ids, n, mine);
	unsigned bit = 1u << sched->id;

	for (int i = 0; i < n; i++) {
		apply(&sched->node->workers[ids[i]],
		      (struct change){.leaves = bit, .frees = bit});
		choose_master(sched);
	}
	part(sched, mine, nmine);
}

void contexts_move(struct worker *worker, struct sched *to)
{
	unsigned bit = 1u << to->id;

	apply(worker, (struct change){.leaves = ~bit,
				      .joins = bit,
				      .frees = (1u << HELD_FOR_CODE) - 1});
	choose_master(to);
}

void contexts_hold(struct worker *worker, int reason, int is_held)
{
	unsigned bit = 1u << reason;

	apply(worker,
	      is_held ? (struct change){.holds = bit} : (struct change){.frees = bit});
}

int contexts_has_settled(const struct worker *worker)
{
	return orr_load(&worker->nfollowed) == orr_load(&worker->nchanges) &&
	       worker->npipeline == 0 &&
	       !orr_load_ptr((void **)(uintptr_t)&worker->gangs);
}

void contexts_follow(struct worker *worker)
{
	struct sched *left[STARPU_NMAX_SCHED_CTXS];
	struct node *node = worker->node;
	int nleft = worker->njoined;

	for (int i = 0; i < nleft; i++)
		left[i] = worker->joined[i];
	orr_lock(&node->scheds_lock);
	worker->njoined = 0;
	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		if (!worker->scheds[id])
			continue;
		contexts_join(worker->scheds[id]);
		worker->joined[worker->njoined++] = worker->scheds[id];
	}
	worker->takes_ahead = takes_ahead(worker);
	orr_store(&worker->nfollowed, orr_load(&worker->nchanges));
	orr_unlock(&node->scheds_lock);
	for (int i = 0; i < nleft; i++)
		contexts_leave(left[i]);
	/* Who pushed before has looked for workers that are there; see workers_wake(). */
	orr_fence();
}

/* ---- the end --------------------------------------------------------- */

/* The number may be another one's afterwards.  node->scheds_lock is taken. */
static void forget(struct node *node, const struct sched *gone)
{
	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		struct sched *sched = node->scheds[id];

		if (!sched || sched == gone)
			continue;
		if (orr_load(&sched->heir) == gone->id)
			orr_store(&sched->heir, gone->heir == id ? -1 : gone->heir);
		if (orr_load(&sched->parent) == gone->id)
			orr_store(&sched->parent, gone->parent);
	}
}

static int list_owned(const struct sched *sched, int *ids)
{
	int n = 0;

	for (int i = 0; i < sched->node->nworkers; i++)
		if (contexts_owns(sched, &sched->node->workers[i]))
			ids[n++] = i;
	return n;
}

/* Its workers, n, go to heir, or if that is NULL, to the initial one where they have no
 * other. */
static void release_workers(struct sched *sched, struct sched *heir, const int *ids,
			    int n)
{
	struct node *node = sched->node;
	unsigned bit = 1u << sched->id;
	struct change change = {.leaves = bit, .frees = bit};
	int to_heir[STARPU_NMAXWORKERS], mine[STARPU_NMAXWORKERS], nto_heir = 0;
	int nmine = gather(sched, ids, n, mine);

	for (int i = 0; i < n; i++) {
		struct worker *worker = &node->workers[ids[i]];

		orr_store(&worker->ranks[sched->id], 0);
		if (heir || (unsigned)orr_load(&worker->belongs) == bit)
			to_heir[nto_heir++] = ids[i];
		else
			apply(worker, change);
	}
	bring(heir ? heir : node->scheds[0], to_heir, nto_heir, change);
	part(sched, mine, nmine);
}

struct sched *contexts_heir(struct sched *sched)
{
	int heir = orr_load(&sched->heir);

	return heir >= 0 ? contexts_find(sched->node, (unsigned)heir) : NULL;
}

/* All its tasks have ended. */
static void tell_end(struct sched *sched)
{
	void (*end)(unsigned id, void *arg) = sched->end;
	OUTSIDE(outside);
	struct starpu_task *outer;

	if (!end)
		return;
	outer = callback_enter(sched->node, NULL);
	outside_begin(&outside, sched->node, plat_caller(sched->node->plat),
		      "a callback");
	end((unsigned)sched->id, sched->end_arg);
	outside_end(&outside);
	callback_leave(sched->node, outer);
}

/* The heir has the workers, too, until the context is deleted: as with StarPU, programs
 * may go on with it, and finish again. */
static void end_if_finished(struct sched *sched)
{
	struct change change = {.frees = 1u << sched->id};
	int ids[STARPU_NMAXWORKERS];
	struct sched *heir;

	if (orr_load(&sched->njobs) > 0 || !orr_cas(&sched->is_finished, 1, 2))
		return;
	heir = contexts_heir(sched);
	if (heir)
		bring(heir, ids, list_owned(sched, ids), change);
	tell_end(sched);
}

void contexts_finish(struct sched *sched)
{
	contexts_join(sched);
	orr_cas(&sched->is_finished, 0, 1);
	end_if_finished(sched);
	contexts_leave(sched);
}

void contexts_job_ended(struct sched *sched)
{
	contexts_join(sched);
	orr_add(&sched->node->ended_elsewhere, 1);
	if (orr_add(&sched->njobs, -1) == 0)
		end_if_finished(sched);
	contexts_leave(sched);
}

/* Does nobody call the policy any more?  The caller is a user, and workers are as long
 * as they have not followed, which they may do much later: when their kernels end. */
static int is_left(struct sched *sched)
{
	struct node *node = sched->node;
	int nusers = 1, is_popping = 0;

	orr_lock(&node->scheds_lock);
	for (int i = 0; i < node->nworkers; i++) {
		const struct worker *worker = &node->workers[i];

		for (int k = 0; k < worker->njoined; k++) {
			if (worker->joined[k] != sched)
				continue;
			nusers++;
			is_popping |= orr_load(&worker->nholds) > 0;
		}
	}
	nusers -= orr_load(&sched->nusers);
	orr_unlock(&node->scheds_lock);
	return nusers == 0 && !is_popping;
}

/* The policy's data may go when the application's call returns. */
static void close_policy(struct sched *sched, const int *ids, int n)
{
	struct node *node = sched->node;

	if (!sched->ops->closing || !callback_is_outside(node))
		return;
	orr_fence();
	while (!is_left(sched))
		plat_sleep(node->plat, 1e-5);
	telling_close(sched, ids, n);
	orr_cas_ptr((void **)&node->closing[sched->id], sched, NULL);
}

int contexts_delete(struct sched *sched, struct sched *heir)
{
	struct node *node = sched->node;
	int ids[STARPU_NMAXWORKERS], n;

	ORR_ASSERT(sched->id != 0 && heir != sched);
	if (orr_load(&sched->njobs) > 0)
		return -EBUSY;
	contexts_join(sched);
	n = list_owned(sched, ids);
	release_workers(sched, heir, ids, n);
	if (!orr_load(&sched->is_finished))
		tell_end(sched);
	observer_deleted(sched);
	orr_lock(&node->scheds_lock);
	ORR_ASSERT(node->scheds[sched->id] == sched);
	/* Its policy may ask for it by number until it is closed. */
	if (sched->ops->opened)
		orr_swap_ptr((void **)&node->closing[sched->id], sched);
	orr_swap_ptr((void **)&node->scheds[sched->id], NULL);
	forget(node, sched);
	orr_unlock(&node->scheds_lock);
	contexts_leave(sched); /* Its place. */
	close_policy(sched, ids, n);
	contexts_leave(sched);
	return 0;
}
