/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/search.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/heap.h"
#include "map/distance.h"

enum {
	MAX_RANKS = 1 << 18,
	MAX_THOROUGH = 4096, /* ranks: beginnings that look at all of them for each one */
	MAX_LINE = 4096,
	MAX_PASSES = 100,
	MAX_ATTEMPTS = 300,
	NNEAR = 24
};

/* What a search may look at: some seconds, and more for large maps. */
static const double max_steps = 1e9, max_steps_per_rank = 2e4;

struct edge {
	int from, to;
	double bytes;
};

struct search {
	int n;
	struct distances distances;
	/* Peers of rank i: from first[i] to first[i + 1] - 1; both directions together.
	 */
	int *first, *peer;
	double *bytes;
	int *near;    /* the NNEAR places that are nearest to each place, itself first */
	int *rank_at; /* by place */
	double steps, max_steps; /* done so far; at most, about */
};

/* ---- Files ---- */

static int read_edge(const char *line, int n, struct edge *edge)
{
	int length = 0;

	return sscanf(line, " %d , %d , %lf %n", &edge->from, &edge->to, &edge->bytes,
		      &length) >= 3 &&
	       !line[length] && edge->from >= 0 && edge->from < n && edge->to >= 0 &&
	       edge->to < n && edge->bytes >= 0 && edge->bytes < 1e300;
}

static int read_edges(FILE *file, const char *path, int n, struct edge **edges,
		      struct map_says *says)
{
	char line[MAX_LINE];
	int nedges = 0, number = 0;

	while (fgets(line, sizeof(line), file)) {
		struct edge edge;

		number++;
		line[strcspn(line, "#\r\n")] = '\0';
		if (!line[strspn(line, " \t")] || strncmp(line, "from,", 5) == 0)
			continue;
		if (!read_edge(line, n, &edge))
			return map_refuse(says,
					  "%s:%d: \"%.40s\" is not understood; expected "
					  "from,to,bytes with ranks from 0 to %d",
					  path, number, line, n - 1);
		if ((nedges & (nedges - 1)) == 0)
			*edges = orr_realloc(*edges, (size_t)(nedges ? 2 * nedges : 1) *
							     sizeof(**edges));
		(*edges)[nedges++] = edge;
	}
	return nedges;
}

/* Both ends of each edge know it. */
static void index_edges(struct search *search, const struct edge *edges, int nedges)
{
	int *at = orr_alloc((size_t)(search->n + 1) * sizeof(*at));

	search->first = orr_alloc((size_t)(search->n + 1) * sizeof(*search->first));
	search->peer = orr_alloc((size_t)nedges * 2 * sizeof(*search->peer));
	search->bytes = orr_alloc((size_t)nedges * 2 * sizeof(*search->bytes));
	for (int i = 0; i < nedges; i++)
		if (edges[i].from != edges[i].to) {
			search->first[edges[i].from + 1]++;
			search->first[edges[i].to + 1]++;
		}
	for (int i = 0; i < search->n; i++) {
		search->first[i + 1] += search->first[i];
		at[i] = search->first[i];
	}
	for (int i = 0; i < nedges; i++) {
		int from = edges[i].from, to = edges[i].to;

		if (from == to)
			continue;
		search->peer[at[from]] = to;
		search->bytes[at[from]++] = edges[i].bytes;
		search->peer[at[to]] = from;
		search->bytes[at[to]++] = edges[i].bytes;
	}
	free(at);
}

static int read_matrix(struct search *search, const char *path, struct map_says *says)
{
	FILE *file = fopen(path, "r");
	struct edge *edges = NULL;
	int nedges;

	if (!file)
		return map_refuse(says,
				  "matrix %s cannot be read: %s; make one with "
				  "\"orrery run --comm-matrix\"",
				  path, strerror(errno));
	nedges = read_edges(file, path, search->n, &edges, says);
	fclose(file);
	if (nedges == 0)
		map_refuse(says, "matrix %s says nothing; expected lines from,to,bytes",
			   path);
	else if (nedges > 0)
		index_edges(search, edges, nedges);
	free(edges);
	return nedges > 0 ? 0 : -EINVAL;
}

/* ---- The search: place_of[rank] ---- */

