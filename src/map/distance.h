/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_DISTANCE_H
#define ORR_MAP_DISTANCE_H

/*
 * distance.h - how far two places of a map are from each other.
 *
 * Within a node that is what the two share, held in a table for each kind of node;
 * between nodes a table, or all are alike.  Two places are looked up in either, so there
 * is no table of all places: a hundred thousand may be mapped.
 */
#include <stddef.h>

#include "map/lama.h"

struct spot {
	int node, pu;
	const float *inside; /* from its PU to each one of its node */
};

struct distances {
	int nplaces, nnodes;
	struct spot *spots; /* of the places */
	float *between;     /* nnodes times nnodes; NULL: all nodes are alike */
	float **inside;     /* by tree of the machine */
	int ntrees;
};

/* Distances of two nodes, on average. */
#define NETWORK_DISTANCE 10.0F

static inline float distance(const struct distances *distances, int a, int b)
{
	const struct spot *x = &distances->spots[a], *y = &distances->spots[b];

	if (x->node == y->node)
		return x->inside[y->pu];
	if (!distances->between)
		return NETWORK_DISTANCE;
	return distances
		->between[(size_t)x->node * (size_t)distances->nnodes + (size_t)y->node];
}

/* Of the job's places.  path: NULL, or a file of distances between nodes, row by row.  0,
 * or -EINVAL with a sentence; distances_close() is due in any case. */
int distances_open(struct distances *distances, const struct map_job *job,
		   const char *path, struct map_says *says);
void distances_close(struct distances *distances);

/* The n places that are nearest to each place, itself first; of as many places at least.
 * Of alike nodes the first ones are taken.  The caller frees it. */
int *distances_nearest(const struct distances *distances, int n);

#endif
