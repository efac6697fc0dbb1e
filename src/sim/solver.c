/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>

#include "wire.h"

/*
 * solver.c - flows that share links.
 *
 * Fair means max-min, as in SimGrid: rates are inverse to the flows' penalties, and a
 * flow loads a link with its rate times the weight of its use.
 *
 * When flows enter or leave, their links are marked, and one event at the same date
 * rates flows anew.  As long as few flows are on their way, this is exact, or nearly:
 * a region around a marked link is rated together, which is all flows that depend on
 * each other, even indirectly, or else those on marked links, while the others keep
 * their rates.  Of many flows, each that is on a marked link gets the least of its
 * links' even shares, which never exceed the max-min shares by more than crosstraffic.
 */
enum {
	SMALL_FLOWS = 128, /* most flows on their way for regions to be tried */
	EXACT_FLOWS = 32,  /* most flows of a region that is exact */
	REGION_FLOWS = 64, /* most flows of any region */
	REGION_LINKS = 16 * REGION_FLOWS,
};

/* With many flows, a rate is left alone when it would change by a smaller part. */
#define FINE 0.003

struct use {
	struct link *link;
	struct flow *flow;
	struct use *prev, *next; /* on the link */
	double weight;           /* over the flow's penalty */
	int back;                /* crosstraffic: it weighs little */
};

struct link {
	double bytes_per_s;
	/* Sums over the uses; load is of the flow's rate, penalty and weight. */
	double weight, load;
	double forward_weight, back_load; /* without and with crosstraffic alone */
	struct use *uses;
	int marked;
	unsigned stamp;           /* of the region it was put in */
	double left, left_weight; /* of the region's flows, while it is filled */
};

struct flow {
	struct plat_timer event; /* enters its links, then ends */
	struct solver *solver;
	double left_bytes, rate, updated_s;
	double penalty, bound;
	void (*done)(void *arg);
	void *arg;
	unsigned stamp;
	int nuses;
	struct use uses[];
};

struct solver {
	struct sim *sim;
	struct table
		links; /* by the address of SimGrid's link; never walked but to free */
	struct link **marked;
	size_t nmarked, capacity;
	struct plat_timer settle;
	int nactive; /* flows on links */
	unsigned stamp;
	/* The region that is rated together. */
	struct flow *flows[REGION_FLOWS];
	struct link *region[REGION_LINKS];
	int nflows, nregion, max_flows;
};

/* ---- membership ------------------------------------------------------ */

static void mark(struct solver *solver, struct link *link)
{
	if (link->marked)
		return;
	link->marked = 1;
	if (solver->nmarked == solver->capacity) {
		solver->capacity = solver->capacity ? 2 * solver->capacity : 64;
		solver->marked = orr_realloc(solver->marked,
					     solver->capacity * sizeof(*solver->marked));
	}
	solver->marked[solver->nmarked++] = link;
	if (!calendar_has(&solver->settle))
		calendar_add(solver->sim, &solver->settle, solver->sim->now_s);
}

static void add_load(struct use *use, double rate)
{
	double load = rate * use->flow->penalty * use->weight;

	use->link->load += load;
	if (use->back)
		use->link->back_load += load;
}

/* Of many flows, crosstraffic alone makes nobody be rated anew. */
static void enter_links(struct flow *flow)
{
	int is_small = ++flow->solver->nactive <= SMALL_FLOWS;

	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];

		use->next = use->link->uses;
		if (use->next)
			use->next->prev = use;
		use->link->uses = use;
		use->link->weight += use->weight;
		if (!use->back)
			use->link->forward_weight += use->weight;
		if (!use->back || is_small)
			mark(flow->solver, use->link);
	}
}

static void leave_links(struct flow *flow)
{
	int is_small = flow->solver->nactive-- <= SMALL_FLOWS;

	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];
		struct link *link = use->link;

		*(use->prev ? &use->prev->next : &link->uses) = use->next;
		if (use->next)
			use->next->prev = use->prev;
		link->weight -= use->weight;
		if (!use->back)
			link->forward_weight -= use->weight;
		add_load(use, -flow->rate);
		if (!link->uses) { /* Rounding must not add up. */
			link->weight = link->load = 0;
			link->forward_weight = link->back_load = 0;
		}
		if (!use->back || is_small)
			mark(flow->solver, link);
	}
}

