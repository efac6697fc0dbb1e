/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Data-aware minimum completion time: a ready task goes to the worker on which it is
 * expected to end first, transfers included.
 *
 * The rule is that of StarPU's dmda (HEFT with transfers): the least
 *   alpha * end + beta * transfer,
 *   end = when the worker is free and the data have come, + duration.
 * When a worker is free is known from the task that it runs, whose start and end are
 * told, and from those that wait for it.  Data come one after the other: each memory has
 * one link, on which the transfers of all tasks that go there queue.  Within a worker
 * tasks are ordered by priority.
 *
 * dm knows of no transfers and no priorities: the least end wins, without weights.
 */
#include "core/sched/sched.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/coherency.h"
#include "core/model/model.h"
#include "core/sched/queue.h"

struct dmda_worker {
	struct queue queue;
	int nwaiting;           /* tasks given to it that have not started */
	double waiting_s;       /* their durations */
	double running_until_s; /* expected end of the one that runs */
};

/* The way to a memory. */
struct dmda_link {
	double until_s;   /* when all that its tasks need is expected to have come */
	int nwaiting;     /* tasks that need transfers and have not started */
	double waiting_s; /* their transfers */
	double queued_s;  /* of these, no worker has taken the task yet */
};

struct dmda {
	struct sched base;
	double alpha, beta;
	int ignores_transfers;
	struct orr_lock lock; /* of all below but the queues */
	struct dmda_link links[NODE_MAX_MEMORIES];
	int nworkers;
	struct dmda_worker workers[];
};

static struct dmda *dmda_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct dmda, base);
}

static struct dmda *open_with(struct node *node, int ignores_priority)
{
	struct dmda *dmda = orr_alloc(sizeof(*dmda) +
				      (size_t)node->nworkers * sizeof(dmda->workers[0]));

	dmda->nworkers = node->nworkers;
	orr_lock_init(&dmda->lock);
	for (int i = 0; i < dmda->nworkers; i++) {
		queue_init(&dmda->workers[i].queue, ignores_priority);
		dmda->workers[i].queue.keeps_implementation = 1;
	}
	return dmda;
}

static struct sched *dmda_open(struct node *node)
{
	struct dmda *dmda = open_with(node, 0);

	dmda->alpha = node_knobs(node)->sched_alpha;
	dmda->beta = node_knobs(node)->sched_beta;
	return &dmda->base;
}

static struct sched *dm_open(struct node *node)
{
	struct dmda *dmda = open_with(node, 1);

	dmda->alpha = 1;
	dmda->ignores_transfers = 1;
	return &dmda->base;
}

static void dmda_close(struct sched *sched)
{
	struct dmda *dmda = dmda_of(sched);

	for (int i = 0; i < dmda->nworkers; i++)
		queue_free(&dmda->workers[i].queue);
	free(dmda);
}

/* ---- what models and data say ---------------------------------------- */

/* Asked once per device and per memory, before anything is locked. */
struct forecast {
	double transfer_s[NODE_MAX_MEMORIES]; /* negative: not asked yet */
	/* By worker; negative: it cannot run the task; INFINITY: no model knows. */
	double duration_s[STARPU_NMAXWORKERS];
	unsigned char implementation[STARPU_NMAXWORKERS];
};

enum { CANNOT_RUN = -1 };

static double expected_s(struct worker *worker, struct job *job, unsigned implementation)
{
	struct model_estimate estimate = model_expect(worker, job->task, implementation);

	return estimate.source == MODEL_NONE ? INFINITY : estimate.seconds;
}

/* Is the estimate none of the model's own, and will a run tell? */
static int is_to_be_measured(const struct worker *worker, const struct starpu_task *task,
			     const struct model_estimate *estimate)
{
	const struct starpu_perfmodel *model = task->cl->model;

	return !worker->node->machine->predicts && model &&
	       model->type >= STARPU_HISTORY_BASED &&
	       (estimate->source == MODEL_NONE || estimate->source == MODEL_ROOFLINE);
}

/* The fastest of the implementations from the first that can run; one that is yet to be
 * measured runs before, in the time of the fastest for all that is known. */
static double fastest_s(struct worker *worker, struct job *job, unsigned *implementation)
{
	unsigned unknown = STARPU_MAXIMPLEMENTATIONS, i = *implementation;
	double best_s = INFINITY;

	for (; i < STARPU_MAXIMPLEMENTATIONS;
	     i = worker_next_implementation(worker, job->task, i + 1)) {
		struct model_estimate estimate = model_expect(worker, job->task, i);

		if (unknown == STARPU_MAXIMPLEMENTATIONS &&
		    is_to_be_measured(worker, job->task, &estimate))
			unknown = i;
		if (estimate.source == MODEL_NONE || estimate.seconds >= best_s)
			continue;
		best_s = estimate.seconds;
		*implementation = i;
	}
	if (unknown < STARPU_MAXIMPLEMENTATIONS)
		*implementation = unknown;
	return best_s;
}

