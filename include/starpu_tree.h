/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Trees of what lies together in a machine: the leaves are processing units, known by the
 * numbers that workers are bound to.  starpu_workers_get_tree() gives that of the
 * machine; programs may also make their own.  A tree has no lock: threads may look at one
 * that does not change.
 */

#ifndef STARPU_TREE_H
#define STARPU_TREE_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_tree {
	struct starpu_tree *nodes; /* children, arity of them */
	struct starpu_tree *father;
	int arity;
	int id; /* of a processing unit its number, else the level */
	int level;
	int is_pu;
};

/** Fill a node, still without memory for its children. */
void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu, int arity,
			struct starpu_tree *father);

/** Give it memory for arity children, to be filled with starpu_tree_insert(). */
void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father);

/** The processing unit of that number below tree, or NULL. */
struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id);

/**
 * The processing unit nearest to node, and not below it, that has a worker w with
 * present[w] and not visited[w]; of those that are as near the first; NULL without any.
 * Needs an initialised library, which knows where workers are.
 */
struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree,
					      struct starpu_tree *node, char *visited,
					      char *present);

/** Set visited[w] to 0 for the workers w of all processing units below tree.  Needs an
 * initialised library. */
void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited);

/** Free what starpu_tree_prepare_children() made below tree, not tree itself. */
void starpu_tree_free(struct starpu_tree *tree);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_TREE_H */
