/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu.h>

#include "api/api.h"
#include "base/check.h"
#include "core/sched/cores.h"

/* ---- trees of anybody's ---------------------------------------------- */

void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu, int arity,
			struct starpu_tree *father)
{
	api_given(__func__, "tree", tree);

	tree_node_fill(tree, (struct starpu_tree){.father = father,
						  .arity = arity,
						  .id = id,
						  .level = level,
						  .is_pu = is_pu});
}

void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father)
{
	api_given(__func__, "father", father);

	tree_node_add_children(father, (int)arity);
}

struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id)
{
	struct starpu_tree *found = NULL;

	api_given(__func__, "tree", tree);
	if (tree->is_pu)
		return tree->id == id ? tree : NULL;
	for (int i = 0; tree->nodes && i < tree->arity && !found; i++)
		found = starpu_tree_get(&tree->nodes[i], id);
	return found;
}

void starpu_tree_free(struct starpu_tree *tree)
{
	api_given(__func__, "tree", tree);

	tree_node_free(tree);
}

/* ---- with workers ---------------------------------------------------- */

static int is_wanted(struct node *node, const struct starpu_tree *pu, const char *visited,
		     const char *present)
{
	int *ids, n = cores_find(cores_get(node), pu->id, &ids);

	for (int i = 0; i < n; i++)
		if (present[ids[i]] && !visited[ids[i]])
			return 1;
	return 0;
}

/* The first below tree, but not below without. */
static struct starpu_tree *first_wanted(struct node *node, struct starpu_tree *tree,
					const struct starpu_tree *without,
					const char *visited, const char *present)
{
	struct starpu_tree *found = NULL;

	if (tree == without)
		return NULL;
	if (tree->is_pu)
		return is_wanted(node, tree, visited, present) ? tree : NULL;
	for (int i = 0; tree->nodes && i < tree->arity && !found; i++)
		found = first_wanted(node, &tree->nodes[i], without, visited, present);
	return found;
}

struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree,
					      struct starpu_tree *node, char *visited,
					      char *present)
{
	struct starpu_tree *found = NULL;

	api_given(__func__, "tree", tree);
	api_given(__func__, "node", node);
	api_given(__func__, "visited", visited);
	api_given(__func__, "present", present);
	for (; node != tree && node->father && !found; node = node->father)
		found = first_wanted(api_node(__func__), node->father, node, visited,
				     present);
	return found;
}

void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited)
{
	struct node *node = api_node(__func__);
	int *ids, n;

	api_given(__func__, "tree", tree);
	api_given(__func__, "visited", visited);
	for (int i = 0; tree->nodes && i < tree->arity; i++)
		starpu_tree_reset_visited(&tree->nodes[i], visited);
	if (!tree->is_pu)
		return;
	n = cores_find(cores_get(node), tree->id, &ids);
	for (int i = 0; i < n; i++)
		visited[ids[i]] = 0;
}

struct starpu_tree *starpu_workers_get_tree(void)
{
	return &cores_get(api_node(__func__))->tree;
}

int starpu_bindid_get_workerids(int bindid, int **workerids)
{
	struct node *node = api_node(__func__);

	api_given(__func__, "workerids", workerids);
	return cores_find(cores_get(node), bindid, workerids);
}
