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
	int is_over = bundle->is_closed && bundle->n == 0;

	orr_unlock(&bundle->lock);
	if (!is_over)
		return;
	free(bundle->tasks);
	free(bundle);
}

static int was_submitted(const struct starpu_task *task)
{
	const struct job *job = task->starpu_private;

	return job && job->life != LIFE_NEW;
}

int bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	int ret = 0;

	orr_lock(&bundle->lock);
	if (bundle->is_closed)
		ret = -EPERM;
	else if (task->bundle || was_submitted(task))
		ret = -EINVAL;
	if (ret < 0) {
		orr_unlock(&bundle->lock);
		return ret;
	}
	if (bundle->n == bundle->capacity) {
		bundle->capacity = bundle->n ? 2 * bundle->n : BUNDLE_FIRST_CAPACITY;
		bundle->tasks = orr_realloc(
			bundle->tasks, (size_t)bundle->capacity * sizeof(*bundle->tasks));
	}
	bundle->tasks[bundle->n++] = task;
	task->bundle = bundle;
	orr_unlock(&bundle->lock);
	return 0;
}

int bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	int i = 0;

	orr_lock(&bundle->lock);
	while (i < bundle->n && bundle->tasks[i] != task)
		i++;
	if (i == bundle->n) {
		orr_unlock(&bundle->lock);
		return -ENOENT;
	}
	for (bundle->n--; i < bundle->n; i++)
		bundle->tasks[i] = bundle->tasks[i + 1];
	task->bundle = NULL;
	leave(bundle);
	return 0;
}

void bundle_close(starpu_task_bundle_t bundle)
{
	orr_lock(&bundle->lock);
	bundle->is_closed = 1;
	leave(bundle);
}
