/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/bound/bound.h"
#include "core/sched/ranks.h"
#include "core/task/fold.h"
#include "core/task/links.h"

enum { NO_VERTEX = -1 };

/* The accesses to a datum. */
struct turn {
	int before; /* the end of the groups before, or NO_VERTEX */
	unsigned kind;
	int n, room;
	int *members; /* of the last group */
};

/* A declared edge, between jobs that may not have been submitted yet. */
struct wish {
	struct wish *next; /* of all */
	int after, before; /* vertices, or NO_VERTEX */
	int is_dead;       /* one of them will never be */
	struct wish *next_in, *next_out;
};

struct known_job {
	int vertex;  /* of its last submission, or NO_VERTEX */
	uint64_t id; /* then; others had the address before, and may have it later */
	struct wish *in, *out; /* that end, that begin here */
};

struct known_tag {
	int vertex; /* what it has happened at */
	int is_carried;
	unsigned ndeps;
	starpu_tag_t *deps;
};

/* The record after one, first after NULL; or NULL. */
static struct graph *next_record(struct node *node, const struct graph *graph)
{
	int records = orr_load(&node->is_bounding);

	if (!graph && records & RECORD_BOUND)
		return &node->bound->graph;
	if (records & RECORD_RANKS && graph != &node->ranks->graph)
		return &node->ranks->graph;
	return NULL;
}

#define EACH_RECORD(graph, node)                                                         \
	for (struct graph *graph = next_record(node, NULL); graph;                       \
	     graph = next_record(node, graph))

static int add_vertex(struct graph *graph, struct graph_vertex vertex)
{
	if (graph->nvertices == graph->room_vertices) {
		graph->room_vertices = 2 * graph->room_vertices + 64;
		graph->vertices =
			orr_realloc(graph->vertices, (size_t)graph->room_vertices *
							     sizeof(*graph->vertices));
	}
	graph->vertices[graph->nvertices] = vertex;
	return graph->nvertices++;
}

static int add_joint(struct graph *graph)
{
	return add_vertex(graph, (struct graph_vertex){.kind = -1});
}

static void add_edge(struct graph *graph, int from, int to)
{
	if (from == NO_VERTEX || from == to)
		return;
	if (graph->nedges == graph->room_edges) {
		graph->room_edges = 2 * graph->room_edges + 64;
		graph->edges = orr_realloc(graph->edges, (size_t)graph->room_edges *
								 sizeof(*graph->edges));
	}
	graph->edges[graph->nedges++] = (struct graph_edge){from, to};
}

/* ---- data -------------------------------------------------------------- */

/* Neighbours of the same kind are a group; 0: alone in any case. */
static unsigned group_kind(const struct access *access)
{
	if (access->mode & STARPU_REDUX)
		return STARPU_REDUX;
	if (access->mode & STARPU_COMMUTE)
		return STARPU_COMMUTE;
	return access->mode & STARPU_W ? 0 : STARPU_R;
}

static struct turn *turn_of(struct graph *graph, starpu_data_handle_t datum)
{
	struct turn *turn = table_get(&graph->turns, (uintptr_t)datum);

	if (!turn) {
		turn = orr_alloc(sizeof(*turn));
		turn->before = NO_VERTEX;
		table_put(&graph->turns, (uintptr_t)datum, turn);
	}
	return turn;
}

static void end_group(struct graph *graph, struct turn *turn)
{
	if (turn->n == 1)
		turn->before = turn->members[0];
	if (turn->n > 1) {
		turn->before = add_joint(graph);
		for (int i = 0; i < turn->n; i++)
			add_edge(graph, turn->members[i], turn->before);
	}
	turn->n = 0;
}

static void take_turn(struct graph *graph, int vertex, const struct access *access)
{
	struct turn *turn = turn_of(graph, access->datum);
	unsigned kind = group_kind(access);

	if (kind == 0 || kind != turn->kind)
		end_group(graph, turn);
	turn->kind = kind;
	if (turn->n == turn->room) {
		turn->room = 2 * turn->room + 2;
		turn->members = orr_realloc(turn->members,
					    (size_t)turn->room * sizeof(*turn->members));
	}
	turn->members[turn->n++] = vertex;
	add_edge(graph, turn->before, vertex);
}

