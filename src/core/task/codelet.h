/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_CODELET_H
#define ORR_CORE_TASK_CODELET_H

/*
 * codelet.h - read a codelet.
 *
 * It belongs to the application, may lie in read-only memory, and several nodes may
 * share it: nothing here writes to it but a worker its own count.  What is counted for a
 * node is kept by the workers.
 */
#include "core/worker.h"

/* What its field says; 0: nothing.  Policies of the application's have it filled in while
 * other threads submit the same codelet. */
static inline unsigned codelet_stated_where(const struct starpu_codelet *cl)
{
	return (unsigned)orr_load((const int *)&cl->where);
}

/* STARPU_CPU | ...: where it has an implementation. */
unsigned codelet_kinds(const struct starpu_codelet *cl);
/* What it says, or where it has an implementation. */
unsigned codelet_where(const struct starpu_codelet *cl);
/* Have it say so itself, where it can be written. */
void codelet_state_where(struct node *node, struct starpu_codelet *cl);
/* No worker can run the task that func was to submit.  For callers whose callers often
 * ignore -ENODEV: say that it is lost. */
void codelet_say_refused(const struct node *node, const struct starpu_task *task,
			 const char *func);
/* The worker, which calls, has executed a task of cl, which says so, too, where it can be
 * written; how many it has. */
void codelet_count(struct worker *worker, const struct starpu_codelet *cl);
unsigned long codelet_counted(struct worker *worker, const struct starpu_codelet *cl);

/* Kernel i for devices of a type that has kernels, or NULL; the first may be in the
 * deprecated field. */
static inline kernel_t codelet_kernel(const struct starpu_codelet *cl,
				      const struct device_type *type, unsigned i)
{
	kernel_t kernel = ((const kernel_t *)((const char *)cl + type->kernels))[i], old;

	if (i > 0 || kernel)
		return kernel;
	old = *(const kernel_t *)((const char *)cl + type->old_kernel);
	return (const void *)old == DEVICE_MANY_KERNELS ? NULL : old;
}

/* The same, with codelet_kinds() of the task's in hand. */
static inline unsigned task_where_of(const struct starpu_task *task, unsigned kinds)
{
	unsigned where;

	if (task->where != -1)
		return (unsigned)task->where;
	where = codelet_stated_where(task->cl);
	return where ? where : kinds;
}

static inline unsigned task_where(const struct starpu_task *task)
{
	return task->where != -1 ? (unsigned)task->where : codelet_where(task->cl);
}

#endif