/* ---- rates ----------------------------------------------------------- */

static void set_rate(struct flow *flow, double rate, double now_s)
{
	struct sim *sim = flow->solver->sim;
	double fine = flow->solver->nactive > SMALL_FLOWS ? FINE : 1e-9;

	if (fabs(rate - flow->rate) <= fine * rate)
		return;
	flow->left_bytes -= flow->rate * (now_s - flow->updated_s);
	if (flow->left_bytes < 0)
		flow->left_bytes = 0;
	for (int i = 0; i < flow->nuses; i++)
		add_load(&flow->uses[i], rate - flow->rate);
	flow->rate = rate;
	flow->updated_s = now_s;
	calendar_remove(sim, &flow->event);
	calendar_add(sim, &flow->event, now_s + flow->left_bytes / rate);
}

/* Crosstraffic takes what it takes; the rest is shared evenly. */
static double even_share(const struct flow *flow)
{
	double level = flow->bound * flow->penalty;

	for (int i = 0; i < flow->nuses && !flow->uses[i].back; i++) {
		const struct link *link = flow->uses[i].link;
		double room = link->bytes_per_s - link->back_load;

		if (room < 0.5 * link->bytes_per_s)
			room = 0.5 * link->bytes_per_s;
		level = fmin(level, room / link->forward_weight);
	}
	return level / flow->penalty;
}

/* Put a flow and its links in the region; 0 when there is no room. */
static int add_flow(struct solver *solver, struct flow *flow)
{
	if (flow->stamp == solver->stamp)
		return 1;
	if (solver->nflows == solver->max_flows ||
	    solver->nregion + flow->nuses > REGION_LINKS)
		return 0;
	flow->stamp = solver->stamp;
	solver->flows[solver->nflows++] = flow;
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];
		struct link *link = use->link;

		if (link->stamp != solver->stamp) {
			link->stamp = solver->stamp;
			link->left = link->load;
			link->left_weight = 0;
			solver->region[solver->nregion++] = link;
		}
		/* Until the region is complete, left is what the others load. */
		link->left -= flow->rate * flow->penalty * use->weight;
		link->left_weight += use->weight;
	}
	return 1;
}

/*
 * Gather the flows on a link and, from there, on all links or on marked ones.  0 when
 * they are more than max_flows.
 */
static int gather(struct solver *solver, struct link *link, int all, int max_flows)
{
	solver->stamp++;
	solver->nflows = solver->nregion = 0;
	solver->max_flows = max_flows;
	for (struct use *use = link->uses; use; use = use->next)
		if (!add_flow(solver, use->flow))
			return 0;
	for (int i = 0; i < solver->nregion; i++) {
		if (!all && !solver->region[i]->marked)
			continue;
		for (struct use *use = solver->region[i]->uses; use; use = use->next)
			if (!add_flow(solver, use->flow))
				return 0;
	}
	return 1;
}

static void fix_flow(struct solver *solver, int index, double rate)
{
	struct flow *flow = solver->flows[index];

	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];

		use->link->left -= rate * flow->penalty * use->weight;
		use->link->left_weight -= use->weight;
	}
	set_rate(flow, rate, solver->sim->now_s);
	flow->stamp = 0;
	solver->flows[index] = solver->flows[--solver->nflows];
}

static int is_on(const struct flow *flow, const struct link *link)
{
	for (int i = 0; i < flow->nuses; i++)
		if (flow->uses[i].link == link)
			return 1;
	return 0;
}

/* The level (rate times penalty) at which a link is full. */
static double level_of(const struct link *link)
{
	double least = 1e-9 * link->bytes_per_s;

	/* Nothing but rounding is left of the weight when its flows have their rates. */
	if (link->left_weight <= 1e-9 * link->weight)
		return INFINITY;
	return (link->left > least ? link->left : least) / link->left_weight;
}

