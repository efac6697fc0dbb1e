/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver_parts.h"

/*
 * solver.c - flows that share links.
 *
 * Fair means max-min, as in SimGrid.  A flow's level is its rate times its penalty; it
 * loads a link with its level times the weight of its use.  A flow is as fast as its
 * bound, or some full link holds it: no flow on that link has a higher level.  Where
 * this is true of every flow, the rates are the fair ones.
 *
 * When flows enter or leave, one event at the same date rates a region anew: first those
 * that entered, and those held by a link that has room now.  Their rates are found as if
 * all others kept theirs; then whoever would break the rule by keeping its rate joins
 * the region, until nobody does.  So a change costs what it reaches.
 */

/* So many rates are expected ahead. */
enum { RATES_AHEAD = 4 };

/* Make room for one more element in an array of pointers. */
#define RESERVE(array, n, capacity)                                                      \
	do {                                                                             \
		if ((n) == (capacity)) {                                                 \
			(capacity) = (capacity) ? 2 * (capacity) : 64;                   \
			(array) = orr_realloc((array), (capacity) * sizeof(*(array)));   \
		}                                                                        \
	} while (0)

/* ---- membership ------------------------------------------------------ */

void solver_settle_soon(struct solver *solver)
{
	if (!calendar_has(&solver->settle))
		calendar_add(solver->sim, &solver->settle, solver->sim->now_s);
}

static void mark(struct solver *solver, struct link *link)
{
	if (link->marked)
		return;
	link->marked = 1;
	RESERVE(solver->marked, solver->nmarked, solver->marked_capacity);
	solver->marked[solver->nmarked++] = link;
	solver_settle_soon(solver);
}

static double level_of(const struct flow *flow)
{
	return flow->rate * flow->penalty;
}

/* Forget the places of members that have left. */
static void close_ranks(struct link *link)
{
	unsigned n = 0;

	for (unsigned i = 0; i < link->nmembers; i++) {
		struct member *member = &link->members[i];

		if (!member->flow)
			continue;
		member->flow->uses[member->use].at = n;
		link->members[n++] = *member;
	}
	link->nmembers = n;
	link->ngaps = 0;
}

static void enlarge_members(struct near *near, struct link *link)
{
	unsigned before = link->members_capacity;
	struct member *members;

	link->members_capacity = before ? 2 * before : 4;
	members = near_get(near, link->members_capacity * sizeof(*members));
	if (before)
		memcpy(members, link->members, before * sizeof(*members));
	near_put(near, link->members, before * sizeof(*members));
	link->members = members;
}

static void add_member(struct link *link, struct flow *flow, int use)
{
	if (link->nmembers == link->members_capacity && 2 * link->ngaps >= link->nmembers)
		close_ranks(link);
	if (link->nmembers == link->members_capacity)
		enlarge_members(&flow->solver->near, link);
	flow->uses[use].at = link->nmembers;
	link->members[link->nmembers++] = (struct member){
		.flow = flow, .weight = flow->uses[use].weight, .use = (short)use};
	link->most += flow->bound * flow->penalty * flow->uses[use].weight;
	link->all_weight += flow->uses[use].weight;
}

static void remove_member(struct link *link, unsigned at)
{
	link->members[at] = (struct member){0};
	link->ngaps++;
	while (link->nmembers > 0 && !link->members[link->nmembers - 1].flow) {
		link->nmembers--;
		link->ngaps--;
	}
	if (link->ngaps > 16 && 2 * link->ngaps > link->nmembers)
		close_ranks(link);
}

void solver_enter(struct flow *flow)
{
	struct solver *solver = flow->solver;

	for (int i = 0; i < flow->nuses; i++)
		add_member(flow->uses[i].link, flow, i);
	RESERVE(solver->entered, solver->nentered, solver->entered_capacity);
	solver->entered[solver->nentered++] = flow;
	solver_settle_soon(solver);
}

static void let_go(struct flow *flow)
{
	if (flow->held_by != UNHELD) {
		struct link *link = flow->uses[flow->held_by].link;

		if (--link->nheld == 0)
			link->level = INFINITY;
	}
	flow->held_by = UNHELD;
}

static void leave_links(struct flow *flow)
{
	let_go(flow);
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];
		struct link *link = use->link;

		remove_member(link, use->at);
		link->load -= level_of(flow) * use->weight;
		link->most -= flow->bound * flow->penalty * use->weight;
		link->all_weight -= use->weight;
		if (link->nmembers == 0) /* Rounding must not add up. */
			link->load = link->most = link->all_weight = 0;
		if (link->nheld > 0)
			mark(flow->solver, link);
	}
}

/* ---- rates ----------------------------------------------------------- */

static int changes(const struct flow *flow, double rate)
{
	return !(fabs(rate - flow->rate) <= 1e-9 * rate);
}

/* What set_rate() will write to lies all over the memory. */
static void expect_rate(const struct resident *resident)
{
	const struct flow *flow = resident->flow;

	if (!changes(flow, resident->level / flow->penalty))
		return;
	__builtin_prefetch(flow, 1);
	for (int i = 0; i < flow->nuses; i++)
		__builtin_prefetch(&flow->uses[i].link->members[flow->uses[i].at], 1);
}

static void set_rate(struct flow *flow, double rate, double now_s)
{
	struct sim *sim = flow->solver->sim;
	double change;

	if (!changes(flow, rate))
		return;
	flow->left_bytes -= flow->rate * (now_s - flow->updated_s);
	if (flow->left_bytes < 0)
		flow->left_bytes = 0;
	change = (rate - flow->rate) * flow->penalty;
	flow->rate = rate;
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];

		use->link->load += change * use->weight;
		use->link->members[use->at].level = level_of(flow);
	}
	flow->updated_s = now_s;
	calendar_move(sim, &flow->event, now_s + flow->left_bytes / rate);
}

