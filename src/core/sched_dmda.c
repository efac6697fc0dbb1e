/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Data-aware minimum completion time: a ready task goes to the worker on which it is
 * expected to end first, transfers included.
 *
 * The rule is that of StarPU's dmda (HEFT with transfers): the least
 *   alpha * (end - earliest end) + beta * transfer,   end = when the worker is free
 *   + duration.
 * Within a worker tasks are ordered by priority.
 */
#include "core/sched.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/coherency.h"
#include "core/model.h"
#include "core/queue.h"

struct dmda {
	struct sched base;
	double alpha, beta;
	struct orr_lock lock; /* of the workers' expected_end_s */
	int nqueues;
	struct queue queues[];
};

static struct dmda *dmda_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct dmda, base);
}

static struct sched *dmda_open(struct node *node)
{
	struct dmda *dmda = orr_alloc(sizeof(*dmda) +
				      (size_t)node->nworkers * sizeof(dmda->queues[0]));

	dmda->alpha = node_knobs(node)->sched_alpha;
	dmda->beta = node_knobs(node)->sched_beta;
	dmda->nqueues = node->nworkers;
	orr_lock_init(&dmda->lock);
	for (int i = 0; i < dmda->nqueues; i++)
		queue_init(&dmda->queues[i], 0);
	return &dmda->base;
}

static void dmda_close(struct sched *sched)
{
	struct dmda *dmda = dmda_of(sched);

	for (int i = 0; i < dmda->nqueues; i++)
		queue_free(&dmda->queues[i]);
	free(dmda);
}

/* What is asked of the models and of the data, once per kind and per memory. */
struct forecast {
	double transfer_s[NODE_MAX_MEMORIES]; /* negative: not asked yet */
	double duration_s[STARPU_NARCH];
};

static double forecast_transfer(struct forecast *forecast, struct job *job,
				unsigned memory)
{
	if (forecast->transfer_s[memory] < 0)
		forecast->transfer_s[memory] = coherency_expected_s(job, memory);
	return forecast->transfer_s[memory];
}

/* Negative when no model knows. */
static double forecast_duration(struct forecast *forecast, struct job *job,
				struct worker *worker, unsigned implementation)
{
	double *known = &forecast->duration_s[worker->type];

	if (*known == 0) {
		struct model_estimate estimate =
			model_expect(worker, job->task, implementation);

		*known = estimate.source == MODEL_NONE ? -1 : estimate.seconds;
		if (*known == 0)
			*known = 1e-12;
	}
	return *known;
}

static void forecast_init(struct forecast *forecast, struct node *node)
{
	for (int i = 0; i < node->nmemories; i++)
		forecast->transfer_s[i] = -1;
	for (int i = 0; i < STARPU_NARCH; i++)
		forecast->duration_s[i] = 0;
}

static struct worker *dmda_choose(struct dmda *dmda, struct node *node, struct job *job)
{
	struct worker *best = NULL, *shortest = NULL;
	double best_cost = INFINITY, now_s = plat_now_s(node->plat), best_end_s = 0;
	struct forecast forecast;
	unsigned implementation;

	forecast_init(&forecast, node);
	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];
		double duration_s, transfer_s, end_s, cost;

		if (!worker_can_run(worker, job->task, &implementation))
			continue;
		if (!shortest || orr_load(&dmda->queues[i].length) <
					 orr_load(&dmda->queues[shortest->id].length))
			shortest = worker;
		duration_s = forecast_duration(&forecast, job, worker, implementation);
		if (duration_s < 0)
			continue;
		transfer_s = forecast_transfer(&forecast, job, worker->memory);
		end_s = (worker->expected_end_s > now_s ? worker->expected_end_s
							: now_s) +
			duration_s;
		cost = dmda->alpha * end_s + dmda->beta * transfer_s;
		if (cost < best_cost) {
			best = worker;
			best_cost = cost;
			best_end_s = end_s;
			job->predicted_s = duration_s;
		}
	}
	if (!best)
		return shortest; /* No model knows this task: share it out by number. */
	best->expected_end_s = best_end_s;
	return best;
}

static struct worker *dmda_push(struct sched *sched, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);
	struct worker *worker;

	orr_lock(&dmda->lock);
	worker = dmda_choose(dmda, sched->node, job);
	orr_unlock(&dmda->lock);
	ORR_ASSERT(worker);
	queue_push(&dmda->queues[worker->id], job);
	return worker;
}

static struct job *dmda_pop(struct sched *sched, struct worker *worker)
{
	return queue_pop(&dmda_of(sched)->queues[worker->id], worker);
}

const struct sched_ops sched_dmda = {
	.name = "dmda",
	.description = "where it is expected to end first, transfers included",
	.has_priorities = 1,
	.open = dmda_open,
	.close = dmda_close,
	.push = dmda_push,
	.pop = dmda_pop,
};
