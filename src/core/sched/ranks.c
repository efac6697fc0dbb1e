/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/ranks.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/sched/sched.h"

/* Of vertices: a task that will ask for its rank, another one. */
enum { ASKS, OTHER };

void ranks_use(struct node *node)
{
	struct ranks *ranks = node->ranks;

	if (!ranks) {
		ranks = orr_alloc(sizeof(*ranks));
		orr_lock_init(&ranks->graph.lock);
		orr_lock_init(&ranks->lock);
		node->ranks = ranks;
	}
	orr_lock(&ranks->lock);
	if (ranks->nusers++ == 0) {
		ranks->graph.is_on = 1;
		orr_add(&node->is_bounding, RECORD_RANKS);
	}
	orr_unlock(&ranks->lock);
}

void ranks_leave(struct node *node)
{
	struct ranks *ranks = node->ranks;

	orr_lock(&ranks->lock);
	if (--ranks->nusers == 0) {
		orr_add(&node->is_bounding, -RECORD_RANKS);
		orr_lock(&ranks->graph.lock);
		ranks->graph.is_on = 0;
		graph_free(&ranks->graph);
		orr_unlock(&ranks->graph.lock);
		table_free(&ranks->ranks);
		ranks->ranks = (struct table){0};
	}
	orr_unlock(&ranks->lock);
}

void ranks_free(struct node *node)
{
	free(node->ranks);
	node->ranks = NULL;
}

void ranks_task(struct job *job)
{
	struct graph *graph = &job->node->ranks->graph;
	int asks = sched_ops_inside(job->sched)->takes_ranks && job->task->cl &&
		   job->where != STARPU_NOWHERE;

	orr_lock(&graph->lock);
	if (graph->is_on)
		graph_task(graph, job, asks ? ASKS : OTHER);
	orr_unlock(&graph->lock);
}

/* What was recorded, which is no longer the record's. */
static struct graph take_record(struct ranks *ranks)
{
	struct graph *graph = &ranks->graph, taken = {0};

	orr_lock(&graph->lock);
	/* All but the lock, for which others wait. */
	taken.nvertices = graph->nvertices;
	taken.vertices = graph->vertices;
	taken.nedges = graph->nedges;
	taken.edges = graph->edges;
	taken.wishes = graph->wishes;
	taken.turns = graph->turns;
	taken.jobs = graph->jobs;
	taken.tags = graph->tags;
	graph->nvertices = graph->room_vertices = graph->nedges = graph->room_edges = 0;
	graph->vertices = NULL;
	graph->edges = NULL;
	graph->wishes = NULL;
	graph->turns = graph->jobs = graph->tags = (struct table){0};
	orr_unlock(&graph->lock);
	return taken;
}

void ranks_compute(struct node *node, int by_descendants)
{
	struct ranks *ranks = node->ranks;
	struct graph graph = take_record(ranks);
	int *rank = by_descendants ? graph_descendants(&graph) : graph_depths(&graph);

	orr_lock(&ranks->lock);
	for (int v = 0; v < graph.nvertices; v++)
		if (graph.vertices[v].kind == ASKS)
			table_put(&ranks->ranks, graph.vertices[v].id,
				  (void *)((intptr_t)rank[v] + 1));
	orr_unlock(&ranks->lock);
	free(rank);
	graph_free(&graph);
}

int ranks_find(struct node *node, uint64_t id)
{
	struct ranks *ranks = node->ranks;
	int rank;

	orr_lock(&ranks->lock);
	rank = (int)(intptr_t)table_get(&ranks->ranks, id) - 1;
	orr_unlock(&ranks->lock);
	return rank;
}

void ranks_forget(struct node *node, uint64_t id)
{
	struct ranks *ranks = node->ranks;

	orr_lock(&ranks->lock);
	table_remove(&ranks->ranks, id);
	orr_unlock(&ranks->lock);
}
