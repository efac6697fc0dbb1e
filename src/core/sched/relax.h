/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_RELAX_H
#define ORR_CORE_SCHED_RELAX_H

/*
 * relax.h - each worker has a lock for policies of the application's: its holder may look
 * at and change what the policy keeps for the worker.
 *
 * A worker holds its own while it looks for a task, unless it is relaxed.  Nobody waits
 * for the lock of another worker without relaxing, and who holds another's stays relaxed,
 * so no two wait for each other.  self is the calling worker, NULL for other threads.
 */
#include "core/worker.h"

/* The worker's own lock; nests. */
static inline void relax_hold(struct worker *self)
{
	orr_store(&self->nholds, self->nholds + 1);
	if (self->nholds == 1 && self->nrelaxed == 0)
		orr_lock(&self->turn);
}

static inline void relax_let(struct worker *self)
{
	orr_store(&self->nholds, self->nholds - 1);
	if (self->nholds == 0 && self->nrelaxed == 0)
		orr_unlock(&self->turn);
}

/* Whoever wants its lock may have it; nests. */
static inline void relax_on(struct worker *self)
{
	if (self && self->nrelaxed++ == 0 && self->nholds > 0)
		orr_unlock(&self->turn);
}

static inline void relax_off(struct worker *self)
{
	if (self && --self->nrelaxed == 0 && self->nholds > 0)
		orr_lock(&self->turn);
}

static inline void relax_lock(struct worker *self, struct worker *worker)
{
	if (self == worker) {
		relax_hold(self);
		return;
	}
	relax_on(self);
	orr_lock(&worker->turn);
}

static inline void relax_unlock(struct worker *self, struct worker *worker)
{
	if (self == worker) {
		relax_let(self);
		return;
	}
	orr_unlock(&worker->turn);
	relax_off(self);
}

#endif
