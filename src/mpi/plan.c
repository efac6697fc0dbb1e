/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/plan.h"

#include <stdlib.h>
#include <starpu.h>

#include "base/check.h"
#include "mpi/registry.h"

int plan_place(const struct plan_use *uses, int nuses)
{
	int place = PLAN_CONFLICT, nwritten = 0, is_conflict = 0;

	for (int i = 0; i < nuses; i++) {
		int owner = uses[i].owner;

		if (!(uses[i].mode & (STARPU_W | STARPU_REDUX)))
			continue;
		if (owner == OWNER_UNSET)
			return PLAN_UNOWNED;
		if (nwritten++ == 0)
			place = owner;
		else if ((owner == OWNER_PER_NODE) != (place == OWNER_PER_NODE))
			return PLAN_MIXED;
		else if (owner != place)
			is_conflict = 1;
	}
	if (is_conflict)
		return PLAN_CONFLICT;
	return place == OWNER_PER_NODE ? PLAN_EVERYWHERE : place;
}

static void add(struct plan_move *moves, int *count, int use, int from, int to)
{
	moves[(*count)++] = (struct plan_move){.use = use, .from = from, .to = to};
}

void plan_make(struct plan *plan, const struct plan_use *uses, int nuses, int executor,
	       int (*holds)(void *arg, int use, int rank), void *arg)
{
	plan->executor = executor;
	plan->nbefore = plan->nafter = 0;
	plan->before = plan->moves;
	if (nuses > PLAN_INLINE_USES)
		plan->before = orr_alloc(2 * (size_t)nuses * sizeof(*plan->before));
	plan->after = plan->before + nuses;
	if (executor == PLAN_EVERYWHERE)
		return;
	for (int i = 0; i < nuses; i++) {
		int owner = uses[i].owner;

		if (owner == executor || owner == OWNER_PER_NODE)
			continue;
		if (plan_reads(uses[i].mode) && !holds(arg, i, executor))
			add(plan->before, &plan->nbefore, i, owner, executor);
		if (plan_writes(uses[i].mode))
			add(plan->after, &plan->nafter, i, executor, owner);
	}
}

void plan_free(struct plan *plan)
{
	if (plan->before != plan->moves)
		free(plan->before);
}