/* What a rank's messages cost when it is at the place; `other` is taken to be there. */
static double cost_at(const struct search *search, const int *place_of, int rank,
		      int place)
{
	double cost = 0;

	for (int i = search->first[rank]; i < search->first[rank + 1]; i++)
		cost += search->bytes[i] *
			distance(&search->distances, place, place_of[search->peer[i]]);
	return cost;
}

static double total_cost(const struct search *search, const int *place_of)
{
	double cost = 0;

	for (int i = 0; i < search->n; i++)
		cost += cost_at(search, place_of, i, place_of[i]);
	return cost / 2;
}

/* How much the cost changes when two ranks change places. */
static double change(struct search *search, int *place_of, int i, int j)
{
	int a = place_of[i], b = place_of[j];
	double before, after;

	search->steps += 2 * (search->first[i + 1] - search->first[i] +
			      search->first[j + 1] - search->first[j]);
	before = cost_at(search, place_of, i, a) + cost_at(search, place_of, j, b);
	place_of[i] = b;
	place_of[j] = a;
	after = cost_at(search, place_of, i, b) + cost_at(search, place_of, j, a);
	place_of[i] = a;
	place_of[j] = b;
	return after - before;
}

static void swap(int *place_of, int i, int j)
{
	int place = place_of[i];

	place_of[i] = place_of[j];
	place_of[j] = place;
}

/* The rank to change places with that helps most; -1: none. */
struct partner {
	int rank;
	double change;
};

static void try_partner(struct search *search, int *place_of, int i, int j,
			struct partner *best)
{
	double delta = i == j ? 0 : change(search, place_of, i, j);

	if (delta < best->change)
		*best = (struct partner){j, delta};
}

/* Looks near the peers of the rank, or at all others where that is less. */
static struct partner find_partner(struct search *search, int *place_of, int i,
				   double least)
{
	struct partner best = {-1, -least};
	int first = search->first[i], npeers = search->first[i + 1] - first;

	if ((long)npeers * NNEAR >= search->n) {
		for (int j = 0; j < search->n; j++)
			try_partner(search, place_of, i, j, &best);
		return best;
	}
	for (int k = 0; k < npeers; k++) {
		const int *near =
			search->near + (size_t)place_of[search->peer[first + k]] * NNEAR;

		for (int p = 0; p < NNEAR; p++)
			try_partner(search, place_of, i, search->rank_at[near[p]], &best);
	}
	return best;
}

/* Exchanges pairs while that helps. */
static double refine(struct search *search, int *place_of)
{
	double least = total_cost(search, place_of) * 1e-9;
	int is_better = 1;

	for (int i = 0; i < search->n; i++)
		search->rank_at[place_of[i]] = i;
	for (int pass = 0; is_better && pass < MAX_PASSES; pass++) {
		is_better = 0;
		for (int i = 0; i < search->n && search->steps < search->max_steps; i++) {
			struct partner best = find_partner(search, place_of, i, least);

			if (best.rank < 0)
				continue;
			swap(place_of, i, best.rank);
			search->rank_at[place_of[i]] = i;
			search->rank_at[place_of[best.rank]] = best.rank;
			is_better = 1;
		}
	}
	return total_cost(search, place_of);
}

/* Fills place after place with the rank that is tied closest to those near it. */
static void fill(struct search *search, int *place_of)
{
	int n = search->n;
	double *ties = orr_alloc((size_t)n * sizeof(*ties));

	for (int i = 0; i < n; i++)
		place_of[i] = -1;
	for (int place = 0; place < n; place++) {
		int rank = -1;

		for (int i = 0; i < n; i++) {
			if (place_of[i] >= 0)
				continue;
			ties[i] = 0;
			for (int k = search->first[i]; k < search->first[i + 1]; k++) {
				int there = place_of[search->peer[k]];

				if (there >= 0)
					ties[i] += search->bytes[k] /
						   (0.1 + distance(&search->distances,
								   place, there));
			}
			if (rank < 0 || ties[i] > ties[rank])
				rank = i;
		}
		place_of[rank] = place;
	}
	free(ties);
}

/* Takes the rank that is tied closest to those placed, to the free place that suits it.
 */
