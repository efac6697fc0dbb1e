/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Minimum completion time: a ready task goes to the worker on which it is expected to end
 * first, transfers included.
 *
 * The rule is that of StarPU's dm* (HEFT with transfers): the least
 *   alpha * end + beta * transfer + gamma * (energy + idle power * delay),
 *   end = when the worker is free and the data have come, + duration,
 *   delay = by how much the task ends later than all that was given to workers before.
 * When a worker is free is known from the task that it runs, whose start and end are
 * told, and from those that wait for it.  Data come one after the other: each memory has
 * one link, on which the transfers of all tasks that go there queue.  Only main memory
 * has none: see dmda_fetches().
 *
 * The policies differ in the order in which a worker runs what was given to it, and in
 * what they look at: struct dmda_kind.
 */
#include "core/sched/sched_dmda.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/nearness.h"
#include "core/model/model_query.h"
#include "core/sched/inner.h"

/* Of numbers, as fmax(), which is a call. */
static double later(double a, double b)
{
	return a > b ? a : b;
}

static struct dmda *dmda_of(struct sched *sched)
{
	return ORR_CONTAINER(sched, struct dmda, base);
}

/* The worker has something else to do than before; dmda is locked. */
static void note(struct dmda *dmda, int id)
{
	const struct dmda_worker *state = &dmda->workers[id];

	classes_note(&dmda->classes, id, state->waiting_s,
		     state->running_until_s + state->waiting_s);
}

/* Who pushes while the set changes may miss it; sched_push() settles that. */
static void follow_set(struct dmda *dmda)
{
	if (!classes_are_behind(&dmda->classes, &dmda->base))
		return;
	orr_lock(&dmda->lock);
	classes_follow(&dmda->classes, &dmda->base);
	for (int i = 0; i < dmda->nworkers; i++)
		note(dmda, i);
	orr_unlock(&dmda->lock);
}

static struct sched *open_as(struct node *node, const struct dmda_kind *kind)
{
	const struct knobs *knobs = node_knobs(node);
	size_t nworkers = (size_t)node->nworkers, nlinks = (size_t)node->most_memories;
	struct dmda *dmda =
		orr_alloc(sizeof(*dmda) + nworkers * sizeof(dmda->workers[0]) +
			  nlinks * sizeof(dmda->links[0]));

	dmda->links = (struct dmda_link *)(void *)&dmda->workers[nworkers];
	dmda->kind = kind;
	dmda->alpha = 1;
	if (!kind->ignores_transfers) {
		dmda->alpha = knobs->sched_alpha;
		dmda->beta = knobs->sched_beta;
		dmda->gamma = 1e-6 * knobs->sched_gamma;
		dmda->idle_w = knobs->idle_power;
		dmda->asks_energy = dmda->gamma > 0;
	}
	dmda->brings_ahead = knobs->prefetch && node_nmemories(node) > node->nmains;
	if (dmda->brings_ahead)
		orr_add(&node->nquiet, 1);
	dmda->nworkers = node->nworkers;
	orr_lock_init(&dmda->lock);
	for (int i = 0; i < dmda->nworkers; i++)
		line_init(&dmda->workers[i].line);
	classes_init(&dmda->classes, node);
	return &dmda->base;
}

static int dmda_weigh(struct sched *sched, enum sched_weight weight, double *value,
		      int is_set)
{
	struct dmda *dmda = dmda_of(sched);
	double *const weights[] = {[SCHED_ALPHA] = &dmda->alpha,
				   [SCHED_BETA] = &dmda->beta,
				   [SCHED_GAMMA] = &dmda->gamma,
				   [SCHED_IDLE_POWER] = &dmda->idle_w};
	double unit = weight == SCHED_GAMMA ? 1e-6 : 1;

	if (dmda->kind->ignores_transfers)
		return -1;
	orr_lock(&dmda->lock);
	if (is_set)
		*weights[weight] = unit * *value;
	else
		*value = *weights[weight] / unit;
	orr_store(&dmda->asks_energy, dmda->gamma > 0);
	orr_unlock(&dmda->lock);
	return 0;
}

