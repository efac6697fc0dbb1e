/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/codelet.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

starpu_cpu_func_t codelet_cpu(const struct starpu_codelet *cl, unsigned i)
{
	if (i > 0 || cl->cpu_funcs[0] ||
	    cl->cpu_func == STARPU_MULTIPLE_CPU_IMPLEMENTATIONS)
		return cl->cpu_funcs[i];
	return cl->cpu_func;
}

starpu_cuda_func_t codelet_cuda(const struct starpu_codelet *cl, unsigned i)
{
	if (i > 0 || cl->cuda_funcs[0] ||
	    cl->cuda_func == STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS)
		return cl->cuda_funcs[i];
	return cl->cuda_func;
}

#pragma GCC diagnostic pop

unsigned codelet_where(const struct starpu_codelet *cl)
{
	unsigned where = 0;

	if (cl->where)
		return cl->where;
	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		if (codelet_cpu(cl, i))
			where |= (unsigned)STARPU_CPU;
		if (codelet_cuda(cl, i))
			where |= (unsigned)STARPU_CUDA;
	}
	return where;
}

/* Counts of one codelet are collected before they go to the table. */
static void put_counts(struct worker *worker)
{
	uint64_t key = (uintptr_t)worker->counted;
	uintptr_t before = (uintptr_t)table_get(&worker->counts, key);

	if (worker->ncounted > 0)
		table_put(&worker->counts, key, (void *)(before + worker->ncounted));
	worker->ncounted = 0;
}

void codelet_count(struct worker *worker, const struct starpu_codelet *cl)
{
	if (worker->counted != cl) {
		orr_lock(&worker->lock);
		put_counts(worker);
		worker->counted = cl;
		orr_unlock(&worker->lock);
	}
	worker->ncounted++;
}

unsigned long codelet_counted(struct worker *worker, const struct starpu_codelet *cl)
{
	unsigned long count;

	orr_lock(&worker->lock);
	count = (uintptr_t)table_get(&worker->counts, (uintptr_t)cl);
	if (worker->counted == cl)
		count += worker->ncounted;
	orr_unlock(&worker->lock);
	return count;
}
