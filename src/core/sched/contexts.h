/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_CONTEXTS_H
#define ORR_CORE_SCHED_CONTEXTS_H

/*
 * contexts.h - which schedulers there are, and which workers are whose.
 *
 * A worker may belong to several schedulers; it takes tasks of that with the highest
 * priority, in turns among equal ones.  What it is to belong to (worker->belongs) changes
 * under node->scheds_lock; so do worker->scheds, which is the same unless the worker is
 * held (see below), and the sets of the schedulers.  worker->joined is the worker's own
 * copy of worker->scheds: it follows before it takes its next task.  A job knows its
 * scheduler, which hears of its start and end whoever belongs to it by then.
 *
 * Held workers belong to schedulers and take tasks of none, but for those without a
 * policy, which keep their workers' cores for code that runs in parallel.  Of such a
 * scheduler one worker, its master, runs the tasks.
 *
 * Who pushes takes no lock.  It looks at sched->changes before and after: when the set
 * changed meanwhile, it looks itself for what lies at workers that have left, and else
 * who changed the set has seen what was pushed.
 *
 * A scheduler has as users its place in node->scheds, each worker by each of its two
 * sets, and who pushes to it, ends a task of it or changes it; the last one closes it.
 * The initial one stays as long as the node, and its pushers are not counted.
 */
#include "core/sched/sched.h"

/* The initial scheduler, with all workers; the backend does not run them yet. */
void contexts_open(struct node *node);
/* The node can be found: tell the policy of its workers. */
void contexts_begin(struct node *node);
/* The backend runs no worker any more: close all. */
void contexts_close(struct node *node);

/* Any thread.  One more scheduler, without workers, or NULL when there are as many as
 * there may be. */
struct sched *contexts_create(struct node *node, const struct sched_ops *ops,
			      struct starpu_sched_policy *policy);
/* Its policy learns of it, with the priorities and what else the scheduler was given
 * meanwhile.  Afterwards it may have workers, and tasks: by its id as task->sched_ctx. */
void contexts_start(struct sched *sched);
/* The scheduler with that number, also when it is about to be closed; or NULL. */
struct sched *contexts_find(struct node *node, unsigned id);
/* Its workers, kept up to date from the first call on. */
struct starpu_worker_collection *contexts_collection(struct sched *sched);
/* Decisions that policies have put off are to be made. */
void contexts_schedule(struct node *node);
/* Nothing travels to or from a memory any more: while orr_load(&node->nquiet). */
void contexts_quiet(struct node *node, unsigned memory);

/* ---- who belongs to whom: any thread; return before the worker follows ---- */

void contexts_add(struct sched *sched, const int *ids, int n);
void contexts_remove(struct sched *sched, const int *ids, int n);
/* To this one alone. */
void contexts_move(struct worker *worker, struct sched *to);
/* Hold the worker for a reason of that number, or no longer for it. */
void contexts_hold(struct worker *worker, int reason, int is_held);
enum {
	HELD_FOR_CODE = STARPU_NMAX_SCHED_CTXS,
	HELD_BY_KNOB
}; /* and numbers of schedulers */
/* The first processor that belongs to it, or the first device; NULL: nobody does. */
struct worker *contexts_master(const struct sched *sched);
/* Has it followed, and ended what it had taken before? */
int contexts_has_settled(const struct worker *worker);
static inline int contexts_owns(const struct sched *sched, const struct worker *worker)
{
	return (orr_load(&worker->belongs) >> sched->id) & 1;
}

/* ---- the end --------------------------------------------------------- */

/* No more tasks will be submitted to it: when the last one has ended, its heir, if it has
 * one, gets its workers, which stay in both.  Whoever submits more may finish again. */
void contexts_finish(struct sched *sched);
/* A task comes; not to the initial one. */
static inline void contexts_job_submitted(struct sched *sched)
{
	orr_add(&sched->njobs, 1);
	if (orr_load(&sched->is_finished) == 2)
		orr_cas(&sched->is_finished, 2, 0);
}
/* Any thread; not the initial one.  Its workers go to heir; NULL: those that belong to
 * nobody else go to the initial one.  A policy of the application's has ended when it
 * returns, unless it is called in a callback.  0, or -EBUSY when a task of it has not
 * ended. */
int contexts_delete(struct sched *sched, struct sched *heir);
/* Who gets its workers; NULL: nobody.  When the heir is deleted its own heir is. */
struct sched *contexts_heir(struct sched *sched);
/* One of its tasks has ended; not of the initial one. */
void contexts_job_ended(struct sched *sched);

/* The set changed: push again what lies at workers that are not of it, or aside. */
void contexts_settle(struct sched *sched);
/* The worker itself: go where it belongs. */
void contexts_follow(struct worker *worker);
void contexts_join(struct sched *sched);
void contexts_leave(struct sched *sched);

#endif
