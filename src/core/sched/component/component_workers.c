/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * The leaves: a worker, or several processors that run a task together.
 *
 * A worker's leaf knows what its worker has taken and not started, so that it can say
 * when the worker will be free.  A job that has been taken may come back, when its data
 * were not free: what is not in the worker's pipeline by the next look is forgotten.
 */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/model/model_query.h"
#include "core/sched/component/component.h"
#include "core/sched/teams.h"
#include "core/task/task.h"

struct taken {
	const struct job *job;
	double us;
};

struct leaf {
	struct worker *worker;
	const struct team *team; /* of several; else NULL */
	struct tasks tasks;      /* that were pushed to it */
	double waiting_us, running_until_us;
	int ntaken, capacity;
	struct taken *taken;
};

static struct leaf *leaf_of(component_t *component)
{
	return component->data;
}

static void free_leaf(component_t *component)
{
	struct leaf *leaf = leaf_of(component);

	tasks_free(&leaf->tasks);
	free(leaf->taken);
	free(leaf);
}

/* ---- a worker -------------------------------------------------------- */

static void wake(struct worker *worker)
{
	orr_fence();
	plat_worker_wake(worker);
}

static int leaf_can_pull(component_t *component)
{
	struct worker *worker = leaf_of(component)->worker;

	/* After what was put before, before the look whether it is parked. */
	orr_fence();
	if (!starpu_bitmap_get(&component->workers_in_ctx, worker->id) ||
	    !worker_sleeps(worker))
		return 0;
	return plat_worker_wake(worker) != 0;
}

static int leaf_push(component_t *component, struct starpu_task *task)
{
	struct leaf *leaf = leaf_of(component);

	tree_enter(tree_of(component));
	tasks_push(&leaf->tasks, task, 0, 0);
	leaf->waiting_us += component_predicted_us(task);
	lanes_note(component);
	component_prefetch(component, task);
	wake(leaf->worker);
	tree_leave(tree_of(component));
	return 0;
}

/* Those that came back are nobody's. */
static void reconcile(struct leaf *leaf)
{
	const struct worker *worker = leaf->worker;
	int kept = 0;

	for (int i = 0; i < leaf->ntaken; i++) {
		int is_there = 0;

		for (int k = 0; k < worker->npipeline; k++)
			is_there |= worker->pipeline[k] == leaf->taken[i].job;
		if (is_there)
			leaf->taken[kept++] = leaf->taken[i];
	}
	leaf->ntaken = kept;
}

static void note_taken(struct leaf *leaf, struct starpu_task *task)
{
	if (leaf->ntaken == leaf->capacity) {
		leaf->capacity = 2 * leaf->capacity + 2;
		leaf->taken = orr_realloc(leaf->taken, (size_t)leaf->capacity *
							       sizeof(leaf->taken[0]));
	}
	leaf->taken[leaf->ntaken++] = (struct taken){.job = task->starpu_private,
						     .us = component_predicted_us(task)};
}

static struct starpu_task *pop_own(struct leaf *leaf)
{
	struct starpu_task *task = tasks_pop(&leaf->tasks);

	if (!task)
		return NULL;
	leaf->waiting_us -= component_predicted_us(task);
	if (leaf->tasks.ntasks == 0)
		leaf->waiting_us = 0; /* No rounding stays. */
	return task;
}

/* Only its own worker pulls from it. */
static struct starpu_task *leaf_pull(component_t *component, component_t *to)
{
	struct leaf *leaf = leaf_of(component);
	struct starpu_task *task;

	tree_enter(tree_of(component));
	reconcile(leaf);
	task = pop_own(leaf);
	if (!task)
		task = component_parents_pull(component, to);
	/* Somebody has pushed one here because it was asked for one. */
	if (!task)
		task = pop_own(leaf);
	if (task)
		note_taken(leaf, task);
	lanes_note(component);
	tree_leave(tree_of(component));
	return task;
}

