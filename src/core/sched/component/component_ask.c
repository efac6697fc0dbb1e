/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* What components ask about a task: who can run it, how long, how far its data are. */
#include <math.h>

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/nearness.h"
#include "core/model/model_query.h"
#include "core/sched/component/component.h"
#include "core/sched/teams.h"
#include "core/task/task.h"

#define EACH_WORKER(id, component)                                                       \
	for (int id = starpu_bitmap_first(&(component)->workers_in_ctx); id >= 0;        \
	     id = starpu_bitmap_next(&(component)->workers_in_ctx, id))

static struct worker *worker_of(const component_t *component, int id)
{
	return &tree_of(component)->node->workers[id];
}

struct worker *component_worker(component_t *component)
{
	int id = starpu_bitmap_first(&component->workers_in_ctx);

	return id >= 0 ? worker_of(component, id) : NULL;
}

double component_now_us(const component_t *component)
{
	return 1e6 * plat_now_s(tree_of(component)->node->plat);
}

double component_predicted_us(const struct starpu_task *task)
{
	return isnan(task->predicted) ? 0 : task->predicted;
}

static int holds_like(const struct component *ours, const struct worker *worker)
{
	for (int i = 0; i < ours->nfirst; i++)
		if (classes_are_like(ours->first[i], worker))
			return 1;
	return 0;
}

/* Of the numbers of workers that there are. */
static int is_same_set(const struct starpu_bitmap *set, const struct starpu_bitmap *other,
		       int nworkers)
{
	enum { WORD_BITS = 8 * sizeof(set->bits[0]) };
	unsigned long differ = (unsigned long)(set->cardinal ^ other->cardinal);

	for (int i = 0; i * WORD_BITS < nworkers; i++)
		differ |= set->bits[i] ^ other->bits[i];
	return differ == 0;
}

/* Whoever may change the set, the application also: it is compared. */
static struct component *sorted(component_t *component)
{
	struct component *ours = ORR_CONTAINER(component, struct component, base);
	const struct starpu_bitmap *now = &component->workers_in_ctx;

	if (is_same_set(&ours->among, now, tree_of(component)->node->nworkers))
		return ours;
	ours->among = *now;
	ours->nsets++;
	ours->nfirst = 0;
	ours->memories = 0;
	ours->kinds = 0;
	ours->speed = 0;
	ours->first = orr_realloc(ours->first,
				  ((size_t)now->cardinal + 1) * sizeof(ours->first[0]));
	EACH_WORKER(id, component)
	{
		struct worker *worker = worker_of(component, id);

		ours->memories |= memory_bit(worker->memory);
		ours->kinds |= (unsigned)STARPU_WORKER_TO_MASK(worker->type);
		ours->speed += model_relative_speedup(&worker->arch);
		if (!holds_like(ours, worker))
			ours->first[ours->nfirst++] = worker;
	}
	return ours;
}

/* Who has to be asked about a task: all workers, or one of each class. */
struct asking {
	component_t *component;
	struct component *by_class; /* NULL: all */
	int at;
};

static struct asking ask_about(component_t *component, const struct starpu_task *task)
{
	struct asking asking = {.component = component};

	if (classes_hold_for(tree_of(component)->node, task))
		asking.by_class = sorted(component);
	else
		asking.at = starpu_bitmap_first(&component->workers_in_ctx);
	return asking;
}

/* The next one, or NULL. */
static struct worker *next_asked(struct asking *asking)
{
	const struct component *by_class = asking->by_class;
	struct worker *worker;

	if (by_class)
		return asking->at < by_class->nfirst ? by_class->first[asking->at++]
						     : NULL;
	if (asking->at < 0)
		return NULL;
	worker = worker_of(asking->component, asking->at);
	asking->at = starpu_bitmap_next(&asking->component->workers_in_ctx, asking->at);
	return worker;
}

static struct worker *able_worker(component_t *component, struct starpu_task *task)
{
	struct asking asking = ask_about(component, task);
	struct worker *worker;

