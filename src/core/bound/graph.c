/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
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

static int add_vertex(struct bound *bound, struct bound_vertex vertex)
{
	if (bound->nvertices == bound->room_vertices) {
		bound->room_vertices = 2 * bound->room_vertices + 64;
		bound->vertices =
			orr_realloc(bound->vertices, (size_t)bound->room_vertices *
							     sizeof(*bound->vertices));
	}
	bound->vertices[bound->nvertices] = vertex;
	return bound->nvertices++;
}

static int add_joint(struct bound *bound)
{
	return add_vertex(bound, (struct bound_vertex){.kind = -1});
}

static void add_edge(struct bound *bound, int from, int to)
{
	if (from == NO_VERTEX || from == to)
		return;
	if (bound->nedges == bound->room_edges) {
		bound->room_edges = 2 * bound->room_edges + 64;
		bound->edges = orr_realloc(bound->edges, (size_t)bound->room_edges *
								 sizeof(*bound->edges));
	}
	bound->edges[bound->nedges++] = (struct bound_edge){from, to};
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

static struct turn *turn_of(struct bound *bound, starpu_data_handle_t datum)
{
	struct turn *turn = table_get(&bound->turns, (uintptr_t)datum);

	if (!turn) {
		turn = orr_alloc(sizeof(*turn));
		turn->before = NO_VERTEX;
		table_put(&bound->turns, (uintptr_t)datum, turn);
	}
	return turn;
}

static void end_group(struct bound *bound, struct turn *turn)
{
	if (turn->n == 1)
		turn->before = turn->members[0];
	if (turn->n > 1) {
		turn->before = add_joint(bound);
		for (int i = 0; i < turn->n; i++)
			add_edge(bound, turn->members[i], turn->before);
	}
	turn->n = 0;
}

static void take_turn(struct bound *bound, int vertex, const struct access *access)
{
	struct turn *turn = turn_of(bound, access->datum);
	unsigned kind = group_kind(access);

	if (kind == 0 || kind != turn->kind)
		end_group(bound, turn);
	turn->kind = kind;
	if (turn->n == turn->room) {
		turn->room = 2 * turn->room + 2;
		turn->members = orr_realloc(turn->members,
					    (size_t)turn->room * sizeof(*turn->members));
	}
	turn->members[turn->n++] = vertex;
	add_edge(bound, turn->before, vertex);
}

/* ---- jobs -------------------------------------------------------------- */

static struct known_job *known_job(struct bound *bound, struct job *job)
{
	struct known_job *known = table_get(&bound->jobs, (uintptr_t)job);

	if (!known) {
		known = orr_alloc(sizeof(*known));
		known->vertex = NO_VERTEX;
		table_put(&bound->jobs, (uintptr_t)job, known);
	}
	return known;
}

static void fulfil(struct bound *bound, struct wish *wish)
{
	if (wish->is_dead || wish->after == NO_VERTEX || wish->before == NO_VERTEX)
		return;
	add_edge(bound, wish->before, wish->after);
	wish->is_dead = 1;
}

/* The job was submitted. */
static void fulfil_wishes(struct bound *bound, struct known_job *known)
{
	for (struct wish *wish = known->in; wish; wish = wish->next_in) {
		if (wish->after == NO_VERTEX)
			wish->after = known->vertex;
		fulfil(bound, wish);
	}
	for (struct wish *wish = known->out; wish; wish = wish->next_out) {
		if (wish->before == NO_VERTEX)
			wish->before = known->vertex;
		fulfil(bound, wish);
	}
}

static void declare(struct bound *bound, struct job *after, struct job *before)
{
	struct known_job *first = known_job(bound, before);
	struct known_job *last = known_job(bound, after);
	struct wish *wish = orr_alloc(sizeof(*wish));

	*wish = (struct wish){.next = bound->wishes,
			      .after = NO_VERTEX,
			      .before = NO_VERTEX,
			      .next_in = last->in,
			      .next_out = first->out};
	if (first->vertex != NO_VERTEX && first->id == before->id)
		wish->before = first->vertex;
	bound->wishes = last->in = first->out = wish;
}

void bound_declare(struct job *after, struct job *before)
{
	struct bound *bound = after->node->bound;

	orr_lock(&bound->lock);
	if (bound->has_deps)
		declare(bound, after, before);
	orr_unlock(&bound->lock);
}

void bound_forget_job(struct job *job)
{
	struct bound *bound = job->node->bound;
	struct known_job *known;

	orr_lock(&bound->lock);
	known = table_remove(&bound->jobs, (uintptr_t)job);
	for (struct wish *wish = known ? known->in : NULL; wish; wish = wish->next_in)
		wish->is_dead = 1;
	for (struct wish *wish = known ? known->out : NULL; wish; wish = wish->next_out)
		wish->is_dead |= wish->before == NO_VERTEX;
	free(known);
	orr_unlock(&bound->lock);
}

/* ---- tags -------------------------------------------------------------- */

static struct known_tag *known_tag(struct bound *bound, starpu_tag_t id)
{
	struct known_tag *known = table_get(&bound->tags, id);

	if (!known) {
		known = orr_alloc(sizeof(*known));
		known->vertex = NO_VERTEX;
		table_put(&bound->tags, id, known);
	}
	return known;
}

/* A task that waits for a tag may come before the one that carries it. */
static int happens_at(struct bound *bound, struct known_tag *known)
{
	if (known->vertex == NO_VERTEX)
		known->vertex = add_joint(bound);
	return known->vertex;
}

static void declare_tags(struct bound *bound, starpu_tag_t id, unsigned n,
			 const starpu_tag_t *deps)
{
	struct known_tag *known = known_tag(bound, id);

	known->deps =
		orr_realloc(known->deps, (known->ndeps + n + 1) * sizeof(*known->deps));
	for (unsigned i = 0; i < n; i++)
		known->deps[known->ndeps++] = deps[i];
}

void bound_declare_tags(struct node *node, starpu_tag_t id, unsigned n,
			const starpu_tag_t *deps)
{
	struct bound *bound = node->bound;

	orr_lock(&bound->lock);
	if (bound->has_deps)
		declare_tags(bound, id, n, deps);
	orr_unlock(&bound->lock);
}

static void carry_tag(struct bound *bound, int vertex, starpu_tag_t id)
{
	struct known_tag *known = known_tag(bound, id);

	for (unsigned i = 0; i < known->ndeps; i++)
		add_edge(bound, happens_at(bound, known_tag(bound, known->deps[i])),
			 vertex);
	/* Carried again, it happens again for those that come from now on. */
	known = known_tag(bound, id);
	if (known->is_carried)
		known->vertex = NO_VERTEX;
	known->is_carried = 1;
	add_edge(bound, vertex, happens_at(bound, known));
}

/* ---- the record -------------------------------------------------------- */

static int vertex_of(struct bound *bound, struct job *job)
{
	const struct known_job *known;

	/* Others than tasks come once, at addresses that others had. */
	if (!job->task)
		return add_joint(bound);
	known = table_get(&bound->jobs, (uintptr_t)job);
	return known ? known->vertex : NO_VERTEX;
}

void graph_task(struct bound *bound, struct job *job, int kind)
{
	struct starpu_task *task = job->task;
	struct known_job *known = known_job(bound, job);
	int vertex =
		add_vertex(bound, (struct bound_vertex){kind, task->priority, job->id});

	known->vertex = vertex;
	known->id = job->id;
	fulfil_wishes(bound, known);
	if (task->use_tag)
		carry_tag(bound, vertex, task->tag_id);
}

void bound_accesses(struct job *job)
{
	struct bound *bound = job->node->bound;
	int vertex = NO_VERTEX;

	orr_lock(&bound->lock);
	if (bound->has_deps)
		vertex = vertex_of(bound, job);
	for (int i = 0; vertex != NO_VERTEX && i < job->naccesses; i++)
		if (job->accesses[i].state == ACCESS_NEW &&
		    !(job->accesses[i].mode & ACCESS_UNORDERED))
			take_turn(bound, vertex, &job->accesses[i]);
	orr_unlock(&bound->lock);
}

static void turn_free(struct turn *turn)
{
	if (turn)
		free(turn->members);
	free(turn);
}

void bound_forget_datum(struct node *node, starpu_data_handle_t datum)
{
	orr_lock(&node->bound->lock);
	turn_free(table_remove(&node->bound->turns, (uintptr_t)datum));
	orr_unlock(&node->bound->lock);
}

void graph_free(struct bound *bound)
{
	size_t cursor = 0;
	struct known_job *job;
	struct known_tag *tag;
	struct turn *turn;

	while ((turn = table_next(&bound->turns, &cursor)))
		turn_free(turn);
	for (cursor = 0; (job = table_next(&bound->jobs, &cursor));)
		free(job);
	for (cursor = 0; (tag = table_next(&bound->tags, &cursor));) {
		free(tag->deps);
		free(tag);
	}
	while (bound->wishes) {
		struct wish *wish = bound->wishes;

		bound->wishes = wish->next;
		free(wish);
	}
	table_free(&bound->turns);
	table_free(&bound->jobs);
	table_free(&bound->tags);
	free(bound->vertices);
	free(bound->edges);
	bound->vertices = NULL;
	bound->edges = NULL;
	bound->nvertices = bound->room_vertices = bound->nedges = bound->room_edges = 0;
}

/* ---- questions --------------------------------------------------------- */

/* Where edges from each vertex are, in order of their vertices: edges[first[v]] on. */
static int *index_edges(const struct bound *bound)
{
	int *first = orr_alloc(((size_t)bound->nvertices + 2) * sizeof(*first));

	for (int i = 0; i < bound->nedges; i++)
		first[bound->edges[i].from + 1]++;
	for (int v = 0; v < bound->nvertices; v++)
		first[v + 1] += first[v];
	return first;
}

static int compare_edges(const void *a, const void *b)
{
	const struct bound_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void sort_edges(struct bound *bound)
{
	int n = 0;

	qsort(bound->edges, (size_t)bound->nedges, sizeof(*bound->edges), compare_edges);
	for (int i = 0; i < bound->nedges; i++)
		if (i == 0 || compare_edges(&bound->edges[i], &bound->edges[i - 1]) != 0)
			bound->edges[n++] = bound->edges[i];
	bound->nedges = n;
}

/* Drop the edges that are not between vertices that have a place. */
static void drop_circles(struct bound *bound, const int *place)
{
	int n = 0;

	for (int i = 0; i < bound->nedges; i++)
		if (place[bound->edges[i].from] >= 0 && place[bound->edges[i].to] >= 0)
			bound->edges[n++] = bound->edges[i];
	bound->nedges = n;
}

int *graph_order(struct bound *bound)
{
	size_t n = (size_t)bound->nvertices + 1;
	int *order = orr_alloc(n * sizeof(*order)),
	    *place = orr_alloc(n * sizeof(*place));
	int *missing = orr_alloc(n * sizeof(*missing)), *first, taken = 0, known = 0;

	sort_edges(bound);
	first = index_edges(bound);
	for (int i = 0; i < bound->nedges; i++)
		missing[bound->edges[i].to]++;
	for (int v = 0; v < bound->nvertices; v++) {
		place[v] = missing[v] ? -1 : known;
		if (!missing[v])
			order[known++] = v;
	}
	for (; taken < known; taken++)
		for (int i = first[order[taken]]; i < first[order[taken] + 1]; i++)
			if (--missing[bound->edges[i].to] == 0) {
				place[bound->edges[i].to] = known;
				order[known++] = bound->edges[i].to;
			}
	if (known < bound->nvertices)
		drop_circles(bound, place);
	for (int v = 0; v < bound->nvertices; v++)
		if (place[v] < 0)
			order[known++] = v;
	free(place);
	free(missing);
	free(first);
	return order;
}

static double least_s(const struct bound *bound, int vertex)
{
	const struct bound_kind *kind;
	double least = INFINITY;

	if (bound->vertices[vertex].kind < 0)
		return 0;
	kind = bound->kinds[bound->vertices[vertex].kind];
	for (int i = 0; i < bound->nclasses; i++)
		if (bound_seconds(kind, i) >= 0 && bound_seconds(kind, i) < least)
			least = bound_seconds(kind, i);
	return isinf(least) ? 0 : least;
}

double graph_longest_s(struct bound *bound)
{
	int *order = graph_order(bound), *first = index_edges(bound);
	double *start_s = orr_alloc(((size_t)bound->nvertices + 1) * sizeof(*start_s));
	double longest_s = 0;

	for (int at = 0; at < bound->nvertices; at++) {
		int v = order[at];
		double end_s = start_s[v] + least_s(bound, v);

		longest_s = fmax(longest_s, end_s);
		for (int i = first[v]; i < first[v + 1]; i++)
			start_s[bound->edges[i].to] =
				fmax(start_s[bound->edges[i].to], end_s);
	}
	free(start_s);
	free(first);
	free(order);
	return longest_s;
}