/* Raise the rates of the region together; what hits a limit stays there. */
static void fill(struct solver *solver)
{
	for (int i = 0; i < solver->nregion; i++) {
		struct link *link = solver->region[i];

		link->left = link->bytes_per_s - link->left;
	}
	while (solver->nflows > 0) {
		struct link *full = NULL;
		double level = INFINITY;
		int bounded = -1;

		for (int i = 0; i < solver->nregion; i++)
			if (level_of(solver->region[i]) < level) {
				full = solver->region[i];
				level = level_of(full);
			}
		for (int i = 0; i < solver->nflows; i++) {
			const struct flow *flow = solver->flows[i];

			if (flow->bound * flow->penalty <= level) {
				level = flow->bound * flow->penalty;
				bounded = i;
			}
		}
		if (bounded >= 0) {
			fix_flow(solver, bounded, solver->flows[bounded]->bound);
			continue;
		}
		ORR_ASSERT(full);
		for (int i = solver->nflows - 1; i >= 0; i--)
			if (is_on(solver->flows[i], full))
				fix_flow(solver, i, level / solver->flows[i]->penalty);
		full->left_weight = 0;
	}
}

static void rate_even(struct solver *solver, struct link *link)
{
	for (struct use *use = link->uses; use; use = use->next)
		if (!use->back)
			set_rate(use->flow, even_share(use->flow), solver->sim->now_s);
}

/* Rate anew what a marked link concerns, and unmark the links that this settles. */
static void settle_link(struct solver *solver, struct link *link)
{
	link->marked = 0;
	if (solver->nactive > SMALL_FLOWS || (!gather(solver, link, 1, EXACT_FLOWS) &&
					      !gather(solver, link, 0, REGION_FLOWS))) {
		rate_even(solver, link);
		return;
	}
	for (int i = 0; i < solver->nregion; i++)
		solver->region[i]->marked = 0;
	fill(solver);
}

static void settle(struct plat_timer *timer)
{
	struct solver *solver = ORR_CONTAINER(timer, struct solver, settle);

	for (size_t i = 0; i < solver->nmarked; i++)
		if (solver->marked[i]->marked)
			settle_link(solver, solver->marked[i]);
	solver->nmarked = 0;
}

/* ---- life ------------------------------------------------------------ */

static void on_end(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	void (*done)(void *arg) = flow->done;
	void *arg = flow->arg;

	leave_links(flow);
	free(flow);
	done(arg);
}

static void on_enter(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	double now_s = flow->solver->sim->now_s;

	flow->event.fire = on_end;
	flow->updated_s = now_s;
	/* Without a link of its own the settling may not see it. */
	if (flow->nuses == 0 || flow->uses[0].back)
		set_rate(flow, flow->bound, now_s);
	enter_links(flow);
}

static struct link *find_link(struct solver *solver, const struct flow_link *wanted)
{
	uint64_t key = (uint64_t)(uintptr_t)wanted->link;
	struct link *link = table_get(&solver->links, key);

	if (!link) {
		link = orr_alloc(sizeof(*link));
		link->bytes_per_s = wanted->bytes_per_s;
		table_put(&solver->links, key, link);
	}
	return link;
}

void solver_start(struct solver *solver, const struct flow_spec *spec, double start_s)
{
	size_t bytes = sizeof(struct flow) + (size_t)spec->nlinks * sizeof(struct use);
	struct flow *flow = orr_alloc(bytes);

	flow->event.fire = on_enter;
	flow->solver = solver;
	flow->left_bytes = spec->bytes;
	flow->penalty = spec->penalty;
	flow->bound = spec->bound;
	flow->done = spec->done;
	flow->arg = spec->arg;
	flow->nuses = spec->nlinks;
	for (int i = 0; i < spec->nlinks; i++) {
		flow->uses[i].link = find_link(solver, &spec->links[i]);
		flow->uses[i].flow = flow;
		flow->uses[i].weight = spec->links[i].weight / spec->penalty;
		flow->uses[i].back = spec->links[i].weight < 1;
	}
	calendar_add(solver->sim, &flow->event, start_s);
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
	void *link;

	if (!solver)
		return;
	while ((link = table_next(&solver->links, &cursor)))
		free(link);
	table_free(&solver->links);
	free(solver->marked);
	free(solver);
}
