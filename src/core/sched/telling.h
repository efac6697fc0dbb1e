/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_TELLING_H
#define ORR_CORE_SCHED_TELLING_H

/*
 * telling.h - policies with workers_come() hear of each worker that comes, before it
 * does, and of each that has left.
 *
 * They are told with nothing locked, so that sets may change while they are.  For each
 * worker one thread tells at a time; who finds another one telling leaves it to that one,
 * which looks again at the set afterwards.  So what a policy knows of its workers is
 * what they are as soon as nobody tells.
 *
 * While a policy is told, it sees, of the thread that tells it, also those that come,
 * respectively still those that have left; other threads do not: they may push.
 */
#include "core/sched/sched.h"

struct telling_view {
	const struct sched *sched;
	struct starpu_worker_collection *workers;
};

/* The policy has been told that the worker comes, and not yet that it has left: what it
 * keeps for the worker is there. */
int telling_knows(const struct sched *sched, const struct worker *worker);
/* The workers are to come: the policy hears of them by one call.  Returns for how many
 * telling_end() must follow when they have come, and which; of others another thread
 * tells. */
int telling_begin(struct sched *sched, const int *ids, int n, int *mine);
/* 1: more was told, so the caller calls contexts_settle(). */
int telling_end(struct sched *sched, struct worker *worker);
/* The workers are to leave: returns of how many the policy will not hear before
 * telling_gone(), and which. */
int telling_hold(struct sched *sched, const int *ids, int n, int *mine);
/* They have: the policy hears of them by one call.  1: see telling_end(). */
int telling_gone(struct sched *sched, const int *mine, int n);
/* The policy ends.  n workers have left last. */
void telling_close(struct sched *sched, const int *ids, int n);
/* What the calling thread sees instead of the set, or NULL. */
struct starpu_worker_collection *telling_seen(const struct sched *sched);
/* The policy is made: it sees no workers meanwhile. */
void telling_open(struct sched *sched);
/* The first ones, before there are threads that change the set. */
void telling_first(struct sched *sched);
/* The set has changed. */
void telling_settle(struct sched *sched);

#endif