static void dmda_close(struct sched *sched)
{
	struct dmda *dmda = dmda_of(sched);

	if (dmda->brings_ahead)
		orr_add(&sched->node->nquiet, -1);
	for (int i = 0; i < dmda->nworkers; i++)
		line_free(&dmda->workers[i].line);
	for (int i = 0; dmda->memos && i < DMDA_MEMOS; i++)
		free(dmda->memos[i].chances);
	free(dmda->memos);
	classes_free(&dmda->classes);
	free(dmda);
}

/* ---- the choice; dmda is locked -------------------------------------- */

/* When the worker will have done what goes before a task of that priority. */
static double free_s(struct dmda *dmda, struct worker *worker, int priority, double now_s)
{
	struct dmda_worker *state = &dmda->workers[worker->id];
	double date_s = later(now_s, state->running_until_s) + state->waiting_s;

	if (orr_load(&worker->nexpected) > 0)
		date_s += worker_bound_s(worker);
	if (dmda->kind->overtakes && state->line.nwaiting > 0)
		date_s -= line_below_s(&state->line, priority);
	return date_s;
}

static int ntasks(const struct dmda *dmda, const struct worker *worker)
{
	return dmda->workers[worker->id].line.nwaiting + orr_load(&worker->nbound);
}

/* The end of all that workers have. */
static double last_end_s(struct dmda *dmda, double now_s)
{
	double last_s = now_s;

	if (dmda->gamma > 0 && dmda->idle_w > 0)
		SCHED_EACH_WORKER(worker, &dmda->base)
	last_s = fmax(last_s, free_s(dmda, worker, INT_MIN, now_s));
	return last_s;
}

/* The one with the fewest tasks, of those that can run it and are yet to be measured or,
 * if there are none, of all; among equals self, who need not be woken.  NULL when none
 * can run it. */
static struct worker *shortest(const struct dmda *dmda,
			       const struct dmda_forecast *forecast,
			       int is_to_be_measured, const struct worker *self)
{
	struct worker *best = NULL;
	int least = INT_MAX;

	SCHED_EACH_WORKER(worker, &dmda->base)
	{
		const struct dmda_chance *chance = dmda_chance_of(dmda, forecast, worker);
		int n;

		if (chance->duration_s < 0 ||
		    chance->is_to_be_measured < is_to_be_measured)
			continue;
		n = ntasks(dmda, worker);
		if (n < least || (n == least && worker == self))
			best = worker;
		least = n < least ? n : least;
	}
	return best;
}

/* For how long a task that waits for its worker will keep it. */
static double keeps_s(const struct worker *worker, const struct job *job)
{
	return job->predicted_s + (dmda_fetches(worker) ? job->predicted_transfer_s : 0);
}

/* What a worker, or one of a class, offers. */
struct offer {
	const struct dmda *dmda;
	const struct dmda_chance *chance;
	double transfer_s,
		come_s; /* the data: how long they travel, when they are there */
	double fetch_s; /* for how long the worker waits for them itself */
	double last_s;  /* the end of all that workers have */
	double limit;   /* a cost that is low enough */
};

static inline struct offer offer_make(const struct dmda *dmda,
				      const struct dmda_forecast *forecast,
				      const struct worker *worker, double now_s)
{
	double transfer_s = forecast->transfer_s[worker->memory];
	struct offer offer = {.dmda = dmda,
			      .chance = dmda_chance_of(dmda, forecast, worker),
			      .transfer_s = transfer_s,
			      .come_s = -INFINITY};

	if (dmda_fetches(worker))
		offer.fetch_s = transfer_s;
	else if (transfer_s > 0)
		offer.come_s =
			later(now_s, dmda->links[worker->memory].until_s) + transfer_s;
	return offer;
}

/* Of the task on a worker that is free at a date; it never falls when the date grows. */
static inline double cost_at(const struct offer *offer, double free_s)
{
	const struct dmda *dmda = offer->dmda;
	double end_s =
		later(free_s, offer->come_s) + offer->fetch_s + offer->chance->duration_s;

	return dmda->alpha * end_s + dmda->beta * offer->transfer_s +
	       dmda->gamma * (offer->chance->energy_j +
			      dmda->idle_w * later(0, end_s - offer->last_s));
}

static int is_low(const void *what, double free_s)
{
	const struct offer *offer = what;

	return cost_at(offer, free_s) <= offer->limit;
}

