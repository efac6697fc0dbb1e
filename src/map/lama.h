/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_LAMA_H
#define ORR_MAP_LAMA_H

/*
 * lama.h - the Locality-Aware Mapping Algorithm: machine and rules in, places out.
 *
 * Nested loops in the order of the rules walk over coordinates, one index per level.  A
 * coordinate that a node does not have, or whose hardware thread it may not use, is
 * skipped: that is how different nodes go together.  The bound of a loop is the largest
 * number of siblings that any object of any node has at that level.
 *
 * Loops and counts belong to the job: its applications share them, so that the second
 * goes on where the first one ended.
 */
#include "map/rules.h"
#include "map/tree.h"

struct map_place {
	int node, pu;     /* where the coordinate led to */
	int first, count; /* the PUs of the binding, as they stand in the node's row */
	int next;         /* index of a further piece in job->pieces; -1: none */
};

struct map_piece {
	int first, count, next;
};

struct map_job {
	const struct map_machine *machine;
	const struct map_rules *rules;
	struct map_place
		*places; /* in order of mapping; in order of ranks, once ranked */
	int nplaces;
	struct map_piece *pieces; /* of maps that were read */
	int npieces;
	/* Processes that share cores or threads with others, and the first pair of them.
	 */
	int nshared, shared[2];

	/* The loops. */
	enum map_level used[NLEVELS]; /* the levels that loop, from the widest */
	int nused;
	int bounds[NLEVELS], steps[NLEVELS], at[NLEVELS];
	int is_swept; /* the last coordinate of a sweep was visited */
	int nsweeps;
	int is_limited;
	/* Processes by object, for the levels that have a limit, by node. */
	int **counts;
	/* 1 + the last process on each PU, by node, when sharing is to be noticed. */
	int **users;
};

/* 0, or -EINVAL: the machine lacks a level, or its nodes cannot be walked in one order.
 */
int map_open(struct map_job *job, const struct map_machine *machine,
	     const struct map_rules *rules, struct map_says *says);
/* Maps an application of np more processes.  0, or -EINVAL: "mapped x of y". */
int map_application(struct map_job *job, int np, struct map_says *says);
/* As many processes as one sweep finds places for.  0, or -EINVAL: there are none. */
int map_fill(struct map_job *job, struct map_says *says);
/* Puts the places in the order of the ranks, as the rules' order says. */
void map_rank(struct map_job *job);
void map_close(struct map_job *job);

/* Calls back for each PU of a place's binding that the process may use, left to right. */
void place_each_pu(const struct map_job *job, const struct map_place *place,
		   void (*call)(void *arg, int pu), void *arg);

#endif