/* Do both have one device's model? */
static int is_like(const struct worker *worker, const struct worker *other,
		   const struct starpu_task *task)
{
	const struct starpu_perfmodel *model = task->cl->model;

	return worker->device.type == other->device.type &&
	       worker->device.devid == other->device.devid && !task->cl->can_execute &&
	       !(model && model->type == STARPU_PER_WORKER);
}

static void forecast_make(struct forecast *forecast, const struct dmda *dmda,
			  struct job *job)
{
	const struct sched *sched = &dmda->base;
	struct worker *asked = NULL;
	unsigned implementation;

	for (int i = 0; i < sched->node->nmemories; i++)
		forecast->transfer_s[i] = dmda->ignores_transfers ? 0 : -1;
	for (int i = 0; i < sched->node->nworkers; i++)
		forecast->duration_s[i] = CANNOT_RUN;
	SCHED_EACH_WORKER(worker, sched)
	{
		double *duration_s = &forecast->duration_s[worker->id];
		double *transfer_s = &forecast->transfer_s[worker->memory];
		unsigned char *chosen = &forecast->implementation[worker->id];

		if (!worker_can_run(worker, job->task, &implementation))
			continue;
		if (asked && is_like(worker, asked, job->task)) {
			*duration_s = forecast->duration_s[asked->id];
			*chosen = forecast->implementation[asked->id];
		} else {
			*duration_s = fastest_s(worker, job, &implementation);
			*chosen = (unsigned char)implementation;
		}
		asked = worker;
		if (*transfer_s < 0)
			*transfer_s = coherency_expected_s(job, worker->memory);
	}
}

/* ---- the choice; dmda is locked -------------------------------------- */

/* Expected end of a task that is given to the worker now. */
static double end_on(const struct dmda *dmda, struct worker *worker,
		     const struct forecast *forecast, double now_s)
{
	const struct dmda_worker *state = &dmda->workers[worker->id];
	double transfer_s = forecast->transfer_s[worker->memory];
	double free_s = fmax(now_s, state->running_until_s) + state->waiting_s +
			worker_bound_s(worker);
	double come_s = now_s;

	if (transfer_s > 0)
		come_s = fmax(now_s, dmda->links[worker->memory].until_s) + transfer_s;
	return fmax(free_s, come_s) + forecast->duration_s[worker->id];
}

static int ntasks(const struct dmda *dmda, const struct worker *worker)
{
	return dmda->workers[worker->id].nwaiting + orr_load(&worker->nbound);
}

/* The best worker; of tasks that no model knows, the one with the shortest queue; NULL
 * when none can run it. */
static struct worker *choose(const struct dmda *dmda, const struct forecast *forecast,
			     double now_s)
{
	struct worker *best = NULL, *shortest = NULL;
	double best_cost = INFINITY;

	SCHED_EACH_WORKER(worker, &dmda->base)
	{
		int i = worker->id;
		double cost;

		if (forecast->duration_s[i] < 0)
			continue;
		if (!shortest || ntasks(dmda, worker) < ntasks(dmda, shortest))
			shortest = worker;
		if (isinf(forecast->duration_s[i]))
			continue;
		cost = dmda->alpha * end_on(dmda, worker, forecast, now_s) +
		       dmda->beta * forecast->transfer_s[worker->memory];
		if (cost < best_cost) {
			best = worker;
			best_cost = cost;
		}
	}
	return best ? best : shortest;
}

static void give(struct dmda *dmda, struct worker *worker, struct job *job, double now_s)
{
	struct dmda_worker *state = &dmda->workers[worker->id];
	struct dmda_link *link = &dmda->links[worker->memory];
	double transfer_s = job->predicted_transfer_s;

	job->counted_on = worker;
	state->nwaiting++;
	state->waiting_s += job->predicted_s;
	if (transfer_s <= 0)
		return;
	link->until_s = fmax(now_s, link->until_s) + transfer_s;
	link->nwaiting++;
	link->waiting_s += transfer_s;
	link->queued_s += transfer_s;
}

/* The data of a task have come: those of others come no later than one after the other
 * from now on, and those of tasks that nobody has taken have not begun. */
static void correct_link(struct dmda_link *link, double transfer_s, double now_s)
{
	link->waiting_s -= transfer_s;
	if (--link->nwaiting == 0)
		link->waiting_s = link->queued_s = 0; /* No rounding stays. */
	link->until_s = fmin(link->until_s, now_s + link->waiting_s);
	link->until_s = fmax(link->until_s, now_s + link->queued_s);
}

