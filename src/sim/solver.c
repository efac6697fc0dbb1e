/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>
#include <stdlib.h>

#include "wire.h"

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

/* Flows with fewer uses are kept for later ones with as many. */
enum { SPARE_USES = 64 };

struct use {
	struct link *link;
	struct flow *flow;
	struct use *prev, *next; /* on the link */
	double weight;           /* over the flow's penalty */
};

struct link {
	double bytes_per_s;
	double load; /* sum over the uses */
	struct use *uses;
	double level; /* of the flows that it holds; INFINITY: it holds none */
	int nheld;    /* without those of the region */
	int marked;
	/* While a region is rated: */
	unsigned stamp;             /* of the region that it belongs to */
	double others_load, weight; /* of the flows that are not of the region, and are */
	int nflows;                 /* uses of the region's flows */
	double left, left_weight;   /* of those without a rate */
	int nleft;
	double new_level, highest; /* that it gives; of all its flows of the region */
};

struct flow {
	struct plat_timer event; /* enters its links, then ends */
	struct solver *solver;
	double left_bytes, rate, updated_s;
	double penalty, bound;
	void (*done)(void *arg);
	void *arg;
	struct link *held_by; /* NULL: its bound does */
	unsigned stamp;       /* of the region that it belongs to */
	int is_rated;         /* new_level is known */
	double new_level;
	int nuses;
	struct use uses[];
};

/* A link that may be the next one to be full; it is so at this level or above. */
struct candidate {
	double level;
	struct link *link;
};

struct solver {
	struct sim *sim;
	struct table
		links; /* by the address of SimGrid's link; never walked but to free */
	struct plat_timer settle;
	struct flow *spare[SPARE_USES]; /* by nuses; arg leads to the next */
	unsigned stamp;
	/* Since the last settling: links that flows have left, flows that have entered.
	 */
	struct link **marked;
	struct flow **entered;
	size_t nmarked, marked_capacity, nentered, entered_capacity;
	/* The region that is rated together. */
	struct flow **flows, **by_bound;
	struct link **region;
	struct candidate *candidates; /* a heap */
	size_t nflows, flows_capacity, nregion, region_capacity, ncandidates;
};

/* Make room for one more element in an array of pointers. */
#define RESERVE(array, n, capacity)                                                      \
	do {                                                                             \
		if ((n) == (capacity)) {                                                 \
			(capacity) = (capacity) ? 2 * (capacity) : 64;                   \
			(array) = orr_realloc((array), (capacity) * sizeof(*(array)));   \
		}                                                                        \
	} while (0)

/* ---- membership ------------------------------------------------------ */

static void settle_soon(struct solver *solver)
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
	settle_soon(solver);
}

static double level_of(const struct flow *flow)
{
	return flow->rate * flow->penalty;
}

static void enter_links(struct flow *flow)
{
	struct solver *solver = flow->solver;

	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];

		use->next = use->link->uses;
		if (use->next)
			use->next->prev = use;
		use->link->uses = use;
	}
	RESERVE(solver->entered, solver->nentered, solver->entered_capacity);
	solver->entered[solver->nentered++] = flow;
	settle_soon(solver);
}

static void let_go(struct flow *flow)
{
	if (flow->held_by && --flow->held_by->nheld == 0)
		flow->held_by->level = INFINITY;
	flow->held_by = NULL;
}

static void leave_links(struct flow *flow)
{
	let_go(flow);
	for (int i = 0; i < flow->nuses; i++) {
		struct use *use = &flow->uses[i];
		struct link *link = use->link;

		*(use->prev ? &use->prev->next : &link->uses) = use->next;
		if (use->next)
			use->next->prev = use->prev;
		link->load -= level_of(flow) * use->weight;
		if (!link->uses) /* Rounding must not add up. */
			link->load = 0;
		if (link->nheld > 0)
			mark(flow->solver, link);
	}
}

/* ---- the region ------------------------------------------------------ */

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
	}
	solver->flows[solver->nflows++] = flow;
	if (flow->held_by)
		flow->held_by->nheld--;
	for (int i = 0; i < flow->nuses; i++) {
		struct link *link = flow->uses[i].link;

		add_link(solver, link);
		link->others_load -= level_of(flow) * flow->uses[i].weight;
		link->weight += flow->uses[i].weight;
		link->nflows++;
	}
}

/* Those that the link holds join the region. */
static void add_held(struct solver *solver, struct link *link)
{
	for (struct use *use = link->uses; use && link->nheld > 0; use = use->next)
		if (use->flow->held_by == link)
			add_flow(solver, use->flow);
}

