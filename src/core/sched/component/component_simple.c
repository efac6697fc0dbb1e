/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The usual graph, see starpu_sched_component.h: queues, decisions, queues, workers. */
#include <stdlib.h>

#include "base/check.h"
#include "core/sched/component/component.h"

enum { USUAL_NTASKS = 2 };

struct build {
	struct tree *tree;
	const struct simple_decision *decisions;
	int n;
	component_t *deciders[SIMPLE_MOST];    /* those above the places, by decision */
	component_t *learners[SIMPLE_MOST][2]; /* of PERFMODEL: calibrator, no model */
};

static int is_on(int knob, unsigned flags, unsigned flag)
{
	return knob >= 0 ? knob : (flags & flag) != 0;
}

/* ---- what is above --------------------------------------------------- */

static int is_limited(unsigned flags)
{
	return (flags & STARPU_SCHED_SIMPLE_FIFOS_BELOW) &&
	       !(flags & STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT);
}

static component_t *queue_above(struct tree *tree, unsigned flags)
{
	int sorted = is_on(node_knobs(tree->node)->sched_sorted_above, flags,
			   STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO);

	return sorted ? component_prio(&tree->base, NULL)
		      : component_fifo(&tree->base, NULL);
}

static component_t *below(component_t *above, component_t *component)
{
	if (above)
		component_connect(above, component);
	return component;
}

/* What models do not know yet goes to children of its own. */
static component_t *select_by_models(struct build *b, int i, component_t *decider)
{
	struct starpu_sched_tree *tree = &b->tree->base;
	struct starpu_sched_component_perfmodel_select_data data = {
		.calibrator_component = component_calibration(tree, NULL),
		.no_perfmodel_component = component_eager(tree, NULL),
		.perfmodel_component = decider};

	b->learners[i][0] = data.calibrator_component;
	b->learners[i][1] = data.no_perfmodel_component;
	return component_select(tree, &data);
}

/* Returns the first of them; the decider is noted.  Who may refuse a task has a queue
 * above. */
static component_t *build_above(struct build *b, int i, int decides)
{
	const struct simple_decision *d = &b->decisions[i];
	unsigned flags = d->flags;
	int learns = decides && (flags & STARPU_SCHED_SIMPLE_PERFMODEL);
	component_t *first = NULL, *last = NULL;

	if ((flags & STARPU_SCHED_SIMPLE_FIFO_ABOVE) || (learns && is_limited(flags)))
		first = last = queue_above(b->tree, flags);
	for (int k = 0; k < d->npre; k++) {
		last = below(last, d->pre[k].create(&b->tree->base, d->pre[k].data));
		first = first ? first : last;
	}
	b->deciders[i] = decides ? d->create(&b->tree->base, d->data) : NULL;
	if (!decides) {
		b->deciders[i] = last;
		return first;
	}
	last = below(last,
		     learns ? select_by_models(b, i, b->deciders[i]) : b->deciders[i]);
	return first ? first : last;
}

/* ---- what is below --------------------------------------------------- */

/* The first of all cannot refuse anything. */
static component_t *queue_below(struct tree *tree, unsigned flags, int is_first)
{
	const struct knobs *knobs = node_knobs(tree->node);
	int sorted = is_on(knobs->sched_sorted_below, flags,
			   STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO);
	struct starpu_sched_component_prio_data limits = {
		.ready = is_on(knobs->sched_ready, flags,
			       STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY),
		.exp = (flags & STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP) != 0};
	struct starpu_sched_component_fifo_data same;

	if (is_limited(flags) && !is_first) {
		limits.ntasks_threshold = knobs->ntasks_threshold >= 0
						  ? (unsigned)knobs->ntasks_threshold
						  : USUAL_NTASKS;
		limits.exp_len_threshold = knobs->exp_len_threshold;
	}
	same = (struct starpu_sched_component_fifo_data){
		.ntasks_threshold = limits.ntasks_threshold,
		.exp_len_threshold = limits.exp_len_threshold,
		.ready = limits.ready,
		.exp = limits.exp};
	return sorted ? component_prio(&tree->base, &limits)
		      : component_fifo(&tree->base, &same);
}

