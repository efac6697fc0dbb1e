/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/codelet.h"

unsigned codelet_where(const struct starpu_codelet *cl)
{
	int on_cpu, on_cuda;

	if (cl->where)
		return cl->where;
	on_cpu = codelet_cpu(cl, 0) != NULL;
	on_cuda = codelet_cuda(cl, 0) != NULL;
	for (int i = 1; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		on_cpu |= cl->cpu_funcs[i] != NULL;
		on_cuda |= cl->cuda_funcs[i] != NULL;
	}
	return (on_cpu ? (unsigned)STARPU_CPU : 0) |
	       (on_cuda ? (unsigned)STARPU_CUDA : 0);
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
