/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Graphs of components at work for a scheduler. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/outside.h"
#include "core/sched/component/component.h"
#include "core/sched/relax.h"
#include "core/task/task.h"

/* ---- the lock -------------------------------------------------------- */

void tree_enter(struct tree *tree)
{
	const void *thread = plat_thread();
	struct worker *self;

	if (orr_load(&tree->depth) > 0 &&
	    orr_load_ptr((void **)(uintptr_t)&tree->owner) == thread) {
		orr_store(&tree->depth, tree->depth + 1);
		return;
	}
	self = plat_current_worker(tree->node->plat);
	relax_on(self);
	orr_lock(&tree->lock);
	orr_swap_ptr((void **)(uintptr_t)&tree->owner, (void *)(uintptr_t)thread);
	orr_store(&tree->depth, 1);
	tree->hold++;
	tree->relaxed = self;
}

void tree_leave(struct tree *tree)
{
	struct worker *self = tree->relaxed;

	if (tree->depth > 1) {
		orr_store(&tree->depth, tree->depth - 1);
		return;
	}
	orr_store(&tree->depth, 0);
	orr_swap_ptr((void **)(uintptr_t)&tree->owner, NULL);
	orr_unlock(&tree->lock);
	relax_off(self);
}

/* ---- life ------------------------------------------------------------ */

struct tree *tree_new(struct sched *sched)
{
	struct tree *tree = orr_alloc(sizeof(*tree));

	tree->node = sched->node;
	tree->sched = sched;
	tree->base.sched_ctx_id = (unsigned)sched->id;
	orr_lock_init(&tree->lock);
	SCHED_EACH_WORKER(worker, sched)
	starpu_bitmap_set(&tree->base.workers, worker->id);
	sched->tree = tree;
	return tree;
}

void tree_free(struct tree *tree)
{
	while (tree->all)
		component_free(&tree->all->base);
	if (tree->sched->tree == tree)
		tree->sched->tree = NULL;
	notes_free(tree->notes);
	memberships_free(tree->memberships);
	free(tree);
}

/* ---- which workers are below whom ------------------------------------ */

static int properties_of(component_t *component)
{
	const struct tree *tree = tree_of(component);
	struct starpu_bitmap *workers = &component->workers;
	int first = starpu_bitmap_first(workers);
	int properties = STARPU_SCHED_COMPONENT_HOMOGENEOUS |
			 STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;

	for (int id = first; id >= 0; id = starpu_bitmap_next(workers, id)) {
		const struct worker *worker = &tree->node->workers[id];

		if (worker->type != tree->node->workers[first].type)
			properties &= ~STARPU_SCHED_COMPONENT_HOMOGENEOUS;
		if (worker->memory != tree->node->workers[first].memory)
			properties &= ~STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;
	}
	return properties;
}

/* Below first.  A graph has few components that several parents share: they are looked at
 * from each. */
static void update(component_t *component)
{
	const struct component *ours = ORR_CONTAINER(component, struct component, base);

	for (unsigned i = 0; i < component->nchildren; i++) {
		update(component->children[i]);
		starpu_bitmap_or(&component->workers, &component->children[i]->workers);
	}
	starpu_bitmap_unset_and(&component->workers_in_ctx, &component->workers,
				&component->tree->workers);
	component->properties = properties_of(component);
	if (ours->kind && ours->kind->spread)
		ours->kind->spread(component);
	component->notify_change_workers(component);
}

void tree_update_workers(struct tree *tree)
{
	tree_enter(tree);
	tree->shape++;
	if (tree->base.root)
		update(tree->base.root);
	tree_leave(tree);
}

/* What lies where nobody can run it now is pushed again. */
static void push_again(struct tree *tree)
{
	struct tasks out = {0};
	struct starpu_task *task;

	for (struct component *c = tree->all; c; c = c->next)
		if (c->kind && c->kind->drain)
			c->kind->drain(&c->base, &out);
	while ((task = tasks_pop(&out)))
		tree_push(tree, task);
	tasks_free(&out);
}

void tree_change_workers(struct tree *tree, const int *ids, unsigned n, int come)
{
	tree_enter(tree);
	for (unsigned i = 0; i < n; i++) {
		if (come)
			starpu_bitmap_set(&tree->base.workers, ids[i]);
		else
			starpu_bitmap_unset(&tree->base.workers, ids[i]);
	}
	tree_update_workers(tree);
	if (!come)
		push_again(tree);
	tree_leave(tree);
}

/* ---- tasks ----------------------------------------------------------- */

static void refuse(struct tree *tree, struct starpu_task *task) __attribute__((noreturn));

static void refuse(struct tree *tree, struct starpu_task *task)
{
	char what[JOB_NAME_BYTES];
	struct job *job = task->starpu_private;

	job->ops->describe(job, what, sizeof(what));
	orr_die(tree->node->rank,
		"component \"%s\", the root of the tree of scheduling context %d, "
		"refused %s, which would never run; put a component that keeps tasks "
		"above those that may refuse one (STARPU_SCHED_SIMPLE_FIFO_ABOVE)",
		tree->base.root->name, tree->sched->id, what);
}

/* Only the application's components may not return. */
static void begin(struct outside *outside, const struct tree *tree)
{
	if (tree->nown > 0)
		outside_enter(outside, tree->node, "a method of a scheduling component");
}

void tree_push(struct tree *tree, struct starpu_task *task)
{
	component_t *root = tree->base.root;
	OUTSIDE(outside);

	if (!root)
		orr_die(tree->node->rank,
			"the tree of scheduling context %d has no root: set it in "
			"init_sched()",
			tree->sched->id);
	tree_enter(tree);
	begin(&outside, tree);
	if (!component_can_run(root, task))
		sched_put_aside(tree->sched, task->starpu_private);
	else if (component_push(root, task) != 0)
		refuse(tree, task);
	outside_end(&outside);
	tree_leave(tree);
}

struct starpu_task *tree_pop(struct tree *tree, struct worker *worker)
{
	component_t *leaf = component_of_worker(tree, worker->id);
	struct starpu_task *task;
	unsigned implementation;
	OUTSIDE(outside);

	tree_enter(tree);
	begin(&outside, tree);
	task = component_team_pull(tree, worker) ? NULL : component_pull(leaf, leaf);
	outside_end(&outside);
	tree_leave(tree);
	if (!task)
		return NULL;
	implementation = ((struct job *)task->starpu_private)->implementation;
	if (worker_next_implementation(worker, task, implementation) != implementation)
		worker_choose_implementation(worker, task->starpu_private);
	return task;
}

void tree_schedule(struct tree *tree)
{
	OUTSIDE(outside);

	tree_enter(tree);
	begin(&outside, tree);
	if (tree->base.root)
		tree->base.root->do_schedule(tree->base.root);
	outside_end(&outside);
	tree_leave(tree);
}

void tree_started(struct tree *tree, struct worker *worker, struct job *job)
{
	tree_enter(tree);
	if (tree->workers[worker->id])
		component_worker_started(tree->workers[worker->id], job);
	tree_leave(tree);
}

void tree_ended(struct tree *tree, struct worker *worker)
{
	tree_enter(tree);
	if (tree->workers[worker->id])
		component_worker_ended(tree->workers[worker->id]);
	tree_leave(tree);
}
