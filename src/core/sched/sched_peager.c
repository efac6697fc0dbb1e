/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* One queue, with pheft by priority; a worker that finds a parallel task there has a team
 * of its run it: the largest one (peager), or that by which models expect it to end first
 * (pheft).  While others of the team are at work, it first does what stands behind the
 * parallel task and needs one worker: one task for each of these others at most.
 */
#include "core/sched/sched.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_query.h"
#include "core/sched/inner.h"
#include "core/sched/queue.h"
#include "core/sched/teams.h"

/* How far a worker looks for a task that needs one worker. */
enum { LOOK_AHEAD = 16 };

/* A parallel task that others pass, or that stands before one that has. */
struct passed {
	struct passed *next;
	struct job *job;
	int n; /* times */
};

struct peager {
	struct sched base;
	int asks_models;
	int seen_changes; /* of the set, at the last look for teams; atomic */
	struct queue queue;
	struct orr_lock lock; /* of these, which go before the queue: */
	struct passed *first; /* atomic */
};

static struct peager *peager_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct peager, base);
}

static struct sched *open(int asks_models)
{
	struct peager *peager = orr_alloc_lines(sizeof(*peager));

	peager->asks_models = asks_models;
	peager->seen_changes = -1;
	queue_init(&peager->queue, !asks_models);
	orr_lock_init(&peager->lock);
	return &peager->base;
}

static struct sched *peager_open(struct node *node)
{
	(void)node;
	return open(0);
}

static struct sched *pheft_open(struct node *node)
{
	(void)node;
	return open(1);
}

static void peager_close(struct sched *sched)
{
	ORR_ASSERT(!peager_of(sched)->first);
	queue_free(&peager_of(sched)->queue);
	free(peager_of(sched));
}

static struct worker *peager_push(struct sched *sched, struct job *job)
{
	queue_push(&peager_of(sched)->queue, job);
	return NULL;
}

/* The application may ask for the global context's teams before there is a parallel task;
 * others have no workers yet. */
static void peager_opened(struct sched *sched)
{
	teams_declare_usual(sched);
}

/* ---- which team ------------------------------------------------------ */

/* Seconds; -1: not known yet, which is to be learnt. */
static double expected_s(struct worker *worker, struct job *job,
			 const struct starpu_perfmodel_arch *arch)
{
	struct model_query query = {.node = job->node,
				    .worker = worker,
				    .arch = (struct starpu_perfmodel_arch *)arch,
				    .model = job->task->cl->model,
				    .task = job->task,
				    .implementation = job->implementation};
	struct model_estimate estimate = model_evaluate(&query);

	if (estimate.source == MODEL_ROOFLINE && arch != &worker->arch)
		return estimate.seconds / arch->devices[0].ncores;
	return estimate.source == MODEL_NONE ? -1 : estimate.seconds;
}

/* Is the team better than what was found so far?  Of equal ones the larger is. */
static int is_better(struct peager *peager, struct worker *worker, struct job *job,
		     const struct team *team, const struct team *best)
{
	double with_s, without_s;

	if (!peager->asks_models)
		return !best || team->size > best->size;
	without_s = expected_s(worker, job, best ? &best->arch : &worker->arch);
	with_s = expected_s(worker, job, &team->arch);
	return without_s >= 0 && with_s <= without_s;
}

/* NULL: it runs alone. */
static const struct team *choose(struct peager *peager, struct worker *worker,
				 struct job *job)
{
	struct sched *sched = &peager->base;
	const struct teams *teams = sched->node->teams;
	const struct starpu_codelet *cl = job->task->cl;
	const struct team *best = NULL;
	int changes = orr_load(&sched->changes);
	int is_single = sched->node->conf->single_combined_worker;

	if (cl->type == STARPU_SEQ || cl->max_parallelism <= 1 ||
	    worker->type != STARPU_CPU_WORKER)
		return NULL;
	if (orr_load(&peager->seen_changes) != changes) {
		teams_declare_usual(sched);
		orr_store(&peager->seen_changes, changes);
	}
	for (int i = 0; i < orr_load(&teams->n); i++) {
		const struct team *team = teams->at[i];

		if (team->size <= cl->max_parallelism &&
		    (is_single || team_has(team, worker)) &&
		    team_can_run(team, sched, job) &&
		    is_better(peager, worker, job, team, best))
			best = team;
	}
	return best;
}

