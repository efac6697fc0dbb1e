/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_H
#define ORR_CORE_SCHED_H

/*
 * sched.h - policies decide which worker runs a ready task, and in what order.
 *
 * A narrow table, all of it mandatory but the last two, which are NULL where a policy
 * does not want to know.  push() may be called by any thread, the others by the worker
 * itself.  After push() the caller of sched_push() wakes a worker.  A job whose data are
 * not free when it is popped is pushed again when it has them.
 */
#include "core/worker.h"

struct sched_ops {
	const char *name, *description;
	int has_priorities; /* the range is all integers unless bounded by the user */
	struct sched *(*open)(struct node *node);
	void (*close)(struct sched *sched);
	/* Returns the worker it chose, or NULL: any may take it. */
	struct worker *(*push)(struct sched *sched, struct job *job);
	struct job *(*pop)(struct sched *sched, struct worker *worker);
	/* The kernel of a task begins, or has ended, on worker; of each task, also of
	 * those that are bound to a worker and were never pushed. */
	void (*started)(struct sched *sched, struct worker *worker, struct job *job);
	void (*ended)(struct sched *sched, struct worker *worker, struct job *job);
};

struct sched {
	const struct sched_ops *ops;
	struct node *node;
};

extern const struct sched_ops sched_eager, sched_prio, sched_lws, sched_dmda;

/* The policy called name, or NULL. */
const struct sched_ops *sched_find(const char *name);
const struct sched_ops *sched_at(int i); /* NULL after the last */
/* Choose by conf and knobs, say so when the name is unknown, and open it. */
struct sched *sched_open(struct node *node);
void sched_push(struct job *job);
struct job *sched_pop(struct worker *worker);

static inline void sched_started(struct worker *worker, struct job *job)
{
	struct sched *sched = worker->node->sched;

	if (sched->ops->started)
		sched->ops->started(sched, worker, job);
}

static inline void sched_ended(struct worker *worker, struct job *job)
{
	struct sched *sched = worker->node->sched;

	if (sched->ops->ended)
		sched->ops->ended(sched, worker, job);
}

#endif
