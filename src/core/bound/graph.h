/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_BOUND_GRAPH_H
#define ORR_CORE_BOUND_GRAPH_H

/*
 * graph.h - what submitted tasks wait for: a record, for bounds and for schedulers.
 *
 * Accesses to a datum form groups, one after the other: a writer alone, or neighbours
 * that read, commute or contribute together.  A group of several ends at a vertex of its
 * own, so that n readers before m readers make n + m edges.  There is a vertex for each
 * task, and for each other holder of data (an acquisition, a change of views).
 *
 * A node has up to two records: see node->is_bounding.  Their locks are leaves; what is
 * not a hook is called with the record locked, or with nobody else knowing it.
 */
#include "base/table.h"
#include "core/node.h"

struct job;
struct wish;

struct graph_vertex {
	int kind; /* of a task, for who keeps the record; -1: nothing is done there */
	int priority;
	uint64_t id; /* of the job */
};

struct graph_edge {
	int from, to;
};

struct graph {
	struct orr_lock lock;
	int is_on;
	int nvertices, room_vertices;
	struct graph_vertex *vertices;
	int nedges, room_edges;
	struct graph_edge *edges;
	struct wish *wishes; /* edges between jobs; see graph.c */
	struct table turns;  /* by datum */
	struct table jobs;   /* those with explicit dependencies, or submitted */
	struct table tags;
};

/* The job is submitted; kind: of its task. */
void graph_task(struct graph *graph, struct job *job, int kind);
/* Empty afterwards; the lock stays. */
void graph_free(struct graph *graph);
/*
 * The vertices in an order in which edges lead on; free it.  Edges come in the order of
 * where they begin, each once.  Those of a circle, which tags that happen again and again
 * may seem to make, are dropped.
 */
int *graph_order(struct graph *graph);
/* After graph_order(): edges[first[v]] up to edges[first[v + 1]] begin at v; free it. */
int *graph_index(const struct graph *graph);
/* By vertex, free it: tasks after it on the longest path; tasks to which a path leads,
 * in time of edges * tasks / 64. */
int *graph_depths(struct graph *graph);
int *graph_descendants(struct graph *graph);

/* ---- hooks: while orr_load(&node->is_bounding) ------------------------- */

/* Who records, as bits of node->is_bounding. */
enum { RECORD_BOUND = 1, RECORD_RANKS = 2 };

/* The job takes its turns. */
void graph_accesses(struct job *job);
void graph_declare(struct job *after, struct job *before);
void graph_declare_tags(struct node *node, starpu_tag_t id, unsigned n,
			const starpu_tag_t *deps);
/* Their addresses may be others' from now on. */
void graph_forget_job(struct job *job);
void graph_forget_datum(struct node *node, starpu_data_handle_t datum);

#endif
