/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_CONTEXTS_H
#define ORR_CORE_SCHED_CONTEXTS_H

/*
 * contexts.h - which schedulers there are, and which workers are whose.
 *
 * worker->next_sched says whose a worker is, and so do the sets of the schedulers; both
 * change at once, under node->scheds_lock.  The worker follows between two tasks, when
 * its pipeline is empty: all jobs in it come from worker->sched, which hears of their
 * starts and ends.
 *
 * Who pushes takes no lock.  It looks at sched->changes before and after: when the set
 * changed meanwhile, it looks itself for what lies at workers that have left, and else
 * who changed the set has seen what was pushed.
 *
 * A scheduler has as users its place in node->scheds, each worker by each of its two
 * pointers, and who pushes to it or changes it; the last one closes it.  The initial one
 * stays as long as the node, and its pushers are not counted.
 */
#include "core/sched/sched.h"

/* The initial scheduler, with all workers; the backend does not run them yet. */
void contexts_open(struct node *node);
/* The node can be found: tell the policy of its workers. */
void contexts_begin(struct node *node);
/* The backend runs no worker any more: close all. */
void contexts_close(struct node *node);

/* Any thread.  One more scheduler, without workers, or NULL when there are as many as
 * there may be.  Tasks are submitted to it by its id as task->sched_ctx. */
struct sched *contexts_create(struct node *node, const struct sched_ops *ops,
			      struct starpu_sched_policy *policy);
/* The scheduler with that number, also when it is about to be closed; or NULL. */
struct sched *contexts_find(struct node *node, unsigned id);
/* Its workers, kept up to date from the first call on. */
struct starpu_worker_collection *contexts_collection(struct sched *sched);
/* Decisions that policies have put off are to be made. */
void contexts_schedule(struct node *node);
/* Any thread.  Returns before the worker follows. */
void contexts_move(struct worker *worker, struct sched *to);
/* Any thread; not the initial one.  Its workers go to heir.  0, or -EBUSY when a task of
 * it has not ended. */
int contexts_delete(struct sched *sched, struct sched *heir);

/* The set changed: push again what lies at workers that are not of it, or aside. */
void contexts_settle(struct sched *sched);
/* The worker itself: go where it belongs.  0: not yet, it still has tasks. */
int contexts_follow(struct worker *worker);
void contexts_join(struct sched *sched);
void contexts_leave(struct sched *sched);

#endif
