/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "map/distance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Of what two places share; estimates. */
static const struct {
	enum map_level level;
	float distance;
} shared_levels[] = {{LEVEL_CORE, 0},    {LEVEL_L2, 0.5F},     {LEVEL_L3, 1},
		     {LEVEL_NUMA, 1.5F}, {LEVEL_SOCKET, 1.5F}, {LEVEL_NODE, 2}};

/* ---- Tables ---- */

static float of_pus(const struct map_tree *tree, int a, int b)
{
	for (size_t i = 0; i < sizeof(shared_levels) / sizeof(shared_levels[0]); i++) {
		const struct map_objects *objects = &tree->levels[shared_levels[i].level];

		if (objects->is_present && objects->of_pu[a] == objects->of_pu[b])
			return shared_levels[i].distance;
	}
	return 0;
}

static float *table_of(const struct map_tree *tree)
{
	size_t n = (size_t)tree->npus;
	float *table = orr_alloc(n * n * sizeof(*table));

	for (int a = 0; a < tree->npus; a++)
		for (int b = 0; b < tree->npus; b++)
			table[(size_t)a * n + (size_t)b] = of_pus(tree, a, b);
	return table;
}

static int tree_index(const struct map_machine *machine, const struct map_tree *tree)
{
	int i = 0;

	while (machine->trees[i] != tree)
		i++;
	return i;
}

/* 10 on average. */
static void scale(float *table, size_t n)
{
	double total = 0, count = 0;

	for (size_t i = 0; i < n; i++) {
		total += table[i];
		count += table[i] > 0;
	}
	for (size_t i = 0; i < n && total > 0; i++)
		table[i] = (float)(table[i] * (double)NETWORK_DISTANCE * count / total);
}

static int read_between(struct distances *distances, const char *path,
			struct map_says *says)
{
	size_t n = (size_t)distances->nnodes * (size_t)distances->nnodes;
	FILE *file = fopen(path, "r");

	if (!file)
		return map_refuse(says, "distances %s cannot be read: %s", path,
				  strerror(errno));
	distances->between = orr_alloc(n * sizeof(*distances->between));
	for (size_t i = 0; i < n; i++) {
		float *value = &distances->between[i];

		if (fscanf(file, "%f", value) != 1 || !(*value >= 0 && *value < 1e30F)) {
			fclose(file);
			return map_refuse(says,
					  "distances %s: number %zu of %zu is not "
					  "there or no distance",
					  path, i + 1, n);
		}
	}
	fclose(file);
	scale(distances->between, n);
	return 0;
}

int distances_open(struct distances *distances, const struct map_job *job,
		   const char *path, struct map_says *says)
{
	const struct map_machine *machine = job->machine;

	*distances = (struct distances){.nplaces = job->nplaces,
					.nnodes = machine->nnodes,
					.ntrees = machine->ntrees};
	distances->spots = orr_alloc((size_t)job->nplaces * sizeof(struct spot));
	distances->inside = orr_alloc((size_t)machine->ntrees * sizeof(float *));
	for (int i = 0; i < job->nplaces; i++) {
		const struct map_place *place = &job->places[i];
		const struct map_tree *tree = machine->nodes[place->node].tree;
		float **inside = &distances->inside[tree_index(machine, tree)];

		if (!*inside)
			*inside = table_of(tree);
		distances->spots[i] =
			(struct spot){place->node, place->pu,
				      *inside + (size_t)place->pu * (size_t)tree->npus};
	}
	return path ? read_between(distances, path, says) : 0;
}

void distances_close(struct distances *distances)
{
	for (int i = 0; distances->inside && i < distances->ntrees; i++)
		free(distances->inside[i]);
	free(distances->inside);
	free(distances->between);
	free(distances->spots);
}

/* ---- Who is near ---- */

/* Of the things offered, those that are nearest, by distance and then by number. */
struct nearest {
	int n, most, *things;
	float *distances;
};

static void offer(struct nearest *nearest, int thing, float away)
{
	int at = nearest->n;

	if (at == nearest->most && away >= nearest->distances[at - 1])
		return;
	if (at < nearest->most)
		nearest->n++;
	else
		at--;
	for (; at > 0 && away < nearest->distances[at - 1]; at--) {
		nearest->things[at] = nearest->things[at - 1];
		nearest->distances[at] = nearest->distances[at - 1];
	}
	nearest->things[at] = thing;
	nearest->distances[at] = away;
}

/* Places by node: those of node i from first[i] to first[i + 1] - 1. */
struct by_node {
	int *first, *places;
};

static struct by_node sort_places(const struct distances *distances)
{
	size_t n = (size_t)distances->nnodes;
	struct by_node by = {orr_alloc((n + 1) * sizeof(int)),
			     orr_alloc((size_t)distances->nplaces * sizeof(int))};
	int *at = orr_alloc((n + 1) * sizeof(int));

	for (int i = 0; i < distances->nplaces; i++)
		by.first[distances->spots[i].node + 1]++;
	for (size_t i = 0; i < n; i++) {
		by.first[i + 1] += by.first[i];
		at[i] = by.first[i];
	}
	for (int i = 0; i < distances->nplaces; i++)
		by.places[at[distances->spots[i].node]++] = i;
	free(at);
	return by;
}

static void offer_node(struct nearest *nearest, const struct distances *distances,
		       const struct by_node *by, int place, int node)
{
	for (int i = by->first[node]; i < by->first[node + 1]; i++)
		if (by->places[i] != place)
			offer(nearest, by->places[i],
			      distance(distances, place, by->places[i]));
}

/* Other nodes that have places; without a table the first ones, more are not needed. */
static void find_nodes(struct nearest *nodes, const struct distances *distances,
		       const struct by_node *by, int node)
{
	const float *row =
		distances->between
			? distances->between + (size_t)node * (size_t)distances->nnodes
			: NULL;

	nodes->n = 0;
	for (int i = 0; i < distances->nnodes && (row || nodes->n < nodes->most); i++)
		if (i != node && by->first[i] < by->first[i + 1])
			offer(nodes, i, row ? row[i] : NETWORK_DISTANCE);
}

int *distances_nearest(const struct distances *distances, int n)
{
	int *near = orr_alloc((size_t)distances->nplaces * (size_t)n * sizeof(*near));
	struct by_node by = sort_places(distances);
	struct nearest nodes = {.most = n,
				.things = orr_alloc((size_t)n * sizeof(int)),
				.distances = orr_alloc((size_t)n * sizeof(float))},
		       places = {.most = n,
				 .distances = orr_alloc((size_t)n * sizeof(float))};

	for (int node = 0; node < distances->nnodes; node++) {
		if (by.first[node] < by.first[node + 1])
			find_nodes(&nodes, distances, &by, node);
		for (int i = by.first[node]; i < by.first[node + 1]; i++) {
			int place = by.places[i];

			places.n = 0;
			places.things = near + (size_t)place * (size_t)n;
			offer(&places, place, -1);
			offer_node(&places, distances, &by, place, node);
			for (int k = 0; k < nodes.n &&
					(places.n < n ||
					 nodes.distances[k] < places.distances[n - 1]);
			     k++)
				offer_node(&places, distances, &by, place,
					   nodes.things[k]);
		}
	}
	free(by.first);
	free(by.places);
	free(nodes.things);
	free(nodes.distances);
	free(places.distances);
	return near;
}