void component_worker_lane(component_t *component, struct lane *lane)
{
	const struct leaf *leaf = leaf_of(component);

	lane->worker = leaf->worker;
	lane->running_until_us = leaf->running_until_us;
	lane->waiting_us += leaf->waiting_us;
	for (int i = 0; i < leaf->ntaken; i++)
		lane->waiting_us += leaf->taken[i].us;
}

double component_worker_end_us(component_t *component)
{
	struct lane lane = {0};

	component_worker_lane(component, &lane);
	return lane_end_us(&lane, component_now_us(component));
}

static double leaf_load(component_t *component)
{
	struct leaf *leaf = leaf_of(component);

	return (leaf->tasks.ntasks + (unsigned)leaf->ntaken) /
	       model_relative_speedup(&leaf->worker->arch);
}

void component_worker_started(component_t *component, struct job *job)
{
	struct leaf *leaf = leaf_of(component);
	double now_us = component_now_us(component);

	for (int i = 0; i < leaf->ntaken; i++)
		if (leaf->taken[i].job == job)
			leaf->taken[i--] = leaf->taken[--leaf->ntaken];
	leaf->running_until_us = now_us + component_predicted_us(job->task);
	lanes_note(component);
}

void component_worker_ended(component_t *component)
{
	leaf_of(component)->running_until_us = 0;
	lanes_note(component);
}

/* Its worker is not of the context any more, or it cannot run them. */
static void leaf_drain(component_t *component, struct tasks *out)
{
	struct leaf *leaf = leaf_of(component);
	struct starpu_task *task;

	if (starpu_bitmap_cardinal(&component->workers_in_ctx) > 0)
		return;
	while ((task = pop_own(leaf)))
		tasks_push(out, task, task->priority, 0);
	lanes_note(component);
}

const struct component_kind component_kind_worker = {.name = "worker",
						     .drain = leaf_drain};

component_t *component_of_worker(struct tree *tree, int id)
{
	component_t *component;
	struct leaf *leaf;
	char name[32];

	tree_enter(tree);
	component = tree->workers[id];
	if (!component) {
		leaf = orr_alloc(sizeof(*leaf));
		leaf->worker = &tree->node->workers[id];
		snprintf(name, sizeof(name), "worker %d", id);
		component = component_new(&tree->base, name, &component_kind_worker);
		component->data = leaf;
		component->push_task = leaf_push;
		component->pull_task = leaf_pull;
		component->can_pull = leaf_can_pull;
		component->estimated_load = leaf_load;
		component->estimated_end = component_worker_end_us;
		component->deinit_data = free_leaf;
		starpu_bitmap_set(&component->workers, id);
		if (starpu_bitmap_get(&tree->base.workers, id))
			starpu_bitmap_set(&component->workers_in_ctx, id);
		component->properties = STARPU_SCHED_COMPONENT_HOMOGENEOUS |
					STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;
		tree->workers[id] = component;
	}
	tree_leave(tree);
	return component;
}

/* ---- several --------------------------------------------------------- */

static int team_is_here(component_t *component)
{
	return starpu_bitmap_cardinal(&component->workers_in_ctx) ==
	       leaf_of(component)->team->size;
}

static int team_push(component_t *component, struct starpu_task *task)
{
	struct tree *tree = tree_of(component);
	const struct team *team = leaf_of(component)->team;

	if (!team_is_here(component) ||
	    !team_can_run(team, tree->sched, task->starpu_private))
		return 1;
	gang_start(team, task->starpu_private);
	return 0;
}

static int team_can_pull(component_t *component)
{
	struct leaf *leaf = leaf_of(component);

	if (!team_is_here(component))
		return 0;
	for (int i = 0; i < leaf->team->size; i++)
		wake(&tree_of(component)->node->workers[leaf->team->ids[i]]);
	return 1;
}