static void grow(struct search *search, int *place_of)
{
	int n = search->n, *is_taken = orr_alloc((size_t)n * sizeof(int));
	double *tie = orr_alloc((size_t)n * sizeof(*tie));

	for (int i = 0; i < n; i++)
		place_of[i] = -1;
	for (int round = 0; round < n; round++) {
		int rank = -1, place = -1;
		double best = 0;

		for (int i = 0; i < n; i++)
			if (place_of[i] < 0 && (rank < 0 || tie[i] > tie[rank]))
				rank = i;
		for (int p = 0; p < n; p++) {
			double cost = 0;

			if (is_taken[p])
				continue;
			for (int k = search->first[rank]; k < search->first[rank + 1];
			     k++)
				if (place_of[search->peer[k]] >= 0)
					cost += search->bytes[k] *
						distance(&search->distances, p,
							 place_of[search->peer[k]]);
			if (place < 0 || cost < best) {
				best = cost;
				place = p;
			}
		}
		place_of[rank] = place;
		is_taken[place] = 1;
		for (int k = search->first[rank]; k < search->first[rank + 1]; k++)
			tie[search->peer[k]] += search->bytes[k];
	}
	free(is_taken);
	free(tie);
}

/* Ranks that are tied to placed ones, by how closely. */
struct front {
	struct heap heap;
	struct heap_entry *entries; /* by rank */
	double *ties;
};

static void tie_peers(const struct search *search, struct front *front, int rank,
		      const int *place_of)
{
	for (int k = search->first[rank]; k < search->first[rank + 1]; k++) {
		int peer = search->peer[k];

		if (place_of[peer] >= 0)
			continue;
		front->ties[peer] += search->bytes[k];
		heap_remove(&front->heap, &front->entries[peer]);
		heap_push_ordered(&front->heap, &front->entries[peer], -front->ties[peer],
				  (uint64_t)peer);
	}
}

/* The free place that suits the rank, near to its peers; -1: all places there are taken.
 */
static int suitable_place(struct search *search, const int *place_of, int rank)
{
	double best = 0;
	int found = -1;

	for (int k = search->first[rank]; k < search->first[rank + 1]; k++) {
		int there = place_of[search->peer[k]];

		for (int p = 0; there >= 0 && p < NNEAR; p++) {
			int place = search->near[(size_t)there * NNEAR + (size_t)p];
			double cost = 0;

			if (search->rank_at[place] >= 0)
				continue;
			for (int l = search->first[rank]; l < search->first[rank + 1];
			     l++)
				if (place_of[search->peer[l]] >= 0)
					cost += search->bytes[l] *
						distance(&search->distances, place,
							 place_of[search->peer[l]]);
			search->steps += search->first[rank + 1] - search->first[rank];
			if (found < 0 || cost < best) {
				best = cost;
				found = place;
			}
		}
	}
	return found;
}

/* grow() for maps that are too large to look at all places for each rank. */
static void grow_near(struct search *search, int *place_of)
{
	size_t n = (size_t)search->n;
	struct front front = {.entries = orr_alloc(n * sizeof(*front.entries)),
			      .ties = orr_alloc(n * sizeof(*front.ties))};
	int next_rank = 0, next_place = 0;

	for (size_t i = 0; i < n; i++)
		place_of[i] = search->rank_at[i] = -1;
	for (size_t round = 0; round < n; round++) {
		struct heap_entry *entry = heap_pop(&front.heap);
		int rank, place;

		while (!entry && place_of[next_rank] >= 0)
			next_rank++;
		rank = entry ? (int)(entry - front.entries) : next_rank;
		place = suitable_place(search, place_of, rank);
		while (place < 0 && search->rank_at[next_place] >= 0)
			next_place++;
		place = place < 0 ? next_place : place;
		place_of[rank] = place;
		search->rank_at[place] = rank;
		tie_peers(search, &front, rank, place_of);
	}
	heap_free(&front.heap);
	free(front.entries);
	free(front.ties);
}

/* Some exchanges by chance, the same ones in every run. */
static void disturb(int *place_of, int n, uint64_t seed)
{
	for (int i = 0; i < n / 16 + 2; i++) {
		int pair[2];

		for (int k = 0; k < 2; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			pair[k] = (int)((seed >> 33) % (uint64_t)n);
		}
		swap(place_of, pair[0], pair[1]);
	}
}

