/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_CORES_H
#define ORR_CORE_SCHED_CORES_H

/*
 * cores.h - which cores CPU workers are on, and which of these lie together.
 *
 * As it is when somebody asks first: who binds a worker elsewhere later changes nothing.
 * Where workers are not bound, each has a core of its own, numbered from 0.
 */
#include <starpu_tree.h>

#include "core/worker.h"
#include "plat/places.h"

struct cores {
	struct starpu_tree tree;
	int n;     /* workers on cores */
	int *at;   /* the core of each */
	int ids[]; /* theirs, by the number of the core, then their own */
};

/* Made when there are none yet.  Any thread. */
struct cores *cores_get(struct node *node);
void cores_free(struct node *node);
/* The workers on a core; returns how many. */
int cores_find(struct cores *cores, int core, int **ids);
/* The number of the core of a worker that is on one. */
int cores_core_of(const struct worker *worker);
/* 1: it is on a core. */
int cores_has(const struct worker *worker);
/* Cuts ids, whose workers are on cores, into those that lie together: moves them so that
 * the n first, which is returned, share a place of that level; 0: nobody knows. */
int cores_split(const struct node *node, int *ids, int n, enum plat_level level);

/* Nodes of trees: see include/starpu_tree.h. */
void tree_node_fill(struct starpu_tree *tree, struct starpu_tree of);
void tree_node_add_children(struct starpu_tree *tree, int arity);
void tree_node_free(struct starpu_tree *tree);

#endif
