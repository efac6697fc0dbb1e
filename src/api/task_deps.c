/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdarg.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/check.h"
#include "core/lasting.h"
#include "core/task/tags.h"
#include "core/task/task.h"

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
				    struct starpu_task *task_array[])
{
	api_given(__func__, "task", task);

	task_declare_deps(api_node(__func__), task, ndeps, task_array);
}

/* Declares what the arguments name, one by one. */
static void declare_list(struct node *node, struct starpu_task *task, unsigned ndeps,
			 va_list list,
			 void (*declare)(struct node *node, struct starpu_task *task,
					 unsigned n, struct starpu_task **before))
{
	for (unsigned i = 0; i < ndeps; i++) {
		struct starpu_task *before = va_arg(list, struct starpu_task *);

		declare(node, task, 1, &before);
	}
}

void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	api_given(__func__, "task", task);

	va_list list;

	va_start(list, ndeps);
	declare_list(api_node(__func__), task, ndeps, list, task_declare_deps);
	va_end(list);
}

void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned ndeps,
					struct starpu_task *task_array[])
{
	api_given(__func__, "task", task);

	task_declare_end_deps(api_node(__func__), task, ndeps, task_array);
}

void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	api_given(__func__, "task", task);

	va_list list;

	va_start(list, ndeps);
	declare_list(api_node(__func__), task, ndeps, list, task_declare_end_deps);
	va_end(list);
}

int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[])
{
	api_given(__func__, "task", task);

	struct job *job = task_job(api_node(__func__), task);

	return (int)links_successors(job, ndeps, task_array, 0);
}

int starpu_task_get_task_scheduled_succs(struct starpu_task *task, unsigned ndeps,
					 struct starpu_task *task_array[])
{
	api_given(__func__, "task", task);

	struct job *job = task_job(api_node(__func__), task);

	return (int)links_successors(job, ndeps, task_array, 1);
}

void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps)
{
	api_given(__func__, "t", t);

	orr_add(&task_job(api_node(__func__), t)->end_deps, nb_deps);
}

void starpu_task_end_dep_release(struct starpu_task *t)
{
	api_given(__func__, "t", t);

	task_end_dep_release(task_job(api_node(__func__), t));
}

/* ---- tags: those of before starpu_init() are kept for it ------------- */

static void declare_tags(starpu_tag_t id, unsigned ndeps, const starpu_tag_t *deps)
{
	struct node *node = plat_self();

	if (node)
		tags_declare_deps(node, id, ndeps, deps);
	else
		lasting_declare_tags(lasting_get(), id, ndeps, deps);
}

void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array)
{
	declare_tags(id, ndeps, array);
}

void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...)
{
	starpu_tag_t *deps = orr_alloc(ndeps * sizeof(*deps));
	va_list list;

	va_start(list, ndeps);
	for (unsigned i = 0; i < ndeps; i++)
		deps[i] = va_arg(list, starpu_tag_t);
	va_end(list);
	declare_tags(id, ndeps, deps);
	free(deps);
}

int starpu_tag_wait(starpu_tag_t id)
{
	return tags_wait(api_blocking_node(__func__), 1, &id);
}

int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id)
{
	return tags_wait(api_blocking_node(__func__), ntags, id);
}

void starpu_tag_restart(starpu_tag_t id)
{
	struct node *node = plat_self();

	if (node)
		tags_restart(node, id);
	else
		lasting_restart_tag(lasting_get(), id);
}

void starpu_tag_remove(starpu_tag_t id)
{
	struct node *node = plat_self();

	if (node)
		tags_remove(node, id);
	else
		lasting_remove_tag(lasting_get(), id);
}

void starpu_tag_notify_from_apps(starpu_tag_t id)
{
	struct node *node = plat_self();

	if (node)
		tags_notify_from_apps(node, id);
	else
		lasting_notify_tag(lasting_get(), id);
}

void starpu_tag_notify_restart_from_apps(starpu_tag_t id)
{
	tags_notify_restart(api_node(__func__), id);
}

struct starpu_task *starpu_tag_get_task(starpu_tag_t id)
{
	struct node *node = plat_self();

	return node ? tags_task(node, id) : NULL;
}

void starpu_tag_clear(void)
{
	tags_clear(api_node(__func__));
}

void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps,
			     void (*callback)(void *), void *callback_arg)
{
	struct node *node = api_node(__func__);
	struct starpu_task *task = task_create(node);

	tags_declare_deps(node, sync_tag, ndeps, deps);
	task->use_tag = 1;
	task->tag_id = sync_tag;
	task->callback_func = callback;
	task->callback_arg = callback_arg;
	task_submit(node, task);
}
