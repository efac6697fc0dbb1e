/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct map_tree *tree_make(int npus)
{
	struct map_tree *tree = orr_alloc(sizeof(*tree));

	ORR_ASSERT(npus > 0);
	tree->npus = npus;
	tree->pus = orr_alloc((size_t)npus * sizeof(*tree->pus));
	for (int i = 0; i < npus; i++)
		tree->pus[i] = (struct map_pu){.os = (unsigned)i, .is_allowed = 1};
	return tree;
}

void tree_free(struct map_tree *tree)
{
	if (!tree)
		return;
	for (int i = 0; i < NLEVELS; i++) {
		free(tree->levels[i].first);
		free(tree->levels[i].is_real);
		free(tree->levels[i].of_pu);
	}
	free(tree->pus);
	free(tree);
}

static void add_object(struct map_objects *objects, int first, int is_real)
{
	objects->first[objects->count] = first;
	objects->is_real[objects->count++] = (char)is_real;
}

/* Does an object of a wider level begin at the PU?  Devices are near to cores, no more.
 */
static int is_edge(const struct map_tree *tree, enum map_level level, int pu)
{
	for (int i = 0; i < (int)level; i++)
		if (i != LEVEL_GPU && i != LEVEL_NIC &&
		    tree->levels[i].of_pu[pu] != tree->levels[i].of_pu[pu - 1])
			return 1;
	return 0;
}

/* Stand-ins for the PUs from first to last - 1, within the objects of wider levels. */
static void add_stand_ins(struct map_tree *tree, enum map_level level, int first,
			  int last)
{
	for (int pu = first; pu < last; pu++)
		if (pu == first || is_edge(tree, level, pu))
			add_object(&tree->levels[level], pu, 0);
}

void tree_cut(struct map_tree *tree, enum map_level level, int n, const int *firsts,
	      const int *counts)
{
	struct map_objects *objects = &tree->levels[level];
	int npus = tree->npus, at = 0;

	ORR_ASSERT(!objects->first && (level == 0 || tree->levels[level - 1].first));
	objects->first = orr_alloc((size_t)(npus + 1) * sizeof(*objects->first));
	objects->is_real = orr_alloc((size_t)npus);
	objects->of_pu = orr_alloc((size_t)npus * sizeof(*objects->of_pu));
	for (int i = 0; i < n; i++) {
		ORR_ASSERT(firsts[i] >= at && counts[i] > 0);
		add_stand_ins(tree, level, at, firsts[i]);
		add_object(objects, firsts[i], 1);
		at = firsts[i] + counts[i];
	}
	ORR_ASSERT(at <= npus);
	add_stand_ins(tree, level, at, npus);
	objects->first[objects->count] = npus;
	objects->is_present = n > 0;
	for (int i = 0; i < objects->count; i++)
		for (int pu = objects->first[i]; pu < objects->first[i + 1]; pu++)
			objects->of_pu[pu] = i;
}

/* n objects of equal size, as far as the PUs can be shared out in whole cores. */
static void cut_evenly(struct map_tree *tree, enum map_level level, int n, int unit)
{
	int *firsts = orr_alloc((size_t)(n + 1) * sizeof(*firsts));
	int *counts = orr_alloc((size_t)(n + 1) * sizeof(*counts));
	int nunits = tree->npus / unit, used = 0;

	for (int i = 0; i < n; i++) {
		int first = (int)((long)nunits * i / n) * unit;
		int next = (int)((long)nunits * (i + 1) / n) * unit;

		if (next == first)
			continue;
		firsts[used] = first;
		counts[used++] = next - first;
	}
	tree_cut(tree, level, used, firsts, counts);
	free(firsts);
	free(counts);
}

struct map_tree *tree_simple(int nsockets, int ncores, int nthreads, int ngpus)
{
	struct map_tree *tree = tree_make(nsockets * ncores * nthreads);
	const int counts[NLEVELS] = {
		[LEVEL_NODE] = 1,
		[LEVEL_SOCKET] = nsockets,
		[LEVEL_GPU] = ngpus,
		[LEVEL_CORE] = nsockets * ncores,
		[LEVEL_THREAD] = tree->npus,
	};

	for (int i = 0; i < NLEVELS; i++)
		cut_evenly(tree, (enum map_level)i, counts[i],
			   i == LEVEL_THREAD ? 1 : nthreads);
	return tree;
}

void machine_add_tree(struct map_machine *machine, struct map_tree *tree)
{
	machine->trees = orr_realloc(machine->trees, (size_t)(machine->ntrees + 1) *
							     sizeof(*machine->trees));
	machine->trees[machine->ntrees++] = tree;
}

struct map_node *machine_add_node(struct map_machine *machine, const char *name)
{
	int n = machine->nnodes++;

	ORR_ASSERT(machine->ntrees > 0);
	if ((n & (n - 1)) == 0) /* doubles */
		machine->nodes =
			orr_realloc(machine->nodes,
				    (size_t)(n ? 2 * n : 1) * sizeof(*machine->nodes));
	machine->nodes[n] = (struct map_node){
		.name = orr_strdup(name), .tree = machine->trees[machine->ntrees - 1]};
	return &machine->nodes[n];
}

void machine_free(struct map_machine *machine)
{
	for (int i = 0; i < machine->nnodes; i++) {
		free(machine->nodes[i].name);
		free(machine->nodes[i].allowed);
	}
	for (int i = 0; i < machine->ntrees; i++)
		tree_free(machine->trees[i]);
	free(machine->nodes);
	free(machine->trees);
	*machine = (struct map_machine){0};
}
