/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/bound/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/sched/ranks.h"
#include "core/model/hash.h"
#include "core/model/model_query.h"
#include "core/model/model_store.h"
#include "core/task/task.h"
#include "core/worker.h"

/* ---- classes of workers ------------------------------------------------ */

static int same_arch(const struct worker *a, const struct worker *b)
{
	const struct starpu_perfmodel_arch *x = &a->arch, *y = &b->arch;

	if (x->ndevices != y->ndevices)
		return 0;
	for (int i = 0; i < x->ndevices; i++)
		if (x->devices[i].type != y->devices[i].type ||
		    x->devices[i].devid != y->devices[i].devid ||
		    x->devices[i].ncores != y->devices[i].ncores)
			return 0;
	return 1;
}

static void find_classes(struct bound *bound, struct node *node)
{
	size_t n = (size_t)node->nworkers;

	bound->nworkers = node->nworkers;
	bound->classes = orr_alloc(n * sizeof(*bound->classes));
	bound->class_of = orr_alloc(n * sizeof(*bound->class_of));
	for (int i = 0; i < node->nworkers; i++) {
		struct worker *worker = &node->workers[i];
		int c = 0;

		while (c < bound->nclasses &&
		       !same_arch(worker, bound->classes[c].worker))
			c++;
		if (c == bound->nclasses)
			bound->classes[bound->nclasses++].worker = worker;
		bound->classes[c].n++;
		bound->class_of[i] = c;
	}
}

/* ---- kinds of tasks ---------------------------------------------------- */

static struct starpu_perfmodel *model_of(const struct starpu_task *task)
{
	struct starpu_perfmodel *model = task->cl->model;

	return model && model->type != STARPU_PERFMODEL_INVALID ? model : NULL;
}

/* The fastest implementation; negative: it cannot run there, NAN: nobody knows. */
static double expected_s(struct worker *worker, struct job *job)
{
	struct starpu_task *task = job->task;
	double best_s = NAN;
	int can_run = 0;

	if (!worker_can_run_job(worker, job))
		return -1;
	for (unsigned i = worker_next_implementation(worker, task, 0);
	     i < STARPU_MAXIMPLEMENTATIONS;
	     i = worker_next_implementation(worker, task, i + 1)) {
		struct model_estimate estimate = model_expect(worker, task, i);

		can_run = 1;
		if (estimate.source != MODEL_NONE && !(best_s <= estimate.seconds))
			best_s = estimate.seconds;
	}
	return can_run ? best_s : -1;
}

static int is_measured(const struct bound_kind *kind)
{
	return kind->model && kind->model->type >= STARPU_HISTORY_BASED;
}

static int same_kind(const struct bound *bound, const struct bound_kind *a,
		     const struct bound_kind *b)
{
	if (a->cl != b->cl || a->model != b->model || a->footprint != b->footprint ||
	    strcmp(a->name, b->name) != 0)
		return 0;
	for (int i = 0; i < bound->nclasses; i++) {
		if ((a->seconds[i] < 0) != (b->seconds[i] < 0))
			return 0;
		/* What is measured changes as it is calibrated. */
		if (!is_measured(a) && a->seconds[i] != b->seconds[i] &&
		    !(isnan(a->seconds[i]) && isnan(b->seconds[i])))
			return 0;
	}
	return 1;
}

static struct bound_kind *kind_of_task(const struct bound *bound, struct job *job)
{
	struct starpu_task *task = job->task;
	size_t bytes = (size_t)bound->nclasses * sizeof(double);
	struct bound_kind *kind = orr_alloc(sizeof(*kind) + bytes);
	const char *symbol;

	kind->cl = task->cl;
	kind->model = model_of(task);
	symbol = kind->model ? kind->model->symbol : NULL;
	kind->name = orr_strdup(symbol ? symbol : task_name(task));
	kind->footprint = model_footprint(kind->model, task);
	for (int i = 0; i < bound->nclasses; i++)
		kind->seconds[i] = expected_s(bound->classes[i].worker, job);
	return kind;
}

static void kind_free(struct bound_kind *kind)
{
	free(kind->name);
	free(kind);
}

static void learn(const struct bound *bound, struct bound_kind *kind,
		  const struct bound_kind *later)
{
	for (int i = 0; i < bound->nclasses; i++)
		if (later->seconds[i] >= 0)
			kind->seconds[i] = later->seconds[i];
}

/* Takes kind; returns the number of the one that it is. */
static int add_kind(struct bound *bound, struct bound_kind *kind)
{
	uint64_t hash = (uint64_t)kind->footprint << 32 ^ (uint64_t)(uintptr_t)kind->cl;
	int at = (int)(intptr_t)table_get(&bound->by_hash, hash) - 1;

	kind->next = at;
	for (; at >= 0; at = bound->kinds[at]->next)
		if (same_kind(bound, bound->kinds[at], kind)) {
			learn(bound, bound->kinds[at], kind);
			kind_free(kind);
			return at;
		}
	if (bound->nkinds == bound->room_kinds) {
		bound->room_kinds = 2 * bound->room_kinds + 16;
		bound->kinds = orr_realloc(bound->kinds, (size_t)bound->room_kinds *
								 sizeof(*bound->kinds));
	}
	bound->kinds[bound->nkinds++] = kind;
	table_put(&bound->by_hash, hash, (void *)(intptr_t)bound->nkinds);
	return bound->nkinds - 1;
}

