/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SOONEST_H
#define ORR_CORE_SCHED_SOONEST_H

/*
 * soonest.h - of workers that are equal, who is free first: a tournament.
 *
 * A worker that runs a task is free when that one and those that wait are expected to
 * end; one that runs none, or longer than was expected, when those that wait have run
 * from now on.  So a worker is free at later(now + waiting_s, end_s), to which come the
 * tasks bound to it.  Each place of the tree holds the least waiting_s of those below it
 * that run nothing, and the least end_s of the others, from which follows what no worker
 * below is free before: exact unless tasks are bound to it, or it runs longer than was
 * expected.  Finding the first looks at one path, as a rule; so does a change.
 *
 * Dates are in seconds, or in what there are per_second of.  The caller's lock guards it.
 */
#include "core/worker.h"

struct soonest_place {
	double idle_s, end_s; /* from now on, and a date; INFINITY: nobody */
};

struct soonest {
	int n, nleaves; /* workers; leaves: a power of two */
	double per_second;
	struct worker **workers;
	struct soonest_place *places; /* from 1, the root, on; leaves from nleaves on */
	double *waiting_s;            /* of each worker */
};

/* Nobody is in it yet.  The workers, n of them in the order of their numbers, are
 * borrowed. */
void soonest_init(struct soonest *soonest, struct worker **workers, int n);
void soonest_free(struct soonest *soonest);
/* What the worker at that place of the list has now: it runs nothing when end_s is not
 * after waiting_s.  INFINITY twice: it is out. */
void soonest_set(struct soonest *soonest, int i, double waiting_s, double end_s);
/* When the first of them is free; INFINITY: nobody is in it. */
double soonest_s(const struct soonest *soonest, double now_s);

static inline double soonest_place_s(const struct soonest_place *place, double now_s)
{
	double date_s = now_s + place->idle_s;

	return place->end_s < date_s ? place->end_s : date_s;
}

/* None of them is free before. */
static inline double soonest_bound_s(const struct soonest *soonest, double now_s)
{
	return soonest_place_s(&soonest->places[1], now_s);
}

/* The worker with the least number of those whose date will do, or NULL.  Of two dates
 * that will do so will all between, and all before. */
struct worker *soonest_first(const struct soonest *soonest, double now_s,
			     int (*will_do)(const void *what, double free_s),
			     const void *what);

#endif
