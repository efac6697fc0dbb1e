/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_RANKS_H
#define ORR_CORE_SCHED_RANKS_H

/*
 * ranks.h - how much comes after each submitted task, for schedulers that ask for it.
 *
 * While a scheduler uses it, tasks are recorded as they are submitted (bound/graph.h).
 * ranks_compute() ranks the recorded ones among each other and forgets the record, so
 * each is looked at once: who is submitted later adds nothing to their ranks.
 */
#include "core/bound/graph.h"

struct ranks {
	struct graph graph;
	struct orr_lock lock; /* of: */
	int nusers;
	struct table ranks; /* plus one, by number of the job */
};

/* A scheduler begins to use it, and does no more. */
void ranks_use(struct node *node);
void ranks_leave(struct node *node);
/* The node closes. */
void ranks_free(struct node *node);
/* Tasks of schedulers with a field takes_ranks; by_descendants: count all tasks that
 * come after one, else those on the longest way to the end. */
void ranks_compute(struct node *node, int by_descendants);
/* The rank of a task; -1: it has none yet. */
int ranks_find(struct node *node, uint64_t id);
void ranks_forget(struct node *node, uint64_t id);
/* Hook: the task is submitted. */
void ranks_task(struct job *job);

#endif
