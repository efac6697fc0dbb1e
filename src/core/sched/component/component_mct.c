/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components that decide by durations. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/data/nearness.h"
#include "core/model/model_query.h"
#include "core/sched/component/component.h"
#include "core/task/task.h"

struct mct {
	struct starpu_sched_component_mct_data weights;
	struct lanes lanes;
	/* When lanes are free, by class, while the tree is held so. */
	struct free_dates {
		unsigned hold, nnotes;
		double now_us, *us;
	} dates;
	struct tasks tasks; /* of heft and heteroprio: that wait for a decision */
	unsigned batch;
	int is_deciding;
	/* While the tree was held so, and what lies in it was so. */
	struct refusal {
		int is_there;
		unsigned hold, changes;
	} refusal;
};

static struct mct *mct_of(component_t *component)
{
	return component->data;
}

static void mct_free(component_t *component)
{
	lanes_free(&mct_of(component)->lanes);
	free(mct_of(component)->dates.us);
	tasks_free(&mct_of(component)->tasks);
	free(component->data);
}

/* ---- the choice ------------------------------------------------------ */

/* About a task: its data are asked once for all memories. */
struct question {
	component_t *component;
	struct starpu_task *task;
	double now_us;
	uint64_t memories; /* of these: */
	double seconds[NODE_MAX_MEMORIES];
};

static void question_open(struct question *question, component_t *component,
			  struct starpu_task *task)
{
	question->component = component;
	question->task = task;
	question->now_us = component_now_us(component);
	question->memories = component_memories(component);
	nearness_expected_s(task->starpu_private, question->memories, question->seconds);
}

/* As component_transfer_us(). */
static double transfer_us(const struct question *question, component_t *child)
{
	uint64_t memories = component_memories(child);
	double sum = 0;

	if (!memories)
		return 0;
	if (memories & ~question->memories)
		return component_transfer_us(child, question->task);
	for (uint64_t left = memories; left; left &= left - 1)
		sum += question->seconds[__builtin_ctzll(left)];
	return 1e6 * sum / __builtin_popcountll(memories);
}

struct chance {
	int is_there;
	int number;                /* of the child; -1: the first of the class */
	const struct class *class; /* of lanes; NULL: asked by itself */
	double end_us, length_us, transfer_us, energy_j, load;
	int is_unknown;
	unsigned char implementation;
};

static int costs_energy(const struct question *question)
{
	return question->task->cl->energy_model &&
	       mct_of(question->component)->weights._gamma > 0;
}

/* 1: the child can run it.  When, is not asked. */
static int ask(const struct question *question, int number, struct chance *chance)
{
	component_t *child = question->component->children[number];
	struct starpu_task *task = question->task;
	const struct job *job = task->starpu_private;
	double us;

	*chance = (struct chance){.number = number};
	if (!component_predict(child, task, &us))
		return 0;
	chance->is_there = 1;
	chance->is_unknown = isnan(us);
	chance->length_us = chance->is_unknown ? 0 : us;
	chance->implementation = job->implementation;
	chance->transfer_us = transfer_us(question, child);
	if (costs_energy(question))
		chance->energy_j = component_energy_j(child, task);
	return 1;
}

static double end_us(double free_us, double data_us, double length_us)
{
	return (free_us > data_us ? free_us : data_us) + length_us;
}

static int idle_costs(const struct mct *mct)
{
	return mct->weights._gamma > 0 && mct->weights.idle_power > 0;
}

/* Less than 0: the chance is the better one.  Neither is to be measured. */
static double differ(const struct mct *mct, const struct chance *chance,
		     const struct chance *other, double last_us)
{
	const struct starpu_sched_component_mct_data *w = &mct->weights;
	double sum = w->alpha * (chance->end_us - other->end_us) +
		     w->beta * (chance->transfer_us - other->transfer_us);
	double delay, other_delay;

	/* What follows is 0, as a rule. */
	if (chance->energy_j == other->energy_j && w->_gamma * w->idle_power == 0)
		return sum;
	delay = fmax(0, chance->end_us - last_us);
	other_delay = fmax(0, other->end_us - last_us);
	return sum + w->_gamma * (chance->energy_j - other->energy_j) +
	       w->_gamma * w->idle_power * (delay - other_delay) / 1e6;
}

/* Those to be measured first, of these the least busy. */
static int is_better(const struct mct *mct, const struct chance *chance,
		     const struct chance *best, double last_us)
{
	if (chance->is_unknown != best->is_unknown)
		return chance->is_unknown;
	if (chance->is_unknown)
		return chance->load < best->load;
	return differ(mct, chance, best, last_us) < 0;
}

static double last_end_us(component_t *component)
{
	double last = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		last = fmax(last, component->children[i]->estimated_end(
					  component->children[i]));
	return last;
}

/* Each child is asked. */
static struct chance decide_each(const struct question *question)
{
	component_t *component = question->component;
	const struct mct *mct = mct_of(component);
	double last_us = idle_costs(mct) ? last_end_us(component) : 0;
	struct chance best = {0}, chance;

