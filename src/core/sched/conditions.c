/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/conditions.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"

/* Of all workers, made when the first one's are asked for; zeros are initialised. */
struct conditions {
	int n;
	struct condition of[];
};

static struct conditions *conditions_get(struct node *node)
{
	void **at = (void **)&node->conditions;
	struct conditions *all = orr_load_ptr(at);

	if (all)
		return all;
	all = orr_alloc(sizeof(*all) + (size_t)node->nworkers * sizeof(all->of[0]));
	all->n = node->nworkers;
	if (orr_cas_ptr(at, NULL, all))
		return all;
	free(all);
	return orr_load_ptr(at);
}

struct condition *conditions_of(struct worker *worker)
{
	return &conditions_get(worker->node)->of[worker->id];
}

void conditions_signalled(struct node *node, const starpu_pthread_cond_t *cond)
{
	struct conditions *all = node ? orr_load_ptr((void **)&node->conditions) : NULL;
	uintptr_t at = (uintptr_t)cond;

	if (!all || at < (uintptr_t)all->of || at >= (uintptr_t)&all->of[all->n])
		return;
	orr_fence();
	plat_worker_wake(&node->workers[(at - (uintptr_t)all->of) / sizeof(all->of[0])]);
}
