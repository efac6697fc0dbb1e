/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/program.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/bound/graph.h"

/* What the program is made of, while it is. */
struct draft {
	struct program *program;
	const struct bound *bound;
	enum program_workers workers;
	int nworkers;
	double horizon_ms;    /* all tasks, one after the other */
	int *start, *end;     /* columns by vertex */
	int *on;              /* columns by vertex and worker; 0: cannot run there */
	int *order;           /* of the vertices */
	unsigned char *leads; /* bits by two vertices: there is a path */
	size_t row_bytes;
};

static int class_at(const struct draft *draft, int w)
{
	return draft->workers == PROGRAM_EACH ? draft->bound->class_of[w] : w;
}

static double vertex_ms(const struct draft *draft, int v, int w)
{
	int kind = draft->bound->graph.vertices[v].kind;

	return kind < 0 ? -1
			: 1e3 * bound_seconds(draft->bound->kinds[kind],
					      class_at(draft, w));
}

static int *on(const struct draft *draft, int v, int w)
{
	return &draft->on[(size_t)v * (size_t)draft->nworkers + (size_t)w];
}

static void add_columns(struct draft *draft)
{
	struct program *program = draft->program;

	for (int v = 0; v < draft->bound->graph.nvertices; v++) {
		double longest_ms = 0;

		draft->start[v] = program_column(program, PROGRAM_REAL, "s%d", v);
		draft->end[v] = program_column(program, PROGRAM_REAL, "c%d", v);
		for (int w = 0; w < draft->nworkers; w++) {
			double ms = vertex_ms(draft, v, w);

			if (ms < 0 || ms != ms)
				continue;
			*on(draft, v, w) =
				program_column(program, PROGRAM_BINARY, "t%dw%d", v, w);
			longest_ms = ms > longest_ms ? ms : longest_ms;
		}
		draft->horizon_ms += longest_ms;
	}
}

static void add_tasks(struct draft *draft)
{
	struct program *program = draft->program;
	int n = draft->bound->graph.nvertices;

	for (int v = 0; v < n; v++) {
		program_row(program, 'E', 0,
			    v == 0 ? "a task ends its time after its start" : NULL);
		program_term(program, draft->end[v], 1);
		program_term(program, draft->start[v], -1);
		for (int w = 0; w < draft->nworkers; w++)
			if (*on(draft, v, w))
				program_term(program, *on(draft, v, w),
					     -vertex_ms(draft, v, w));
	}
	for (int v = 0; v < n; v++) {
		const struct graph_vertex *vertex = &draft->bound->graph.vertices[v];

		if (vertex->kind < 0)
			continue;
		program_row(program, 'E', 1, v == 0 ? "each runs on one worker" : NULL);
		program_about(program, "task %lu: %s", (unsigned long)vertex->id,
			      draft->bound->kinds[vertex->kind]->name);
		for (int w = 0; w < draft->nworkers; w++)
			if (*on(draft, v, w))
				program_term(program, *on(draft, v, w), 1);
	}
	for (int v = 0; v < n; v++) {
		program_row(program, 'L', 0, v == 0 ? "tmax is the last end" : NULL);
		program_term(program, draft->end[v], 1);
		program_term(program, 0, -1);
	}
}

static void add_order(struct draft *draft)
{
	const struct bound *bound = draft->bound;
	struct program *program = draft->program;

	for (int i = 0; i < bound->graph.nedges; i++) {
		program_row(program, 'G', 0,
			    i == 0 ? "it starts after those that it waits for" : NULL);
		program_term(program, draft->start[bound->graph.edges[i].to], 1);
		program_term(program, draft->end[bound->graph.edges[i].from], -1);
	}
}

static void add_area(struct draft *draft)
{
	const struct bound *bound = draft->bound;
	struct program *program = draft->program;

	for (int w = 0; w < draft->nworkers; w++) {
		program_row(program, 'L', 0,
			    w == 0 ? "no worker is busy for longer than tmax" : NULL);
		for (int v = 0; v < bound->graph.nvertices; v++)
			if (*on(draft, v, w))
				program_term(program, *on(draft, v, w),
					     vertex_ms(draft, v, w));
		program_term(program, 0,
			     draft->workers == PROGRAM_EACH ? -1 : -bound->classes[w].n);
	}
}

/* ---- whole numbers ------------------------------------------------------ */

static int leads(const struct draft *draft, int from, int to)
{
	return draft->leads[(size_t)from * draft->row_bytes + (size_t)to / 8] >>
		       (to % 8) &
	       1;
}

/* Which vertex comes before which, by the edges. */
static void find_paths(struct draft *draft)
{
	const struct bound *bound = draft->bound;
	size_t bytes = draft->row_bytes = (size_t)bound->graph.nvertices / 8 + 1;
	int last = bound->graph.nedges - 1;

	draft->leads = orr_alloc(bytes * (size_t)bound->graph.nvertices + 1);
	for (int at = bound->graph.nvertices - 1; at >= 0; at--) {
		int v = draft->order[at], low = 0, high = bound->graph.nedges;

		while (low < high) { /* its first edge */
			int middle = (low + high) / 2;

			if (bound->graph.edges[middle].from < v)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low <= last && bound->graph.edges[low].from == v; low++) {
			size_t to = (size_t)bound->graph.edges[low].to;

			for (size_t b = 0; b < bytes; b++)
				draft->leads[(size_t)v * bytes + b] |=
					draft->leads[to * bytes + b];
			draft->leads[(size_t)v * bytes + to / 8] |=
				(unsigned char)(1u << (to % 8));
		}
	}
}

