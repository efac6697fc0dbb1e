/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_TREE_H
#define ORR_MAP_TREE_H

/*
 * tree.h - kinds of nodes, and the machine: a list of nodes.
 *
 * A tree is kept as its levels.  The hardware threads (PUs) stand in a row, from left to
 * right; the objects of a level cut the row into consecutive pieces.  Every level covers
 * the whole row: where the hardware has no object (a core without an L3 cache, a core
 * near to no GPU), an object that is not `real` stands in.  A level that the node lacks
 * altogether is cut as the wider ones are, so that it counts as one.
 */
#include "map/level.h"

struct map_pu {
	unsigned os;     /* the number that the operating system gives it */
	char is_allowed; /* online, and the process may use it */
	char is_hidden;  /* other programs do not see it: the system forbids it to all */
};

struct map_objects {
	int count;
	int *first; /* PU, of count objects; first[count] is the number of PUs */
	char *is_real;
	int *of_pu;      /* PU to object */
	char is_present; /* at least one of them is real */
};

struct map_tree {
	int npus;
	struct map_pu *pus;
	struct map_objects levels[NLEVELS];
};

/* A tree with npus allowed PUs and no level yet; NLEVELS calls of tree_cut() follow. */
struct map_tree *tree_make(int npus);
void tree_free(struct map_tree *tree);

/*
 * Cuts the row for one level, after all wider ones: object i begins at PU firsts[i] and
 * has counts[i] of them; they are sorted and disjoint, and what they leave out becomes
 * objects that are not real, inside those of the wider levels.  n may be 0.
 */
void tree_cut(struct map_tree *tree, enum map_level level, int n, const int *firsts,
	      const int *counts);

/* For tests and simulated hosts: so many sockets with so many cores and threads. */
struct map_tree *tree_simple(int nsockets, int ncores, int nthreads, int ngpus);

struct map_node {
	char *name;
	const struct map_tree *tree;
	char *allowed; /* by PU, in place of the tree's; NULL: the tree's */
};

struct map_machine {
	int nnodes;
	struct map_node *nodes;
	int ntrees;
	struct map_tree **trees; /* owned; nodes borrow them */
};

static inline int node_allows(const struct map_node *node, int pu)
{
	return node->allowed ? node->allowed[pu] : node->tree->pus[pu].is_allowed;
}

void machine_add_tree(struct map_machine *machine, struct map_tree *tree);
/* A node of the newest tree. */
struct map_node *machine_add_node(struct map_machine *machine, const char *name);
void machine_free(struct map_machine *machine);

#endif