static int is_candidate(const struct dmda_chance *chance)
{
	return chance->duration_s >= 0 && !isinf(chance->duration_s);
}

/* The first in the order of workers among those with the least cost, each asked. */
static struct worker *cheapest(struct dmda *dmda, const struct job *job,
			       const struct dmda_forecast *forecast, double now_s)
{
	struct worker *best = NULL;
	double best_cost = INFINITY, last_s = last_end_s(dmda, now_s);

	SCHED_EACH_WORKER(worker, &dmda->base)
	{
		struct offer offer;
		double cost;

		if (!is_candidate(dmda_chance_of(dmda, forecast, worker)))
			continue;
		offer = offer_make(dmda, forecast, worker, now_s);
		offer.last_s = last_s;
		cost = cost_at(&offer, free_s(dmda, worker, job->task->priority, now_s));
		if (cost < best_cost) {
			best = worker;
			best_cost = cost;
		}
	}
	return best;
}

/* The same worker.  Those of a class differ only in when they are free. */
static struct worker *
cheapest_by_class(struct dmda *dmda, const struct dmda_forecast *forecast, double now_s)
{
	struct worker *best = NULL;
	double best_cost = INFINITY, last_s = last_end_s(dmda, now_s);

	for (int i = 0; i < dmda->classes.n; i++) {
		const struct soonest *soonest = &dmda->classes.class[i].soonest;
		struct worker *first = soonest->workers[0];
		struct offer offer;

		if (!is_candidate(&forecast->chances[i]))
			continue;
		offer = offer_make(dmda, forecast, first, now_s);
		offer.last_s = last_s;
		if (cost_at(&offer, soonest_bound_s(soonest, now_s)) > best_cost)
			continue;
		offer.limit = cost_at(&offer, soonest_s(soonest, now_s));
		if (!(offer.limit < INFINITY) || offer.limit > best_cost)
			continue;
		if (soonest->n > 1)
			first = soonest_first(soonest, now_s, is_low, &offer);
		/* Nobody, when a task was bound to it just now. */
		if (!first || (best && offer.limit == best_cost && best->id < first->id))
			continue;
		best = first;
		best_cost = offer.limit;
	}
	return best;
}

/* The weights are the application's to choose. */
static int costs_rise(const struct dmda *dmda)
{
	return dmda->alpha >= 0 && dmda->gamma * dmda->idle_w >= 0;
}

/* The best worker; of tasks that no model knows, the one with the shortest line; NULL
 * when none can run it. */
static struct worker *choose(struct dmda *dmda, const struct job *job,
			     const struct dmda_forecast *forecast, double now_s)
{
	struct worker *best =
		forecast->nto_be_measured > 0 ? shortest(dmda, forecast, 1, NULL) : NULL;

	if (best)
		return best;
	if (forecast->nknown == 0)
		return shortest(dmda, forecast, 0,
				plat_current_worker(dmda->base.node->plat));
	if (forecast->is_by_class && !dmda->kind->overtakes && costs_rise(dmda))
		best = cheapest_by_class(dmda, forecast, now_s);
	else
		best = cheapest(dmda, job, forecast, now_s);
	if (best)
		return best;
	return shortest(dmda, forecast, 0, plat_current_worker(dmda->base.node->plat));
}

