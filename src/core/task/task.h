/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_TASK_H
#define ORR_CORE_TASK_TASK_H

/*
 * task.h - the life of a task: created, submitted, ready, executed, terminated.
 *
 * The public struct starpu_task is the application's half, struct job ours; a task
 * made by starpu_task_create() has both in one block.  Termination (task_terminate)
 * follows StarPU's visible order: data released, successors started, callback,
 * waiters woken, struct freed, counters down.
 */
#include <stdarg.h>

#include "core/worker.h"

/* Where tasks lie is block.c's and fold.c's.  A task of our pool, with StarPU's defaults
 * and destroy = 1. */
struct starpu_task *task_create(struct node *node);
/* 0: it is none of those.  Else it is as if it had just been created; it must be at rest.
 */
int task_make_anew(struct node *node, struct starpu_task *task);
/* As the first, to be filled for cl, by who may submit it with task_submit_inserted(). */
struct starpu_task *task_create_for(struct node *node, const struct starpu_codelet *cl);
/* Of all tasks; what their jobs do. */
extern const struct job_ops task_ops;
/* Free what such a job and its task lie in: the arguments have been freed. */
void task_free(struct job *job);
/* Free the task with the arguments it owns; its runtime half too. */
void task_destroy(struct starpu_task *task);
/* The runtime half, made when there is none. */
struct job *task_job(struct node *node, struct starpu_task *task);
/* Walk over all tasks that exist, from a zeroed walk to NULL, between these two: none is
 * created or destroyed meanwhile. */
void tasks_lock(struct node *node);
void tasks_unlock(struct node *node);
struct task_walk {
	struct pool_cursor cursor;
	unsigned pool;
};
struct job *task_next_job(struct node *node, struct task_walk *walk);
/* 0, or -ENODEV when no worker can ever run it: nothing has happened then. */
int task_submit(struct node *node, struct starpu_task *task);
/* The same of a task of task_build_v() that nobody else knows, before it is ready. */
int task_submit_inserted(struct node *node, struct starpu_task *task);
/* A task of the runtime's own: never held back.  The first kind works on data as they
 * are held for it, the second takes its place in order. */
int task_submit_inside(struct node *node, struct starpu_task *task);
int task_submit_ours(struct node *node, struct starpu_task *task);
/* The same, without turns on data. */
int task_submit_nodeps(struct node *node, struct starpu_task *task);
/* 0; -EINVAL for a detached or synchronous task. */
int task_wait(struct node *node, struct starpu_task *task);
/* The kernel has run (worker not NULL), or there was none to run. */
void task_finish(struct worker *worker, struct job *job, struct ready *ready);
/* task starts after these; they must not be freed yet. */
void task_declare_deps(struct node *node, struct starpu_task *task, unsigned n,
		       struct starpu_task **before);
/* task terminates after these have. */
void task_declare_end_deps(struct node *node, struct starpu_task *task, unsigned n,
			   struct starpu_task **before);
/* One of the things that termination waits for has happened. */
void task_end_dep_release(struct job *job);
/* The library destroys the task at its end; now, if it has ended. */
void task_set_destroy(struct starpu_task *task);
/* In its callback: the library destroys the task after that, whoever meant to wait.  1;
 * 0 when it is not in its callback. */
int task_destroy_at_end(struct starpu_task *task);
const char *task_name(const struct starpu_task *task);

/* The state of a node's task changes: note the date in task->profiling_info, and record
 * it. */
void task_tell(struct job *job, enum event_kind kind);

/* The kernel has run: tell its operations and its energy. */
void task_tell_work(struct job *job);
/* A job, of a task or not, is about to take its turns on its data. */
void task_tell_uses(struct job *job);

static inline void task_event(struct node *node, struct job *job, enum event_kind kind)
{
	if (events_on(&node->events))
		task_tell(job, kind);
}

/* Of all buffers of the task. */
static inline const enum starpu_data_access_mode *
task_modes(const struct starpu_task *task)
{
	const struct starpu_codelet *cl = task->cl;

	if (task->dyn_modes)
		return task->dyn_modes;
	if (!cl || cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
		return task->modes;
	return cl->dyn_modes ? cl->dyn_modes : cl->modes;
}

static inline unsigned task_mode(const struct starpu_task *task, int i)
{
	return task_modes(task)[i];
}

static inline void **task_interfaces(struct starpu_task *task)
{
	return task->dyn_interfaces ? task->dyn_interfaces : task->interfaces;
}

/* Argument lists: see args.h. */
int task_build_v(struct node *node, struct starpu_codelet *cl, va_list list,
		 const char *default_name, struct starpu_task **task);

#endif