static double team_end_us(component_t *component)
{
	struct tree *tree = tree_of(component);
	const struct team *team = leaf_of(component)->team;
	double end = component_now_us(component);

	for (int i = 0; i < team->size; i++)
		end = fmax(end, component_worker_end_us(
					component_of_worker(tree, team->ids[i])));
	return end;
}

static double team_load(component_t *component)
{
	(void)component;
	return 0;
}

const struct component_kind component_kind_team = {.name = "combined worker"};

component_t *component_of_team(struct tree *tree, const int *ids, int n)
{
	const struct team *team = teams_declare(tree->node, ids, n);
	component_t *component;
	struct leaf *leaf;

	if (!team)
		return NULL;
	leaf = orr_alloc(sizeof(*leaf));
	leaf->worker = &tree->node->workers[team->ids[0]];
	leaf->team = team;
	component = component_new(&tree->base, "combined worker", &component_kind_team);
	tree->shape++;
	component->data = leaf;
	component->push_task = team_push;
	component->can_pull = team_can_pull;
	component->estimated_load = team_load;
	component->estimated_end = team_end_us;
	component->deinit_data = free_leaf;
	for (int i = 0; i < team->size; i++)
		starpu_bitmap_set(&component->workers, team->ids[i]);
	starpu_bitmap_unset_and(&component->workers_in_ctx, &component->workers,
				&tree->base.workers);
	component->properties = STARPU_SCHED_COMPONENT_HOMOGENEOUS |
				STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;
	return component;
}

/* The teams of each worker, in the order of the tree's components. */
struct memberships {
	unsigned shape;
	component_t **teams;
	int ends[]; /* by worker */
};

void memberships_free(struct memberships *memberships)
{
	if (memberships)
		free(memberships->teams);
	free(memberships);
}

#define EACH_TEAM(c, tree)                                                               \
	for (struct component *c = (tree)->all; c; c = c->next)                          \
		if (c->kind == &component_kind_team)

static struct memberships *follow_teams(struct tree *tree)
{
	struct memberships *known = tree->memberships;
	int nworkers = tree->node->nworkers, n = 0;
	size_t bytes = sizeof(*known) + (size_t)nworkers * sizeof(known->ends[0]);

	if (known && known->shape == tree->shape)
		return known;
	memberships_free(known);
	known = tree->memberships = orr_alloc(bytes);
	known->shape = tree->shape;
	EACH_TEAM(c, tree)
	n += leaf_of(&c->base)->team->size;
	known->teams = orr_alloc(((size_t)n + 1) * sizeof(known->teams[0]));
	n = 0;
	for (int id = 0; id < nworkers; id++) {
		EACH_TEAM(c, tree)
		if (starpu_bitmap_get(&c->base.workers_in_ctx, id))
			known->teams[n++] = &c->base;
		known->ends[id] = n;
	}
	return known;
}

/* What teams are given waits in queues above them, which only their members ask. */
int component_team_pull(struct tree *tree, struct worker *worker)
{
	const struct memberships *of = tree->nteams > 0 ? follow_teams(tree) : NULL;
	unsigned shape = tree->shape;
	int i = of && worker->id > 0 ? of->ends[worker->id - 1] : 0;

	for (; of && tree->shape == shape && i < of->ends[worker->id]; i++) {
		component_t *component = of->teams[i];
		struct starpu_task *task;

		if (!starpu_bitmap_get(&component->workers_in_ctx, worker->id) ||
		    !team_is_here(component))
			continue;
		task = component_parents_pull(component, component);
		if (!task)
			continue;
		if (team_push(component, task) == 0)
			return 1;
		tree_push(tree, task);
	}
	return 0;
}

const struct team *component_team(component_t *component)
{
	return component_is(component, &component_kind_team) ? leaf_of(component)->team
							     : NULL;
}

int component_worker_number(component_t *component)
{
	if (component_is(component, &component_kind_worker))
		return leaf_of(component)->worker->id;
	if (component_is(component, &component_kind_team))
		return leaf_of(component)->team->number;
	return -1;
}
