/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/bundle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/task/job.h"

enum { BUNDLE_FIRST_CAPACITY = 4 };

starpu_task_bundle_t bundle_new(void)
{
	starpu_task_bundle_t bundle = orr_alloc(sizeof(*bundle));

	orr_lock_init(&bundle->lock);
	return bundle;
}

/* Unlock it, and free it when nobody can come to it any more. */
static void leave(starpu_task_bundle_t bundle)
{
	int is_over = bundle->is_closed && bundle->slots.count == 0;

	orr_unlock(&bundle->lock);
	if (!is_over)
		return;
	table_free(&bundle->slots);
	free(bundle->tasks);
	free(bundle);
}

static int was_submitted(const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;

	return job && job->life != LIFE_NEW;
}

static void put(starpu_task_bundle_t bundle, int slot, struct starpu_task *task)
{
	bundle->tasks[slot] = task;
	table_put(&bundle->slots, (uintptr_t)task, (void *)(uintptr_t)(slot + 1));
}

/* As many as have left pay for it. */
static void close_gaps(starpu_task_bundle_t bundle)
{
	int n = 0;

	for (int i = 0; i < bundle->nslots; i++)
		if (bundle->tasks[i])
			put(bundle, n++, bundle->tasks[i]);
	bundle->nslots = n;
}

static void make_room(starpu_task_bundle_t bundle)
{
	if (bundle->nslots == bundle->capacity &&
	    bundle->slots.count <= (size_t)bundle->capacity / 2)
		close_gaps(bundle);
	if (bundle->nslots < bundle->capacity)
		return;
	bundle->capacity =
		bundle->capacity ? 2 * bundle->capacity : BUNDLE_FIRST_CAPACITY;
	bundle->tasks = orr_realloc(bundle->tasks,
				    (size_t)bundle->capacity * sizeof(*bundle->tasks));
}

int bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	int ret = 0;

	orr_lock(&bundle->lock);
	if (bundle->is_closed)
		ret = -EPERM;
	else if ((task->bundle && task->bundle != bundle) || was_submitted(task))
		ret = -EINVAL;
	/* It may be there already. */
	if (ret < 0 || task->bundle == bundle) {
		orr_unlock(&bundle->lock);
		return ret;
	}
	make_room(bundle);
	put(bundle, bundle->nslots++, task);
	orr_swap_ptr((void **)(uintptr_t)&task->bundle, bundle);
	orr_unlock(&bundle->lock);
	return 0;
}

/* Who gets it is who removes the task: until then it stays. */
static starpu_task_bundle_t take(struct starpu_task *task)
{
	return orr_swap_ptr((void **)(uintptr_t)&task->bundle, NULL);
}

/* It is locked.  The task is there, unless it is a copy that the program has made. */
static void take_out(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	uintptr_t slot = (uintptr_t)table_remove(&bundle->slots, (uintptr_t)task);

	if (slot > 0)
		bundle->tasks[slot - 1] = NULL;
	leave(bundle);
}

int bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	orr_lock(&bundle->lock);
	if (!table_get(&bundle->slots, (uintptr_t)task) || !take(task)) {
		orr_unlock(&bundle->lock);
		return -ENOENT;
	}
	take_out(bundle, task);
	return 0;
}

void bundle_leave(struct starpu_task *task)
{
	starpu_task_bundle_t bundle = take(task);

	if (!bundle)
		return;
	orr_lock(&bundle->lock);
	take_out(bundle, task);
}

void bundle_close(starpu_task_bundle_t bundle)
{
	orr_lock(&bundle->lock);
	bundle->is_closed = 1;
	leave(bundle);
}
