/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_OBSERVER_H
#define ORR_CORE_SCHED_OBSERVER_H

/*
 * observer.h - what the application is told of a scheduler (StarPU says: its performance
 * counters), so that it can move workers between them; and operations that wait.
 *
 * Called with nothing locked, by the thread where it happens.  Each task that a worker
 * takes has been told as pushed, once: when it is placed, or when it is taken, where the
 * policy leaves open who takes it.
 */
#include <starpu_sched_ctx_hypervisor.h>

#include "core/sched/sched.h"

/* Tell calls of the scheduler from now on; NULL: nobody. */
void observer_set(struct sched *sched,
		  const struct starpu_sched_ctx_performance_counters *calls);
void observer_pushed(struct sched *sched, int worker);
void observer_submitted(struct job *job);
/* It is ready, and the caller has it: count it, and ask for workers if there are none. */
void observer_ready(struct job *job);
/* The same: will this push say who takes it, and nobody has been told yet?  Counts as
 * told from now on, until it is put aside instead. */
int observer_will_place(struct job *job);
void observer_put_aside(struct job *job);
void observer_taken(struct worker *worker, struct job *job);
void observer_executed(struct job *job);
void observer_deleted(struct sched *sched);
/* The worker has found no task, or is about to take one. */
void observer_idle(struct worker *worker, int is_idle);

/* Of the scheduler's ready tasks that have not ended, in sum. */
double observer_ready_flops(struct sched *sched);

#endif
