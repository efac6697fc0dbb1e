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
#include "core/bound/graph.h"

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

struct bound {
	struct graph graph; /* with dependencies; its lock guards all */
	int is_on, has_deps, has_prio;
	double since_s, until_s; /* until_s 0: it goes on */
	int nclasses, nworkers;
	struct bound_class *classes;
	int *class_of; /* by worker */
	int nkinds, room_kinds;
	struct bound_kind **kinds;
	struct table by_hash; /* the last kind of a hash, plus one */
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
/* The longest chain of tasks, each where it is fastest; the record is locked. */
double bound_longest_s(struct bound *bound);

/* ---- hook: while orr_load(&node->is_bounding) -------------------------- */

/* A task is submitted: for all records. */
void bound_task(struct job *job);
#endif
