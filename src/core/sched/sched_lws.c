/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Work stealing: a queue per worker; who is idle takes from its nearest (lws), or from
 * who has most (ws). */
#include "core/sched/sched.h"

#include <limits.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"

enum { WORD_BITS = 64, WORDS = (STARPU_NMAXWORKERS + WORD_BITS - 1) / WORD_BITS };

struct lws {
	struct sched base;
	int nqueues;
	int is_known; /* by filled: in a process of one thread */
	/* Where the next task from outside a worker goes. */
	ORR_OWN_LINE int next;
	/* Where tasks are stolen as StarPU does, else NULL: which one each worker was of
	 * those that found nothing after their last task; 0: it has not looked since. */
	uint64_t *idle_since, nidle;
	/* Which queues may have jobs, by number, so that who finds nothing need not look
	 * at the lines of each. */
	uint64_t filled[WORDS];
	struct queue queues[];
};

static struct lws *lws_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct lws, base);
}

static struct sched *ws_open(struct node *node)
{
	struct lws *lws = orr_alloc_lines(sizeof(*lws) + (size_t)node->nworkers *
								 sizeof(lws->queues[0]));

	lws->nqueues = node->nworkers;
	for (int i = 0; i < lws->nqueues; i++)
		queue_init(&lws->queues[i], 0);
	lws->is_known = node->machine->takes_turns;
	return &lws->base;
}

/* As far as StarPU's simulation tells (decision 172), under lws who has a task steals
 * none, of those that have none the one that has rested for longest is woken, and a
 * device looks for its next task after those whom it has woken. */
static struct sched *lws_open(struct node *node)
{
	struct sched *sched = ws_open(node);

	if (!node->machine->steals_as_starpu)
		return sched;
	lws_of(sched)->idle_since =
		orr_alloc((size_t)node->nworkers * sizeof(*lws_of(sched)->idle_since));
	sched->yields = 1;
	return sched;
}

static void lws_close(struct sched *sched)
{
	struct lws *lws = lws_of(sched);

	for (int i = 0; i < lws->nqueues; i++)
		queue_free(&lws->queues[i]);
	free(lws->idle_since);
	free(lws);
}

/* Who is dealt to next, or NULL. */
static struct worker *deal(struct lws *lws, struct job *job)
{
	struct sched *sched = &lws->base;
	int next = orr_load(&lws->next), round = 0;
	struct worker *worker = sched_worker_from(sched, next);

	for (;; worker = sched_worker_from(sched, worker->id + 1)) {
		if (!worker && round++ == 0)
			worker = sched_worker_from(sched, 0);
		if (!worker || (round > 0 && worker->id >= next))
			return NULL;
		if (worker_can_run_job(worker, job))
			break;
	}
	orr_store(&lws->next, worker->id + 1 < lws->nqueues ? worker->id + 1 : 0);
	return worker;
}

/* A worker keeps what it made ready; others deal round, skipping who cannot run it. */
static struct worker *target(struct lws *lws, struct job *job)
{
	struct worker *self = plat_current_worker(lws->base.node->plat);

	if (self && sched_has(&lws->base, self) && worker_can_run_job(self, job))
		return self;
	return deal(lws, job);
}

/* Of those that sleep, have no task and can run the job, or NULL. */
static struct worker *longest_idle(const struct lws *lws, const struct job *job)
{
	const uint64_t *since = lws->idle_since;
	struct worker *longest = NULL;

	SCHED_EACH_WORKER(worker, &lws->base)
	{
		if (worker->npipeline == 0 && worker_sleeps(worker) &&
		    worker_can_run_job(worker, job) &&
		    (!longest || since[worker->id] < since[longest->id]))
			longest = worker;
	}
	return longest;
}

static struct worker *lws_push(struct sched *sched, struct job *job)
{
	struct lws *lws = lws_of(sched);
	struct worker *worker = target(lws, job);

	if (!worker) {
		sched_put_aside(sched, job);
		return NULL;
	}
	queue_push(&lws->queues[worker->id], job);
	if (lws->is_known)
		lws->filled[worker->id / WORD_BITS] |= UINT64_C(1)
						       << worker->id % WORD_BITS;
	if (lws->idle_since)
		return longest_idle(lws, job);
	/* Any idle worker may steal it: wake the owner only when it sleeps. */
	return orr_load(&worker->parked) ? worker : NULL;
}

static struct job *pop_from(struct lws *lws, int id, struct worker *worker)
{
	uint64_t *filled = &lws->filled[id / WORD_BITS], bit = UINT64_C(1)
							       << id % WORD_BITS;
	struct job *job;

