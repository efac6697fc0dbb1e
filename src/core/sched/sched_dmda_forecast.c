/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * sched_dmda_forecast.c - what models and data say of a task, for the policies dm*.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "core/data/nearness.h"
#include "core/model/model_query.h"
#include "core/sched/sched_dmda.h"
#include "core/task/codelet.h"

double dmda_expected_s(struct worker *worker, struct job *job, unsigned implementation)
{
	struct model_estimate estimate = model_expect(worker, job->task, implementation);

	return estimate.source == MODEL_NONE ? INFINITY : estimate.seconds;
}

/* The fastest of the implementations from the first that can run; one that is yet to be
 * measured runs before, in the time of the fastest for all that is known. */
void dmda_ask_models(struct dmda_chance *chance, struct worker *worker, struct job *job,
		     unsigned first)
{
	unsigned unknown = STARPU_MAXIMPLEMENTATIONS, best = first;
	double best_s = INFINITY;

	chance->duration_s = INFINITY;
	chance->is_to_be_measured = 0;
	chance->implementation = (unsigned char)first;
	if (!model_may_know(worker->node, job->task))
		return;
	for (unsigned i = first; i < STARPU_MAXIMPLEMENTATIONS;
	     i = worker_next_implementation(worker, job->task, i + 1)) {
		struct model_estimate estimate = model_expect(worker, job->task, i);

		if (unknown == STARPU_MAXIMPLEMENTATIONS &&
		    model_will_learn(worker, job->task, &estimate))
			unknown = i;
		if (estimate.source == MODEL_NONE || estimate.seconds >= best_s)
			continue;
		best_s = estimate.seconds;
		best = i;
	}
	chance->duration_s = best_s;
	chance->is_to_be_measured = unknown < STARPU_MAXIMPLEMENTATIONS;
	chance->implementation =
		(unsigned char)(chance->is_to_be_measured ? unknown : best);
}

static int asks_energy(const struct dmda *dmda, const struct job *job)
{
	return job->task->cl->energy_model && orr_load(&dmda->asks_energy);
}

static void ask(struct dmda_chance *chance, const struct dmda *dmda,
		struct worker *worker, struct job *job)
{
	unsigned implementation;

	*chance = (struct dmda_chance){.duration_s = DMDA_CANNOT_RUN};
	if (!worker_can_run(worker, job->task, &implementation))
		return;
	dmda_ask_models(chance, worker, job, implementation);
	if (asks_energy(dmda, job))
		chance->energy_j = model_energy_j(worker, job->task, implementation);
}

/* One chance more, at a memory. */
static void count(struct dmda_forecast *forecast, const struct dmda_chance *chance,
		  unsigned memory)
{
	if (chance->duration_s < 0)
		return;
	forecast->nto_be_measured += chance->is_to_be_measured;
	forecast->nknown += !isinf(chance->duration_s);
	forecast->memories |= memory_bit(memory);
}

static void ask_classes(struct dmda_forecast *forecast, const struct dmda *dmda,
			struct job *job)
{
	const struct worker *asked = NULL;
	int may_share = !asks_energy(dmda, job);

	for (int i = 0; i < dmda->classes.n; i++) {
		const struct class *class = &dmda->classes.class[i];
		struct dmda_chance *chance = &forecast->chances[i];
		struct worker *worker = class->soonest.workers[0];

		chance->duration_s = DMDA_CANNOT_RUN;
		if (orr_load(&class->nmembers) == 0)
			continue;
		if (asked && may_share && model_are_alike(worker, asked, job->task)) {
			*chance = *dmda_chance_of(dmda, forecast, asked);
		} else {
			ask(chance, dmda, worker, job);
			asked = worker;
		}
		count(forecast, chance, worker->memory);
	}
}

static void ask_workers(struct dmda_forecast *forecast, const struct dmda *dmda,
			struct job *job)
{
	for (int i = 0; i < dmda->nworkers; i++)
		forecast->chances[i].duration_s = DMDA_CANNOT_RUN;
	SCHED_EACH_WORKER(worker, &dmda->base)
	{
		ask(&forecast->chances[worker->id], dmda, worker, job);
		count(forecast, &forecast->chances[worker->id], worker->memory);
	}
}

/* All that the answers of classes depend on, mixed; 0: more.  Where durations are
 * predicted one thread does all. */
static uint64_t memo_key(const struct dmda *dmda, const struct job *job)
{
	struct node *node = dmda->base.node;
	const struct starpu_codelet *cl = job->task->cl;
	uint64_t kernels = 0, key;

	if (!node->machine->predicts || job->worker || asks_energy(dmda, job) ||
	    !(key = model_shape(node, job->task)))
		return 0;
	for (int i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		kernels = 3 * kernels + (uintptr_t)cl->cpu_funcs[i] +
			  5 * (uintptr_t)cl->cuda_funcs[i];
	key = table_mix(key ^ (uintptr_t)cl) ^
	      (uint64_t)(uint32_t)job->task->where << 32 ^ codelet_stated_where(cl);
	key = table_mix(key ^ (uintptr_t)cl->model) + kernels;
	key = table_mix(key ^ (uint64_t)(unsigned)dmda->classes.seen_changes << 32 ^
			node->settings->nmodel_changes);
	return key | 1;
}

static void recall(struct dmda_forecast *forecast, const struct dmda *dmda,
		   const struct dmda_memo *memo)
{
	forecast->nknown = memo->nknown;
	forecast->memories = memo->memories;
	for (int i = 0; i < dmda->classes.n; i++)
		forecast->chances[i] = memo->chances[i];
}

static void remember(const struct dmda_forecast *forecast, const struct dmda *dmda,
		     struct dmda_memo *memo, uint64_t key)
{
	for (int i = 0; i < dmda->classes.n; i++)
		if (dmda->classes.class[i].soonest.workers[0]->like->node !=
		    dmda->base.node)
			return;
	if (!memo->chances)
		memo->chances =
			orr_alloc((size_t)dmda->classes.n * sizeof(*memo->chances));
	for (int i = 0; i < dmda->classes.n; i++)
		memo->chances[i] = forecast->chances[i];
	memo->nknown = forecast->nknown;
	memo->memories = forecast->memories;
	memo->key = key;
}

/* Of the task's shape, or asked. */
static void look_up_classes(struct dmda_forecast *forecast, struct dmda *dmda,
			    struct job *job)
{
	uint64_t key = memo_key(dmda, job);
	struct dmda_memo *memo;

	if (key == 0) {
		ask_classes(forecast, dmda, job);
		return;
	}
	if (!dmda->memos)
		dmda->memos = orr_alloc(DMDA_MEMOS * sizeof(*dmda->memos));
	memo = &dmda->memos[key / 2 % DMDA_MEMOS];
	if (memo->key == key) {
		recall(forecast, dmda, memo);
		return;
	}
	ask_classes(forecast, dmda, job);
	if (forecast->nto_be_measured == 0)
		remember(forecast, dmda, memo, key);
}

void dmda_forecast(struct dmda_forecast *forecast, struct dmda *dmda, struct job *job)
{
	forecast->nto_be_measured = forecast->nknown = 0;
	forecast->memories = 0;
	forecast->is_by_class = classes_hold_for(dmda->base.node, job->task);
	if (forecast->is_by_class)
		look_up_classes(forecast, dmda, job);
	else
		ask_workers(forecast, dmda, job);
	if (!dmda->kind->ignores_transfers)
		nearness_expected_s(job, forecast->memories, forecast->transfer_s);
	else
		for (int i = 0; i < node_nmemories(dmda->base.node); i++)
			forecast->transfer_s[i] = 0;
}
