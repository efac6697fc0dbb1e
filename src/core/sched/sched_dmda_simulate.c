/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * sched_dmda_simulate.c - what push() of the policies dm* would expect of a task, for a
 * policy of the application's made of one, which asks before it pushes.
 */
#include <math.h>

#include "core/data/nearness.h"
#include "core/sched/inner.h"
#include "core/sched/sched_dmda.h"

/* When the worker will have done what goes before the task; dmda is locked. */
static double free_s(struct dmda *dmda, struct worker *worker, const struct job *job,
		     double now_s)
{
	struct dmda_worker *state = &dmda->workers[worker->id];
	double date_s = fmax(now_s, state->running_until_s) + state->waiting_s;

	date_s += worker_bound_s(worker);
	if (dmda->kind->overtakes && state->line.nwaiting > 0)
		date_s -= line_below_s(&state->line, job->task->priority);
	return date_s;
}

/* When the worker, free from a date on, can have its data; dmda is locked. */
static double ready_s(const struct dmda *dmda, const struct worker *worker,
		      double begin_s, double transfer_s, double now_s)
{
	if (transfer_s <= 0)
		return begin_s;
	if (dmda_fetches(worker))
		return begin_s + transfer_s;
	return fmax(begin_s,
		    fmax(now_s, dmda->links[worker->memory].until_s) + transfer_s);
}

/* The end on the worker, whose data take transfer_s; INFINITY: nobody knows, or it cannot
 * run it. */
static double end_s(struct dmda *dmda, struct worker *worker, struct job *job,
		    double transfer_s, double now_s)
{
	struct dmda_chance chance = {0};
	unsigned implementation;
	double begin_s;

	if (!worker_can_run(worker, job->task, &implementation))
		return INFINITY;
	dmda_ask_models(&chance, worker, job, implementation);
	if (isinf(chance.duration_s))
		return INFINITY;
	orr_lock(&dmda->lock);
	begin_s = ready_s(dmda, worker, free_s(dmda, worker, job, now_s), transfer_s,
			  now_s);
	orr_unlock(&dmda->lock);
	return begin_s + chance.duration_s;
}

double dmda_soonest_end_s(struct sched *sched, struct job *job)
{
	struct dmda *dmda = ORR_CONTAINER(sched, struct dmda, base);
	double transfer_s[NODE_MAX_MEMORIES] = {0};
	double now_s = plat_now_s(sched->node->plat), best_s = INFINITY;
	uint64_t memories = 0;

	SCHED_EACH_WORKER(worker, sched)
	memories |= memory_bit(worker->memory);
	if (!dmda->kind->ignores_transfers)
		nearness_expected_s(job, memories, transfer_s);
	SCHED_EACH_WORKER(worker, sched)
	best_s =
		fmin(best_s, end_s(dmda, worker, job, transfer_s[worker->memory], now_s));
	return best_s;
}
