/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_TASKS_H
#define ORR_CORE_SCHED_TASKS_H

/*
 * tasks.h - tasks in an order that policies of the application's see: by a key, the
 * greatest first, and at each end of those with the same key.
 *
 * Workload: few keys at a time, so the lists of the keys lie in an array.  Who uses it
 * locks.  The tasks are linked by prev and next, as those of starpu_task_list.
 */
#include <stdint.h>

#include <starpu_task_list.h>

struct tasks_level {
	int64_t key;
	struct starpu_task_list list;
};

struct tasks {
	struct tasks_level *level; /* ascending; none is empty */
	int n, capacity;
	int ntasks; /* atomic: read without the lock by who looks whether to take it */
};

/* A zeroed struct is empty. */
void tasks_free(struct tasks *tasks);
/* Before (is_first) or behind those with the same key. */
void tasks_push(struct tasks *tasks, struct starpu_task *task, int64_t key, int is_first);
/* The first task, or NULL; the last. */
struct starpu_task *tasks_first(const struct tasks *tasks);
struct starpu_task *tasks_last(const struct tasks *tasks);
/* The first for which does() says so, from the first on or from the last back; NULL. */
struct starpu_task *tasks_find(const struct tasks *tasks, int from_last,
			       int (*does)(struct starpu_task *task, void *arg),
			       void *arg);
/* Take out a task that is there. */
void tasks_take(struct tasks *tasks, struct starpu_task *task);
/* The first one, taken out, or NULL. */
struct starpu_task *tasks_pop(struct tasks *tasks);

#endif
