/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Several components, one below the other, as one: parents see the first, children the
 * last. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/component/component.h"

struct step {
	starpu_sched_component_create_t create;
	void *arg;
};

struct recipe {
	int n;
	struct step *steps;
};

struct recipe *recipe_new(void)
{
	return orr_alloc(sizeof(struct recipe));
}

void recipe_add(struct recipe *recipe, starpu_sched_component_create_t create, void *arg)
{
	recipe->steps = orr_realloc(recipe->steps,
				    (size_t)(recipe->n + 1) * sizeof(recipe->steps[0]));
	recipe->steps[recipe->n++] = (struct step){.create = create, .arg = arg};
}

void recipe_free(struct recipe *recipe)
{
	free(recipe->steps);
	free(recipe);
}

struct composed {
	component_t *first, *last;
};

static struct composed *composed_of(component_t *component)
{
	return component->data;
}

static void add_child(component_t *component, component_t *child)
{
	component_t *last = composed_of(component)->last;

	component_add_child(component, child);
	last->add_child(last, child);
}

static void remove_child(component_t *component, component_t *child)
{
	component_t *last = composed_of(component)->last;
	unsigned kept = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		if (component->children[i] != child)
			component->children[kept++] = component->children[i];
	component->nchildren = kept;
	last->remove_child(last, child);
}

static void add_parent(component_t *component, component_t *parent)
{
	component_t *first = composed_of(component)->first;

	first->add_parent(first, parent);
	component->parents = orr_realloc(component->parents,
					 (component->nparents + 1) * sizeof(parent));
	component->parents[component->nparents++] = parent;
}

static void remove_parent(component_t *component, component_t *parent)
{
	component_t *first = composed_of(component)->first;
	unsigned kept = 0;

	for (unsigned i = 0; i < component->nparents; i++)
		if (component->parents[i] != parent)
			component->parents[kept++] = component->parents[i];
	component->nparents = kept;
	first->remove_parent(first, parent);
}

static int push(component_t *component, struct starpu_task *task)
{
	return component_push(composed_of(component)->first, task);
}

static struct starpu_task *pull(component_t *component, component_t *to)
{
	return component_pull(composed_of(component)->last, to);
}

static int can_push(component_t *component, component_t *to)
{
	component_t *last = composed_of(component)->last;

	return last->can_push(last, to);
}

static int can_pull(component_t *component)
{
	component_t *first = composed_of(component)->first;

	return first->can_pull(first);
}

static void schedule(component_t *component)
{
	component_t *first = composed_of(component)->first;

	first->do_schedule(first);
}

static double load(component_t *component)
{
	component_t *first = composed_of(component)->first;

	return first->estimated_load(first);
}

static double end_us(component_t *component)
{
	component_t *first = composed_of(component)->first;

	return first->estimated_end(first);
}

/* Those inside have the same workers below. */
static void spread(component_t *component)
{
	component_t *last = composed_of(component)->last;
	component_t *inner = composed_of(component)->first;

	for (;; inner = inner->children[0]) {
		inner->workers = component->workers;
		inner->workers_in_ctx = component->workers_in_ctx;
		inner->properties = component->properties;
		inner->notify_change_workers(inner);
		if (inner == last)
			return;
	}
}

/* Those inside end with it; no link to them stays. */
static void free_composed(component_t *component)
{
	component_t *first = composed_of(component)->first;
	component_t *last = composed_of(component)->last;

	for (unsigned i = 0; i < component->nchildren; i++)
		last->remove_child(last, component->children[i]);
	for (unsigned i = 0; i < component->nparents; i++)
		first->remove_parent(first, component->parents[i]);
	component_free_all(first);
	free(component->data);
}

const struct component_kind component_kind_composed = {.name = "composed",
						       .spread = spread};

component_t *component_composed(struct starpu_sched_tree *tree,
				const struct recipe *recipe)
{
	component_t *first = NULL, *last = NULL, *component;
	struct composed *composed;

	for (int i = 0; i < recipe->n; i++) {
		component_t *next = recipe->steps[i].create(tree, recipe->steps[i].arg);

		if (last)
			component_connect(last, next);
		first = first ? first : next;
		last = next;
	}
	if (recipe->n <= 1)
		return first;
	composed = orr_alloc(sizeof(*composed));
	*composed = (struct composed){.first = first, .last = last};
	component = component_new(tree, "composed", &component_kind_composed);
	component->data = composed;
	component->add_child = add_child;
	component->remove_child = remove_child;
	component->add_parent = add_parent;
	component->remove_parent = remove_parent;
	component->push_task = push;
	component->pull_task = pull;
	component->can_push = can_push;
	component->can_pull = can_pull;
	component->do_schedule = schedule;
	component->estimated_load = load;
	component->estimated_end = end_us;
	component->deinit_data = free_composed;
	return component;
}
