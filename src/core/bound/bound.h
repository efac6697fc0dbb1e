/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_BOUND_BOUND_H
#define ORR_CORE_BOUND_BOUND_H

/*
 * bound.h - which tasks were submitted, for a lower bound of how long they take.
 *
 * Tasks of one codelet, with one footprint, that the same workers can run, are a kind, of
 * which the number counts.  With dependencies there is a vertex for each task too, and
 * for each other holder of data (an acquisition, a change of views), which takes no time.
 * What the record misses - a tag's edge from before it began, say - makes the bound
 * smaller, never wrong.
 *
 * The record is a leaf among the locks.  Models are asked with nothing locked.
 */
#include "core/node.h"

struct job;
struct wish;

/* Workers of one architecture. */
struct bound_class {
	struct worker *worker; /* one of them */
	int n;
};

struct bound_kind {
	const struct starpu_codelet *cl;
	struct starpu_perfmodel *model; /* NULL: without one */
	char *name;
	uint32_t footprint;
	unsigned long ntasks;
	int next;         /* of the same hash, or -1 */
	double seconds[]; /* by class; negative: cannot run there, NAN: not known */
};

struct bound_vertex {
	int kind; /* -1: takes no time */
	int priority;
	uint64_t id; /* of the job */
};

struct bound_edge {
	int from, to;
};

struct bound {
	struct orr_lock lock;
	int has_deps, has_prio;
	double since_s, until_s; /* until_s 0: it goes on */
	int nclasses, nworkers;
	struct bound_class *classes;
	int *class_of; /* by worker */
	int nkinds, room_kinds;
	struct bound_kind **kinds;
	struct table by_hash; /* the last kind of a hash, plus one */
	/* With dependencies. */
	int nvertices, room_vertices;
	struct bound_vertex *vertices;
	int nedges, room_edges;
	struct bound_edge *edges;
	struct wish *wishes; /* edges between jobs; see graph.c */
	struct table turns;  /* by datum */
	struct table jobs;   /* those with explicit dependencies, or submitted */
	struct table tags;
};

/* Forget what was recorded, and record from now on. */
void bound_start(struct node *node, int deps, int prio);
void bound_stop(struct node *node);
/* The node closes. */
void bound_free(struct node *node);
/* Ask the models for durations again.  Call without the lock. */
void bound_refresh(struct bound *bound);
/* Can the kind run on some class, in a time that is known?  Without a model it takes no
 * time at all. */
int bound_knows(const struct bound *bound, const struct bound_kind *kind);
double bound_seconds(const struct bound_kind *kind, int class);

/* ---- hooks: while orr_load(&node->is_bounding) ------------------------- */

void bound_task(struct job *job);
/* The job takes its turns. */
void bound_accesses(struct job *job);
void bound_declare(struct job *after, struct job *before);
void bound_declare_tags(struct node *node, starpu_tag_t id, unsigned n,
			const starpu_tag_t *deps);
/* Their addresses may be others' from now on. */
void bound_forget_job(struct job *job);
void bound_forget_datum(struct node *node, starpu_data_handle_t datum);

#endif
