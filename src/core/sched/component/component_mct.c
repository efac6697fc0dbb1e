/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components that decide by durations. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_query.h"
#include "core/sched/component/component.h"
#include "core/task/task.h"

struct mct {
	struct starpu_sched_component_mct_data weights;
	struct lanes lanes;
	struct tasks tasks; /* of heft and heteroprio: that wait for a decision */
	unsigned batch;
	int is_deciding;
};

static struct mct *mct_of(component_t *component)
{
	return component->data;
}

static void mct_free(component_t *component)
{
	lanes_free(&mct_of(component)->lanes);
	tasks_free(&mct_of(component)->tasks);
	free(component->data);
}

/* ---- the choice ------------------------------------------------------ */

struct chance {
	component_t *child;
	int number; /* of the child */
	double end_us, length_us, transfer_us, energy_j, load;
	int is_unknown;
	unsigned char implementation;
};

/* 1: the child can run it.  When, is not asked. */
static int ask(component_t *component, int number, struct starpu_task *task,
	       struct chance *chance)
{
	component_t *child = component->children[number];
	const struct mct *mct = mct_of(component);
	const struct job *job = task->starpu_private;

	*chance = (struct chance){.child = child, .number = number};
	if (!component_predict(child, task, &chance->length_us))
		return 0;
	chance->is_unknown = isnan(chance->length_us);
	if (chance->is_unknown)
		chance->length_us = 0;
	chance->implementation = job->implementation;
	chance->transfer_us = component_transfer_us(child, task);
	if (mct->weights._gamma > 0)
		chance->energy_j = component_energy_j(child, task);
	return 1;
}

static double end_us(const struct chance *chance, double free_us, double now_us)
{
	return fmax(free_us, now_us + chance->transfer_us) + chance->length_us;
}

/* Those to be measured first, of these the least busy. */
static int is_better(const struct mct *mct, const struct chance *chance,
		     const struct chance *best, double last_us)
{
	const struct starpu_sched_component_mct_data *w = &mct->weights;
	double delay = fmax(0, chance->end_us - last_us);
	double best_delay = fmax(0, best->end_us - last_us);

	if (chance->is_unknown != best->is_unknown)
		return chance->is_unknown;
	if (chance->is_unknown)
		return chance->load < best->load;
	return w->alpha * (chance->end_us - best->end_us) +
		       w->beta * (chance->transfer_us - best->transfer_us) +
		       w->_gamma * (chance->energy_j - best->energy_j) +
		       w->_gamma * w->idle_power * (delay - best_delay) / 1e6 <
	       0;
}

static double last_end_us(component_t *component)
{
	double last = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		last = fmax(last, component->children[i]->estimated_end(
					  component->children[i]));
	return last;
}

static int idle_costs(const struct mct *mct)
{
	return mct->weights._gamma > 0 && mct->weights.idle_power > 0;
}

/* Each child is asked.  child: NULL when none can run it. */
static struct chance decide_each(component_t *component, struct starpu_task *task)
{
	const struct mct *mct = mct_of(component);
	double last_us = idle_costs(mct) ? last_end_us(component) : 0;
	double now_us = component_now_us(component);
	struct chance best = {0}, chance;

	for (unsigned i = 0; i < component->nchildren; i++) {
		component_t *child = component->children[i];

		if (!ask(component, (int)i, task, &chance))
			continue;
		if (chance.is_unknown)
			chance.load = child->estimated_load(child);
		chance.end_us = end_us(&chance, child->estimated_end(child), now_us);
		if (!best.child || is_better(mct, &chance, &best, last_us))
			best = chance;
	}
	return best;
}

/* ---- the same choice, one lane of each class asked -------------------- */

static int is_any(const void *what, double free_us)
{
	(void)what;
	(void)free_us;
	return 1;
}

struct limit {
	const struct chance *chance;
	double now_us;
};

static int is_soon(const void *what, double free_us)
{
	const struct limit *limit = what;

	return end_us(limit->chance, free_us, limit->now_us) <= limit->chance->end_us;
}

