/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_SEARCH_H
#define ORR_MAP_SEARCH_H

/*
 * search.h - a better order of the ranks, for what they send to each other.
 *
 * The places of a map stay; the ranks change places, so that the sum over all pairs of
 * bytes times distance falls.  Distances within a node come from the levels that two
 * places share, those between nodes from a table, or they are all alike.
 */
#include "map/lama.h"

struct search_result {
	double before, after; /* bytes times distance */
};

/*
 * matrix: CSV with lines "from,to,bytes", a heading and comments with # allowed.
 * distances: NULL, or a file of as many numbers as nodes times nodes, row by row.
 * first: NULL, or a file with a rank's place per line, to begin with as well.
 */
struct search_files {
	const char *matrix, *distances, *first;
};

/* Orders the job's places.  0, or -EINVAL with a sentence; then nothing is changed. */
int map_search(struct map_job *job, const struct search_files *files,
	       struct search_result *result, struct map_says *says);

#endif
