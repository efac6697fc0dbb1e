/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/codelet.h"

#include <stdio.h>

#include "base/check.h"
#include "base/symbols.h"
#include "core/task/task.h"

/* Asked for each task: without branches. */
static inline int has_kernel(const void *of, const void *old)
{
	const uintptr_t *kernels = of;
	uintptr_t any = old == DEVICE_MANY_KERNELS ? 0 : (uintptr_t)old;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		any |= kernels[i];
	return any != 0;
}

unsigned codelet_kinds(const struct starpu_codelet *cl)
{
	unsigned where = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define ADD(type, field, old) where |= has_kernel(cl->field, old) ? type : 0;
	DEVICES_WITH_KERNELS(ADD)
#undef ADD
#pragma GCC diagnostic pop
	return where;
}

unsigned codelet_where(const struct starpu_codelet *cl)
{
	unsigned where = codelet_stated_where(cl);

	return where ? where : codelet_kinds(cl);
}

/* "CPU, CUDA", or "none" */
static const char *kinds_text(unsigned kinds, char *text, size_t bytes)
{
	static const struct {
		unsigned kind;
		const char *name;
	} names[] = {{STARPU_CPU, "CPU"},
		     {STARPU_CUDA, "CUDA"},
		     {STARPU_OPENCL, "OpenCL"},
		     {STARPU_MPI_MS, "MPI_MS"}};
	size_t used = 0;

	snprintf(text, bytes, "none");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((kinds & names[i].kind) && used < bytes)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s",
						 used ? ", " : "", names[i].name);
	return text;
}

void codelet_say_refused(const struct node *node, const struct starpu_task *task,
			 const char *func)
{
	char has[40], shall[40], are[40];

	orr_complain(node->rank,
		     "%s: task \"%s\": no worker can ever execute it: its codelet has "
		     "functions for %s, it shall run on %s, and workers here are %s (or "
		     "can_execute or the task's workers leave none); it is not "
		     "submitted, and the call returns -ENODEV",
		     func, task_name(task),
		     kinds_text(codelet_kinds(task->cl), has, sizeof(has)),
		     kinds_text(task_where(task), shall, sizeof(shall)),
		     kinds_text(node->arch_mask, are, sizeof(are)));
}

/* Counts of one codelet are collected before they go to the table, which has them from
 * the second bit on: the first one says that the codelet is a constant. */
enum { IS_CONSTANT = 1, ONE = 2 };

static void put_counts(struct worker *worker)
{
	uint64_t key = (uintptr_t)worker->counted;
	uintptr_t before = (uintptr_t)table_get(&worker->counts, key);

	if (worker->ncounted > 0)
		table_put(&worker->counts, key,
			  (void *)(before + worker->ncounted * ONE));
	orr_note(&worker->ncounted, 0);
}

/* The codelets of a program mostly lie side by side: its files, of which a simulation has
 * one for each rank, are looked at once. */
static int is_constant(struct node *node, const struct starpu_codelet *cl)
{
	struct symbols_part part;

	orr_lock(&node->constants_lock);
	if ((uintptr_t)cl - node->constants.first >= node->constants.bytes)
		node->constants = symbols_part_of(cl);
	part = node->constants;
	orr_unlock(&node->constants_lock);
	return part.is_constant;
}

void codelet_state_where(struct node *node, struct starpu_codelet *cl)
{
	if (!is_constant(node, cl))
		orr_store((int *)&cl->where, (int)codelet_where(cl));
}

static void count_next(struct worker *worker, const struct starpu_codelet *cl)
{
	uintptr_t before;

	orr_lock(&worker->lock);
	put_counts(worker);
	worker->counted = cl;
	before = (uintptr_t)table_get(&worker->counts, (uintptr_t)cl);
	if (before == 0 && is_constant(worker->node, cl))
		table_put(&worker->counts, (uintptr_t)cl, (void *)(before = IS_CONSTANT));
	orr_unlock(&worker->lock);
	worker->shown = before & IS_CONSTANT
				? NULL
				: (unsigned long *)&cl->per_worker_stats[worker->id];
}

void codelet_count(struct worker *worker, const struct starpu_codelet *cl)
{
	if (worker->counted != cl)
		count_next(worker, cl);
	orr_note(&worker->ncounted, worker->ncounted + 1);
	if (worker->shown)
		++*worker->shown;
}

unsigned long codelet_counted(struct worker *worker, const struct starpu_codelet *cl)
{
	unsigned long count;

	orr_lock(&worker->lock);
	count = (uintptr_t)table_get(&worker->counts, (uintptr_t)cl) / ONE;
	if (worker->counted == cl)
		count += orr_count(&worker->ncounted);
	orr_unlock(&worker->lock);
	return count;
}
