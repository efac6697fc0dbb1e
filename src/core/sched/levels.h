/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_LEVELS_H
#define ORR_CORE_SCHED_LEVELS_H

/*
 * levels.h - ready jobs by priority, walked from the best on: for those of which only a
 * look at each tells who may run it.
 *
 * Workload: few priorities at a time.  The levels lie in an array, the best at its end;
 * each is a list, oldest first.
 */
#include <stddef.h>

struct job;
struct worker;

struct level {
	int priority;
	struct job *first, *last;
	double seconds; /* that they are predicted to take */
};

struct levels {
	struct level *level;
	int n, capacity;
};

/* A zeroed struct is empty. */
void levels_free(struct levels *levels);
void levels_push(struct levels *levels, struct job *job, int priority);
/* The same, before the others of that priority. */
void levels_push_first(struct levels *levels, struct job *job, int priority);
/* The best job, taken out, or NULL. */
struct job *levels_pop(struct levels *levels);
/* The best job that worker can run, taken out, if it goes before best, of that priority
 * (NULL: before nobody); or NULL. */
struct job *levels_pop_for(struct levels *levels, struct worker *worker,
			   const struct job *best, int priority);
/* What those of less than that priority are predicted to take. */
double levels_below_s(const struct levels *levels, int priority);
/* Of the n oldest jobs of the best priority, the first for which cost() says least, taken
 * out; or NULL.  Of 0 no more are asked for. */
struct job *levels_pop_least(struct levels *levels, int n,
			     size_t (*cost)(const struct job *job, unsigned memory),
			     unsigned memory);

#endif
