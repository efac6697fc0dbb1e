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
 */
#include "core/sched/sched.h"

/* The policy has been told that the worker comes, and not yet that it has left: what it
 * keeps for the worker is there. */
int telling_knows(const struct sched *sched, const struct worker *worker);
/* The workers are to come: the policy hears of them by one call.  Returns for how many
 * telling_end() must follow when they have come, and which; of others another thread
 * tells. */
int telling_begin(struct sched *sched, const int *ids, int n, int *mine);
/* 1: more was told, so the caller calls contexts_settle(). */
int telling_end(struct sched *sched, struct worker *worker);
/* The first ones, before there are threads that change the set. */
void telling_first(struct sched *sched);
/* The set has changed. */
void telling_settle(struct sched *sched);

#endif
