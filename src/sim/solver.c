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
 * rates anew a region around them: all flows that depend on each other, even
 * indirectly, when they are few, which is exact; otherwise the flows on marked links,
 * while the others keep their rates.  Links at the edge whose load changes much are
 * marked in turn, a few times.  Where even the marked links carry too many flows, each
 * gets the least of its links' even shares.
 */
enum {
	EXACT_FLOWS = 48,   /* most flows of a region that is exact */
	REGION_FLOWS = 128, /* most flows of any region */
	REGION_LINKS = 16 * REGION_FLOWS,
	MAX_ROUNDS = 4, /* of marking at one date */
};

/* Part of a link's capacity by which its load must change to be marked. */
#define MUCH 0.05

struct use {
	struct link *link;
	struct flow *flow;
	struct use *prev, *next; /* on the link */
	double weight;           /* over the flow's penalty */
};

struct link {
	double bytes_per_s;
	double weight; /* sum over the uses */
	double load;   /* sum over the uses of the flow's rate, penalty and weight */
	struct use *uses;
	unsigned char marked;
	unsigned char inside; /* all its flows are in the region */
	unsigned stamp;           /* of the region it was put in */
	double left, left_weight; /* of the region's flows, while it is filled */
	double load_before;
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
	struct table links; /* by the address of SimGrid's link; never walked but to free */
	struct link_list {
		struct link **links;
		size_t count, capacity;
	} marked, settling;
	struct plat_timer settle;
	unsigned stamp;
	double round_s; /* the date of the last rounds of marking, and how many */
	int nrounds;
	/* The region that is rated together. */
	struct flow *flows[REGION_FLOWS];
	struct link *region[REGION_LINKS];
	int nflows, nregion, max_flows;
};

/* ---- membership ----------------------------------------------------------- */

static void mark(struct solver *solver, struct link *link)
{
	struct link_list *list = &solver->marked;

	if (link->marked)
		return;
	link->marked = 1;
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->links = orr_realloc(list->links,
					  list->capacity * sizeof(*list->links));
	}
	list->links[list->count++] = link;
	if (!calendar_has(&solver->settle))
		calendar_add(solver->sim, &solver->settle, solver->sim->now_s);
}

static void enter_links(struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];

		use->next = use->link->uses;
		if (use->next)
			use->next->prev = use;
		use->link->uses = use;
		use->link->weight += use->weight;
		mark(flow->solver, use->link);
	}
}

static void leave_links(struct flow *flow)
{
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];
		struct link *link = use->link;

		*(use->prev ? &use->prev->next : &link->uses) = use->next;
		if (use->next)
			use->next->prev = use->prev;
		link->weight -= use->weight;
		link->load -= flow->rate * flow->penalty * use->weight;
		if (!link->uses) /* Rounding must not add up. */
			link->weight = link->load = 0;
		mark(flow->solver, link);
	}
}

/* ---- rates ---------------------------------------------------------------- */

static void set_rate(struct flow *flow, double rate, double now_s)
{
	struct sim *sim = flow->solver->sim;

	if (fabs(rate - flow->rate) <= 1e-9 * rate)
		return;
	flow->left_bytes -= flow->rate * (now_s - flow->updated_s);
	if (flow->left_bytes < 0)
		flow->left_bytes = 0;
	for (int i = 0; i < flow->nuses; i++)
		flow->uses[i].link->load +=
			(rate - flow->rate) * flow->penalty * flow->uses[i].weight;
	flow->rate = rate;
	flow->updated_s = now_s;
	calendar_remove(sim, &flow->event);
	calendar_add(sim, &flow->event, now_s + flow->left_bytes / rate);
}

/* Crosstraffic, which weighs little, is not what limits a flow. */
static double even_share(const struct flow *flow)
{
	double rate = flow->bound;

	for (int i = 0; i < flow->nuses; i++) {
		const struct use *use = &flow->uses[i];

		if (use->weight * flow->penalty > 0.5)
			rate = fmin(rate, use->link->bytes_per_s /
						  (use->link->weight * flow->penalty));
	}
	return rate;
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
			link->load_before = link->left = link->load;
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
		link->inside = link->left_weight >= link->weight * (1 - 1e-9);
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

/* Links at the edge of a region that has been filled: their other flows may change. */
static void mark_edge(struct solver *solver)
{
	if (solver->nrounds >= MAX_ROUNDS)
		return;
	for (int i = 0; i < solver->nregion; i++) {
		struct link *link = solver->region[i];

		if (!link->inside &&
		    fabs(link->load - link->load_before) > MUCH * link->bytes_per_s)
			mark(solver, link);
	}
}

static void rate_even(struct solver *solver, struct link *link)
{
	for (struct use *use = link->uses; use; use = use->next)
		set_rate(use->flow, even_share(use->flow), solver->sim->now_s);
}

/* Rate anew what a marked link concerns, and unmark the links that this settles. */
static void settle_link(struct solver *solver, struct link *link)
{
	int all = gather(solver, link, 1, EXACT_FLOWS);

	if (!all && !gather(solver, link, 0, REGION_FLOWS)) {
		link->marked = 0;
		rate_even(solver, link);
		return;
	}
	/* An edge is marked for the next round only after the region's are unmarked. */
	link->marked = 0;
	for (int i = 0; i < solver->nregion; i++)
		solver->region[i]->marked = 0;
	fill(solver);
	if (!all)
		mark_edge(solver);
}

static void settle(struct plat_timer *timer)
{
	struct solver *solver = ORR_CONTAINER(timer, struct solver, settle);
	struct link_list settling = solver->marked;

	if (solver->round_s != solver->sim->now_s)
		solver->nrounds = 0;
	solver->round_s = solver->sim->now_s;
	solver->nrounds++;
	solver->marked = solver->settling;
	solver->marked.count = 0;
	solver->settling = settling;
	for (size_t i = 0; i < settling.count; i++)
		if (settling.links[i]->marked)
			settle_link(solver, settling.links[i]);
}

/* ---- life ------------------------------------------------------------------ */

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
	/* Without a link the settling does not see it. */
	if (flow->nuses == 0)
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
	free(solver->marked.links);
	free(solver->settling.links);
	free(solver);
}
