/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/task/job.h"
#include "plat/plat.h"

void tasks_free(struct tasks *tasks)
{
	free(tasks->level);
	*tasks = (struct tasks){0};
}

/* The place of the first level whose key is not less. */
static int place_of(const struct tasks *tasks, int64_t key)
{
	int low = 0, high = tasks->n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (tasks->level[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct tasks_level *level_of(struct tasks *tasks, int64_t key)
{
	int at = place_of(tasks, key);
	struct tasks_level *level;

	if (at < tasks->n && tasks->level[at].key == key)
		return &tasks->level[at];
	if (tasks->n == tasks->capacity) {
		tasks->capacity = tasks->capacity ? 2 * tasks->capacity : 4;
		tasks->level = orr_realloc(tasks->level,
					   (size_t)tasks->capacity * sizeof(*level));
	}
	level = &tasks->level[at];
	memmove(level + 1, level, (size_t)(tasks->n - at) * sizeof(*level));
	tasks->n++;
	level->key = key;
	level->nlanes = level->is_mixed = 0;
	return level;
}

/* ---- the order among lanes ------------------------------------------- */

/* That the task's number is kept in, or NULL: programs may put tasks here that are not
 * ready, of which nothing is sure yet, and aliases, which have the job of another. */
static struct job *numbered_job(const struct starpu_task *task)
{
	struct job *job = task->starpu_private;

	return job && job->state == JOB_READY && job->task == task ? job : NULL;
}

static int64_t number_of(const struct starpu_task *task)
{
	return (int64_t)((const struct job *)task->starpu_private)->place.order;
}

/* Which of these comes first, or last. */
static int choose(struct starpu_task *const *tasks, int n, int last)
{
	int best = 0;

	for (int i = 1; i < n; i++)
		if ((number_of(tasks[i]) > number_of(tasks[best])) == last)
			best = i;
	return best;
}

static struct starpu_task *end_of(const struct tasks_lane *lane, int last)
{
	return last ? lane->list.tail : lane->list.head;
}

static int is_for(const struct tasks_lane *lane, unsigned kinds)
{
	return (lane->kinds & kinds) || kinds == TASKS_OF_ALL;
}

/* The ends of the lanes for these kinds; returns how many. */
static int ends_for(const struct tasks_level *level, unsigned kinds, int last,
		    struct starpu_task **ends)
{
	int n = 0;

	for (int i = 0; i < level->nlanes; i++)
		if (is_for(&level->lanes[i], kinds))
			ends[n++] = end_of(&level->lanes[i], last);
	return n;
}

/* Of a level that has no other lanes. */
static struct starpu_task *end_of_all(const struct tasks_level *level, int last)
{
	struct starpu_task *ends[TASKS_LANES];

	if (level->nlanes == 1)
		return end_of(&level->lanes[0], last);
	return ends[choose(ends, ends_for(level, TASKS_OF_ALL, last, ends), last)];
}

/* ---- putting and taking ---------------------------------------------- */

static int is_end(const struct tasks_lane *lane, const struct starpu_task *task)
{
	return lane->list.head == task || lane->list.tail == task;
}

/* The task, at an end of a lane of the level, leaves it; 0: it is none. */
static int take_from(struct tasks_level *level, struct starpu_task *task)
{
	struct tasks_lane *lane = level->lanes, *behind = lane + level->nlanes;

	while (lane < behind && !is_end(lane, task))
		lane++;
	if (lane == behind)
		return 0;
	starpu_task_list_erase(&lane->list, task);
	if (starpu_task_list_empty(&lane->list))
		*lane = level->lanes[--level->nlanes];
	return 1;
}

/* All in one lane, in their order. */
static void mix(struct tasks_level *level)
{
	struct tasks_lane lane = {.kinds = TASKS_OF_ALL};

	while (level->nlanes > 0) {
		struct starpu_task *task = end_of_all(level, 0);

		take_from(level, task);
		starpu_task_list_push_back(&lane.list, task);
	}
	level->lanes[level->nlanes++] = lane;
	level->is_mixed = 1;
}

static struct tasks_lane *lane_for(struct tasks_level *level, unsigned kinds)
{
	struct tasks_lane *lane = level->lanes, *behind = lane + level->nlanes;

	while (lane < behind && lane->kinds != kinds)
		lane++;
	if (lane < behind)
		return lane;
	if (level->nlanes == TASKS_LANES) {
		lane[-1].kinds |= kinds;
		return lane - 1;
	}
	*lane = (struct tasks_lane){.kinds = kinds};
	level->nlanes++;
	return lane;
}

void tasks_push(struct tasks *tasks, struct starpu_task *task, int64_t key, int is_first)
{
	struct tasks_level *level = level_of(tasks, key);
	struct job *job = numbered_job(task);
	struct tasks_lane *lane;

	if (job)
		job->place.order = (uint64_t)(is_first ? --tasks->first_number
						       : ++tasks->last_number);
	else if (!level->is_mixed)
		mix(level);
	lane = level->is_mixed ? level->lanes : lane_for(level, job->where);
	if (is_first)
		starpu_task_list_push_front(&lane->list, task);
	else
		starpu_task_list_push_back(&lane->list, task);
	orr_store(&tasks->ntasks, tasks->ntasks + 1);
}

/* A task's priority may have changed since it came: only its place tells its level, and
 * that counts only at the ends of a list. */
void tasks_take(struct tasks *tasks, struct starpu_task *task)
{
	/* Where those that look from that end find it. */
	int is_first = !task->prev, at = is_first ? tasks->n - 1 : 0;

	orr_store(&tasks->ntasks, tasks->ntasks - 1);
	if (task->prev && task->next) {
		task->prev->next = task->next;
		task->next->prev = task->prev;
		return;
	}
	while (!take_from(&tasks->level[at], task))
		at += is_first ? -1 : 1;
	if (tasks->level[at].nlanes > 0)
		return;
	tasks->n--;
	memmove(&tasks->level[at], &tasks->level[at + 1],
		(size_t)(tasks->n - at) * sizeof(tasks->level[0]));
}

/* ---- looking --------------------------------------------------------- */

struct starpu_task *tasks_first(const struct tasks *tasks)
{
	return tasks->n ? end_of_all(&tasks->level[tasks->n - 1], 0) : NULL;
}

struct starpu_task *tasks_last(const struct tasks *tasks)
{
	return tasks->n ? end_of_all(&tasks->level[0], 1) : NULL;
}

struct look {
	int from_last;
	int (*does)(struct starpu_task *task, void *arg);
	void *arg;
	unsigned kinds;
	const struct starpu_task *asked; /* who is not it */
};

static struct starpu_task *beyond(const struct look *look, const struct starpu_task *task)
{
	return look->from_last ? task->prev : task->next;
}

static int is_it(const struct look *look, struct starpu_task *task)
{
	return task != look->asked && look->does(task, look->arg);
}

/* In their order, those of several lanes. */
static struct starpu_task *find_at(const struct tasks_level *level,
				   const struct look *look)
{
	struct starpu_task *next[TASKS_LANES];
	int n = ends_for(level, look->kinds, look->from_last, next);

	while (n > 0) {
		int k = n > 1 ? choose(next, n, look->from_last) : 0;
		struct starpu_task *task = next[k];

		if (is_it(look, task))
			return task;
		next[k] = beyond(look, task);
		if (!next[k])
			next[k] = next[--n];
	}
	return NULL;
}

/* The first is it, as a rule. */
struct starpu_task *tasks_find(const struct tasks *tasks, int from_last,
			       int (*does)(struct starpu_task *task, void *arg),
			       unsigned (*kinds_of)(void *arg), void *arg)
{
	struct starpu_task *task = from_last ? tasks_last(tasks) : tasks_first(tasks);
	struct look look = {from_last, does, arg, TASKS_OF_ALL, task};

	if (!task || does(task, arg))
		return task;
	if (kinds_of)
		look.kinds = kinds_of(arg);
	task = NULL;
	for (int i = 0; i < tasks->n && !task; i++)
		task = find_at(&tasks->level[from_last ? i : tasks->n - 1 - i], &look);
	return task;
}

struct starpu_task *tasks_pop(struct tasks *tasks)
{
	struct starpu_task *task = tasks_first(tasks);

	if (task)
		tasks_take(tasks, task);
	return task;
}
