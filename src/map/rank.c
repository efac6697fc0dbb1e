/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "map/lama.h"

/* What a process is sorted by: keys one after the other, at last its order of mapping. */
struct entry {
	int keys[3];
	int process;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x->keys[i] != y->keys[i])
			return x->keys[i] < y->keys[i] ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

static int object_of(const struct map_job *job, const struct map_place *place)
{
	return job->machine->nodes[place->node]
		.tree->levels[job->rules->rank_by]
		.of_pu[place->pu];
}

/* The entries are sorted from left to right; gives each its round on its object. */
static void find_rounds(const struct map_job *job, struct entry *entries)
{
	int per_node = job->rules->rank_by != LEVEL_NODE, round = 0;

	for (int i = 0; i < job->nplaces; i++) {
		const struct map_place *place = &job->places[entries[i].process];
		int node = place->node, object = per_node ? object_of(job, place) : node;

		/* keys[2] of the one before is its object, once it was visited. */
		round = i > 0 && entries[i - 1].keys[2] == object &&
					job->places[entries[i - 1].process].node == node
				? round + 1
				: 0;
		entries[i].keys[0] = per_node ? node : 0;
		entries[i].keys[1] = round;
		entries[i].keys[2] = object;
	}
}

static struct map_place *sorted(const struct map_job *job, const struct entry *entries)
{
	size_t n = (size_t)job->nplaces;
	struct map_place *places = orr_alloc(n * sizeof(*places));

	for (size_t i = 0; i < n; i++)
		places[i] = job->places[entries[i].process];
	return places;
}

void map_rank(struct map_job *job)
{
	size_t n = (size_t)job->nplaces;
	enum map_order order = job->rules->order;
	struct map_place *places;
	struct entry *entries;

	if (order == ORDER_NATURAL || n == 0)
		return;
	entries = orr_alloc(n * sizeof(*entries));
	for (size_t i = 0; i < n; i++)
		entries[i] = (struct entry){
			.keys = {job->places[i].node,
				 order == ORDER_SLOT ? 0 : job->places[i].pu},
			.process = (int)i};
	qsort(entries, n, sizeof(*entries), compare);
	if (order == ORDER_BY) {
		find_rounds(job, entries);
		qsort(entries, n, sizeof(*entries), compare);
	}
	places = sorted(job, entries);
	free(job->places);
	job->places = places;
	free(entries);
}