/* Places of a former search, by rank.  Each place must stand once. */
static int read_first(const char *path, int *place_of, int n, struct map_says *says)
{
	char *is_taken = orr_alloc((size_t)n);
	FILE *file = fopen(path, "r");
	int ret = file ? 0 : -EINVAL;

	for (int i = 0; ret == 0 && i < n; i++)
		if (fscanf(file, "%d", &place_of[i]) != 1 || place_of[i] < 0 ||
		    place_of[i] >= n || is_taken[place_of[i]]++)
			ret = -EINVAL;
	if (file)
		fclose(file);
	free(is_taken);
	return ret == 0 ? 0
			: map_refuse(says, "%s is no list of the %d places, each once",
				     path, n);
}

/* Attempt k: as mapped, filled, grown, then the best one so far, disturbed. */
static void begin(struct search *search, int *place_of, const int *best, int k)
{
	int is_large = search->n > MAX_THOROUGH;

	for (int i = 0; i < search->n; i++)
		place_of[i] = k < 3 && !(is_large && k == 2) ? i : best[i];
	if (k == 1 && is_large)
		grow_near(search, place_of);
	else if (k == 1)
		fill(search, place_of);
	else if (k == 2 && !is_large)
		grow(search, place_of);
	else if (k > 1)
		disturb(place_of, search->n, (uint64_t)k);
}

/* best: an attempt that was given, or the order of mapping. */
static void take_best(struct search *search, int *best, struct search_result *result)
{
	size_t bytes = (size_t)search->n * sizeof(int);
	int *place_of = orr_alloc(bytes);

	begin(search, place_of, best, 0);
	result->before = total_cost(search, place_of);
	result->after = refine(search, best);
	if (result->after > result->before) {
		memcpy(best, place_of, bytes);
		result->after = result->before;
	}
	for (int k = 0; k < MAX_ATTEMPTS && search->steps < search->max_steps; k++) {
		double cost;

		begin(search, place_of, best, k);
		cost = refine(search, place_of);
		if (cost < result->after * (1 - 1e-9)) {
			result->after = cost;
			memcpy(best, place_of, bytes);
		}
	}
	free(place_of);
}

static void apply(struct map_job *job, const int *place_of)
{
	size_t bytes = (size_t)job->nplaces * sizeof(*job->places);
	struct map_place *places = orr_alloc(bytes);

	for (int i = 0; i < job->nplaces; i++)
		places[i] = job->places[place_of[i]];
	free(job->places);
	job->places = places;
}

/* What the search needs beside the matrix. */
static int prepare(struct search *search, const struct map_job *job,
		   const struct search_files *files, struct map_says *says)
{
	size_t n = (size_t)search->n;

	search->max_steps = max_steps + max_steps_per_rank * (double)n;
	search->rank_at = orr_alloc(n * sizeof(*search->rank_at));
	if (distances_open(&search->distances, job, files->distances, says) < 0)
		return -EINVAL;
	if (n > NNEAR)
		search->near = distances_nearest(&search->distances, NNEAR);
	return 0;
}

int map_search(struct map_job *job, const struct search_files *files,
	       struct search_result *result, struct map_says *says)
{
	struct search search = {.n = job->nplaces};
	int *best, ret;

	if (search.n > MAX_RANKS)
		return map_refuse(says,
				  "%d ranks are too many to optimise; expected at most "
				  "%d: optimise a smaller map of the same shape, or one "
				  "rank for each node with what nodes send to each other",
				  search.n, MAX_RANKS);
	best = orr_alloc((size_t)search.n * sizeof(*best));
	ret = read_matrix(&search, files->matrix, says);
	if (ret == 0)
		ret = prepare(&search, job, files, says);
	for (int i = 0; i < search.n; i++)
		best[i] = i;
	if (ret == 0 && files->first)
		ret = read_first(files->first, best, search.n, says);
	if (ret == 0) {
		take_best(&search, best, result);
		apply(job, best);
	}
	free(best);
	distances_close(&search.distances);
	free(search.near);
	free(search.rank_at);
	free(search.first);
	free(search.peer);
	free(search.bytes);
	return ret;
}