static void record_task(struct job *job)
{
	struct bound *bound = job->node->bound;
	struct bound_kind *kind = NULL;
	int at = -1;

	if (job->task->cl && job->where != STARPU_NOWHERE)
		kind = kind_of_task(bound, job);
	orr_lock(&bound->graph.lock);
	if (kind) {
		at = add_kind(bound, kind);
		bound->kinds[at]->ntasks++;
	}
	if (bound->has_deps)
		graph_task(&bound->graph, job, at);
	orr_unlock(&bound->graph.lock);
}

void bound_task(struct job *job)
{
	int records = orr_load(&job->node->is_bounding);

	if (records & RECORD_BOUND)
		record_task(job);
	if (records & RECORD_RANKS)
		ranks_task(job);
}

/* ---- what models know by now ------------------------------------------- */

int bound_knows(const struct bound *bound, const struct bound_kind *kind)
{
	for (int i = 0; i < bound->nclasses; i++)
		if (kind->seconds[i] >= 0)
			return 1;
	return !kind->model;
}

double bound_seconds(const struct bound_kind *kind, int class)
{
	if (!kind->model && isnan(kind->seconds[class]))
		return 0;
	return kind->seconds[class];
}

static double measured_s(struct worker *worker, const struct bound_kind *kind)
{
	double best_us = NAN;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		double us = model_measured_us(worker, kind->model, i, kind->footprint);

		if (us >= 0 && !(best_us <= us))
			best_us = us;
	}
	return best_us * 1e-6;
}

void bound_refresh(struct bound *bound)
{
	for (int k = 0; k < bound->nkinds; k++) {
		struct bound_kind *kind = bound->kinds[k];

		if (!is_measured(kind))
			continue;
		for (int i = 0; i < bound->nclasses; i++) {
			double seconds = measured_s(bound->classes[i].worker, kind);

			if (!(kind->seconds[i] < 0) && seconds >= 0)
				kind->seconds[i] = seconds;
		}
	}
}

static double least_s(const struct bound *bound, int vertex)
{
	const struct bound_kind *kind;
	double least = INFINITY;

	if (bound->graph.vertices[vertex].kind < 0)
		return 0;
	kind = bound->kinds[bound->graph.vertices[vertex].kind];
	for (int i = 0; i < bound->nclasses; i++)
		if (bound_seconds(kind, i) >= 0 && bound_seconds(kind, i) < least)
			least = bound_seconds(kind, i);
	return isinf(least) ? 0 : least;
}

double bound_longest_s(struct bound *bound)
{
	int *order = graph_order(&bound->graph), *first = graph_index(&bound->graph);
	double *start_s =
		orr_alloc(((size_t)bound->graph.nvertices + 1) * sizeof(*start_s));
	double longest_s = 0;

	for (int at = 0; at < bound->graph.nvertices; at++) {
		int v = order[at];
		double end_s = start_s[v] + least_s(bound, v);

		longest_s = fmax(longest_s, end_s);
		for (int i = first[v]; i < first[v + 1]; i++)
			start_s[bound->graph.edges[i].to] =
				fmax(start_s[bound->graph.edges[i].to], end_s);
	}
	free(start_s);
	free(first);
	free(order);
	return longest_s;
}

/* ---- its life ---------------------------------------------------------- */

/* The lock and the classes stay. */
static void forget(struct bound *bound)
{
	for (int i = 0; i < bound->nkinds; i++)
		kind_free(bound->kinds[i]);
	free(bound->kinds);
	table_free(&bound->by_hash);
	bound->by_hash = (struct table){0};
	bound->kinds = NULL;
	bound->nkinds = bound->room_kinds = 0;
	graph_free(&bound->graph);
}

void bound_start(struct node *node, int deps, int prio)
{
	struct bound *bound = node->bound;

	bound_stop(node);
	if (!bound) {
		bound = orr_alloc(sizeof(*bound));
		orr_lock_init(&bound->graph.lock);
		find_classes(bound, node);
		node->bound = bound;
	}
	orr_lock(&bound->graph.lock);
	forget(bound);
	bound->has_deps = bound->graph.is_on = deps != 0;
	bound->has_prio = deps && prio;
	bound->since_s = plat_now_s(node->plat);
	bound->until_s = 0;
	orr_unlock(&bound->graph.lock);
	bound->is_on = 1;
	orr_add(&node->is_bounding, RECORD_BOUND);
}

void bound_stop(struct node *node)
{
	struct bound *bound = node->bound;

	if (!bound || !bound->is_on)
		return;
	bound->is_on = 0;
	orr_add(&node->is_bounding, -RECORD_BOUND);
	bound->until_s = plat_now_s(node->plat);
}

void bound_free(struct node *node)
{
	struct bound *bound = node->bound;

	bound_stop(node);
	node->bound = NULL;
	if (!bound)
		return;
	forget(bound);
	free(bound->classes);
	free(bound->class_of);
	free(bound);
}
