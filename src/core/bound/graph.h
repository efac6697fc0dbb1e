/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_BOUND_GRAPH_H
#define ORR_CORE_BOUND_GRAPH_H

/*
 * graph.h - what tasks wait for, of the record of bound.h; which is locked.
 *
 * Accesses to a datum form groups, one after the other: a writer alone, or neighbours
 * that read, commute or contribute together.  A group of several ends at a vertex of its
 * own, so that n readers before m readers make n + m edges.
 */
#include "core/bound/bound.h"

/* The job is submitted; kind: of its task, -1 when that takes no time. */
void graph_task(struct bound *bound, struct job *job, int kind);
void graph_free(struct bound *bound);
/*
 * The vertices in an order in which edges lead on; free it.  Edges come in the order of
 * where they begin, each once.  Those of a circle, which tags that happen again and again
 * may seem to make, are dropped.
 */
int *graph_order(struct bound *bound);
/* Seconds of the longest chain of tasks, each where it is fastest. */
double graph_longest_s(struct bound *bound);

#endif
