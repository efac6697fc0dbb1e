/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/codelet.h"

/* Asked twice for each task: without branches. */
static int has_kernel(const struct starpu_codelet *cl, const struct device_type *type)
{
	const kernel_t *kernels = (const kernel_t *)((const char *)cl + type->kernels);
	uintptr_t any = (uintptr_t)codelet_kernel(cl, type, 0);

	for (unsigned i = 1; i < STARPU_MAXIMPLEMENTATIONS; i++)
		any |= (uintptr_t)kernels[i];
	return any != 0;
}

unsigned codelet_kinds(const struct starpu_codelet *cl)
{
	unsigned where = 0;

	for (int i = 0; device_with_kernels[i]; i++)
		if (has_kernel(cl, device_with_kernels[i]))
			where |= device_with_kernels[i]->mask;
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
