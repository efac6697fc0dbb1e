/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/masters.h"

#include "core/model/model_own.h"
#include "core/sched/contexts.h"

struct worker *contexts_master(const struct sched *sched)
{
	struct worker *first = NULL;

	for (int i = 0; i < sched->node->nworkers; i++) {
		struct worker *worker = &sched->node->workers[i];

		if (!contexts_owns(sched, worker))
			continue;
		if (worker->type == STARPU_CPU_WORKER)
			return worker;
		first = first ? first : worker;
	}
	return first;
}

static int ncores_of(const struct sched *sched)
{
	int n = 0;

	for (int i = 0; i < sched->node->nworkers; i++)
		n += sched->node->workers[i].type == STARPU_CPU_WORKER &&
		     contexts_owns(sched, &sched->node->workers[i]);
	return n;
}

/* Masters whose cores sleep take as long as models say for all of them; node->scheds_lock
 * is taken. */
static void name_leaders(struct node *node)
{
	struct starpu_perfmodel_arch *archs[STARPU_NMAXWORKERS] = {NULL};
	int nleaders = 0;

	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++) {
		const struct sched *sched = node->scheds[id];
		struct starpu_perfmodel_device cores = {.type = STARPU_CPU_WORKER};
		struct starpu_perfmodel_arch arch = {.ndevices = 1, .devices = &cores};

		if (!sched || !sched->ops->has_master || sched->is_awake)
			continue;
		cores.ncores = ncores_of(sched);
		if (cores.ncores > 1)
			archs[contexts_master(sched)->id] =
				combinations_get(node, combinations_find(node, &arch, 1));
	}
	for (int i = 0; i < node->nworkers; i++) {
		nleaders += archs[i] != NULL;
		orr_swap_ptr((void **)&node->workers[i].leads_as, archs[i]);
	}
	orr_store(&node->nleaders, nleaders);
}

static int has_leaders(struct node *node)
{
	for (int id = 0; id < STARPU_NMAX_SCHED_CTXS; id++)
		if (node->scheds[id] && node->scheds[id]->ops->has_master)
			return 1;
	return orr_load(&node->nleaders) > 0;
}

void masters_lead(struct node *node)
{
	if (has_leaders(node))
		name_leaders(node);
}
