/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
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
	starpu_task_list_init(&level->list);
	return level;
}

void tasks_push(struct tasks *tasks, struct starpu_task *task, int64_t key, int is_first)
{
	struct tasks_level *level = level_of(tasks, key);

	if (is_first)
		starpu_task_list_push_front(&level->list, task);
	else
		starpu_task_list_push_back(&level->list, task);
	orr_store(&tasks->ntasks, tasks->ntasks + 1);
}

struct starpu_task *tasks_first(const struct tasks *tasks)
{
	return tasks->n ? tasks->level[tasks->n - 1].list.head : NULL;
}

struct starpu_task *tasks_last(const struct tasks *tasks)
{
	return tasks->n ? tasks->level[0].list.tail : NULL;
}

struct starpu_task *tasks_find(const struct tasks *tasks, int from_last,
			       int (*does)(struct starpu_task *task, void *arg),
			       void *arg)
{
	for (int i = 0; i < tasks->n; i++) {
		int at = from_last ? i : tasks->n - 1 - i;
		const struct starpu_task_list *list = &tasks->level[at].list;
		struct starpu_task *task = from_last ? list->tail : list->head;

		for (; task; task = from_last ? task->prev : task->next)
			if (does(task, arg))
				return task;
	}
	return NULL;
}

static int is_end(const struct tasks_level *level, const struct starpu_task *task)
{
	return level->list.head == task || level->list.tail == task;
}

/* A task's priority may have changed since it came: only its place tells its level, and
 * that counts only at the ends of a list. */
void tasks_take(struct tasks *tasks, struct starpu_task *task)
{
	int at = 0;

	orr_store(&tasks->ntasks, tasks->ntasks - 1);
	if (task->prev && task->next) {
		task->prev->next = task->next;
		task->next->prev = task->prev;
		return;
	}
	while (!is_end(&tasks->level[at], task))
		at++;
	starpu_task_list_erase(&tasks->level[at].list, task);
	if (!starpu_task_list_empty(&tasks->level[at].list))
		return;
	tasks->n--;
	memmove(&tasks->level[at], &tasks->level[at + 1],
		(size_t)(tasks->n - at) * sizeof(tasks->level[0]));
}

struct starpu_task *tasks_pop(struct tasks *tasks)
{
	struct starpu_task *task = tasks_first(tasks);

	if (task)
		tasks_take(tasks, task);
	return task;
}
