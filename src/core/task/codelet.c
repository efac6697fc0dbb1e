/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/codelet.h"

/* Asked twice for each task: without branches. */
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
	return cl->where ? cl->where : codelet_kinds(cl);
}

/* Counts of one codelet are collected before they go to the table. */
static void put_counts(struct worker *worker)
{
	uint64_t key = (uintptr_t)worker->counted;
	uintptr_t before = (uintptr_t)table_get(&worker->counts, key);

	if (worker->ncounted > 0)
		table_put(&worker->counts, key, (void *)(before + worker->ncounted));
	orr_note(&worker->ncounted, 0);
}

void codelet_count(struct worker *worker, const struct starpu_codelet *cl)
{
	if (worker->counted != cl) {
		orr_lock(&worker->lock);
		put_counts(worker);
		worker->counted = cl;
		orr_unlock(&worker->lock);
	}
	orr_note(&worker->ncounted, worker->ncounted + 1);
}

unsigned long codelet_counted(struct worker *worker, const struct starpu_codelet *cl)
{
	unsigned long count;

	orr_lock(&worker->lock);
	count = (uintptr_t)table_get(&worker->counts, (uintptr_t)cl);
	if (worker->counted == cl)
		count += orr_count(&worker->ncounted);
	orr_unlock(&worker->lock);
	return count;
}
