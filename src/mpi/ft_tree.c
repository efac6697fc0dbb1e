/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ft_tree.h"

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/interface/interface.h"
#include "mpi/mpi.h"

/* Tags below are the assembly's. */
enum { TREE_FIRST_TAG = 1, TAGS_OF_TREE = 2, DOWN = 1 };

static starpu_data_handle_t handle_of(struct tree *tree, struct tree_words *words)
{
	starpu_data_handle_t handle =
		interface_register_bytes(tree->mpi->node, words, sizeof(*words));

	handle->flags |= DATUM_SEQUENTIAL;
	return handle;
}

/* The tree may be gone when this returns. */
static void posted_ended(struct tree *tree)
{
	struct node *node = tree->mpi->node;

	if (orr_add(&tree->nposted, -1) > 0)
		return;
	data_unregister_submit(node, tree->own_handle);
	for (int i = 0; i < tree->nchildren; i++)
		data_unregister_submit(node, tree->heard_handle[i]);
	tree->over(tree);
}

static void transfer(struct tree *tree, starpu_data_handle_t handle, int from, int to,
		     void (*callback)(void *tree))
{
	struct mpi *mpi = tree->mpi;
	int goes_up = from > to;
	struct post post = {.kind = from == mpi->rank ? REQUEST_SEND : REQUEST_RECEIVE,
			    .handle = handle,
			    .comm = comm_inner(&mpi->comms, INNER_WORDS),
			    .peer = from == mpi->rank ? to : from,
			    .tag = TREE_FIRST_TAG + TAGS_OF_TREE * tree->number +
				   (goes_up ? 0 : DOWN),
			    .what = tree->what,
			    .callback = callback,
			    .arg = tree};

	orr_add(&tree->nposted, 1);
	engine_post(mpi, &post);
}

static int parent_of(int rank)
{
	return (rank - 1) / TREE_CHILDREN;
}

static int child_of(int rank, int i)
{
	return TREE_CHILDREN * rank + 1 + i;
}

static void sent(void *arg)
{
	posted_ended(arg);
}

static void answer(struct tree *tree)
{
	int me = tree->mpi->rank;

	for (int i = 0; i < tree->nchildren; i++)
		transfer(tree, tree->own_handle, me, child_of(me, i), sent);
	tree->answered(tree);
	posted_ended(tree);
}

static void answer_came(void *arg)
{
	struct tree *tree = arg;

	answer(tree);
	posted_ended(tree);
}

static void climb(struct tree *tree)
{
	int me = tree->mpi->rank;

	if (tree->climbs)
		tree->climbs(tree);
	for (int i = 0; i < tree->nchildren; i++)
		for (int k = 0; k < TREE_WORDS; k++)
			tree->own.word[k] += tree->heard[i].word[k];
	if (me == 0) {
		if (tree->at_root)
			tree->at_root(tree);
		answer(tree);
		return;
	}
	transfer(tree, tree->own_handle, me, parent_of(me), sent);
	/* Into the same place, once it has been read. */
	transfer(tree, tree->own_handle, parent_of(me), me, answer_came);
}

void tree_step(struct tree *tree)
{
	if (orr_add(&tree->nmissing, -1) == 0)
		climb(tree);
}

static void child_came(void *arg)
{
	struct tree *tree = arg;

	tree_step(tree);
	posted_ended(tree);
}

void tree_begin(struct tree *tree, int nmissing)
{
	int me = tree->mpi->rank, size = tree->mpi->size;

	tree->nchildren = 0;
	while (tree->nchildren < TREE_CHILDREN && child_of(me, tree->nchildren) < size)
		tree->nchildren++;
	tree->nmissing = nmissing + tree->nchildren + 1;
	tree->nposted = 2;
	tree->own_handle = handle_of(tree, &tree->own);
	for (int i = 0; i < tree->nchildren; i++) {
		tree->heard_handle[i] = handle_of(tree, &tree->heard[i]);
		transfer(tree, tree->heard_handle[i], child_of(me, i), me, child_came);
	}
	tree_step(tree);
	posted_ended(tree);
}
