/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/levels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/worker.h"

enum { LEVELS_FIRST_CAPACITY = 8 };

void levels_free(struct levels *levels)
{
	free(levels->level);
	*levels = (struct levels){0};
}

/* The first level of at least that priority. */
static int find(const struct levels *levels, int priority)
{
	int low = 0, high = levels->n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (levels->level[middle].priority < priority)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct level *insert(struct levels *levels, int at, int priority)
{
	struct level *level;

	if (levels->n == levels->capacity) {
		levels->capacity =
			levels->n ? 2 * levels->capacity : LEVELS_FIRST_CAPACITY;
		levels->level = orr_realloc(levels->level,
					    (size_t)levels->capacity * sizeof(*level));
	}
	level = &levels->level[at];
	memmove(level + 1, level, (size_t)(levels->n++ - at) * sizeof(*level));
	*level = (struct level){.priority = priority};
	return level;
}

static struct level *level_of(struct levels *levels, int priority)
{
	int at = find(levels, priority);

	if (at < levels->n && levels->level[at].priority == priority)
		return &levels->level[at];
	return insert(levels, at, priority);
}

void levels_push(struct levels *levels, struct job *job, int priority)
{
	struct level *level = level_of(levels, priority);

	job->next = NULL;
	if (level->first)
		level->last->next = job;
	else
		level->first = job;
	level->last = job;
	level->seconds += job->predicted_s;
}

void levels_push_first(struct levels *levels, struct job *job, int priority)
{
	struct level *level = level_of(levels, priority);

	job->next = level->first;
	if (!level->first)
		level->last = job;
	level->first = job;
	level->seconds += job->predicted_s;
}

static struct job *take(struct levels *levels, int at, struct job *before)
{
	struct level *level = &levels->level[at];
	struct job *job = before ? before->next : level->first;

	if (before)
		before->next = job->next;
	else
		level->first = job->next;
	if (level->last == job)
		level->last = before;
	level->seconds -= job->predicted_s;
	if (!level->first)
		memmove(level, level + 1, (size_t)(--levels->n - at) * sizeof(*level));
	return job;
}

struct job *levels_pop(struct levels *levels)
{
	return levels->n ? take(levels, levels->n - 1, NULL) : NULL;
}

struct job *levels_pop_for(struct levels *levels, struct worker *worker,
			   const struct job *best, int priority)
{
	unsigned implementation;

	for (int at = levels->n - 1; at >= 0; at--) {
		const struct level *level = &levels->level[at];
		struct job *before = NULL;

		if (best && level->priority < priority)
			return NULL;
		for (struct job *job = level->first; job; before = job, job = job->next) {
			if (best && level->priority == priority &&
			    job->place.order > best->place.order)
				break;
			if (worker_can_run(worker, job->task, &implementation))
				return take(levels, at, before);
		}
	}
	return NULL;
}

double levels_below_s(const struct levels *levels, int priority)
{
	double seconds = 0;

	for (int at = find(levels, priority) - 1; at >= 0; at--)
		seconds += levels->level[at].seconds;
	return seconds;
}

struct job *levels_pop_least(struct levels *levels, int n,
			     size_t (*cost)(const struct job *job, unsigned memory),
			     unsigned memory)
{
	struct job *before = NULL, *before_best = NULL;
	const struct level *level;
	size_t least = SIZE_MAX;

	if (levels->n == 0)
		return NULL;
	level = &levels->level[levels->n - 1];
	for (struct job *job = level->first; job && n > 0;
	     before = job, job = job->next) {
		size_t its = cost(job, memory);

		if (its < least) {
			least = its;
			before_best = before;
		}
		if (least == 0)
			break;
		n--;
	}
	return take(levels, levels->n - 1, before_best);
}
