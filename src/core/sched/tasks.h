/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_TASKS_H
#define ORR_CORE_SCHED_TASKS_H

/*
 * tasks.h - tasks in an order that policies of the application's see: by a key, the
 * greatest first, and at each end of those with the same key.
 *
 * Workload: few keys at a time, so the levels of the keys lie in an array.  Those of a
 * key are kept apart by the kinds of workers that may run them, so that who looks for a
 * task never walks over those that are not for its kind; numbers tell the order among
 * them. Who uses it locks.
 */
#include <stdint.h>

#include <starpu_task_list.h>

/* More kinds at a time share the last one. */
enum { TASKS_LANES = 4 };

struct tasks_lane {
	struct starpu_task_list list; /* not empty */
	unsigned kinds;               /* of workers that may run some of them */
};

struct tasks_level {
	int64_t key;
	int nlanes; /* at least one */
	/* Some of its tasks have no numbers: all are in one lane. */
	int is_mixed;
	struct tasks_lane lanes[TASKS_LANES];
};

struct tasks {
	struct tasks_level *level; /* ascending */
	int n, capacity;
	int ntasks; /* atomic: read without the lock by who looks whether to take it */
	int64_t first_number, last_number; /* given to those at the two ends */
};

/* Of kinds of workers, STARPU_CPU | ...: those of all tasks, also of what none can run.
 */
#define TASKS_OF_ALL (~0u)

/* A zeroed struct is empty. */
void tasks_free(struct tasks *tasks);
/* Before (is_first) or behind those with the same key. */
void tasks_push(struct tasks *tasks, struct starpu_task *task, int64_t key, int is_first);
/* The first task, or NULL; the last. */
struct starpu_task *tasks_first(const struct tasks *tasks);
struct starpu_task *tasks_last(const struct tasks *tasks);
/* The first for which does() says so, from the first on or from the last back; NULL.
 * kinds_of(): it says no of all tasks that are for none of these kinds, at most one of
 * which it is asked about; NULL: it is asked about all. */
struct starpu_task *tasks_find(const struct tasks *tasks, int from_last,
			       int (*does)(struct starpu_task *task, void *arg),
			       unsigned (*kinds_of)(void *arg), void *arg);
/* Take out a task that is there. */
void tasks_take(struct tasks *tasks, struct starpu_task *task);
/* The first one, taken out, or NULL. */
struct starpu_task *tasks_pop(struct tasks *tasks);

#endif