/* Each decision reaches the place: top is what its workers pull from. */
static void add_place(struct build *b, component_t *top)
{
	component_t *target = top, *stage = NULL;

	if (b->n > 1) {
		stage = component_stage(&b->tree->base, NULL);
		target = below(stage, top) ? stage : top;
	}
	for (int i = 0; i < b->n; i++) {
		unsigned flags = b->decisions[i].flags;
		component_t *first = target;

		if (flags & STARPU_SCHED_SIMPLE_FIFOS_BELOW) {
			first = queue_below(b->tree, flags, !b->deciders[i]);
			component_connect(first, target);
		}
		if (b->deciders[i])
			component_connect(b->deciders[i], first);
		else if (!b->tree->base.root)
			b->tree->base.root = first;
		for (int k = 0; k < 2; k++)
			if (b->learners[i][k])
				component_connect(b->learners[i][k], first);
	}
}

static component_t *worker_top(struct build *b, int id)
{
	component_t *leaf = component_of_worker(b->tree, id);
	component_t *above;

	if (!(b->decisions[0].flags & STARPU_SCHED_SIMPLE_IMPL))
		return leaf;
	above = component_implementation(&b->tree->base, NULL);
	component_connect(above, leaf);
	return above;
}

/* The workers of a place, under one component. */
static component_t *place_of(struct build *b, const int *ids, int n)
{
	struct starpu_sched_tree *tree = &b->tree->base;
	int steals = (b->decisions[0].flags & STARPU_SCHED_SIMPLE_WS_BELOW) != 0;
	component_t *top;

	if (n == 1 && !steals)
		return worker_top(b, ids[0]);
	top = steals ? component_stealing(tree, NULL) : component_eager(tree, NULL);
	for (int i = 0; i < n; i++)
		component_connect(top, worker_top(b, ids[i]));
	return top;
}

static int key_of(const struct worker *worker, unsigned how)
{
	switch (how) {
	case STARPU_SCHED_SIMPLE_DECIDE_WORKERS:
		return worker->id;
	case STARPU_SCHED_SIMPLE_DECIDE_MEMNODES:
		return (int)worker->memory;
	case STARPU_SCHED_SIMPLE_DECIDE_ARCHS:
		return (int)worker->type;
	default:
		return 0;
	}
}

/* Calls add_place(), unless b is only to be counted; returns how many there are. */
static int each_place(struct build *b, int only_counts)
{
	const struct node *node = b->tree->node;
	unsigned how = b->decisions[0].flags & STARPU_SCHED_SIMPLE_DECIDE_MASK;
	char seen[STARPU_NMAXWORKERS] = {0};
	int nplaces = 0;

	for (int first = 0; first < node->nworkers; first++) {
		int ids[STARPU_NMAXWORKERS], n = 0;

		for (int i = first; i < node->nworkers && !seen[first]; i++)
			if (key_of(&node->workers[i], how) ==
			    key_of(&node->workers[first], how))
				ids[n++] = i;
		if (n == 0)
			continue;
		for (int i = 0; i < n; i++)
			seen[ids[i]] = 1;
		nplaces++;
		if (!only_counts)
			add_place(b, place_of(b, ids, n));
	}
	return nplaces;
}

/* Processors together: all of them, then halves of halves. */
static void add_teams(struct build *b, const int *ids, int n)
{
	component_t *team;

	if (n < 2)
		return;
	team = component_of_team(b->tree, ids, n);
	if (!team)
		return;
	add_place(b, team);
	add_teams(b, ids, n / 2);
	add_teams(b, ids + n / 2, n - n / 2);
}

static void add_all_teams(struct build *b)
{
	const struct node *node = b->tree->node;
	int ids[STARPU_NMAXWORKERS], n = 0;

	for (int i = 0; i < node->nworkers; i++)
		if (node->workers[i].type == STARPU_CPU_WORKER)
			ids[n++] = i;
	add_teams(b, ids, n);
}

/* ---- all of it ------------------------------------------------------- */

void simple_build(struct tree *tree, const struct simple_decision *decisions, int n)
{
	struct build b = {.tree = tree, .decisions = decisions, .n = n};
	unsigned flags = decisions[0].flags;
	int teams = (flags & STARPU_SCHED_SIMPLE_COMBINED_WORKERS) != 0;
	int decides = teams || (flags & STARPU_SCHED_SIMPLE_DECIDE_ALWAYS) ||
		      each_place(&b, 1) > 1;
	component_t *choice = NULL;

	tree_enter(tree);
	if (n > 1)
		choice = tree->base.root = component_choice(&tree->base, NULL);
	for (int i = 0; i < n; i++) {
		component_t *first = build_above(&b, i, decides || n > 1);

		if (choice)
			component_connect(choice, first);
		else
			tree->base.root = first;
	}
	each_place(&b, 0);
	if (teams)
		add_all_teams(&b);
	tree_update_workers(tree);
	tree_leave(tree);
}