	for (unsigned i = 0; i < component->nchildren; i++) {
		component_t *child = component->children[i];

		if (!ask(question, (int)i, &chance))
			continue;
		if (chance.is_unknown)
			chance.load = child->estimated_load(child);
		chance.end_us =
			end_us(child->estimated_end(child),
			       question->now_us + chance.transfer_us, chance.length_us);
		if (!best.is_there || is_better(mct, &chance, &best, last_us))
			best = chance;
	}
	return best;
}

/* ---- the same choice, one lane of each class asked -------------------- */

struct limit {
	const struct chance *chance;
	double now_us;
};

static int is_soon(const void *what, double free_us)
{
	const struct limit *limit = what;
	const struct chance *chance = limit->chance;

	return end_us(free_us, limit->now_us + chance->transfer_us, chance->length_us) <=
	       chance->end_us;
}

/* When the first lane of each class is free, asked once while nothing changes. */
static const double *ask_lanes(struct question *question)
{
	struct mct *mct = mct_of(question->component);
	unsigned hold = tree_of(question->component)->hold;
	struct free_dates *dates = &mct->dates;

	lanes_follow(&mct->lanes);
	if (dates->hold == hold && dates->nnotes == mct->lanes.nnotes && dates->us) {
		question->now_us = dates->now_us;
		return dates->us;
	}
	if (!dates->us)
		dates->us = orr_alloc((size_t)mct->lanes.classes.n * sizeof(double));
	dates->hold = hold;
	dates->nnotes = mct->lanes.nnotes;
	dates->now_us = question->now_us;
	for (int i = 0; i < mct->lanes.classes.n; i++)
		dates->us[i] =
			soonest_s(&mct->lanes.classes.class[i].soonest, question->now_us);
	return dates->us;
}

static double class_transfer_us(const struct question *question,
				const struct class *class)
{
	component_t *component = question->component;
	const struct lanes *lanes = &mct_of(component)->lanes;
	const struct worker *worker = class->soonest.workers[class->first];

	return question->memories & memory_bit(class->memory)
		       ? 1e6 * question->seconds[class->memory]
		       : transfer_us(question,
				     component->children[lanes->child[worker->id]]);
}

static double class_energy_j(const struct question *question, const struct class *class,
			     const struct answer *answer)
{
	component_t *component = question->component;
	const struct lanes *lanes = &mct_of(component)->lanes;
	const struct worker *worker = class->soonest.workers[class->first];

	((struct job *)question->task->starpu_private)->implementation =
		answer->implementation;
	return component_energy_j(component->children[lanes->child[worker->id]],
				  question->task);
}

/* The first lane of the class among those where the task ends first. */
static int number_of(const struct question *question, struct chance *chance)
{
	const struct lanes *lanes = &mct_of(question->component)->lanes;
	struct limit limit = {chance, question->now_us};

	if (chance->number < 0)
		chance->number = lanes->child[soonest_first(&chance->class->soonest,
							    limit.now_us, is_soon, &limit)
						      ->id];
	return chance->number;
}

/* Of those that are equal the first child. */
static void prefer(const struct question *question, struct chance *best,
		   struct chance *chance)
{
	double difference = -1;

	if (best->is_there)
		difference = differ(mct_of(question->component), chance, best, 0);
	if (difference < 0 || (!(difference > 0) &&
			       number_of(question, chance) < number_of(question, best)))
		*best = *chance;
}

/* Does it cost more than the best for want of time alone?  As differ() says. */
static int is_worse(const struct mct *mct, const struct chance *best, double end_us,
		    double transfer_us)
{
	const struct starpu_sched_component_mct_data *w = &mct->weights;

	return best->is_there && w->_gamma * w->idle_power == 0 &&
	       w->alpha * (end_us - best->end_us) +
			       w->beta * (transfer_us - best->transfer_us) >
		       0;
}

/* The class has lanes, the first of which is free then. */
static void ask_class(const struct question *question, const struct class *class,
		      const struct answer *answer, double free_us, struct chance *best)
{
	struct chance chance;
	double to_us = class_transfer_us(question, class);
	double last_us = end_us(free_us, question->now_us + to_us, answer->us);
	int asks_energy = costs_energy(question);

	if (!asks_energy && is_worse(mct_of(question->component), best, last_us, to_us))
		return;
	chance = (struct chance){.is_there = 1,
				 .number = -1,
				 .class = class,
				 .end_us = last_us,
				 .length_us = answer->us,
				 .transfer_us = to_us,
				 .implementation = answer->implementation};
	if (asks_energy)
		chance.energy_j = class_energy_j(question, class, answer);
	prefer(question, best, &chance);
}