/* ---- jobs -------------------------------------------------------------- */

static struct known_job *known_job(struct graph *graph, struct job *job)
{
	struct known_job *known = table_get(&graph->jobs, (uintptr_t)job);

	if (!known) {
		known = orr_alloc(sizeof(*known));
		known->vertex = NO_VERTEX;
		table_put(&graph->jobs, (uintptr_t)job, known);
	}
	return known;
}

static void fulfil(struct graph *graph, struct wish *wish)
{
	if (wish->is_dead || wish->after == NO_VERTEX || wish->before == NO_VERTEX)
		return;
	add_edge(graph, wish->before, wish->after);
	wish->is_dead = 1;
}

/* The job was submitted. */
static void fulfil_wishes(struct graph *graph, struct known_job *known)
{
	for (struct wish *wish = known->in; wish; wish = wish->next_in) {
		if (wish->after == NO_VERTEX)
			wish->after = known->vertex;
		fulfil(graph, wish);
	}
	for (struct wish *wish = known->out; wish; wish = wish->next_out) {
		if (wish->before == NO_VERTEX)
			wish->before = known->vertex;
		fulfil(graph, wish);
	}
}

static void declare(struct graph *graph, struct job *after, struct job *before)
{
	struct known_job *first = known_job(graph, before);
	struct known_job *last = known_job(graph, after);
	struct wish *wish = orr_alloc(sizeof(*wish));

	*wish = (struct wish){.next = graph->wishes,
			      .after = NO_VERTEX,
			      .before = NO_VERTEX,
			      .next_in = last->in,
			      .next_out = first->out};
	if (first->vertex != NO_VERTEX && first->id == before->id)
		wish->before = first->vertex;
	graph->wishes = last->in = first->out = wish;
}

void graph_declare(struct job *after, struct job *before)
{
	EACH_RECORD(graph, after->node)
	{
		orr_lock(&graph->lock);
		if (graph->is_on)
			declare(graph, after, before);
		orr_unlock(&graph->lock);
	}
}

static void forget_job(struct graph *graph, struct job *job)
{
	struct known_job *known = table_remove(&graph->jobs, (uintptr_t)job);

	for (struct wish *wish = known ? known->in : NULL; wish; wish = wish->next_in)
		wish->is_dead = 1;
	for (struct wish *wish = known ? known->out : NULL; wish; wish = wish->next_out)
		wish->is_dead |= wish->before == NO_VERTEX;
	free(known);
}

void graph_forget_job(struct job *job)
{
	EACH_RECORD(graph, job->node)
	{
		orr_lock(&graph->lock);
		forget_job(graph, job);
		orr_unlock(&graph->lock);
	}
}

/* ---- tags -------------------------------------------------------------- */

static struct known_tag *known_tag(struct graph *graph, starpu_tag_t id)
{
	struct known_tag *known = table_get(&graph->tags, id);

	if (!known) {
		known = orr_alloc(sizeof(*known));
		known->vertex = NO_VERTEX;
		table_put(&graph->tags, id, known);
	}
	return known;
}

/* A task that waits for a tag may come before the one that carries it. */
static int happens_at(struct graph *graph, struct known_tag *known)
{
	if (known->vertex == NO_VERTEX)
		known->vertex = add_joint(graph);
	return known->vertex;
}

static void declare_tags(struct graph *graph, starpu_tag_t id, unsigned n,
			 const starpu_tag_t *deps)
{
	struct known_tag *known = known_tag(graph, id);

	known->deps =
		orr_realloc(known->deps, (known->ndeps + n + 1) * sizeof(*known->deps));
	for (unsigned i = 0; i < n; i++)
		known->deps[known->ndeps++] = deps[i];
}

void graph_declare_tags(struct node *node, starpu_tag_t id, unsigned n,
			const starpu_tag_t *deps)
{
	EACH_RECORD(graph, node)
	{
		orr_lock(&graph->lock);
		if (graph->is_on)
			declare_tags(graph, id, n, deps);
		orr_unlock(&graph->lock);
	}
}

