/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <starpu_bound.h>

#include "api/api.h"
#include "base/check.h"
#include "core/bound/graph.h"
#include "core/bound/program.h"
#include "core/worker.h"

/* The search may double with each choice between two. */
enum { MANY_ROWS = 5000, MANY_CHOICES = 100 };

void starpu_bound_start(int deps, int prio)
{
	bound_start(api_node(__func__), deps, prio);
}

void starpu_bound_stop(void)
{
	bound_stop(api_node(__func__));
}

/* What was recorded, with what the models know now; NULL, and why: nothing. */
static struct bound *recorded(const char *func)
{
	struct node *node = api_node(func);
	struct bound *bound = node->bound;

	if (!bound) {
		orr_complain(node->rank,
			     "%s: nothing was recorded; call starpu_bound_start() "
			     "before the tasks are submitted",
			     func);
		return NULL;
	}
	bound_refresh(bound);
	return bound;
}

/* 1: each kind of task has a duration somewhere. */
static int all_known(const struct node *node, const struct bound *bound, const char *func)
{
	for (int k = 0; k < bound->nkinds; k++) {
		const struct bound_kind *kind = bound->kinds[k];

		if (bound_knows(bound, kind))
			continue;
		orr_complain(node->rank,
			     "%s: performance model %s is not calibrated for footprint "
			     "%08x, of which there are %lu tasks; expected a duration on "
			     "some worker: run with STARPU_CALIBRATE=1 first",
			     func, kind->name, kind->footprint, kind->ntasks);
		return 0;
	}
	return 1;
}

static void make_program(struct program *program, struct bound *bound,
			 enum program_workers workers, int whole)
{
	orr_lock(&bound->graph.lock);
	if (bound->has_deps)
		program_by_graph(program, bound, workers, whole);
	else
		program_by_area(program, bound, workers);
	orr_unlock(&bound->graph.lock);
}

static void say_large(const struct node *node, const struct program *program)
{
	int nchoices = 0;

	for (int c = 0; c < program->ncolumns; c++)
		nchoices += program->columns[c].number == PROGRAM_BINARY;
	if ((program->nrows > MANY_ROWS || nchoices > MANY_CHOICES) &&
	    !node_knobs(node)->silent)
		orr_complain(node->rank,
			     "bound: %d rows and %d variables, whole numbers among "
			     "them: this may take very long; integer = 0 does not ask "
			     "for them",
			     program->nrows, program->ncolumns);
}

/* The minimum in ms, 0 when there is none; values: of the program's columns. */
static double solve(const struct node *node, struct program *program, int whole,
		    double *values, const char *func)
{
	double minimum = 0;
	int ret;

	if (whole)
		say_large(node, program);
	ret = program_solve(program, whole, &minimum, values);
	if (ret == -ENOSYS)
		orr_complain(node->rank,
			     "%s: this library was built without GLPK, the solver; "
			     "install the Debian package libglpk-dev and configure it "
			     "again with --with-glpk (GNU GPL), or give the file of "
			     "starpu_bound_print_mps() to another solver",
			     func);
	else if (ret < 0)
		orr_complain(node->rank, "%s: GLPK found no solution of %d rows", func,
			     program->nrows);
	return ret < 0 ? 0 : minimum;
}

static double compute(struct bound *bound, int whole, const char *func)
{
	struct program program;
	double ms;

	/* Divided tasks do not tell workers of one kind from each other. */
	make_program(&program, bound, whole ? PROGRAM_EACH : PROGRAM_CLASSES, whole);
	ms = solve(api_node(func), &program, whole, NULL, func);
	program_free(&program);
	return ms;
}

void starpu_bound_compute(double *res, double *integer_res, int integer)
{
	struct bound *bound = recorded(__func__);
	int can =
		bound && bound->nkinds && all_known(api_node(__func__), bound, __func__);

	if (res)
		*res = can ? compute(bound, 0, __func__) : 0;
	/* StarPU leaves alone what it was not asked for. */
	if (integer_res && integer)
		*integer_res = can ? compute(bound, 1, __func__) : 0;
}

/* ---- texts -------------------------------------------------------------- */

static void print_program(FILE *output, const char *func,
			  void (*print)(const struct program *program, FILE *file))
{
	struct bound *bound;
	struct program program;

	api_given(func, "output", output);
	bound = recorded(func);
	if (!bound || !all_known(api_node(func), bound, func))
		return;
	make_program(&program, bound, PROGRAM_EACH, 1);
	print(&program, output);
	program_free(&program);
}