/* The job waits for its worker no longer. */
static void take_back(struct dmda *dmda, struct job *job, double now_s)
{
	struct worker *worker = job->counted_on;
	struct dmda_worker *state;

	if (!worker)
		return;
	job->counted_on = NULL;
	state = &dmda->workers[worker->id];
	state->waiting_s -= job->predicted_s;
	if (--state->nwaiting == 0)
		state->waiting_s = 0;
	if (job->predicted_transfer_s > 0)
		correct_link(&dmda->links[worker->memory], job->predicted_transfer_s,
			     now_s);
}

static struct worker *dmda_push(struct sched *sched, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);
	double now_s = plat_now_s(sched->node->plat);
	struct forecast forecast;
	struct worker *worker;

	forecast_make(&forecast, dmda, job);
	orr_lock(&dmda->lock);
	take_back(dmda, job, now_s); /* When its data were not free at its first turn. */
	worker = choose(dmda, &forecast, now_s);
	if (!worker) {
		orr_unlock(&dmda->lock);
		sched_put_aside(sched, job);
		return NULL;
	}
	job->predicted_s = forecast.duration_s[worker->id];
	if (isinf(job->predicted_s))
		job->predicted_s = 0;
	job->implementation = forecast.implementation[worker->id];
	job->predicted_transfer_s = forecast.transfer_s[worker->memory];
	give(dmda, worker, job, now_s);
	orr_unlock(&dmda->lock);
	job->task->predicted = 1e6 * job->predicted_s;
	job->task->predicted_transfer = 1e6 * job->predicted_transfer_s;
	coherency_promise(job, worker->memory);
	queue_push(&dmda->workers[worker->id].queue, job);
	return worker;
}

/* ---- what becomes of it ---------------------------------------------- */

/* Out of the worker's queue. */
static void taken(struct dmda *dmda, const struct worker *worker, const struct job *job)
{
	if (job->predicted_transfer_s <= 0)
		return;
	orr_lock(&dmda->lock);
	dmda->links[worker->memory].queued_s -= job->predicted_transfer_s;
	orr_unlock(&dmda->lock);
}

static struct job *dmda_pop(struct sched *sched, struct worker *worker)
{
	struct dmda *dmda = dmda_of(sched);
	struct job *job = queue_pop(&dmda->workers[worker->id].queue, worker);

	if (job)
		taken(dmda, worker, job);
	return job;
}

/* What it still has in hand counts until it starts. */
static void dmda_remove_worker(struct sched *sched, struct worker *worker,
			       struct ready *left)
{
	struct dmda *dmda = dmda_of(sched);
	struct ready jobs = {0};
	struct job *job;

	queue_drain(&dmda->workers[worker->id].queue, &jobs);
	while ((job = jobs.first)) {
		jobs.first = job->next;
		taken(dmda, worker, job);
		ready_append(left, job);
	}
}

static double dmda_expect(struct worker *worker, struct job *job)
{
	unsigned implementation;
	double duration_s;

	if (!worker_can_run(worker, job->task, &implementation))
		return -1;
	duration_s = fastest_s(worker, job, &implementation);
	job->implementation = (unsigned char)implementation;
	if (isinf(duration_s))
		duration_s = 0;
	job->task->predicted = 1e6 * duration_s;
	return duration_s;
}

static void dmda_started(struct sched *sched, struct worker *worker, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);
	double now_s = plat_now_s(sched->node->plat), duration_s = job->predicted_s;

	if (!job->counted_on) {
		/* It was bound to its worker. */
		duration_s = expected_s(worker, job, job->implementation);
		if (isinf(duration_s))
			duration_s = 0;
	}
	orr_lock(&dmda->lock);
	dmda->workers[worker->id].running_until_s = now_s + duration_s;
	take_back(dmda, job, now_s);
	orr_unlock(&dmda->lock);
}

static void dmda_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);

	(void)job;
	orr_lock(&dmda->lock);
	dmda->workers[worker->id].running_until_s = 0;
	orr_unlock(&dmda->lock);
}

const struct sched_ops sched_dmda = {
	.object = {.policy_name = "dmda",
		   .policy_description =
			   "where it is expected to end first, transfers included"},
	.has_priorities = 1,
	.open = dmda_open,
	.close = dmda_close,
	.push = dmda_push,
	.pop = dmda_pop,
	.started = dmda_started,
	.expect = dmda_expect,
	.ended = dmda_ended,
	.remove_worker = dmda_remove_worker,
};

const struct sched_ops sched_dm = {
	.object = {.policy_name = "dm",
		   .policy_description =
			   "where it is expected to end first, transfers ignored"},
	.open = dm_open,
	.close = dmda_close,
	.push = dmda_push,
	.pop = dmda_pop,
	.started = dmda_started,
	.expect = dmda_expect,
	.ended = dmda_ended,
	.remove_worker = dmda_remove_worker,
};