/* Of a and b, where worker w runs both, b starts after a; later: unless this, 1 for b
 * after a, says otherwise. */
static void add_turn(struct draft *draft, int w, int a, int b, int later, int sign)
{
	struct program *program = draft->program;
	double far = draft->horizon_ms;

	/* s(b) - c(a) >= -far (2 - x(a,w) - x(b,w) + [a is later]) */
	program_row(program, 'G', sign > 0 ? -3 * far : -2 * far, NULL);
	program_term(program, draft->start[b], 1);
	program_term(program, draft->end[a], -1);
	program_term(program, *on(draft, a, w), -far);
	program_term(program, *on(draft, b, w), -far);
	program_term(program, later, sign * -far);
}

/* The other one starts on worker w, which could run the urgent one: no earlier than that,
 * unless that comes later. */
static void add_choice(struct draft *draft, int w, int urgent, int other, int later,
		       int sign)
{
	struct program *program = draft->program;
	double far = draft->horizon_ms;

	program_row(program, 'G', sign > 0 ? -far : -2 * far, NULL);
	program_term(program, draft->start[other], 1);
	program_term(program, draft->start[urgent], -1);
	program_term(program, *on(draft, other, w), -far);
	program_term(program, later, sign * far);
}

/* The urgent one comes later, which "later" says (sign > 0) or denies (sign < 0), only
 * when something that it waits for ends after the other one's start. */
static void add_priority(struct draft *draft, int urgent, int other, int later, int sign)
{
	const struct bound *bound = draft->bound;
	struct program *program = draft->program;
	double far = draft->horizon_ms;
	int first = program->ncolumns;

	for (int w = 0; w < draft->nworkers; w++)
		if (*on(draft, urgent, w) && *on(draft, other, w))
			add_choice(draft, w, urgent, other, later, sign);
	for (int i = 0; i < bound->graph.nedges; i++) {
		int y;

		if (bound->graph.edges[i].to != urgent)
			continue;
		y = program_column(program, PROGRAM_BINARY, "y%dt%dt%d",
				   bound->graph.edges[i].from, urgent, other);
		program_row(program, 'G', -far, NULL);
		program_term(program, draft->end[bound->graph.edges[i].from], 1);
		program_term(program, draft->start[other], -1);
		program_term(program, y, -far);
	}
	program_row(program, 'G', sign > 0 ? 0 : 1, NULL);
	for (int y = first; y < program->ncolumns; y++)
		program_term(program, y, 1);
	program_term(program, later, -sign);
}

static void add_pair(struct draft *draft, int a, int b)
{
	const struct graph_vertex *vertices = draft->bound->graph.vertices;
	int later = 0;

	for (int w = 0; w < draft->nworkers; w++) {
		if (!*on(draft, a, w) || !*on(draft, b, w))
			continue;
		if (!later)
			later = program_column(draft->program, PROGRAM_BINARY,
					       "t%dafter%d", b, a);
		add_turn(draft, w, a, b, later, 1);
		add_turn(draft, w, b, a, later, -1);
	}
	if (!later || !draft->bound->has_prio)
		return;
	if (vertices[b].priority > vertices[a].priority)
		add_priority(draft, b, a, later, 1);
	else if (vertices[a].priority > vertices[b].priority)
		add_priority(draft, a, b, later, -1);
}

static void add_turns(struct draft *draft)
{
	const struct bound *bound = draft->bound;

	find_paths(draft);
	for (int b = 0; b < bound->graph.nvertices; b++)
		for (int a = 0; a < b; a++)
			if (bound->graph.vertices[a].kind >= 0 &&
			    bound->graph.vertices[b].kind >= 0 && !leads(draft, a, b) &&
			    !leads(draft, b, a))
				add_pair(draft, a, b);
	free(draft->leads);
}

void program_by_graph(struct program *program, struct bound *bound,
		      enum program_workers workers, int whole)
{
	struct draft draft = {.program = program, .bound = bound, .workers = workers};
	size_t n = (size_t)bound->graph.nvertices + 1;

	draft.nworkers = workers == PROGRAM_EACH ? bound->nworkers : bound->nclasses;
	draft.order = graph_order(&bound->graph);
	draft.start = orr_alloc(n * sizeof(int));
	draft.end = orr_alloc(n * sizeof(int));
	draft.on = orr_alloc(n * (size_t)draft.nworkers * sizeof(int));
	*program = (struct program){0};
	program_column(program, PROGRAM_REAL, "tmax");
	add_columns(&draft);
	add_tasks(&draft);
	add_order(&draft);
	add_area(&draft);
	if (whole)
		add_turns(&draft);
	free(draft.order);
	free(draft.start);
	free(draft.end);
	free(draft.on);
}