static void give(struct dmda *dmda, struct worker *worker, struct job *job, double now_s)
{
	struct dmda_worker *state = &dmda->workers[worker->id];
	struct dmda_link *link = &dmda->links[worker->memory];
	double transfer_s = job->predicted_transfer_s;

	job->counted_on = worker;
	state->line.nwaiting++;
	if (keeps_s(worker, job) > 0) {
		state->waiting_s += keeps_s(worker, job);
		note(dmda, worker->id);
	}
	if (transfer_s <= 0 || dmda_fetches(worker))
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

/* The job waits for its worker no longer, of whom more has changed if more. */
static void take_back_noting(struct dmda *dmda, struct job *job, double now_s, int more)
{
	struct worker *worker = job->counted_on;
	struct dmda_worker *state = &dmda->workers[worker->id];
	double waiting_s = state->waiting_s - keeps_s(worker, job);

	job->counted_on = NULL;
	if (--state->line.nwaiting == 0)
		waiting_s = 0;
	if (waiting_s != state->waiting_s || more) {
		state->waiting_s = waiting_s;
		note(dmda, worker->id);
	}
	if (job->predicted_transfer_s > 0 && !dmda_fetches(worker))
		correct_link(&dmda->links[worker->memory], job->predicted_transfer_s,
			     now_s);
}

static void take_back(struct dmda *dmda, struct job *job, double now_s)
{
	if (job->counted_on)
		take_back_noting(dmda, job, now_s, 0);
}

/* ---- data ahead of need ------------------------------------------------ */

/* When its link does nothing, it brings what the next tasks of its worker lack. */
static void bring_ahead(struct dmda *dmda, struct worker *worker)
{
	struct memory *memory = &worker->node->memories[worker->memory];

	if (!dmda->brings_ahead || memory_is_main(worker->node, worker->memory))
		return;
	for (int n = ahead_room(memory); n > 0; n--)
		if (orr_load_ptr((void **)&memory->waiting) ||
		    !line_bring(&dmda->workers[worker->id].line, worker))
			return;
}

static void dmda_quiet(struct sched *sched, unsigned memory)
{
	struct dmda *dmda = dmda_of(sched);

	if (memory_is_main(sched->node, memory))
		return;
	for (int i = 0; i < dmda->classes.n; i++) {
		const struct soonest *class = &dmda->classes.class[i].soonest;

		if (dmda->classes.class[i].memory != memory)
			continue;
		for (int k = 0; k < class->n; k++)
			if (sched_has(sched, class->workers[k]))
				bring_ahead(dmda, class->workers[k]);
	}
}

/* What has no known duration and brings nothing changes no date. */
static int asks_date(const struct dmda *dmda, const struct job *job,
		     const struct dmda_forecast *forecast)
{
	return forecast->nknown > 0 || job->counted_on ||
	       (job->naccesses > 0 && !dmda->kind->ignores_transfers &&
		node_nmemories(job->node) > 1);
}

static struct worker *dmda_push(struct sched *sched, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);
	double now_s = 0;
	struct dmda_forecast forecast;
	const struct dmda_chance *chance;
	struct worker *worker;

	follow_set(dmda);
	dmda_forecast(&forecast, dmda, job);
	if (asks_date(dmda, job, &forecast))
		now_s = plat_now_s(sched->node->plat);
	orr_lock(&dmda->lock);
	take_back(dmda, job, now_s); /* When its data were not free at its first turn. */
	worker = choose(dmda, job, &forecast, now_s);
	if (!worker) {
		orr_unlock(&dmda->lock);
		sched_put_aside(sched, job);
		return NULL;
	}
	chance = dmda_chance_of(dmda, &forecast, worker);
	job->predicted_s = isinf(chance->duration_s) ? 0 : chance->duration_s;
	job->implementation = chance->implementation;
	job->predicted_transfer_s = forecast.transfer_s[worker->memory];
	give(dmda, worker, job, now_s);
	orr_unlock(&dmda->lock);
	job->task->predicted = 1e6 * job->predicted_s;
	job->task->predicted_transfer = 1e6 * job->predicted_transfer_s;
	nearness_promise(job, worker->memory);
	line_push(&dmda->workers[worker->id].line, job,
		  dmda->kind->by_priority ? job->task->priority : 0);
	if (orr_load(&dmda->workers[worker->id].line.length) <= LINE_AHEAD)
		bring_ahead(dmda, worker);
	return worker;
}

/* ---- what becomes of it ---------------------------------------------- */

/* Out of the worker's line. */
static void taken(struct dmda *dmda, const struct worker *worker, const struct job *job)
{
	if (job->predicted_transfer_s <= 0 || dmda_fetches(worker))
		return;
	orr_lock(&dmda->lock);
	dmda->links[worker->memory].queued_s -= job->predicted_transfer_s;
	orr_unlock(&dmda->lock);
}

static struct job *dmda_pop(struct sched *sched, struct worker *worker)
{
	struct dmda *dmda = dmda_of(sched);
	struct line *line = &dmda->workers[worker->id].line;
	struct job *job = dmda->kind->readiest_first && node_nmemories(sched->node) > 1
				  ? line_pop_readiest(line, worker->memory)
				  : line_pop(line);

	if (job) {
		taken(dmda, worker, job);
		bring_ahead(dmda, worker);
	}
	return job;
}