/* 1: some class is to be measured. */
static int ask_classes(struct question *question, struct chance *best)
{
	struct tree *tree = tree_of(question->component);
	const double *free_us = ask_lanes(question);
	const struct classes *classes = &mct_of(question->component)->lanes.classes;
	struct note *note = note_of(tree, question->task);

	for (int i = 0; i < classes->n; i++) {
		const struct class *class = &classes->class[i];
		const struct answer *answer;

		if (class->nmembers == 0)
			continue;
		answer = note_ask(tree, note, class->soonest.workers[class->first],
				  question->task);
		if (answer->state == ANSWER_NO)
			continue;
		if (isnan(answer->us))
			return 1;
		ask_class(question, class, answer, free_us[i], best);
	}
	return 0;
}

/* The same of children that are no lanes. */
static int ask_others(const struct question *question, struct chance *best)
{
	const struct lanes *lanes = &mct_of(question->component)->lanes;
	int is_alone = question->task->cl->type == STARPU_SEQ;
	struct chance chance;

	for (int i = 0; i < lanes->noutside; i++) {
		const struct other_child *other = &lanes->outside[i];
		component_t *child = question->component->children[other->child];

		if (is_alone && other->is_team) {
			i = other->next_alone - 1;
			continue;
		}
		if (!ask(question, other->child, &chance))
			continue;
		if (chance.is_unknown)
			return 1;
		chance.end_us =
			end_us(child->estimated_end(child),
			       question->now_us + chance.transfer_us, chance.length_us);
		prefer(question, best, &chance);
	}
	return 0;
}

static struct chance decide(component_t *component, struct starpu_task *task)
{
	const struct mct *mct = mct_of(component);
	struct chance best = {0};
	struct question question;

	question_open(&question, component, task);
	/* Those to be measured go by their loads. */
	if (!(mct->weights.alpha > 0) || idle_costs(mct) ||
	    !classes_hold_for(tree_of(component)->node, task) ||
	    ask_classes(&question, &best) || ask_others(&question, &best))
		return decide_each(&question);
	if (best.is_there)
		number_of(&question, &best);
	return best;
}

/* NULL: nobody takes it now.  *is_full: who would is one of the library's queues. */
static component_t *target_of(component_t *component, struct starpu_task *task,
			      int *is_full)
{
	struct chance chance = decide(component, task);
	component_t *child;

	*is_full = 0;
	if (!chance.is_there)
		return NULL;
	child = component->children[chance.number];
	task->predicted = chance.length_us;
	task->predicted_transfer = chance.transfer_us;
	((struct job *)task->starpu_private)->implementation = chance.implementation;
	*is_full = component_is_full(child, task);
	return *is_full ? NULL : child;
}

static int mct_push(component_t *component, struct starpu_task *task)
{
	component_t *child;
	int refuses, is_full;

	tree_enter(tree_of(component));
	child = target_of(component, task, &is_full);
	refuses = !child || component_push(child, task) != 0;
	tree_leave(tree_of(component));
	return refuses;
}

/* Would a queue refuse it? */
static int mct_refuses(component_t *component, struct starpu_task *task)
{
	int is_full;

	target_of(component, task, &is_full);
	return is_full;
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

const struct component_kind component_kind_mct = {
	.name = "mct", .push = mct_push, .refuses = mct_refuses};

component_t *component_mct(struct starpu_sched_tree *tree, void *data)
{
	return deciding(tree, data, &component_kind_mct);
}

/* ---- in the order of priorities -------------------------------------- */

enum { MOST_REJECTED = 8 };

/* Nothing but tasks for queues that are full was there, and nothing has changed since. */
static int is_refused_again(component_t *component)
{
	const struct tree *tree = tree_of(component);
	const struct refusal *refusal = &mct_of(component)->refusal;

	return refusal->is_there && refusal->hold == tree->hold &&
	       refusal->changes == tree->changes;
}

/* Decide until children have refused a few tasks, which then wait at their places. */
static int heft_go_on(component_t *component)
{
	const struct tree *tree = tree_of(component);
	struct mct *mct = mct_of(component);
	struct starpu_task *rejected[MOST_REJECTED], *task;
	int n = 0, nrejected = 0, nfull = 0, is_full;

	if (mct->is_deciding || is_refused_again(component))
		return 0;
	mct->is_deciding = 1;
	while (nrejected < MOST_REJECTED && (task = tasks_pop(&mct->tasks))) {
		component_t *child = target_of(component, task, &is_full);

		if (child && component_push(child, task) == 0)
			n++;
		else
			rejected[nrejected++] = task;
		nfull += is_full;
	}
	mct->refusal = (struct refusal){.is_there = n == 0 && nfull == nrejected,
					.hold = tree->hold,
					.changes = tree->changes};
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
	mct_of(component)->refusal.is_there = 0;
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

static void kept_drain(component_t *component, struct tasks *out)
{
	struct tasks *tasks = &mct_of(component)->tasks;
	struct starpu_task *task;

	mct_of(component)->refusal.is_there = 0;
	while ((task = component_find_other(tasks, component))) {
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

/* The most urgent, then the oldest, of a part of the levels. */
static struct starpu_task *find_among(const struct tasks *tasks, int first, int n,
				      component_t *to)
{
	struct tasks part = {.level = &tasks->level[first], .n = n};

	return component_find(&part, 0, to);
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
