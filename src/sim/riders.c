/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>

#include "solver_parts.h"

/*
 * riders.c - short flows, whose bytes take next to no time beside their latency.
 *
 * A rider goes at the rate that it would have, and all others keep theirs: what it takes
 * from them is less than can be told.  It rides at most for a part of its latency, and
 * not where another one is still riding, so that this bounds what its date may be wrong
 * by.
 */
#define RIDING 0.01
/* Among longer flows on full links, whose shares hardly change by another rider. */
#define RIDING_LOADED 0.02

int riders_take(struct flow *flow)
{
	struct solver *solver = flow->solver;

	if (flow->left_bytes > flow->bound * RIDING * flow->latency_s)
		return 0;
	flow->next = NULL;
	*(solver->hoping ? &solver->last_hoping->next : &solver->hoping) = flow;
	solver->last_hoping = flow;
	solver_settle_soon(solver);
	return 1;
}

/* The level of those that would ride. */
static double level_for(const struct link *link)
{
	double room = link->bytes_per_s - link->load;
	double even = link->bytes_per_s / (link->all_weight + link->hoping_weight);

	room += link->nheld > 0 ? link->level * link->held_weight : 0;
	return fmax(room / (link->held_weight + link->hoping_weight), even);
}

/* How long its bytes take if it rides, after the one that does; INFINITY: it may not. */
static double ride_s(const struct flow *flow, double now_s)
{
	double most = flow->bound * flow->penalty, level = most, wait_s = 0;
	double work = flow->left_bytes * flow->penalty;

	for (int i = 0; i < flow->nuses; i++) {
		const struct link *link = flow->uses[i].link;

		wait_s = fmax(wait_s, link->ridden_until_s - now_s);
		level = fmin(level, level_for(link));
		most = fmin(most, link->bytes_per_s / link->hoping_weight);
	}
	if (wait_s + work / most > RIDING * flow->latency_s ||
	    wait_s + work / level > RIDING_LOADED * flow->latency_s)
		return INFINITY;
	return wait_s + work / level;
}

static void on_ridden(struct plat_timer *timer)
{
	solver_end(ORR_CONTAINER(timer, struct flow, event));
}

static void ride(struct flow *flow, double until_s)
{
	for (int i = 0; i < flow->nuses; i++)
		flow->uses[i].link->ridden_until_s =
			fmax(flow->uses[i].link->ridden_until_s, until_s);
	flow->event.fire = on_ridden;
	calendar_add(flow->solver->sim, &flow->event, until_s);
}

static void add_hope(struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++)
		flow->uses[i].link->hoping_weight += flow->uses[i].weight;
}

static void remove_hope(struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++) {
		flow->uses[i].link->hoping_weight = 0;
		flow->uses[i].link->is_refused = 0;
	}
}

static void refuse(struct flow *flow)
{
	flow->updated_s = INFINITY;
	for (int i = 0; i < flow->nuses; i++)
		flow->uses[i].link->is_refused = 1;
}

static int meets_refused(const struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++)
		if (flow->uses[i].link->is_refused)
			return 1;
	return 0;
}

/* Those of one date that share a link ride together, or enter it together: the rates of
 * who enters do not count on who rides. */
static void refuse_companions(struct solver *solver)
{
	int have_changed;

	do {
		have_changed = 0;
		for (struct flow *flow = solver->hoping; flow; flow = flow->next)
			if (flow->updated_s < INFINITY && meets_refused(flow)) {
				refuse(flow);
				have_changed = 1;
			}
	} while (have_changed);
}

static void look(struct solver *solver)
{
	int is_refused = 0;

	for (struct flow *flow = solver->hoping; flow; flow = flow->next)
		add_hope(flow);
	for (struct flow *flow = solver->hoping; flow; flow = flow->next) {
		flow->updated_s = solver->sim->now_s + ride_s(flow, solver->sim->now_s);
		if (flow->updated_s < INFINITY)
			continue;
		refuse(flow);
		is_refused = 1;
	}
	if (is_refused && solver->hoping->next)
		refuse_companions(solver);
	for (struct flow *flow = solver->hoping; flow; flow = flow->next)
		remove_hope(flow);
}

void riders_start(struct solver *solver)
{
	struct flow *next;

	look(solver);
	for (struct flow *flow = solver->hoping; flow; flow = next) {
		double until_s = flow->updated_s;

		next = flow->next;
		flow->updated_s = solver->sim->now_s;
		if (until_s < INFINITY)
			ride(flow, until_s);
		else
			solver_enter(flow);
	}
	solver->hoping = NULL;
}