/* The first lane of a class among those where it ends first; 0: none can run it. */
static int ask_class(component_t *component, const struct class *class,
		     struct starpu_task *task, struct chance *chance)
{
	const struct lanes *lanes = &mct_of(component)->lanes;
	struct limit limit = {chance, component_now_us(component)};
	double free_us = soonest_s(&class->soonest, limit.now_us);
	const struct worker *worker;

	if (isinf(free_us))
		return 0;
	worker = soonest_first(&class->soonest, limit.now_us, is_any, NULL);
	if (!ask(component, lanes->child[worker->id], task, chance))
		return 0;
	chance->end_us = end_us(chance, free_us, limit.now_us);
	worker = soonest_first(&class->soonest, limit.now_us, is_soon, &limit);
	chance->number = lanes->child[worker->id];
	chance->child = component->children[chance->number];
	return 1;
}

/* Of those that are equal the first child. */
static void prefer(const struct mct *mct, struct chance *best,
		   const struct chance *chance)
{
	if (!best->child || is_better(mct, chance, best, 0) ||
	    (chance->number < best->number && !is_better(mct, best, chance, 0)))
		*best = *chance;
}

static struct chance decide(component_t *component, struct starpu_task *task)
{
	struct mct *mct = mct_of(component);
	struct lanes *lanes = &mct->lanes;
	double now_us = component_now_us(component);
	struct chance best = {0}, chance = {0};

	if (!(mct->weights.alpha > 0) || idle_costs(mct) ||
	    !classes_hold_for(tree_of(component)->node, task))
		return decide_each(component, task);
	lanes_follow(lanes);
	for (int i = 0; i < lanes->classes.n && !chance.is_unknown; i++)
		if (ask_class(component, &lanes->classes.class[i], task, &chance))
			prefer(mct, &best, &chance);
	for (int i = 0; i < lanes->noutside && !chance.is_unknown; i++) {
		if (!ask(component, lanes->outside[i], task, &chance))
			continue;
		chance.end_us = end_us(&chance, chance.child->estimated_end(chance.child),
				       now_us);
		prefer(mct, &best, &chance);
	}
	/* Those to be measured go by their loads. */
	return chance.is_unknown ? decide_each(component, task) : best;
}

