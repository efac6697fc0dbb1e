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

/*
 * What is smaller, relative to a link's capacity or a level, is nobody's concern: it
 * ends the chains of ever smaller changes.
 */
#define TOLERANCE 1e-3

/* So many are sorted by insertion. */
enum { FEW_BOUNDS = 48 };

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

static void add_member(struct link *link, struct flow *flow, int use)
{
	if (link->nmembers == link->members_capacity && 2 * link->ngaps >= link->nmembers)
		close_ranks(link);
	if (link->nmembers == link->members_capacity) {
		link->members_capacity =
			link->members_capacity ? 2 * link->members_capacity : 4;
		link->members = orr_realloc(
			link->members, link->members_capacity * sizeof(*link->members));
	}
	flow->uses[use].at = link->nmembers;
	link->members[link->nmembers++] =
		(struct member){.flow = flow, .use = (short)use};
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

static void release(struct link *link, double weight)
{
	link->held_weight = --link->nheld > 0 ? link->held_weight - weight : 0;
}

static void let_go(struct flow *flow)
{
	if (flow->held_by != UNHELD) {
		struct link *link = flow->uses[flow->held_by].link;

		release(link, flow->uses[flow->held_by].weight);
		if (link->nheld == 0)
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

/* ---- the region ------------------------------------------------------ */

/* Its flows cannot fill it, as seen from when the region began: it is left out.  Most
 * that only carry what flows take of the way back are. */
static int is_slack(const struct link *link)
{
	return link->level == INFINITY &&
	       link->most < link->bytes_per_s * (1 - TOLERANCE);
}

static void add_link(struct solver *solver, struct link *link)
{
	if (link->stamp == solver->stamp)
		return;
	link->stamp = solver->stamp;
	link->others_load = link->load;
	link->weight = 0;
	link->nflows = 0;
	if (solver->nregion == solver->region_capacity) {
		size_t n = solver->region_capacity ? 2 * solver->region_capacity : 64;

		solver->region_capacity = n;
		solver->region = orr_realloc(solver->region, n * sizeof(*solver->region));
		solver->candidates =
			orr_realloc(solver->candidates, n * sizeof(*solver->candidates));
	}
	solver->region[solver->nregion++] = link;
}

static void add_flow(struct solver *solver, struct flow *flow)
{
	if (flow->stamp == solver->stamp)
		return;
	flow->stamp = solver->stamp;
	if (solver->nflows == solver->flows_capacity) {
		size_t n = solver->flows_capacity ? 2 * solver->flows_capacity : 64;

		solver->flows_capacity = n;
		solver->flows = orr_realloc(solver->flows, n * sizeof(*solver->flows));
		solver->by_bound =
			orr_realloc(solver->by_bound, n * sizeof(*solver->by_bound));
		solver->joined = orr_realloc(solver->joined, n * sizeof(*solver->joined));
	}
	solver->by_bound[solver->nflows] =
		(struct bounded){flow->bound * flow->penalty, solver->nflows, flow};
	solver->flows[solver->nflows++] = flow;
	if (flow->held_by != UNHELD)
		release(flow->uses[flow->held_by].link, flow->uses[flow->held_by].weight);
	for (int i = 0; i < flow->nuses; i++) {
		struct link *link = flow->uses[i].link;

		if (link->stamp != solver->stamp && is_slack(link))
			continue;
		link->members[flow->uses[i].at].stamp = solver->stamp;
		add_link(solver, link);
		link->others_load -= level_of(flow) * flow->uses[i].weight;
		link->weight += flow->uses[i].weight;
		link->nflows++;
	}
}

/* Those that the link holds join the region. */
static void add_held(struct solver *solver, struct link *link)
{
	for (unsigned i = link->nmembers; i-- > 0 && link->nheld > 0;) {
		const struct member *member = &link->members[i];

		if (member->is_held && member->stamp != solver->stamp)
			add_flow(solver, member->flow);
	}
}

/* Those on the link that are above a level join the region. */
static void add_above(struct solver *solver, struct link *link, double level)
{
	for (unsigned i = link->nmembers; i-- > 0;) {
		const struct member *member = &link->members[i];

		if (member->level > level && member->stamp != solver->stamp)
			add_flow(solver, member->flow);
	}
}

/* ---- filling --------------------------------------------------------- */

/* Where others stay held, the region may take a little more than what is left. */
static double capacity_of(const struct link *link)
{
	return link->bytes_per_s * (link->nheld > 0 ? 1 + TOLERANCE / 2 : 1);
}

/* The level at which a link will be full if its flows are held by nothing else. */
static double full_level(const struct link *link)
{
	double least = 1e-9 * link->bytes_per_s;

	return (link->left > least ? link->left : least) / link->left_weight;
}

static void sift_down(struct solver *solver, size_t at)
{
	struct candidate *heap = solver->candidates, moved = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= solver->ncandidates)
			break;
		if (child + 1 < solver->ncandidates &&
		    heap[child + 1].level < heap[child].level)
			child++;
		if (heap[child].level >= moved.level)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* The link that is full first, if any; the levels of links only rise. */
static struct link *first_full(struct solver *solver, double *level)
{
	struct candidate *top = solver->candidates;

	while (solver->ncandidates > 0) {
		double now = top->link->nleft ? full_level(top->link) : INFINITY;

		if (now <= top->level) {
			*level = top->level;
			return top->link;
		}
		if (now < INFINITY)
			top->level = now;
		else
			*top = solver->candidates[--solver->ncandidates];
		sift_down(solver, 0);
	}
	*level = INFINITY;
	return NULL;
}

static void rate_flow(struct solver *solver, struct flow *flow, double level, int held_by)
{
	flow->rated = solver->filling;
	flow->new_level = level;
	flow->held_by = held_by;
	for (int i = 0; i < flow->nuses; i++) {
		struct link *link = flow->uses[i].link;

		if (link->stamp != solver->stamp)
			continue;
		link->left -= level * flow->uses[i].weight;
		link->left_weight -= flow->uses[i].weight;
		link->nleft--;
		if (link->highest < level)
			link->highest = level;
	}
}

static int is_bounded_first(const struct bounded *a, const struct bounded *b)
{
	return a->level < b->level || (a->level == b->level && a->place < b->place);
}

static int compare_bounds(const void *a, const void *b)
{
	return is_bounded_first(a, b) ? -1 : is_bounded_first(b, a);
}

/* Mostly a few have joined, and their bounds are alike. */
static void sort_joined(struct bounded *joined, size_t n)
{
	if (n > FEW_BOUNDS) {
		qsort(joined, n, sizeof(*joined), compare_bounds);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct bounded moved = joined[i];
		size_t at = i;

		for (; at > 0 && is_bounded_first(&moved, &joined[at - 1]); at--)
			joined[at] = joined[at - 1];
		joined[at] = moved;
	}
}

/* Put those that have joined since the last filling among the others. */
static void sort_bounds(struct solver *solver)
{
	struct bounded *all = solver->by_bound, *joined = solver->joined;
	size_t nold = solver->nsorted, njoined = solver->nflows - nold;

	solver->nsorted = solver->nflows;
	memcpy(joined, all + nold, njoined * sizeof(*joined));
	sort_joined(joined, njoined);
	for (size_t at = solver->nflows; njoined > 0; at--)
		if (nold > 0 && is_bounded_first(&joined[njoined - 1], &all[nold - 1]))
			all[at - 1] = all[--nold];
		else
			all[at - 1] = joined[--njoined];
}

/* Links that cannot be full before all flows have met their bounds are no candidates. */
static void prepare(struct solver *solver)
{
	double most;

	sort_bounds(solver);
	most = solver->by_bound[solver->nflows - 1].level;
	solver->filling++;
	solver->ncandidates = 0;
	for (size_t i = 0; i < solver->nregion; i++) {
		struct link *link = solver->region[i];

		link->left = capacity_of(link) - link->others_load;
		link->left_weight = link->weight;
		link->nleft = link->nflows;
		link->new_level = INFINITY;
		link->highest = 0;
		if (full_level(link) < most)
			solver->candidates[solver->ncandidates++] =
				(struct candidate){full_level(link), link};
	}
	for (size_t i = solver->ncandidates / 2; i-- > 0;)
		sift_down(solver, i);
}

/* Raise the levels of the region together; who meets a bound or a full link stays. */
static void fill(struct solver *solver)
{
	prepare(solver);
	for (size_t i = 0; i < solver->nflows;) {
		const struct bounded *bounded = &solver->by_bound[i];
		double level;
		struct link *full;

		if (bounded->flow->rated == solver->filling) {
			i++;
			continue;
		}
		full = first_full(solver, &level);
		if (bounded->level <= level) {
			rate_flow(solver, bounded->flow, bounded->level, UNHELD);
			continue;
		}
		full->new_level = level;
		for (unsigned m = full->nmembers; m-- > 0 && full->nleft > 0;) {
			const struct member *member = &full->members[m];

			if (member->stamp == solver->stamp &&
			    member->flow->rated != solver->filling)
				rate_flow(solver, member->flow, level, member->use);
		}
	}
}

/* Whoever breaks the rule on this link by keeping its rate joins the region. */
static void extend(struct solver *solver, struct link *link)
{
	double load = capacity_of(link) - link->left;

	if (link->new_level < link->level * (1 - TOLERANCE)) {
		if (link->nheld > 0)
			add_held(solver, link);
		else
			add_above(solver, link, link->new_level * (1 + TOLERANCE));
	} else if (link->nheld > 0 && (link->highest > link->level * (1 + TOLERANCE) ||
				       (link->new_level == INFINITY &&
					load < link->bytes_per_s * (1 - TOLERANCE)))) {
		add_held(solver, link);
	}
}

/* ---- rates ----------------------------------------------------------- */

static void set_rate(struct flow *flow, double rate, double now_s)
{
	struct sim *sim = flow->solver->sim;
	double change;

	if (fabs(rate - flow->rate) <= 1e-9 * rate)
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
	solver->stamp++;
	solver->nflows = solver->nregion = solver->nsorted = 0;
	for (size_t i = 0; i < solver->nentered; i++)
		add_flow(solver, solver->entered[i]);
	for (size_t i = 0; i < solver->nmarked; i++) {
		struct link *link = solver->marked[i];

		link->marked = 0;
		if (link->nheld > 0 && link->load < link->bytes_per_s * (1 - TOLERANCE))
			add_held(solver, link);
	}
	solver->nentered = solver->nmarked = 0;
}

/* What its links' members say of who holds a flow. */
static void hold(struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++) {
		struct link *link = flow->uses[i].link;

		link->members[flow->uses[i].at].is_held = i == flow->held_by;
		if (i == flow->held_by) {
			link->nheld++;
			link->held_weight += flow->uses[i].weight;
		}
	}
}

static void end_region(struct solver *solver)
{
	for (size_t i = 0; i < solver->nregion; i++)
		if (solver->region[i]->nheld == 0)
			solver->region[i]->level = solver->region[i]->new_level;
	for (size_t i = 0; i < solver->nflows; i++) {
		struct flow *flow = solver->flows[i];

		hold(flow);
		set_rate(flow, flow->new_level / flow->penalty, solver->sim->now_s);
	}
}

static void rate_region(struct solver *solver)
{
	size_t nflows;

	begin_region(solver);
	if (solver->nflows == 0)
		return;
	do {
		nflows = solver->nflows;
		fill(solver);
		for (size_t i = 0, n = solver->nregion; i < n; i++)
			extend(solver, solver->region[i]);
	} while (solver->nflows > nflows);
	end_region(solver);
}

static void settle(struct plat_timer *timer)
{
	struct solver *solver = ORR_CONTAINER(timer, struct solver, settle);

	rate_region(solver);
	riders_start(solver);
}

/* ---- life ------------------------------------------------------------ */

void solver_end(struct flow *flow)
{
	void (*done)(void *arg) = flow->done;
	void *arg = flow->arg;

	if (flow->nuses < SPARE_USES) {
		flow->next = flow->solver->spare[flow->nuses];
		flow->solver->spare[flow->nuses] = flow;
	} else {
		free(flow);
	}
	done(arg);
}

static void on_end(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);

	leave_links(flow);
	solver_end(flow);
}

static void on_enter(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	double now_s = flow->solver->sim->now_s;

	flow->event.fire = on_end;
	flow->updated_s = now_s;
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
		link = orr_alloc(sizeof(*link));
		link->bytes_per_s = bytes_per_s;
		link->level = INFINITY;
		table_put(&solver->links, (uint64_t)(uintptr_t)key, link);
	}
	return link;
}

static struct flow *make_flow(struct solver *solver, int nuses)
{
	struct flow *flow;

	if (nuses < SPARE_USES && solver->spare[nuses]) {
		flow = solver->spare[nuses];
		solver->spare[nuses] = flow->next;
	} else {
		flow = orr_alloc(sizeof(*flow) + (size_t)nuses * sizeof(struct use));
	}
	*flow = (struct flow){.solver = solver, .nuses = nuses, .held_by = UNHELD};
	return flow;
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
	for (int i = 0; i < route->nlinks; i++)
		flow->uses[i] = (struct use){.link = route->links[i].link,
					     .weight = route->links[i].weight};
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
	while ((link = table_next(&solver->links, &cursor))) {
		free(link->members);
		free(link);
	}
	for (int i = 0; i < SPARE_USES; i++)
		while (solver->spare[i]) {
			struct flow *flow = solver->spare[i];

			solver->spare[i] = flow->next;
			free(flow);
		}
	table_free(&solver->links);
	free(solver->marked);
	free(solver->entered);
	free(solver->flows);
	free(solver->by_bound);
	free(solver->joined);
	free(solver->region);
	free(solver->candidates);
	free(solver);
}
