/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Components, their links, and the methods that they have by default. */
#include "core/sched/component/component.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/model/model_query.h"

/* ---- links ----------------------------------------------------------- */

static void append(component_t ***array, unsigned *n, component_t *component)
{
	tree_of(component)->shape++;
	for (unsigned i = 0; i < *n; i++)
		if ((*array)[i] == component)
			return;
	*array = orr_realloc(*array, (*n + 1) * sizeof(**array));
	(*array)[(*n)++] = component;
}

static void take_out(component_t **array, unsigned *n, const component_t *component)
{
	unsigned kept = 0;

	tree_of(component)->shape++;
	for (unsigned i = 0; i < *n; i++)
		if (array[i] != component)
			array[kept++] = array[i];
	*n = kept;
}

void component_add_child(component_t *component, component_t *child)
{
	append(&component->children, &component->nchildren, child);
}

static void remove_child(component_t *component, component_t *child)
{
	take_out(component->children, &component->nchildren, child);
}

static void add_parent(component_t *component, component_t *parent)
{
	append(&component->parents, &component->nparents, parent);
}

static void remove_parent(component_t *component, component_t *parent)
{
	take_out(component->parents, &component->nparents, parent);
}

/* The application's methods may do anything: no link to what is freed stays. */
static void lose_child(component_t *component, component_t *child)
{
	component->remove_child(component, child);
	take_out(component->children, &component->nchildren, child);
}

static void lose_parent(component_t *component, component_t *parent)
{
	component->remove_parent(component, parent);
	take_out(component->parents, &component->nparents, parent);
}

void component_connect(component_t *parent, component_t *child)
{
	tree_enter(tree_of(parent));
	parent->add_child(parent, child);
	child->add_parent(child, parent);
	tree_leave(tree_of(parent));
}

/* ---- methods by default ---------------------------------------------- */

int component_push(component_t *to, struct starpu_task *task)
{
	int ret;

	tree_enter(tree_of(to));
	ret = to->push_task(to, task);
	tree_leave(tree_of(to));
	return ret;
}

struct starpu_task *component_pull(component_t *from, component_t *to)
{
	struct starpu_task *task;

	tree_enter(tree_of(from));
	task = from->pull_task(from, to);
	tree_leave(tree_of(from));
	return task;
}

static int push_to_children(component_t *component, struct starpu_task *task)
{
	for (unsigned i = 0; i < component->nchildren; i++)
		if (component_can_run(component->children[i], task) &&
		    component_push(component->children[i], task) == 0)
			return 0;
	return 1;
}

struct starpu_task *component_parents_pull(component_t *component, component_t *to)
{
	struct starpu_task *task = NULL;

	for (unsigned i = 0; i < component->nparents && !task; i++)
		task = component_pull(component->parents[i], to);
	return task;
}

struct starpu_task *component_gives_nothing(component_t *from, component_t *to)
{
	(void)from;
	(void)to;
	return NULL;
}

int component_can_push(component_t *component, component_t *to)
{
	int did = 0;

	(void)to;
	tree_enter(tree_of(component));
	for (unsigned i = 0; i < component->nparents && !did; i++)
		did = component->parents[i]->can_push(component->parents[i], component);
	tree_leave(tree_of(component));
	return did;
}

int component_ask_parents(component_t *component)
{
	struct tree *tree = tree_of(component);
	int did = 0;

	tree_enter(tree);
	tree->round += tree->nasking++ == 0;
	for (unsigned i = 0; i < component->nparents; i++)
		did |= component->parents[i]->can_push(component->parents[i], component);
	tree->nasking--;
	tree_leave(tree);
	return did;
}

int component_wants_pushes(component_t *component)
{
	return component_ask_parents(component);
}

static int ask_children(component_t *component, int all)
{
	int will = 0;

	tree_enter(tree_of(component));
	for (unsigned i = 0; i < component->nchildren && (all || !will); i++)
		will |= component->children[i]->can_pull(component->children[i]);
	tree_leave(tree_of(component));
	return will;
}

int component_can_pull(component_t *component)
{
	return ask_children(component, 0);
}

int component_can_pull_all(component_t *component)
{
	return ask_children(component, 1);
}

struct starpu_task *component_pump(component_t *component, component_t *to, int *success)
{
	struct starpu_task *task;

	tree_enter(tree_of(component));
	*success = 0;
	while ((task = component->pull_task(component, to))) {
		if (to->push_task(to, task) != 0)
			break;
		++*success;
	}
	tree_leave(tree_of(component));
	return task;
}

static void schedule_children(component_t *component)
{
	for (unsigned i = 0; i < component->nchildren; i++)
		component->children[i]->do_schedule(component->children[i]);
}

static int ignore_message(component_t *component, int message_ID, void *arg)
{
	(void)component;
	(void)message_ID;
	(void)arg;
	return 0;
}

double component_load(component_t *component)
{
	double load = 0;

	tree_enter(tree_of(component));
	for (unsigned i = 0; i < component->nchildren; i++)
		load += component->children[i]->estimated_load(component->children[i]);
	tree_leave(tree_of(component));
	return load;
}