void starpu_bound_print_lp(FILE *output)
{
	print_program(output, __func__, program_print_lp);
}

void starpu_bound_print_mps(FILE *output)
{
	print_program(output, __func__, program_print_mps);
}

static void print_vertex(FILE *output, const struct bound *bound, int v)
{
	const struct graph_vertex *vertex = &bound->graph.vertices[v];

	if (vertex->kind < 0)
		fprintf(output, "\t\"t%d\" [shape=point]\n", v);
	else
		fprintf(output, "\t\"t%d\" [label=\"%lu: %s\"]\n", v,
			(unsigned long)vertex->id, bound->kinds[vertex->kind]->name);
}

void starpu_bound_print_dot(FILE *output)
{
	struct bound *bound;

	api_given(__func__, "output", output);
	bound = recorded(__func__);
	if (!bound)
		return;
	if (!bound->has_deps) {
		orr_complain(api_rank(),
			     "starpu_bound_print_dot: dependencies were not recorded; "
			     "call starpu_bound_start(1, 0)");
		return;
	}
	orr_lock(&bound->graph.lock);
	free(graph_order(&bound->graph));
	fprintf(output, "strict digraph bounddeps {\n");
	for (int v = 0; v < bound->graph.nvertices; v++)
		print_vertex(output, bound, v);
	for (int i = 0; i < bound->graph.nedges; i++)
		fprintf(output, "\t\"t%d\" -> \"t%d\"\n", bound->graph.edges[i].from,
			bound->graph.edges[i].to);
	fprintf(output, "}\n");
	orr_unlock(&bound->graph.lock);
}

/* How many tasks of each kind run where, as StarPU prints it; only of program_by_area().
 */
static void print_shares(FILE *output, const struct bound *bound,
			 const struct program *program, const double *values)
{
	size_t n = (size_t)bound->nkinds * (size_t)bound->nworkers;
	double *shares = orr_alloc(n * sizeof(*shares));

	for (int c = 1; c < program->ncolumns; c++) {
		int w, k;

		if (sscanf(program->columns[c].name, "w%dt%dn", &w, &k) == 2)
			shares[k * bound->nworkers + w] = values[c];
	}
	for (int k = 0; k < bound->nkinds; k++) {
		fprintf(output, "%s key %x\n", bound->kinds[k]->name,
			bound->kinds[k]->footprint);
		for (int w = 0; w < bound->nworkers; w++)
			fprintf(output, "\tw%dt%dn %f", w, k,
				shares[k * bound->nworkers + w]);
		fprintf(output, "\n");
	}
	free(shares);
}

static void print_tasks(FILE *output, const struct node *node, struct bound *bound)
{
	double until_s = bound->until_s > 0 ? bound->until_s : plat_now_s(node->plat);

	for (int k = 0; k < bound->nkinds; k++)
		fprintf(output, "%lu tasks %s, footprint %08x%s\n",
			bound->kinds[k]->ntasks, bound->kinds[k]->name,
			bound->kinds[k]->footprint,
			bound->kinds[k]->model ? "" : ", without a model");
	fprintf(output, "Recorded for %f ms\n", 1e3 * (until_s - bound->since_s));
	if (!bound->has_deps)
		return;
	orr_lock(&bound->graph.lock);
	fprintf(output, "Longest chain of tasks: %f ms\n", 1e3 * bound_longest_s(bound));
	orr_unlock(&bound->graph.lock);
}

void starpu_bound_print(FILE *output, int integer)
{
	struct bound *bound;
	struct program program;
	double *values, ms;

	api_given(__func__, "output", output);
	bound = recorded(__func__);
	if (!bound)
		return;
	print_tasks(output, api_node(__func__), bound);
	if (!bound->nkinds || !all_known(api_node(__func__), bound, __func__))
		return;
	make_program(&program, bound, PROGRAM_EACH, integer);
	values = orr_alloc((size_t)program.ncolumns * sizeof(*values));
	ms = solve(api_node(__func__), &program, integer, values, __func__);
	if (ms > 0)
		fprintf(output, "Theoretical minimum execution time: %f ms\n", ms);
	if (ms > 0 && !bound->has_deps)
		print_shares(output, bound, &program, values);
	free(values);
	program_free(&program);
}
