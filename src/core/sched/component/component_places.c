/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A graph that follows the machine: what lies together is below a component together. */
#include <stdlib.h>

#include "core/sched/component/component.h"
#include "core/sched/cores.h"

typedef struct starpu_sched_component_specs specs_t;

static const struct recipe *recipe_at(const specs_t *specs, enum plat_level level)
{
	switch (level) {
	case PLAT_MACHINE:
		return (const struct recipe *)
			specs->hwloc_machine_composed_sched_component;
	case PLAT_PACKAGE:
		return (const struct recipe *)
			specs->hwloc_socket_composed_sched_component;
	case PLAT_NUMA_NODE:
		return (const struct recipe *)
			specs->hwloc_component_composed_sched_component;
	case PLAT_L3:
	case PLAT_L2:
	case PLAT_L1:
		return (const struct recipe *)specs->hwloc_cache_composed_sched_component;
	default:
		return NULL;
	}
}

struct places {
	struct tree *tree;
	const specs_t *specs;
};

/* What the recipe makes, below parent; without one that itself. */
static component_t *add_below(struct tree *tree, component_t *parent,
			      const struct recipe *recipe)
{
	component_t *component = recipe ? component_composed(&tree->base, recipe) : NULL;

	if (!component)
		return parent;
	component_connect(parent, component);
	return component;
}

static void add_worker(const struct places *b, component_t *parent, int id)
{
	const specs_t *specs = b->specs;
	struct tree *tree = b->tree;
	enum starpu_worker_archtype type = tree->node->workers[id].type;
	const struct recipe *recipe = NULL;

	if (specs->worker_composed_sched_component)
		recipe = (const struct recipe *)specs->worker_composed_sched_component(
			type);
	component_connect(add_below(tree, parent, recipe), component_of_worker(tree, id));
}

/* Workers of devices that lie with the first core. */
struct guests {
	const int *ids;
	int n;
};

static void add_workers(const struct places *b, component_t *parent, const int *ids,
			int n)
{
	for (int i = 0; i < n; i++)
		add_worker(b, parent, ids[i]);
}

/* The next level for which there is a recipe; PLAT_CORE: none. */
static enum plat_level level_from(const specs_t *specs, enum plat_level level)
{
	while (level < PLAT_CORE && !recipe_at(specs, level))
		level++;
	return level;
}

/* Of n cores that have all above in common.  A level that the machine does not tell has
 * no places. */
static void add_places(const struct places *b, component_t *parent, enum plat_level level,
		       int *ids, int n, struct guests guests)
{
	const specs_t *specs = b->specs;
	struct guests none = {0};
	int at = 0;

	level = level_from(specs, level);
	if (level == PLAT_CORE) {
		add_workers(b, parent, ids, n);
		add_workers(b, parent, guests.ids, guests.n);
		return;
	}
	while (at < n) {
		int here = cores_split(b->tree->node, ids + at, n - at, level);
		component_t *place = parent;

		if (here > 0)
			place = add_below(b->tree, parent, recipe_at(specs, level));
		else
			here = n - at;
		add_places(b, place, (enum plat_level)(level + 1), ids + at, here,
			   at == 0 ? guests : none);
		at += here;
	}
}

/* Nobody knows where they lie: each kind is a place of its own, of all levels. */
static void add_devices(const struct places *b, const int *ids, int n)
{
	const struct worker *workers = b->tree->node->workers;

	for (int i = 0, here; i < n; i += here) {
		component_t *parent = b->tree->base.root;

		for (here = 1;
		     i + here < n && workers[ids[i + here]].type == workers[ids[i]].type;)
			here++;
		for (int level = PLAT_MACHINE + 1; level < PLAT_CORE; level++)
			parent = add_below(b->tree, parent,
					   recipe_at(b->specs, (enum plat_level)level));
		add_workers(b, parent, ids + i, here);
	}
}

int places_build(struct tree *tree, const struct starpu_sched_component_specs *specs)
{
	const struct node *node = tree->node;
	int cores[STARPU_NMAXWORKERS], ncores = 0;
	int devices[STARPU_NMAXWORKERS], ndevices = 0;
	const struct places b = {.tree = tree, .specs = specs};
	struct guests guests = {0};
	component_t *root =
		component_composed(&tree->base, recipe_at(specs, PLAT_MACHINE));

	if (!root)
		return 0;
	for (int i = 0; i < node->nworkers; i++)
		if (cores_has(&node->workers[i]))
			cores[ncores++] = i;
		else
			devices[ndevices++] = i;
	tree_enter(tree);
	tree->base.root = root;
	if (specs->mix_heterogeneous_workers && ncores > 0)
		guests = (struct guests){.ids = devices, .n = ndevices};
	if (ncores > 0)
		add_places(&b, root, (enum plat_level)(PLAT_MACHINE + 1), cores, ncores,
			   guests);
	if (guests.n == 0)
		add_devices(&b, devices, ndevices);
	tree_update_workers(tree);
	tree_leave(tree);
	return 1;
}
