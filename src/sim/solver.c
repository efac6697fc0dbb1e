/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver_parts.h"

#include "base/check.h"

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
 *
 * Flows of one route have one rate.  They are a stream, which is rated, held by a link
 * and a member of its links as one, of the weight of all its flows.
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

static double level_of(const struct stream *stream)
{
	return stream->rate * stream->penalty;
}

/* Forget the places of members that have left. */
static void close_ranks(struct link *link)
{
	unsigned n = 0;

	for (unsigned i = 0; i < link->nmembers; i++) {
		struct member *member = &link->members[i];

		if (!member->stream)
			continue;
		member->stream->uses[member->use].at = n;
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

static void add_member(struct link *link, struct stream *stream, int use)
{
	if (link->nmembers == link->members_capacity && 2 * link->ngaps >= link->nmembers)
		close_ranks(link);
	if (link->nmembers == link->members_capacity)
		enlarge_members(&stream->solver->near, link);
	stream->uses[use].at = link->nmembers;
	link->members[link->nmembers++] =
		(struct member){.stream = stream, .use = (short)use};
}

static void remove_member(struct link *link, unsigned at)
{
	link->members[at] = (struct member){0};
	link->ngaps++;
	while (link->nmembers > 0 && !link->members[link->nmembers - 1].stream) {
		link->nmembers--;
		link->ngaps--;
	}
	if (link->ngaps > 16 && 2 * link->ngaps > link->nmembers)
		close_ranks(link);
}

static void on_first_end(struct plat_timer *timer);

static size_t stream_bytes(int nuses)
{
	return sizeof(struct stream) + (size_t)nuses * sizeof(struct use);
}

static struct stream *make_stream(struct flow_route *route)
{
	int nuses = route->nlinks;
	struct solver *solver = route->solver;
	struct stream *stream = near_get(&solver->near, stream_bytes(nuses));

	*stream = (struct stream){.event.fire = on_first_end,
				  .solver = solver,
				  .updated_s = solver->sim->now_s,
				  .penalty = route->penalty,
				  .bound = route->bound,
				  .held_by = UNHELD,
				  .nuses = nuses,
				  .route = route};
	for (int i = 0; i < nuses; i++) {
		stream->uses[i].link = route->links[i].link;
		add_member(stream->uses[i].link, stream, i);
	}
	route->stream = stream;
	return stream;
}

/* The next settling rates it. */
static void note_entered(struct stream *stream)
{
	struct solver *solver = stream->solver;

	if (stream->has_entered)
		return;
	stream->has_entered = 1;
	RESERVE(solver->entered, solver->nentered, solver->entered_capacity);
	solver->entered[solver->nentered++] = stream;
	solver_settle_soon(solver);
}

/* As fast as it is, it has so many flows more. */
static void change_nflows(struct stream *stream, int nmore)
{
	const struct flow_link *links = stream->route->links;
	double most = stream->bound * stream->penalty, level = level_of(stream);

	stream->nflows += (unsigned)nmore;
	for (int i = 0; i < stream->nuses; i++) {
		struct use *use = &stream->uses[i];
		double more = links[i].weight * nmore;

		use->weight = links[i].weight * stream->nflows;
		use->link->load += level * more;
		use->link->most += most * more;
		use->link->all_weight += more;
		use->link->members[use->at].weight = use->weight;
	}
}

void solver_enter(struct flow *flow)
{
	struct stream *stream = flow->route->stream;
	struct sim *sim = flow->route->solver->sim;

	if (stream)
		stream_catch_up(stream, sim->now_s);
	else
		stream = make_stream(flow->route);
	if (stream_put(stream, flow) && stream->rate > 0)
		stream_end_at(stream, sim->now_s + stream->left_bytes / stream->rate);
	change_nflows(stream, 1);
	note_entered(stream);
}

static void let_go(struct stream *stream)
{
	if (stream->held_by != UNHELD) {
		struct link *link = stream->uses[stream->held_by].link;

		if (--link->nheld == 0)
			link->level = INFINITY;
	}
	stream->held_by = UNHELD;
}

/* All its flows have. */
static void leave_links(struct stream *stream)
{
	let_go(stream);
	for (int i = 0; i < stream->nuses; i++) {
		struct link *link = stream->uses[i].link;

		remove_member(link, stream->uses[i].at);
		if (link->nmembers == 0) /* Rounding must not add up. */
			link->load = link->most = link->all_weight = 0;
	}
}

/* It may be that one came at this date, and all end. */
static void forget_entered(struct stream *stream)
{
	struct solver *solver = stream->solver;

	for (size_t i = 0; stream->has_entered && i < solver->nentered; i++)
		if (solver->entered[i] == stream)
			solver->entered[i--] = solver->entered[--solver->nentered];
}

static void free_stream(struct stream *stream)
{
	forget_entered(stream);
	stream->route->stream = NULL;
	stream_close(stream);
	near_put(&stream->solver->near, stream, stream_bytes(stream->nuses));
}

/* ---- rates ----------------------------------------------------------- */

static int changes(const struct stream *stream, double rate)
{
	return !(fabs(rate - stream->rate) <= 1e-9 * rate);
}

/* What set_rate() will write to lies all over the memory; most rates change. */
static void expect_rate(const struct resident *resident)
{
	const struct stream *stream = resident->stream;

	orr_bring(stream);
	for (int i = 0; i < stream->nuses; i++)
		orr_bring(&stream->uses[i].link->members[stream->uses[i].at]);
}

static void set_rate(struct stream *stream, double rate, double now_s)
{
	double change;

	if (!changes(stream, rate))
		return;
	stream_catch_up(stream, now_s);
	change = (rate - stream->rate) * stream->penalty;
	stream->rate = rate;
	for (int i = 0; i < stream->nuses; i++) {
		struct use *use = &stream->uses[i];

		use->link->load += change * use->weight;
		use->link->members[use->at].level = level_of(stream);
	}
	stream_end_at(stream, now_s + stream->left_bytes / rate);
}

static void begin_region(struct solver *solver)
{
	region_begin(solver);
	for (size_t i = 0; i < solver->nentered; i++) {
		solver->entered[i]->has_entered = 0;
		region_add(solver, solver->entered[i]);
	}
	for (size_t i = 0; i < solver->nmarked; i++) {
		struct link *link = solver->marked[i];

		link->marked = 0;
		if (link->nheld > 0 && link->load < link->bytes_per_s * (1 - TOLERANCE))
			region_add_held(solver, link);
	}
	solver->nentered = solver->nmarked = 0;
}

static void mark_held(const struct stream *stream, int use, short is_held)
{
	if (use != UNHELD)
		stream->uses[use].link->members[stream->uses[use].at].is_held = is_held;
}

/* Of the stream's links at most one is said to hold it.  That which did has let it go
 * since the stream joined the region, but for what its member says. */
static void hold(struct stream *stream, int held_by)
{
	if (stream->held_by != held_by) {
		mark_held(stream, stream->held_by, 0);
		mark_held(stream, held_by, 1);
		stream->held_by = held_by;
	}
	if (held_by != UNHELD)
		stream->uses[held_by].link->nheld++;
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
		struct stream *stream = resident->stream;

		if (i + RATES_AHEAD < region->nresidents)
			expect_rate(resident + RATES_AHEAD);
		hold(stream, resident->held_by);
		set_rate(stream, resident->level / stream->penalty, solver->sim->now_s);
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

void solver_end(struct flow *flow)
{
	void (*done)(void *arg) = flow->done;
	void *arg = flow->arg;
	struct flow_route *route = flow->route;

	route->nflows--;
	near_put(&route->solver->near, flow, sizeof(*flow));
	done(arg);
}

static void on_through(struct plat_timer *timer)
{
	solver_end(ORR_CONTAINER(timer, struct flow, event));
}

/* A link that held flows has room. */
static void mark_links(const struct stream *stream)
{
	for (int i = 0; i < stream->nuses; i++)
		if (stream->uses[i].link->nheld > 0)
			mark(stream->solver, stream->uses[i].link);
}

/* Those that end with it do before anybody is rated anew. */
static void on_first_end(struct plat_timer *timer)
{
	struct stream *stream = ORR_CONTAINER(timer, struct stream, event);
	struct sim *sim = stream->solver->sim;
	struct flow *first = stream->first, *flow;
	int nended = 1;

	orr_bring(first->arg); /* Whose end it is has waited long. */
	orr_bring((const char *)first->arg + ORR_LINE_BYTES);
	for (; (flow = stream_pop_companion(stream)); nended++) {
		flow->event.fire = on_through;
		flow_end_at(flow, sim->now_s);
	}
	change_nflows(stream, -nended);
	if (stream->nflows == 0)
		leave_links(stream);
	mark_links(stream);
	if (stream->nflows == 0) {
		free_stream(stream);
	} else {
		stream_next(stream, sim->now_s);
		stream_end_at(stream, sim->now_s + stream->left_bytes / stream->rate);
	}
	solver_end(first);
}

static void on_enter(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	const struct flow_route *route = flow->route;
	struct sim *sim = route->solver->sim;

	riders_meet(flow);
	if (route->nlinks > 0 && riders_take(flow))
		return;
	if (route->nlinks > 0) {
		solver_enter(flow);
	} else if (isinf(route->bound)) {
		solver_end(flow); /* a way without links takes no time */
	} else {
		flow->event.fire = on_through;
		flow_end_at(flow, sim->now_s + flow->left_bytes / route->bound);
	}
}

/* The first flow's owner is told at the end: its steps come behind the stream's. */
static int expect_flow_ends(const struct plat_timer *timer, unsigned step)
{
	const struct stream *stream = ORR_CONTAINER(timer, const struct stream, event);
	const struct flow *first = stream->first;

	if (step == 0) {
		orr_bring_lines(first, sizeof(*first));
		orr_bring(stream->others);
		orr_bring(stream->route);
		for (int i = 0; i < stream->nuses; i++)
			orr_bring(stream->uses[i].link);
	} else if (step == 1) {
		orr_bring_lines(first->arg, 4 * ORR_LINE_BYTES);
		if (stream->others)
			orr_bring(stream->others->keys);
		for (int i = 0; i < stream->nuses; i++)
			orr_bring(&stream->uses[i].link->members[stream->uses[i].at]);
	} else {
		if (step == 2 && stream->others && stream->others->count > 0)
			orr_bring_lines(stream->others->keys[0].entry, sizeof(*first));
		if (first->expect)
			first->expect(first->arg, (int)step - 2);
	}
	return step < 6;
}

const struct scout_kind scout_flow_ends = {on_first_end, expect_flow_ends};

static int expect_flow_enters(const struct plat_timer *timer, unsigned step)
{
	const struct flow *flow = ORR_CONTAINER(timer, const struct flow, event);
	const struct flow_route *route = flow->route;

	if (step == 0) {
		orr_bring_lines(route, sizeof(*route) + 4 * ORR_LINE_BYTES);
	} else if (step == 1) {
		if (route->stream)
			orr_bring_lines(route->stream, 4 * ORR_LINE_BYTES);
		for (int i = 0; i < route->nlinks; i++)
			orr_bring_lines(route->links[i].link, sizeof(struct link));
	} else if (step == 2 && route->stream) {
		orr_bring(route->stream->others);
	} else if (step == 3 && route->stream && route->stream->others) {
		orr_bring(route->stream->others->keys);
	}
	return step < 3;
}

const struct scout_kind scout_flow_enters = {on_enter, expect_flow_enters};

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

/* It will be asked for soon. */
static void expect_link(struct link *link)
{
	orr_bring(link);
	orr_bring(&link->all_weight);
}

void solver_start(struct solver *solver, const struct flow_spec *spec, double start_s)
{
	struct flow_route *route = spec->route;
	struct flow *flow = near_get(&solver->near, sizeof(*flow));

	*flow = (struct flow){.event.fire = on_enter,
			      .done = spec->done,
			      .expect = spec->expect,
			      .arg = spec->arg,
			      .route = route,
			      .left_bytes = spec->bytes,
			      .latency_s = spec->latency_s,
			      .order = calendar_order(solver->sim)};
	route->nflows++;
	for (int i = 0; i < route->nlinks; i++)
		expect_link(route->links[i].link);
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