	while ((worker = next_asked(&asking)))
		if (worker_can_run_job(worker, task->starpu_private))
			return worker;
	return NULL;
}

/* That alone is below, or NULL. */
static const struct team *team_below(component_t *component)
{
	while (component->nchildren == 1)
		component = component->children[0];
	return component_team(component);
}

int component_has_team(component_t *component)
{
	return team_below(component) != NULL;
}

/* May several run it together? */
static int suits_team(component_t *component, const struct team *team,
		      struct starpu_task *task)
{
	return task->cl->type != STARPU_SEQ && task->cl->max_parallelism >= team->size &&
	       starpu_bitmap_cardinal(&component->workers_in_ctx) == team->size &&
	       team_can_run(team, tree_of(component)->sched, task->starpu_private);
}

int component_can_run(component_t *component, struct starpu_task *task)
{
	const struct team *team = team_below(component);

	if (team)
		return suits_team(component, team, task);
	return able_worker(component, task) != NULL;
}

/* The members of a team answer for it. */
unsigned component_kinds(component_t *component)
{
	return team_below(component) ? TASKS_OF_ALL : sorted(component)->kinds;
}

static int can_run(struct starpu_task *task, void *component)
{
	return component_can_run(component, task);
}

static int cannot_run(struct starpu_task *task, void *component)
{
	return !component_can_run(component, task);
}

static unsigned kinds_of(void *component)
{
	return component_kinds(component);
}

struct starpu_task *component_find(const struct tasks *tasks, int from_last,
				   component_t *component)
{
	return tasks_find(tasks, from_last, can_run, kinds_of, component);
}

struct starpu_task *component_find_other(const struct tasks *tasks,
					 component_t *component)
{
	return tasks_find(tasks, 0, cannot_run, NULL, component);
}

const struct worker *component_stands_for(component_t *component)
{
	const struct component *ours = sorted(component);

	return ours->nfirst == 1 && component->nchildren <= 1 && !team_below(component)
		       ? ours->first[0]
		       : NULL;
}

/* Of workers that are alike one answers for all, if the task does not tell them apart. */
int component_can_run_too(component_t *component, struct asked *asked)
{
	const struct component *ours = sorted(component);

	if (ours->nfirst != 1 || component->nchildren > 1 || team_below(component))
		return component_can_run(component, asked->task);
	if (!asked->worker || !classes_are_like(ours->first[0], asked->worker)) {
		asked->can_run = component_can_run(component, asked->task);
		asked->worker = ours->first[0];
		if (!classes_hold_for(tree_of(component)->node, asked->task))
			asked->worker = NULL;
	}
	return asked->can_run;
}

static int predict_team(component_t *component, const struct team *team,
			struct starpu_task *task, double *us)
{
	struct worker *worker =
		suits_team(component, team, task) ? able_worker(component, task) : NULL;
	struct model_query query = {
		.node = tree_of(component)->node,
		.worker = worker,
		.arch = (struct starpu_perfmodel_arch *)(uintptr_t)&team->arch,
		.model = task->cl->model,
		.task = task};
	struct model_estimate estimate;

	if (!worker)
		return 0;
	query.implementation = worker_next_implementation(worker, task, 0);
	((struct job *)task->starpu_private)->implementation =
		(unsigned char)query.implementation;
	estimate = model_evaluate(&query);
	if (estimate.source == MODEL_ROOFLINE)
		estimate.seconds /= team->size;
	*us = model_will_learn(worker, task, &estimate) ? NAN
	      : estimate.source == MODEL_NONE           ? 0
							: 1e6 * estimate.seconds;
	return 1;
}