static void carry_tag(struct graph *graph, int vertex, starpu_tag_t id)
{
	struct known_tag *known = known_tag(graph, id);

	for (unsigned i = 0; i < known->ndeps; i++)
		add_edge(graph, happens_at(graph, known_tag(graph, known->deps[i])),
			 vertex);
	/* Carried again, it happens again for those that come from now on. */
	known = known_tag(graph, id);
	if (known->is_carried)
		known->vertex = NO_VERTEX;
	known->is_carried = 1;
	add_edge(graph, vertex, happens_at(graph, known));
}

/* ---- the record -------------------------------------------------------- */

static int vertex_of(struct graph *graph, struct job *job)
{
	const struct known_job *known;

	/* Others than tasks come once, at addresses that others had. */
	if (!job_has_task(job))
		return add_joint(graph);
	known = table_get(&graph->jobs, (uintptr_t)job);
	return known ? known->vertex : NO_VERTEX;
}

void graph_task(struct graph *graph, struct job *job, int kind)
{
	struct starpu_task *task = job->task;
	struct known_job *known = known_job(graph, job);
	int vertex =
		add_vertex(graph, (struct graph_vertex){kind, task->priority, job->id});

	known->vertex = vertex;
	known->id = job->id;
	fulfil_wishes(graph, known);
	if (task->use_tag)
		carry_tag(graph, vertex, task->tag_id);
}

static void note_accesses(struct graph *graph, struct job *job)
{
	int vertex = vertex_of(graph, job);

	for (int i = 0; vertex != NO_VERTEX && i < job->naccesses; i++)
		if (job->accesses[i].state == ACCESS_NEW &&
		    !(job->accesses[i].mode & ACCESS_UNORDERED))
			take_turn(graph, vertex, &job->accesses[i]);
}

void graph_accesses(struct job *job)
{
	EACH_RECORD(graph, job->node)
	{
		orr_lock(&graph->lock);
		if (graph->is_on)
			note_accesses(graph, job);
		orr_unlock(&graph->lock);
	}
}

static void turn_free(struct turn *turn)
{
	if (turn)
		free(turn->members);
	free(turn);
}

void graph_forget_datum(struct node *node, starpu_data_handle_t datum)
{
	EACH_RECORD(graph, node)
	{
		orr_lock(&graph->lock);
		turn_free(table_remove(&graph->turns, (uintptr_t)datum));
		orr_unlock(&graph->lock);
	}
}

void graph_free(struct graph *graph)
{
	size_t cursor = 0;
	struct known_job *job;
	struct known_tag *tag;
	struct turn *turn;

	while ((turn = table_next(&graph->turns, &cursor)))
		turn_free(turn);
	for (cursor = 0; (job = table_next(&graph->jobs, &cursor));)
		free(job);
	for (cursor = 0; (tag = table_next(&graph->tags, &cursor));) {
		free(tag->deps);
		free(tag);
	}
	while (graph->wishes) {
		struct wish *wish = graph->wishes;

		graph->wishes = wish->next;
		free(wish);
	}
	table_free(&graph->turns);
	table_free(&graph->jobs);
	table_free(&graph->tags);
	graph->turns = graph->jobs = graph->tags = (struct table){0};
	free(graph->vertices);
	free(graph->edges);
	graph->vertices = NULL;
	graph->edges = NULL;
	graph->nvertices = graph->room_vertices = graph->nedges = graph->room_edges = 0;
}

/* ---- questions --------------------------------------------------------- */

/* Where edges from each vertex are, in order of their vertices: edges[first[v]] on. */
int *graph_index(const struct graph *graph)
{
	int *first = orr_alloc(((size_t)graph->nvertices + 2) * sizeof(*first));

	for (int i = 0; i < graph->nedges; i++)
		first[graph->edges[i].from + 1]++;
	for (int v = 0; v < graph->nvertices; v++)
		first[v + 1] += first[v];
	return first;
}