/* ---- what may pass ----------------------------------------------------- */

static struct passed *new_passed(struct job *job)
{
	struct passed *passed = orr_alloc(sizeof(*passed));

	passed->job = job;
	return passed;
}

static void put_passed(struct peager *peager, struct passed *passed, int is_last)
{
	struct passed **at = &peager->first;

	orr_lock(&peager->lock);
	while (is_last && *at)
		at = &(*at)->next;
	passed->next = *at;
	orr_swap_ptr((void **)at, passed);
	orr_unlock(&peager->lock);
}

/* The first that the worker can run, or NULL.  Who passed a task comes back for it, and
 * nobody else may where it is for few workers. */
static struct passed *take_passed(struct peager *peager, const struct worker *worker)
{
	struct passed **at = &peager->first, *passed;

	if (!orr_load_ptr((void **)at))
		return NULL;
	orr_lock(&peager->lock);
	while ((passed = *at) && !worker_can_run_job(worker, passed->job))
		at = &passed->next;
	if (passed)
		orr_swap_ptr((void **)at, passed->next);
	orr_unlock(&peager->lock);
	return passed;
}

static int is_free(const struct team *team, const struct worker *self)
{
	for (int i = 0; i < team->size; i++) {
		struct worker *worker = &self->node->workers[team->ids[i]];

		if (worker != self && (orr_load_ptr((void **)&worker->gangs) ||
				       orr_load(&worker->npipeline) > 0))
			return 0;
	}
	return 1;
}

/* The next that needs one worker; the parallel ones before it stay in their order. */
static struct job *pop_single(struct peager *peager, struct worker *worker)
{
	struct job *job = queue_pop(&peager->queue, worker);

	for (int i = 0; job && choose(peager, worker, job); i++) {
		put_passed(peager, new_passed(job), 1);
		job = i < LOOK_AHEAD ? queue_pop(&peager->queue, worker) : NULL;
	}
	return job;
}

/* A task for the worker, which would wait for the others of the team; or NULL. */
static struct job *let_pass(struct peager *peager, struct worker *worker,
			    const struct team *team, struct passed *passed)
{
	struct job *job = NULL;

	if (passed->n < team->size - 1 && !is_free(team, worker))
		job = pop_single(peager, worker);
	passed->n += job != NULL;
	return job;
}

static struct job *peager_pop(struct sched *sched, struct worker *worker)
{
	struct peager *peager = peager_of(sched);
	struct passed *passed = take_passed(peager, worker);
	struct job *job = passed ? passed->job : queue_pop(&peager->queue, worker);
	const struct team *team = job ? choose(peager, worker, job) : NULL;
	struct job *other = NULL;

	if (team && !passed)
		passed = new_passed(job);
	if (team)
		other = let_pass(peager, worker, team, passed);
	if (other) {
		put_passed(peager, passed, 0);
		return other;
	}
	free(passed);
	if (!team)
		return job;
	gang_start(team, job);
	return NULL;
}

const struct sched_ops sched_peager = {
	.object = {INNER_CALLS(peager), .policy_name = "peager",
		   .policy_description = "one queue; parallel tasks run on the largest "
					 "set of CPU workers that they may"},
	.open = peager_open,
	.opened = peager_opened,
	.close = peager_close,
	.push = peager_push,
	.pop = peager_pop,
};

const struct sched_ops sched_pheft = {
	.object = {INNER_CALLS(pheft), .policy_name = "pheft",
		   .policy_description =
			   "one queue; parallel tasks run on the set of CPU "
			   "workers that ends them first"},
	.most = 1, /* As StarPU's. */
	.open = pheft_open,
	.opened = peager_opened,
	.close = peager_close,
	.push = peager_push,
	.pop = peager_pop,
};