double component_fastest_us(struct worker *worker, struct starpu_task *task)
{
	struct job *job = task->starpu_private;
	double best_s = INFINITY;

	for (unsigned i = worker_next_implementation(worker, task, 0);
	     i < STARPU_MAXIMPLEMENTATIONS;
	     i = worker_next_implementation(worker, task, i + 1)) {
		struct model_estimate estimate = model_expect(worker, task, i);

		if (isinf(best_s))
			job->implementation = (unsigned char)i;
		if (model_will_learn(worker, task, &estimate)) {
			job->implementation = (unsigned char)i;
			return NAN;
		}
		if (estimate.source == MODEL_NONE || estimate.seconds >= best_s)
			continue;
		best_s = estimate.seconds;
		job->implementation = (unsigned char)i;
	}
	return isinf(best_s) ? 0 : 1e6 * best_s;
}

/* Of workers that the task tells apart those of one type and device kind are asked once.
 */
static void predict_each(component_t *component, struct starpu_task *task,
			 struct answer *best)
{
	struct asking asking = ask_about(component, task);
	const struct worker *asked = NULL;
	struct worker *worker;

	while ((worker = next_asked(&asking))) {
		double its;

		if (!worker_can_run_job(worker, task->starpu_private) ||
		    (asked && model_are_alike(worker, asked, task)))
			continue;
		asked = worker;
		best->state = ANSWER_YES;
		its = component_fastest_us(worker, task);
		if (!(its < best->us) && !isnan(its))
			continue;
		best->us = its;
		best->implementation =
			((struct job *)task->starpu_private)->implementation;
		if (isnan(its))
			break;
	}
}

/* Of others one of each class. */
static void predict_classes(component_t *component, struct starpu_task *task,
			    struct answer *best)
{
	const struct component *ours = sorted(component);
	struct note *note = note_of(tree_of(component), task);
	int is_kept = 1;

	if (note->whole.component == component && note->whole.nsets == ours->nsets) {
		*best = note->whole.answer;
		return;
	}
	for (int i = 0; i < ours->nfirst && !isnan(best->us); i++) {
		const struct answer *its =
			note_ask(tree_of(component), note, ours->first[i], task);

		is_kept &= its != &note->passing;
		if (its->state == ANSWER_YES && (its->us < best->us || isnan(its->us)))
			*best = *its;
	}
	if (!is_kept || ours->nfirst <= 1)
		return;
	note->whole.component = component;
	note->whole.nsets = ours->nsets;
	note->whole.answer = *best;
}

int component_predict(component_t *component, struct starpu_task *task, double *us)
{
	const struct team *team = team_below(component);
	struct answer best = {.us = INFINITY, .state = ANSWER_NO};
	double unwanted;

	if (team)
		return predict_team(component, team, task, us ? us : &unwanted);
	if (classes_hold_for(tree_of(component)->node, task))
		predict_classes(component, task, &best);
	else
		predict_each(component, task, &best);
	if (best.state == ANSWER_NO)
		return 0;
	((struct job *)task->starpu_private)->implementation = best.implementation;
	if (us)
		*us = best.us;
	return 1;
}

uint64_t component_memories(component_t *component)
{
	return sorted(component)->memories;
}

double component_speed(component_t *component)
{
	return sorted(component)->speed;
}

double component_transfer_us(component_t *component, struct starpu_task *task)
{
	double seconds[NODE_MAX_MEMORIES], sum = 0;
	uint64_t memories = component_memories(component);

	if (!memories)
		return 0;
	nearness_expected_s(task->starpu_private, memories, seconds);
	for (uint64_t left = memories; left; left &= left - 1)
		sum += seconds[__builtin_ctzll(left)];
	return 1e6 * sum / __builtin_popcountll(memories);
}

double component_energy_j(component_t *component, struct starpu_task *task)
{
	struct worker *worker = able_worker(component, task);
	const struct job *job = task->starpu_private;

	return worker ? model_energy_j(worker, task, job->implementation) : 0;
}

void component_prefetch(component_t *component, struct starpu_task *task)
{
	struct tree *tree = tree_of(component);
	const struct worker *worker = component_worker(component);

	if (!worker || !STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component) ||
	    worker->memory < (unsigned)tree->node->nmains ||
	    !node_knobs(tree->node)->prefetch)
		return;
	while (ahead_bring(task->starpu_private, worker->memory) == AHEAD_TRAVELS)
		continue;
}