static int compare_edges(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void sort_edges(struct graph *graph)
{
	int n = 0;

	if (graph->nedges == 0)
		return;
	qsort(graph->edges, (size_t)graph->nedges, sizeof(*graph->edges), compare_edges);
	for (int i = 0; i < graph->nedges; i++)
		if (i == 0 || compare_edges(&graph->edges[i], &graph->edges[i - 1]) != 0)
			graph->edges[n++] = graph->edges[i];
	graph->nedges = n;
}

/* Drop the edges that are not between vertices that have a place. */
static void drop_circles(struct graph *graph, const int *place)
{
	int n = 0;

	for (int i = 0; i < graph->nedges; i++)
		if (place[graph->edges[i].from] >= 0 && place[graph->edges[i].to] >= 0)
			graph->edges[n++] = graph->edges[i];
	graph->nedges = n;
}

int *graph_order(struct graph *graph)
{
	size_t n = (size_t)graph->nvertices + 1;
	int *order = orr_alloc(n * sizeof(*order)),
	    *place = orr_alloc(n * sizeof(*place));
	int *missing = orr_alloc(n * sizeof(*missing)), *first, taken = 0, known = 0;

	sort_edges(graph);
	first = graph_index(graph);
	for (int i = 0; i < graph->nedges; i++)
		missing[graph->edges[i].to]++;
	for (int v = 0; v < graph->nvertices; v++) {
		place[v] = missing[v] ? -1 : known;
		if (!missing[v])
			order[known++] = v;
	}
	for (; taken < known; taken++)
		for (int i = first[order[taken]]; i < first[order[taken] + 1]; i++)
			if (--missing[graph->edges[i].to] == 0) {
				place[graph->edges[i].to] = known;
				order[known++] = graph->edges[i].to;
			}
	if (known < graph->nvertices)
		drop_circles(graph, place);
	for (int v = 0; v < graph->nvertices; v++)
		if (place[v] < 0)
			order[known++] = v;
	free(place);
	free(missing);
	free(first);
	return order;
}

int *graph_depths(struct graph *graph)
{
	int *order = graph_order(graph), *first = graph_index(graph);
	int *depth = orr_alloc(((size_t)graph->nvertices + 1) * sizeof(*depth));

	for (int at = graph->nvertices - 1; at >= 0; at--) {
		int v = order[at];

		for (int i = first[v]; i < first[v + 1]; i++) {
			int to = graph->edges[i].to;
			int through = depth[to] + (graph->vertices[to].kind >= 0);

			if (through > depth[v])
				depth[v] = through;
		}
	}
	free(first);
	free(order);
	return depth;
}

/* Which of 64 tasks follow each vertex, a bit each: who is there from number begin of
 * the order on; returns where the next 64 begin. */
static int mark_followers(const struct graph *graph, const int *order, const int *first,
			  int begin, uint64_t *follow)
{
	uint64_t *is = &follow[graph->nvertices]; /* which of them the vertex is */
	int n = 0, next = begin;

	memset(follow, 0, 2 * (size_t)graph->nvertices * sizeof(*follow));
	for (; next < graph->nvertices && n < 64; next++)
		if (graph->vertices[order[next]].kind >= 0)
			is[order[next]] = (uint64_t)1 << n++;
	for (int at = next - 1; at >= 0; at--) {
		int v = order[at];

		for (int i = first[v]; i < first[v + 1]; i++) {
			int to = graph->edges[i].to;

			follow[v] |= follow[to] | is[to];
		}
	}
	return next;
}

int *graph_descendants(struct graph *graph)
{
	int *order = graph_order(graph), *first = graph_index(graph);
	size_t n = (size_t)graph->nvertices + 1;
	int *count = orr_alloc(n * sizeof(*count));
	uint64_t *follow = orr_alloc(2 * n * sizeof(*follow));

	for (int begin = 0; begin < graph->nvertices;) {
		begin = mark_followers(graph, order, first, begin, follow);
		for (int v = 0; v < graph->nvertices; v++)
			count[v] += __builtin_popcountll(follow[v]);
	}
	free(follow);
	free(first);
	free(order);
	return count;
}