static void begin_region(struct solver *solver)
{
	region_begin(solver);
	for (size_t i = 0; i < solver->nentered; i++)
		region_add(solver, solver->entered[i]);
	for (size_t i = 0; i < solver->nmarked; i++) {
		struct link *link = solver->marked[i];

		link->marked = 0;
		if (link->nheld > 0 && link->load < link->bytes_per_s * (1 - TOLERANCE))
			region_add_held(solver, link);
	}
	solver->nentered = solver->nmarked = 0;
}

static void mark_held(const struct flow *flow, int use, short is_held)
{
	if (use != UNHELD)
		flow->uses[use].link->members[flow->uses[use].at].is_held = is_held;
}

/* Of the flow's links at most one is said to hold it.  That which did has let it go since
 * the flow joined the region, but for what its member says. */
static void hold(struct flow *flow, int held_by)
{
	if (flow->held_by != held_by) {
		mark_held(flow, flow->held_by, 0);
		mark_held(flow, held_by, 1);
		flow->held_by = held_by;
	}
	if (held_by != UNHELD)
		flow->uses[held_by].link->nheld++;
}

static void end_region(const struct solver *solver)
{
	const struct region *region = &solver->region;

	for (unsigned i = 0; i < region->ntanks; i++) {
		const struct tank *tank = &region->tanks[i];

		if (tank->nheld == 0)
			tank->link->level = tank->new_level;
	}
	for (unsigned i = 0; i < region->nresidents && i < RATES_AHEAD; i++)
		expect_rate(&region->residents[i]);
	for (unsigned i = 0; i < region->nresidents; i++) {
		const struct resident *resident = &region->residents[i];
		struct flow *flow = resident->flow;

		if (i + RATES_AHEAD < region->nresidents)
			expect_rate(resident + RATES_AHEAD);
		hold(flow, resident->held_by);
		set_rate(flow, resident->level / flow->penalty, solver->sim->now_s);
	}
}

static void settle(struct plat_timer *timer)
{
	struct solver *solver = ORR_CONTAINER(timer, struct solver, settle);

	begin_region(solver);
	if (solver->region.nresidents > 0) {
		region_rate(solver);
		end_region(solver);
	}
	riders_start(solver);
}

/* ---- life ------------------------------------------------------------ */

static size_t flow_bytes(int nuses)
{
	return sizeof(struct flow) + (size_t)nuses * sizeof(struct use);
}

void solver_end(struct flow *flow)
{
	void (*done)(void *arg) = flow->done;
	void *arg = flow->arg;

	near_put(&flow->solver->near, flow, flow_bytes(flow->nuses));
	done(arg);
}

static void on_end(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);

	leave_links(flow);
	solver_end(flow);
}

void solver_reenter(struct flow *flow)
{
	flow->event.fire = on_end;
	solver_enter(flow);
}

static void on_enter(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	double now_s = flow->solver->sim->now_s;

	flow->event.fire = on_end;
	flow->updated_s = now_s;
	riders_meet(flow);
	if (flow->nuses > 0 && riders_take(flow))
		return;
	if (flow->nuses > 0)
		solver_enter(flow);
	else if (isinf(flow->bound))
		on_end(timer); /* a way without links takes no time */
	else
		set_rate(flow, flow->bound, now_s);
}

struct link *solver_link(struct solver *solver, const void *key, double bytes_per_s)
{
	struct link *link = table_get(&solver->links, (uint64_t)(uintptr_t)key);

	if (!link) {
		link = near_get(&solver->near, sizeof(*link));
		*link = (struct link){.bytes_per_s = bytes_per_s, .level = INFINITY};
		table_put(&solver->links, (uint64_t)(uintptr_t)key, link);
	}
	return link;
}

static struct flow *make_flow(struct solver *solver, int nuses)
{
	struct flow *flow = near_get(&solver->near, flow_bytes(nuses));

	*flow = (struct flow){.solver = solver, .nuses = nuses, .held_by = UNHELD};
	return flow;
}

/* It will be asked for soon. */
static void expect_link(struct link *link)
{
	__builtin_prefetch(link, 1);
	__builtin_prefetch(&link->all_weight, 1);
}

void solver_start(struct solver *solver, const struct flow_spec *spec, double start_s)
{
	const struct flow_route *route = spec->route;
	struct flow *flow = make_flow(solver, route->nlinks);

	flow->event.fire = on_enter;
	flow->left_bytes = spec->bytes;
	flow->penalty = route->penalty;
	flow->bound = route->bound;
	flow->latency_s = spec->latency_s;
	flow->done = spec->done;
	flow->arg = spec->arg;
	for (int i = 0; i < route->nlinks; i++) {
		flow->uses[i] = (struct use){.link = route->links[i].link,
					     .weight = route->links[i].weight};
		expect_link(route->links[i].link);
	}
	calendar_add(solver->sim, &flow->event, start_s + spec->latency_s);
}

struct solver *solver_new(struct sim *sim)
{
	struct solver *solver = orr_alloc(sizeof(*solver));

	solver->sim = sim;
	solver->settle.fire = settle;
	return solver;
}

void solver_free(struct solver *solver)
{
	size_t cursor = 0;
	struct link *link;

	if (!solver)
		return;
	while ((link = table_next(&solver->links, &cursor)))
		near_put(&solver->near, link->members,
			 link->members_capacity * sizeof(*link->members));
	near_free(&solver->near);
	table_free(&solver->links);
	free(solver->marked);
	free(solver->entered);
	region_free(&solver->region);
	free(solver);
}