	if (!lws->is_known)
		return queue_pop(&lws->queues[id], worker);
	if (!(*filled & bit))
		return NULL;
	job = queue_pop(&lws->queues[id], worker);
	if (queue_is_empty(&lws->queues[id]))
		*filled &= ~bit;
	return job;
}

/* Locks nothing: jobs may come and go meanwhile. */
static int length_of(struct lws *lws, int id)
{
	if (lws->is_known && !(lws->filled[id / WORD_BITS] >> id % WORD_BITS & 1))
		return 0;
	return queue_length(&lws->queues[id]);
}

static struct job *steal_near(struct lws *lws, struct worker *worker)
{
	const struct sched *sched = &lws->base;
	struct worker *up = sched_worker_from(sched, worker->id + 1);
	struct worker *down = sched_worker_before(sched, worker->id);
	struct job *job = NULL;

	/* Nearest first: ids follow the topology. */
	while (!job && (up || down)) {
		if (!down || (up && up->id - worker->id <= worker->id - down->id)) {
			job = pop_from(lws, up->id, worker);
			up = sched_worker_from(sched, up->id + 1);
		} else {
			job = pop_from(lws, down->id, worker);
			down = sched_worker_before(sched, down->id);
		}
	}
	return job;
}

static int is_known_empty(const struct lws *lws)
{
	uint64_t filled = 0;

	if (!lws->is_known)
		return 0;
	for (int i = 0; i < WORDS; i++)
		filled |= lws->filled[i];
	return !filled;
}

static struct job *own_or_near(struct lws *lws, struct worker *worker, int steals)
{
	struct job *job;

	if (is_known_empty(lws))
		return NULL;
	job = pop_from(lws, worker->id, worker);
	return job || !steals ? job : steal_near(lws, worker);
}

static struct job *pop_as_starpu(struct lws *lws, struct worker *worker)
{
	int is_idle = worker->npipeline == 0;
	struct job *job = own_or_near(lws, worker, is_idle);

	if (!job && is_idle && lws->idle_since[worker->id] == 0)
		lws->idle_since[worker->id] = ++lws->nidle;
	return job;
}

static struct job *lws_pop(struct sched *sched, struct worker *worker)
{
	struct lws *lws = lws_of(sched);

	return lws->idle_since ? pop_as_starpu(lws, worker) : own_or_near(lws, worker, 1);
}

static void lws_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	uint64_t *idle_since = lws_of(sched)->idle_since;

	(void)job;
	if (idle_since)
		idle_since[worker->id] = 0;
}

/* Whose queue is longest, of those that come after the last victim: shorter ones, and of
 * the same length the later ones. */
static struct worker *next_victim(struct lws *lws, const struct worker *last, int *length)
{
	struct worker *best = NULL;
	int most = 0;

	SCHED_EACH_WORKER(worker, &lws->base)
	{
		int n = length_of(lws, worker->id);

		if (n <= most || n > *length ||
		    (last && n == *length && worker->id <= last->id))
			continue;
		best = worker;
		most = n;
	}
	*length = most;
	return best;
}

/* Looks at each queue once at most: what is pushed meanwhile wakes somebody. */
static struct job *ws_pop(struct sched *sched, struct worker *worker)
{
	struct lws *lws = lws_of(sched);
	struct worker *victim = NULL;
	int length = INT_MAX;
	struct job *job;

	if (is_known_empty(lws))
		return NULL;
	job = pop_from(lws, worker->id, worker);
	while (!job && (victim = next_victim(lws, victim, &length)))
		job = pop_from(lws, victim->id, worker);
	return job;
}

static void lws_remove_worker(struct sched *sched, struct worker *worker,
			      struct ready *left)
{
	queue_drain(&lws_of(sched)->queues[worker->id], left);
}

const struct sched_ops sched_lws = {
	.object = {INNER_CALLS(lws), .policy_name = "lws",
		   .policy_description = "a queue per worker, by priority; idle workers "
					 "steal from neighbours"},
	.least = INT_MIN,
	.most = INT_MAX,
	.open = lws_open,
	.close = lws_close,
	.push = lws_push,
	.pop = lws_pop,
	.ended = lws_ended,
	.remove_worker = lws_remove_worker,
};

const struct sched_ops sched_ws = {
	.object = {INNER_CALLS(ws), .policy_name = "ws",
		   .policy_description = "a queue per worker, by priority; idle workers "
					 "steal from who has most"},
	.least = INT_MIN,
	.most = INT_MAX,
	.open = ws_open,
	.close = lws_close,
	.push = lws_push,
	.pop = ws_pop,
	.remove_worker = lws_remove_worker,
};