/* Those on the link that are above a level join the region. */
static void add_above(struct solver *solver, struct link *link, double level)
{
	for (struct use *use = link->uses; use; use = use->next)
		if (level_of(use->flow) > level)
			add_flow(solver, use->flow);
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

static void rate_flow(struct flow *flow, double level, struct link *held_by)
{
	flow->is_rated = 1;
	flow->new_level = level;
	flow->held_by = held_by;
	for (int i = 0; i < flow->nuses; i++) {
		struct link *link = flow->uses[i].link;

		link->left -= level * flow->uses[i].weight;
		link->left_weight -= flow->uses[i].weight;
		link->nleft--;
		link->highest = fmax(link->highest, level);
	}
}

static int compare_bounds(const void *a, const void *b)
{
	const struct flow *fa = *(struct flow *const *)a, *fb = *(struct flow *const *)b;
	double la = fa->bound * fa->penalty, lb = fb->bound * fb->penalty;

	return (la > lb) - (la < lb);
}

/* Links that cannot be full before all flows have met their bounds are no candidates. */
static void prepare(struct solver *solver)
{
	const struct flow *last;
	double most;

	for (size_t i = 0; i < solver->nflows; i++) {
		solver->flows[i]->is_rated = 0;
		solver->by_bound[i] = solver->flows[i];
	}
	qsort(solver->by_bound, solver->nflows, sizeof(struct flow *), compare_bounds);
	last = solver->by_bound[solver->nflows - 1];
	most = last->bound * last->penalty;
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
		struct flow *bounded = solver->by_bound[i];
		double level, bound = bounded->bound * bounded->penalty;
		struct link *full;

		if (bounded->is_rated) {
			i++;
			continue;
		}
		full = first_full(solver, &level);
		if (bound <= level) {
			rate_flow(bounded, bound, NULL);
			continue;
		}
		full->new_level = level;
		for (struct use *use = full->uses; use; use = use->next)
			if (use->flow->stamp == solver->stamp && !use->flow->is_rated)
				rate_flow(use->flow, level, full);
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
	for (int i = 0; i < flow->nuses; i++)
		flow->uses[i].link->load += change * flow->uses[i].weight;
	flow->rate = rate;
	flow->updated_s = now_s;
	calendar_remove(sim, &flow->event);
	calendar_add(sim, &flow->event, now_s + flow->left_bytes / rate);
}

static void begin_region(struct solver *solver)
{
	solver->stamp++;
	solver->nflows = solver->nregion = 0;
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

static void end_region(struct solver *solver)
{
	for (size_t i = 0; i < solver->nregion; i++)
		if (solver->region[i]->nheld == 0)
			solver->region[i]->level = solver->region[i]->new_level;
	for (size_t i = 0; i < solver->nflows; i++) {
		struct flow *flow = solver->flows[i];

		if (flow->held_by)
			flow->held_by->nheld++;
		set_rate(flow, flow->new_level / flow->penalty, solver->sim->now_s);
	}
}

static void settle(struct plat_timer *timer)
{
	struct solver *solver = ORR_CONTAINER(timer, struct solver, settle);
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

/* ---- life ------------------------------------------------------------ */

static void on_end(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	void (*done)(void *arg) = flow->done;
	void *arg = flow->arg;

	leave_links(flow);
	if (flow->nuses < SPARE_USES) {
		flow->arg = flow->solver->spare[flow->nuses];
		flow->solver->spare[flow->nuses] = flow;
	} else {
		free(flow);
	}
	done(arg);
}

static void on_enter(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);
	double now_s = flow->solver->sim->now_s;

	flow->event.fire = on_end;
	flow->updated_s = now_s;
	if (flow->nuses > 0)
		enter_links(flow);
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
		solver->spare[nuses] = flow->arg;
	} else {
		flow = orr_alloc(sizeof(*flow) + (size_t)nuses * sizeof(struct use));
	}
	*flow = (struct flow){.solver = solver, .nuses = nuses};
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
	flow->done = spec->done;
	flow->arg = spec->arg;
	for (int i = 0; i < route->nlinks; i++)
		flow->uses[i] = (struct use){.link = route->links[i].link,
					     .flow = flow,
					     .weight = route->links[i].weight};
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
	for (int i = 0; i < SPARE_USES; i++)
		while (solver->spare[i]) {
			struct flow *flow = solver->spare[i];

			solver->spare[i] = flow->arg;
			free(flow);
		}
	table_free(&solver->links);
	free(solver->marked);
	free(solver->entered);
	free(solver->flows);
	free(solver->by_bound);
	free(solver->region);
	free(solver->candidates);
	free(solver);
}
