/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "map/lama.h"

/*
 * The processes of one node, in order of mapping, as queues: those of one object of the
 * level `from` wait in one.
 */
struct queues {
	const struct map_objects *from;
	int *head, *tail; /* by object; -1: nobody waits */
	int *next;        /* by process of the job */
};

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/*
 * The processes by node, in each by `pu` if the order asks for that, else as they were
 * mapped: order[i] is the process that stands at i.
 */
static void sort_by_node(const struct map_job *job, int by_pu, int *order)
{
	size_t n = (size_t)job->nplaces;
	int(*keys)[3] = orr_alloc(n * sizeof(*keys));

	for (size_t i = 0; i < n; i++) {
		keys[i][0] = job->places[i].node;
		keys[i][1] = by_pu ? job->places[i].pu : 0;
		keys[i][2] = (int)i;
	}
	qsort(keys, n, sizeof(*keys), compare);
	for (size_t i = 0; i < n; i++)
		order[i] = keys[i][2];
	free(keys);
}

static int is_allowed(const struct map_node *node, const struct map_objects *objects,
		      int object)
{
	for (int pu = objects->first[object]; pu < objects->first[object + 1]; pu++)
		if (node_allows(node, pu))
			return 1;
	return 0;
}

static void queue_all(const struct map_job *job, struct queues *queues, const int *order,
		      int n)
{
	const struct map_objects *from = queues->from;

	for (int i = 0; i < from->count; i++)
		queues->head[i] = queues->tail[i] = -1;
	for (int i = 0; i < n; i++) {
		int object = from->of_pu[job->places[order[i]].pu];

		if (queues->head[object] < 0)
			queues->head[object] = order[i];
		else
			queues->next[queues->tail[object]] = order[i];
		queues->tail[object] = order[i];
		queues->next[order[i]] = -1;
	}
}

/* Whether each object of a level lies within one of another. */
static int lies_in(const struct map_objects *inner, const struct map_objects *outer)
{
	for (int i = 0; i < inner->count; i++)
		if (outer->of_pu[inner->first[i]] !=
		    outer->of_pu[inner->first[i + 1] - 1])
			return 0;
	return 1;
}

/*
 * Ranks the n processes of one node in turn over the objects of a level: each takes the
 * first one that may be on it.  A simple form says no more than the object that a
 * process was mapped to, which may hold several of these.
 */
static void rank_node(const struct map_job *job, struct queues *queues, int *order, int n)
{
	const struct map_node *node = &job->machine->nodes[job->places[order[0]].node];
	const struct map_objects *by = &node->tree->levels[job->rules->rank_by];
	const struct map_objects *to = &node->tree->levels[job->rules->mapped_to];
	size_t size;
	int nranked = 0;

	queues->from = lies_in(by, to) ? to : by;
	size = (size_t)queues->from->count * sizeof(int);
	queues->head = orr_alloc(size);
	queues->tail = orr_alloc(size);
	queue_all(job, queues, order, n);
	for (int object = 0; nranked < n; object = (object + 1) % by->count) {
		int *head = &queues->head[queues->from->of_pu[by->first[object]]];

		if (*head < 0 || !is_allowed(node, by, object))
			continue;
		order[nranked++] = *head;
		*head = queues->next[*head];
	}
	free(queues->head);
	free(queues->tail);
}

static void rank_nodes(const struct map_job *job, int *order)
{
	struct queues queues = {
		.next = orr_alloc((size_t)job->nplaces * sizeof(*queues.next))};

	for (int i = 0, end; i < job->nplaces; i = end) {
		int node = job->places[order[i]].node;

		for (end = i + 1; end < job->nplaces; end++)
			if (job->places[order[end]].node != node)
				break;
		rank_node(job, &queues, order + i, end - i);
	}
	free(queues.next);
}

/* In turn over the nodes, each in order of mapping. */
static void deal_nodes(const struct map_job *job, int *order)
{
	size_t n = (size_t)job->nplaces;
	int(*keys)[3] = orr_alloc(n * sizeof(*keys)), round = 0;

	for (size_t i = 0; i < n; i++) {
		int node = job->places[order[i]].node;

		round = i > 0 && job->places[order[i - 1]].node == node ? round + 1 : 0;
		keys[i][0] = round;
		keys[i][1] = node;
		keys[i][2] = order[i];
	}
	qsort(keys, n, sizeof(*keys), compare);
	for (size_t i = 0; i < n; i++)
		order[i] = keys[i][2];
	free(keys);
}

void map_rank(struct map_job *job)
{
	size_t n = (size_t)job->nplaces;
	enum map_order by = job->rules->order;
	struct map_place *places;
	int *order;

	if (by == ORDER_NATURAL || n == 0)
		return;
	order = orr_alloc(n * sizeof(*order));
	sort_by_node(job, by == ORDER_SEQUENTIAL, order);
	if (by == ORDER_BY && job->rules->rank_by == LEVEL_NODE)
		deal_nodes(job, order);
	else if (by == ORDER_BY)
		rank_nodes(job, order);
	places = orr_alloc(n * sizeof(*places));
	for (size_t i = 0; i < n; i++)
		places[i] = job->places[order[i]];
	free(job->places);
	job->places = places;
	free(order);
}