static int mct_push(component_t *component, struct starpu_task *task)
{
	struct chance chance;
	int refuses;

	tree_enter(tree_of(component));
	chance = decide(component, task);
	if (chance.child) {
		task->predicted = chance.length_us;
		task->predicted_transfer = chance.transfer_us;
		((struct job *)task->starpu_private)->implementation =
			chance.implementation;
	}
	refuses = !chance.child || component_push(chance.child, task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

/* ---- life ------------------------------------------------------------ */

static component_t *deciding(struct starpu_sched_tree *base,
			     const struct starpu_sched_component_mct_data *weights,
			     const struct component_kind *kind)
{
	const struct knobs *knobs =
		node_knobs(ORR_CONTAINER(base, struct tree, base)->node);
	component_t *component = component_new(base, kind->name, kind);
	struct mct *mct = orr_alloc(sizeof(*mct));

	mct->weights =
		(struct starpu_sched_component_mct_data){.alpha = knobs->sched_alpha,
							 .beta = knobs->sched_beta,
							 ._gamma = knobs->sched_gamma,
							 .idle_power = knobs->idle_power};
	if (weights)
		mct->weights = *weights;
	component->data = mct;
	lanes_init(&mct->lanes, component);
	component->push_task = mct_push;
	component->pull_task = component_gives_nothing;
	component->can_pull = component_wants_pushes;
	component->deinit_data = mct_free;
	return component;
}

const struct component_kind component_kind_mct = {.name = "mct"};

component_t *component_mct(struct starpu_sched_tree *tree, void *data)
{
	return deciding(tree, data, &component_kind_mct);
}

/* ---- in the order of priorities -------------------------------------- */

enum { MOST_REJECTED = 8 };

/* Decide until children have refused a few tasks, which then wait at their places. */
static int heft_go_on(component_t *component)
{
	struct mct *mct = mct_of(component);
	struct starpu_task *rejected[MOST_REJECTED], *task;
	int n = 0, nrejected = 0;

	if (mct->is_deciding)
		return 0;
	mct->is_deciding = 1;
	while (nrejected < MOST_REJECTED && (task = tasks_pop(&mct->tasks))) {
		if (mct_push(component, task) == 0)
			n++;
		else
			rejected[nrejected++] = task;
	}
	while (nrejected-- > 0)
		tasks_push(&mct->tasks, rejected[nrejected],
			   rejected[nrejected]->priority, 1);
	mct->is_deciding = 0;
	return n > 0;
}

static int heft_push(component_t *component, struct starpu_task *task)
{
	tree_enter(tree_of(component));
	tasks_push(&mct_of(component)->tasks, task, task->priority, 0);
	heft_go_on(component);
	tree_leave(tree_of(component));
	return 0;
}

static int heft_can_push(component_t *component, component_t *to)
{
	int did;

	tree_enter(tree_of(component));
	did = heft_go_on(component);
	if (!did)
		did = component_can_push(component, to);
	tree_leave(tree_of(component));
	return did;
}

static double kept_load(component_t *component)
{
	return component_load(component) + mct_of(component)->tasks.ntasks;
}

static int cannot_run(struct starpu_task *task, void *component)
{
	return !component_can_run(component, task);
}

static void kept_drain(component_t *component, struct tasks *out)
{
	struct tasks *tasks = &mct_of(component)->tasks;
	struct starpu_task *task;

	while ((task = tasks_find(tasks, 0, cannot_run, component))) {
		tasks_take(tasks, task);
		tasks_push(out, task, task->priority, 0);
	}
}

const struct component_kind component_kind_heft = {.name = "heft", .drain = kept_drain};

component_t *component_heft(struct starpu_sched_tree *tree, void *data)
{
	component_t *component = deciding(tree, data, &component_kind_heft);

	component->push_task = heft_push;
	component->can_push = heft_can_push;
	component->estimated_load = kept_load;
	return component;
}

/* ---- by how much faster devices are ---------------------------------- */

enum {
	EQUAL_RATIOS = 10,
	FINE_RATIOS = 1000,
	NO_CHOICE = 1000 * FINE_RATIOS,
	NEVER = 2 * NO_CHOICE /* nor will the others ever be able to run it */
};

/* The least that workers of a class take; NAN: none can run it. */
static double least_us(component_t *component, struct starpu_task *task, int of_cores)
{
	const struct node *node = tree_of(component)->node;
	struct starpu_bitmap *workers = &component->workers_in_ctx;
	double least = NAN;

	for (int id = starpu_bitmap_first(workers); id >= 0;
	     id = starpu_bitmap_next(workers, id)) {
		struct worker *worker = &node->workers[id];

		if ((worker->type == STARPU_CPU_WORKER) != of_cores ||
		    !worker_can_run_job(worker, task->starpu_private))
			continue;
		least = fmin(least, component_fastest_us(worker, task));
		break;
	}
	return least;
}

/* Greater: better on a device.  Who has no choice goes to the end of those that can. */
static int ratio_of(component_t *component, struct starpu_task *task)
{
	unsigned where = ((const struct job *)task->starpu_private)->where;
	double cores_us = least_us(component, task, 1);
	double devices_us = least_us(component, task, 0);
	int steps = mct_of(component)->batch ? EQUAL_RATIOS : FINE_RATIOS;

	if (isnan(devices_us))
		return where & ~(unsigned)STARPU_CPU ? -NO_CHOICE : -NEVER;
	if (isnan(cores_us))
		return where & STARPU_CPU ? NO_CHOICE : NEVER;
	if (!(cores_us > 0) || !(devices_us > 0))
		return 0;
	return (int)lround(steps * log(cores_us / devices_us));
}

/* By that ratio, of equal ones by priority, so that the first that a worker can run is
 * the one for it. */
static int64_t key_of(component_t *component, struct starpu_task *task)
{
	return ratio_of(component, task) * (INT64_C(1) << 32) + task->priority;
}

static int ratio_at(const struct tasks *tasks, int i)
{
	int64_t key = tasks->level[i].key - INT_MIN;

	return (int)(key >> 32);
}

static int can_run(struct starpu_task *task, void *component)
{
	return component_can_run(component, task);
}

/* The most urgent, then the oldest, of a part of the levels. */
static struct starpu_task *find_among(const struct tasks *tasks, int first, int n,
				      component_t *to)
{
	struct tasks part = {.level = &tasks->level[first], .n = n};

	return tasks_find(&part, 0, can_run, to);
}

static struct starpu_task *find_for_device(const struct tasks *tasks, component_t *to)
{
	int first = 0;

	while (first < tasks->n && ratio_at(tasks, first) == -NEVER)
		first++;
	return find_among(tasks, first, tasks->n - first, to);
}

static struct starpu_task *find_for_core(const struct tasks *tasks, component_t *to)
{
	struct starpu_task *task = NULL;
	int n;

	for (int i = 0; i < tasks->n && !task; i += n) {
		int ratio = ratio_at(tasks, i);

		if (ratio == NEVER)
			break;
		n = 1;
		while (i + n < tasks->n && ratio_at(tasks, i + n) == ratio)
			n++;
		task = find_among(tasks, i, n, to);
	}
	return task;
}

static int count_devices(component_t *component)
{
	const struct node *node = tree_of(component)->node;
	struct starpu_bitmap *workers = &component->workers_in_ctx;
	int n = 0;

	for (int id = starpu_bitmap_first(workers); id >= 0;
	     id = starpu_bitmap_next(workers, id))
		n += node->workers[id].type != STARPU_CPU_WORKER;
	return n;
}

/* Would the devices, which have all that is kept here before them, have done it by the
 * time that a core needs? */
static int is_left_to_devices(component_t *component, struct starpu_task *task)
{
	unsigned char implementation =
		((struct job *)task->starpu_private)->implementation;
	double devices_us = least_us(component, task, 0);
	double cores_us = least_us(component, task, 1);
	double nbefore = mct_of(component)->tasks.ntasks;

	((struct job *)task->starpu_private)->implementation = implementation;
	return devices_us > 0 &&
	       cores_us > devices_us * (1 + nbefore / count_devices(component));
}

static struct starpu_task *heteroprio_pull(component_t *component, component_t *to)
{
	struct tasks *tasks = &mct_of(component)->tasks;
	const struct worker *worker = component_worker(to);
	struct starpu_task *task;

	if (!worker)
		return NULL;
	tree_enter(tree_of(component));
	if (worker->type != STARPU_CPU_WORKER)
		task = find_for_device(tasks, to);
	else if ((task = find_for_core(tasks, to)) && is_left_to_devices(component, task))
		task = NULL;
	if (task)
		tasks_take(tasks, task);
	tree_leave(tree_of(component));
	return task;
}

static int heteroprio_push(component_t *component, struct starpu_task *task)
{
	tree_enter(tree_of(component));
	tasks_push(&mct_of(component)->tasks, task, key_of(component, task), 0);
	component_can_pull_all(component);
	tree_leave(tree_of(component));
	return 0;
}

static int heteroprio_can_push(component_t *component, component_t *to)
{
	struct mct *mct = mct_of(component);
	struct starpu_task *rejected;
	int n, did;

	tree_enter(tree_of(component));
	rejected = component_pump(component, to, &n);
	if (rejected)
		tasks_push(&mct->tasks, rejected, key_of(component, rejected), 1);
	did = n > 0 || component_can_push(component, to);
	tree_leave(tree_of(component));
	return did;
}

const struct component_kind component_kind_heteroprio = {.name = "heteroprio",
							 .drain = kept_drain};

component_t *component_heteroprio(struct starpu_sched_tree *tree, void *data)
{
	const struct starpu_sched_component_heteroprio_data *params = data;
	component_t *component =
		deciding(tree, params ? params->mct : NULL, &component_kind_heteroprio);

	mct_of(component)->batch = params ? params->batch : 1;
	component->push_task = heteroprio_push;
	component->pull_task = heteroprio_pull;
	component->can_push = heteroprio_can_push;
	component->can_pull = component_can_pull_all;
	component->estimated_load = kept_load;
	return component;
}