/* What it still has in hand counts until it starts. */
static void dmda_remove_worker(struct sched *sched, struct worker *worker,
			       struct ready *left)
{
	struct dmda *dmda = dmda_of(sched);
	struct ready jobs = {0};
	struct job *job;

	line_drain(&dmda->workers[worker->id].line, &jobs);
	while ((job = jobs.first)) {
		jobs.first = job->next;
		taken(dmda, worker, job);
		ready_append(left, job);
	}
}

static double dmda_expect(struct worker *worker, struct job *job)
{
	struct dmda_chance chance = {0};
	unsigned implementation;

	if (!worker_can_run(worker, job->task, &implementation))
		return -1;
	dmda_ask_models(&chance, worker, job, implementation);
	job->implementation = chance.implementation;
	if (isinf(chance.duration_s))
		chance.duration_s = 0;
	job->task->predicted = 1e6 * chance.duration_s;
	return chance.duration_s;
}

static void dmda_started(struct sched *sched, struct worker *worker, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);
	struct dmda_worker *state = &dmda->workers[worker->id];
	double now_s = 0, duration_s = job->predicted_s;
	int is_dated;

	if (!job->counted_on) {
		/* It was bound to its worker. */
		duration_s = dmda_expected_s(worker, job, job->implementation);
		if (isinf(duration_s))
			duration_s = 0;
	}
	is_dated = duration_s > 0 || job->predicted_transfer_s > 0 ||
		   state->running_until_s > 0;
	if (is_dated)
		now_s = plat_now_s(sched->node->plat);
	orr_lock(&dmda->lock);
	if (is_dated)
		state->running_until_s = now_s + duration_s;
	if (job->counted_on == worker) {
		take_back_noting(dmda, job, now_s, is_dated);
	} else {
		if (is_dated)
			note(dmda, worker->id);
		take_back(dmda, job, now_s);
	}
	orr_unlock(&dmda->lock);
}

static void dmda_ended(struct sched *sched, struct worker *worker, struct job *job)
{
	struct dmda *dmda = dmda_of(sched);

	(void)job;
	if (sched->node->machine->takes_turns)
		line_expect(&dmda->workers[worker->id].line, worker->memory);
	if (dmda->workers[worker->id].running_until_s == 0)
		return;
	orr_lock(&dmda->lock);
	dmda->workers[worker->id].running_until_s = 0;
	note(dmda, worker->id);
	orr_unlock(&dmda->lock);
}

/* ---- the policies ---------------------------------------------------- */

#define POLICY(name, has_order, text, ...)                                               \
	static struct sched *name##_open(struct node *node)                              \
	{                                                                                \
		static const struct dmda_kind kind = {__VA_ARGS__};                      \
                                                                                         \
		return open_as(node, &kind);                                             \
	}                                                                                \
	const struct sched_ops sched_##name = {                                          \
		.object = {INNER_CALLS(name), .policy_name = #name,                      \
			   .policy_description = text},                                  \
		.least = has_order ? INT_MIN : 0,                                        \
		.most = has_order ? INT_MAX : 0,                                         \
		.places = 1,                                                             \
		.open = name##_open,                                                     \
		.close = dmda_close,                                                     \
		.weigh = dmda_weigh,                                                     \
		.push = dmda_push,                                                       \
		.pop = dmda_pop,                                                         \
		.started = dmda_started,                                                 \
		.expect = dmda_expect,                                                   \
		.quiet = dmda_quiet,                                                     \
		.ended = dmda_ended,                                                     \
		.remove_worker = dmda_remove_worker,                                     \
	}

POLICY(dm, 0, "where it is expected to end first, transfers ignored",
       .ignores_transfers = 1);
POLICY(dmda, 0, "where it is expected to end first, transfers included", 0);
POLICY(dmdap, 1, "as dmda, each worker by priority", .by_priority = 1);
POLICY(dmdar, 0, "as dmda, each worker what has its data there first",
       .readiest_first = 1);
POLICY(dmdas, 1, "as dmda, each worker by priority, then what has its data there",
       .by_priority = 1, .readiest_first = 1);
POLICY(dmdasd, 1, "as dmdas, expecting to overtake what is less urgent", .by_priority = 1,
       .readiest_first = 1, .overtakes = 1);