enum { MANY_CHILDREN = 8 };

/* NaN: it has no worker of the context. */
static double child_end_us(component_t *child)
{
	return starpu_bitmap_cardinal(&child->workers_in_ctx)
		       ? child->estimated_end(child)
		       : NAN;
}

static struct lanes *lanes_of(component_t *component)
{
	struct component *ours = ORR_CONTAINER(component, struct component, base);

	if (!ours->lanes) {
		ours->lanes = orr_alloc(sizeof(*ours->lanes));
		lanes_init(ours->lanes, component);
	}
	return ours->lanes;
}

/* Children that are lanes are not asked one by one. */
static double first_end_of_many(component_t *component, double *n)
{
	struct lanes *lanes = lanes_of(component);
	double end = lanes_end_us(lanes, component_now_us(component));

	*n = lanes->ninside;
	for (int i = 0; i < lanes->noutside; i++) {
		double its = child_end_us(component->children[lanes->outside[i].child]);

		end = fmin(end, its);
		*n += !isnan(its);
	}
	return end;
}

/* *n: of so many children, 0 of none. */
static double first_end_us(component_t *component, double *n)
{
	double end = INFINITY;

	*n = 0;
	tree_enter(tree_of(component));
	if (component->nchildren >= MANY_CHILDREN) {
		end = first_end_of_many(component, n);
	} else {
		for (unsigned i = 0; i < component->nchildren; i++) {
			double its = child_end_us(component->children[i]);

			end = fmin(end, its);
			*n += !isnan(its);
		}
	}
	tree_leave(tree_of(component));
	return end;
}

double component_end_us(component_t *component)
{
	double n, end = first_end_us(component, &n);

	return n > 0 ? end : component_now_us(component);
}

double component_end_behind_us(component_t *component, double us)
{
	double n, end = first_end_us(component, &n);

	return n > 0 ? end + us / n : component_now_us(component) + us;
}

double component_end_mean_us(component_t *component)
{
	double sum = 0;
	int n = 0;

	tree_enter(tree_of(component));
	for (unsigned i = 0; i < component->nchildren; i++) {
		double its = child_end_us(component->children[i]);

		sum += isnan(its) ? 0 : its;
		n += !isnan(its);
	}
	tree_leave(tree_of(component));
	return n > 0 ? sum / n : component_now_us(component);
}

static void ignore(component_t *component)
{
	(void)component;
}

/* ---- life ------------------------------------------------------------ */

component_t *component_new(struct starpu_sched_tree *base, const char *name,
			   const struct component_kind *kind)
{
	struct tree *tree = ORR_CONTAINER(base, struct tree, base);
	struct component *component = orr_alloc(sizeof(*component));

	component->kind = kind;
	component->base = (component_t){.tree = base,
					.name = orr_strdup(name),
					.add_child = component_add_child,
					.remove_child = remove_child,
					.add_parent = add_parent,
					.remove_parent = remove_parent,
					.push_task = push_to_children,
					.pull_task = component_parents_pull,
					.can_push = component_can_push,
					.can_pull = component_can_pull,
					.do_schedule = schedule_children,
					.notify = ignore_message,
					.estimated_load = component_load,
					.estimated_end = component_end_us,
					.deinit_data = ignore,
					.notify_change_workers = ignore};
	tree_enter(tree);
	component->next = tree->all;
	tree->all = component;
	tree->nteams += kind == &component_kind_team;
	tree->nown += !kind;
	tree_leave(tree);
	return &component->base;
}

static void unlink_from_tree(struct tree *tree, const struct component *component)
{
	struct component **at = &tree->all;

	while (*at != component)
		at = &(*at)->next;
	*at = component->next;
	tree->nteams -= component->kind == &component_kind_team;
	tree->nown -= !component->kind;
	tree->shape++;
	for (int i = 0; i < tree->node->nworkers; i++)
		if (tree->workers[i] == &component->base)
			tree->workers[i] = NULL;
	if (tree->base.root == &component->base)
		tree->base.root = NULL;
}

void component_free(component_t *component)
{
	struct tree *tree = tree_of(component);
	struct component *ours = ORR_CONTAINER(component, struct component, base);

	tree_enter(tree);
	component->deinit_data(component);
	for (unsigned i = 0; i < component->nchildren; i++)
		lose_parent(component->children[i], component);
	for (unsigned i = 0; i < component->nparents; i++)
		lose_child(component->parents[i], component);
	unlink_from_tree(tree, ORR_CONTAINER(component, struct component, base));
	if (ours->lanes)
		lanes_free(ours->lanes);
	tree_leave(tree);
	free(ours->lanes);
	free(ours->first);
	free(component->children);
	free(component->parents);
	free(component->name);
	free(component);
}

void component_free_all(component_t *component)
{
	struct tree *tree = tree_of(component);

	tree_enter(tree);
	while (component->nchildren > 0) {
		component_t *child = component->children[component->nchildren - 1];

		lose_child(component, child);
		lose_parent(child, component);
		if (child->nparents == 0)
			component_free_all(child);
	}
	component_free(component);
	tree_leave(tree);
}
