/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/cores.h"

#include <stdlib.h>

#include "base/check.h"

/* ---- nodes of trees -------------------------------------------------- */

void tree_node_fill(struct starpu_tree *tree, struct starpu_tree of)
{
	*tree = of;
	tree->nodes = NULL;
	if (!of.is_pu)
		tree->id = of.level;
}

void tree_node_add_children(struct starpu_tree *tree, int arity)
{
	tree->nodes = orr_alloc((size_t)arity * sizeof(*tree->nodes));
	tree->arity = arity;
	for (int i = 0; i < arity; i++)
		tree->nodes[i].father = tree;
}

void tree_node_free(struct starpu_tree *tree)
{
	for (int i = 0; tree->nodes && i < tree->arity; i++)
		tree_node_free(&tree->nodes[i]);
	free(tree->nodes);
	tree->nodes = NULL;
	tree->arity = 0;
}

/* ---- where workers are ------------------------------------------------ */

int cores_has(const struct worker *worker)
{
	return worker->type == STARPU_CPU_WORKER && !device_has_memory(worker->kind);
}

int cores_core_of(const struct worker *worker)
{
	int core = plat_worker_bindid(worker->node->plat, worker->devid);

	return core >= 0 ? core : worker->devid;
}

static int place_of(const struct worker *worker, enum plat_level level)
{
	/* Of units that nobody knows, each worker has one. */
	if (level == PLAT_PU)
		return cores_core_of(worker);
	return plat_worker_place(worker->node->plat, worker->devid, level);
}

int cores_split(const struct node *node, int *ids, int n, enum plat_level level)
{
	int place = place_of(&node->workers[ids[0]], level), nhere = 0;

	if (place < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		int id = ids[i];

		if (place_of(&node->workers[id], level) != place)
			continue;
		for (int k = i; k > nhere; k--)
			ids[k] = ids[k - 1];
		ids[nhere++] = id;
	}
	return nhere;
}

/* ---- the tree -------------------------------------------------------- */

/* Into how many places they fall; 0: nobody knows. */
static int count_places(const struct node *node, int *ids, int n, enum plat_level level)
{
	int nplaces = 0;

	for (int at = 0, here; at < n; at += here, nplaces++) {
		here = cores_split(node, ids + at, n - at, level);
		if (here == 0)
			return 0;
	}
	return nplaces;
}

/* What these workers share becomes the node; levels at which they do not part have none.
 */
static void grow(const struct node *node, struct starpu_tree *tree, int *ids, int n)
{
	struct starpu_tree *father = tree->father;
	enum plat_level level = PLAT_MACHINE;
	int nplaces = 1, at = 0;

	while (level < PLAT_PU &&
	       (nplaces = count_places(node, ids, n, (enum plat_level)(level + 1))) <= 1)
		level++;
	if (nplaces <= 1) {
		tree_node_fill(tree, (struct starpu_tree){
					     .father = father,
					     .id = cores_core_of(&node->workers[ids[0]]),
					     .level = PLAT_PU,
					     .is_pu = 1});
		return;
	}
	tree_node_fill(tree, (struct starpu_tree){.father = father, .level = (int)level});
	tree_node_add_children(tree, nplaces);
	for (int i = 0; i < nplaces; i++) {
		int here =
			cores_split(node, ids + at, n - at, (enum plat_level)(level + 1));

		grow(node, &tree->nodes[i], ids + at, here);
		at += here;
	}
}

static int by_core(const struct node *node, int a, int b)
{
	int core_a = cores_core_of(&node->workers[a]),
	    core_b = cores_core_of(&node->workers[b]);

	return core_a != core_b ? core_a - core_b : a - b;
}

static struct cores *cores_new(struct node *node)
{
	size_t ids_bytes = (size_t)node->nworkers * sizeof(int);
	struct cores *cores = orr_alloc(sizeof(*cores) + 2 * ids_bytes);
	int *ids = orr_alloc(ids_bytes), n = 0;

	for (int i = 0; i < node->nworkers; i++) {
		int at = n;

		if (!cores_has(&node->workers[i]))
			continue;
		ids[n++] = i;
		for (; at > 0 && by_core(node, cores->ids[at - 1], i) > 0; at--)
			cores->ids[at] = cores->ids[at - 1];
		cores->ids[at] = i;
	}
	cores->n = n;
	cores->at = cores->ids + n;
	for (int i = 0; i < n; i++)
		cores->at[i] = cores_core_of(&node->workers[cores->ids[i]]);
	if (n > 0)
		grow(node, &cores->tree, ids, n);
	free(ids);
	return cores;
}

static void free_one(struct cores *cores)
{
	if (cores)
		tree_node_free(&cores->tree);
	free(cores);
}

struct cores *cores_get(struct node *node)
{
	void **at = (void **)&node->cores;
	struct cores *cores = orr_load_ptr(at);

	if (cores)
		return cores;
	cores = cores_new(node);
	if (orr_cas_ptr(at, NULL, cores))
		return cores;
	free_one(cores);
	return orr_load_ptr(at);
}

void cores_free(struct node *node)
{
	free_one(node->cores);
	node->cores = NULL;
}

int cores_find(struct cores *cores, int core, int **ids)
{
	int first = 0, n = 0;

	while (first < cores->n && cores->at[first] != core)
		first++;
	while (first + n < cores->n && cores->at[first + n] == core)
		n++;
	*ids = cores->ids + first;
	return n;
}
