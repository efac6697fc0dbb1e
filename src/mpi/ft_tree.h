/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_FT_TREE_H
#define ORR_MPI_FT_TREE_H

/*
 * ft_tree.h - a sum over all ranks and an answer to all, while tasks go on.
 *
 * Words climb a binary tree whose root is rank 0 as soon as everything that a rank and
 * those below it wait for has happened; the root's answer goes down.  Each rank begins
 * its half at the same place of its order of calls, which numbers it; nobody blocks.
 */
#include <stdint.h>

#include "core/data/data.h"

struct mpi;

enum { TREE_WORDS = 4, TREE_CHILDREN = 2 };

struct tree_words {
	int64_t word[TREE_WORDS];
};

/* Borrowed by the tree from tree_begin() to over(). */
struct tree {
	struct mpi *mpi;
	int64_t number; /* alike on all ranks, not used before */
	const char *what;
	/* All is there, own is about to climb; or NULL. */
	void (*climbs)(struct tree *tree);
	/* The root has the sum in own: change it to the answer; or NULL. */
	void (*at_root)(struct tree *tree);
	/* own is the answer, on each rank. */
	void (*answered)(struct tree *tree);
	/* The tree is not used any more; may free it. */
	void (*over)(struct tree *tree);
	struct tree_words own, heard[TREE_CHILDREN];

	/* The tree's. */
	int nmissing; /* atomic: until own climbs */
	int nposted;  /* atomic: transfers, the call that began it, the answer */
	int nchildren;
	starpu_data_handle_t own_handle, heard_handle[TREE_CHILDREN];
};

/* The rank waits for nmissing things, each told by tree_step(). */
void tree_begin(struct tree *tree, int nmissing);
/* Any thread, callbacks too. */
void tree_step(struct tree *tree);

#endif
