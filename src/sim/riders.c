/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <math.h>

#include "solver_parts.h"

#include "base/check.h"

/*
 * riders.c - short flows, whose bytes take next to no time beside their latency.
 *
 * A rider goes at the rate that it would have, and nobody is rated anew for it; when it
 * has ridden, what it took is charged to the flows that it took it from.  Those of one
 * date are looked at together, with the longer flows of their links.  It rides only where
 * its rate stays what it is: alone among riders, or in a burst whose members all have as
 * much to send and are slowed by the same link.  When somebody comes to a link, those
 * that ride there are looked at again, with what they have left, and so are those that
 * share a full link with them.
 */
#define RIDING         0.01 /* of the latency: what its bytes alone take */
#define RIDING_LONGEST 0.1  /* of the latency: what they take there */
#define PASSED         300  /* times the ride is left to all that it passes */
#define NEAR           2    /* levels: links that give no more count as well */

/* Rounding apart. */
#define ALIKE (1 - 1e-9)

/* ---- coming and going ------------------------------------------------ */

static void hope(struct flow *flow)
{
	struct solver *solver = flow->route->solver;

	flow->next = NULL;
	*(solver->hoping ? &solver->last_hoping->next : &solver->hoping) = flow;
	solver->last_hoping = flow;
	solver_settle_soon(solver);
}

/* Before it is looked at, all that is on its links will be asked for. */
static void expect_members(const struct flow *flow)
{
	for (int i = 0; i < flow->route->nlinks; i++) {
		const char *members = (const char *)flow->route->links[i].link->members;

		orr_bring(members);
		orr_bring(members + ORR_LINE_BYTES);
	}
}

int riders_take(struct flow *flow)
{
	if (flow->left_bytes > flow->route->bound * RIDING * flow->latency_s)
		return 0;
	expect_members(flow);
	if (flow->expect)
		flow->expect(flow->arg, 0);
	hope(flow);
	return 1;
}

static double level_of_rider(const struct flow *flow)
{
	return flow->rate * flow->route->penalty;
}

static void join(struct flow *flow)
{
	struct solver *solver = flow->route->solver;

	for (int i = 0; i < flow->route->nlinks; i++) {
		flow->route->links[i].link->riding_load +=
			level_of_rider(flow) * flow->route->links[i].weight;
		flow->route->links[i].link->nriding++;
	}
	flow->previous = NULL;
	flow->next = solver->riding;
	if (flow->next)
		flow->next->previous = flow;
	solver->riding = flow;
}

/* The level above which a link that riders fill has none of its members. */
static double full_level(const struct link *link)
{
	double level = 0, next = INFINITY;

	while (next > level) {
		double room = link->bytes_per_s - link->riding_load;
		double weight = 0;

		level = next == INFINITY ? 0 : next;
		for (unsigned i = 0; i < link->nmembers; i++) {
			const struct member *member = &link->members[i];

			if (member->level > level)
				weight += member->weight;
			else
				room -= member->level * member->weight;
		}
		next = weight > 0 ? room / weight : level;
	}
	return fmax(level, 0);
}

/* part: of what all riders have taken of the link's members, in levels for a time. */
static void charge(struct link *link, double part, double now_s)
{
	double level = full_level(link);

	for (unsigned i = link->nmembers; i-- > 0;) {
		struct stream *stream = link->members[i].stream;

		if (!stream || link->members[i].level <= level ||
		    stream->charged == stream->solver->ncharges)
			continue;
		stream->charged = stream->solver->ncharges;
		stream->left_bytes +=
			(link->members[i].level - level) * part / stream->penalty;
		stream_end_at(stream,
			      fmax(now_s, stream->updated_s +
						  stream->left_bytes / stream->rate));
	}
}

/* What it has moved, others have not. */
static void settle_up(struct flow *flow)
{
	double now_s = flow->route->solver->sim->now_s,
	       ridden_s = now_s - flow->updated_s;

	flow->left_bytes = fmax(0, flow->left_bytes - flow->rate * ridden_s);
	flow->updated_s = now_s;
	flow->route->solver->ncharges++;
	for (int i = 0; i < flow->route->nlinks; i++) {
		struct link *link = flow->route->links[i].link;
		double load = level_of_rider(flow) * flow->route->links[i].weight;

		if (ridden_s > 0 && link->load + link->riding_load > link->bytes_per_s)
			charge(link, ridden_s * load / link->riding_load, now_s);
		link->riding_load -= load;
		if (--link->nriding == 0)
			link->riding_load = 0;
	}
}

static void leave(struct flow *flow)
{
	settle_up(flow);
	*(flow->previous ? &flow->previous->next : &flow->route->solver->riding) =
		flow->next;
	if (flow->next)
		flow->next->previous = flow->previous;
}

static void on_ridden(struct plat_timer *timer)
{
	struct flow *flow = ORR_CONTAINER(timer, struct flow, event);

	orr_bring(flow->arg); /* Whose end it is has waited. */
	orr_bring((const char *)flow->arg + ORR_LINE_BYTES);
	leave(flow);
	solver_end(flow);
}

static void take_back(struct flow *flow)
{
	leave(flow);
	calendar_remove(flow->route->solver->sim, &flow->event);
	flow->rate = 0;
	hope(flow);
}

static int is_full(const struct link *link)
{
	return link->load + link->riding_load > link->bytes_per_s * ALIKE;
}

static int is_met(const struct flow *flow)
{
	for (int i = 0; i < flow->route->nlinks; i++)
		if (flow->route->links[i].link->is_met)
			return 1;
	return 0;
}

/* Who is met will change; so do those with whom it shares what is full. */
static int spread(struct solver *solver)
{
	int nmet = 0;

	for (struct flow *rider = solver->riding; rider; rider = rider->next) {
		if (!is_met(rider))
			continue;
		for (int i = 0; i < rider->route->nlinks; i++) {
			struct link *link = rider->route->links[i].link;

			if (!link->is_met && link->nriding > 1 && is_full(link)) {
				link->is_met = 1;
				nmet++;
			}
		}
	}
	return nmet;
}

static void unmeet(const struct flow *flow)
{
	for (int i = 0; i < flow->route->nlinks; i++)
		flow->route->links[i].link->is_met = 0;
}

/* Few ride at any date. */
void riders_meet(const struct flow *flow)
{
	struct solver *solver = flow->route->solver;
	struct flow *next;
	int nriding = 0;

	for (int i = 0; i < flow->route->nlinks; i++)
		nriding += flow->route->links[i].link->nriding;
	if (nriding == 0)
		return;
	for (int i = 0; i < flow->route->nlinks; i++)
		flow->route->links[i].link->is_met = 1;
	while (spread(solver))
		;
	for (struct flow *rider = solver->riding; rider; rider = next) {
		next = rider->next;
		if (is_met(rider))
			take_back(rider);
	}
	for (struct flow *rider = solver->hoping; rider; rider = rider->next)
		unmeet(rider);
	unmeet(flow);
}

/* ---- who may ride ---------------------------------------------------- */

static double work_of(const struct flow *flow)
{
	return flow->left_bytes * flow->route->penalty;
}

static void add_hope(struct flow *flow)
{
	double work = work_of(flow);

	for (int i = 0; i < flow->route->nlinks; i++) {
		struct hopes *hopes = &flow->route->links[i].link->hopes;

		if (hopes->weight == 0)
			hopes->least_work = hopes->most_work = work;
		hopes->weight += flow->route->links[i].weight;
		hopes->least_work = fmin(hopes->least_work, work);
		hopes->most_work = fmax(hopes->most_work, work);
	}
}

static void remove_hope(struct flow *flow)
{
	for (int i = 0; i < flow->route->nlinks; i++) {
		struct link *link = flow->route->links[i].link;

		link->hopes = (struct hopes){0};
		link->is_refused = 0;
	}
}

/* Those that would ride share a link with the flows that are as fast as they would be, or
 * faster; slower ones keep what they have.  What a full link has left within TOLERANCE
 * belongs to those that it holds, too: a flow that takes a twentieth of its rate there,
 * as on its way back, would be several times as fast. */
static struct share find_share(const struct link *link)
{
	double room =
		fmax(link->bytes_per_s - link->riding_load, 1e-9 * link->bytes_per_s);
	struct share share = {room, link->all_weight + link->hopes.weight};

	for (double level = 0, next; (next = share.bytes_per_s / share.weight) > level;) {
		level = next;
		share = (struct share){room, link->all_weight + link->hopes.weight};
		for (unsigned i = 0; i < link->nmembers; i++) {
			const struct member *member = &link->members[i];

			if (member->level < level && !member->is_held) {
				share.bytes_per_s -= member->level * member->weight;
				share.weight -= member->weight;
			}
		}
	}
	return share;
}

static const struct share *share_of(struct link *link)
{
	if (link->hopes.share.weight == 0)
		link->hopes.share = find_share(link);
	return &link->hopes.share;
}

static double level_for(struct link *link)
{
	return share_of(link)->bytes_per_s / share_of(link)->weight;
}

static struct link *slowing(const struct flow *flow)
{
	return flow->slowed_by == UNHELD ? NULL
					 : flow->route->links[flow->slowed_by].link;
}

/* Which of its links slows it most, and the rate that this gives. */
static void slow(struct flow *flow)
{
	double level = flow->route->bound * flow->route->penalty;

	flow->slowed_by = UNHELD;
	for (int i = 0; i < flow->route->nlinks; i++) {
		double here = level_for(flow->route->links[i].link);

		if (here < level) {
			level = here;
			flow->slowed_by = i;
		}
	}
	flow->rate = level / flow->route->penalty;
	if (flow->slowed_by != UNHELD)
		slowing(flow)->hopes.firm_weight +=
			flow->route->links[flow->slowed_by].weight;
}

/* Do all its flows have more left than they move in a time? */
static int all_stay(const struct link *link, double time_s, double now_s)
{
	for (unsigned i = 0; i < link->nmembers; i++) {
		const struct stream *stream = link->members[i].stream;

		if (stream && stream->left_bytes <
				      stream->rate * (now_s + time_s - stream->updated_s))
			return 0;
	}
	return 1;
}

/* All that would ride on the link are slowed by it, and end together. */
static int are_alike(const struct hopes *hopes)
{
	return hopes->firm_weight >= ALIKE * hopes->weight &&
	       hopes->least_work >= ALIKE * hopes->most_work;
}

/* Will nothing change while it rides, if nobody comes? */
static int may_ride(const struct flow *flow, double ride_s, double now_s)
{
	if (ride_s > RIDING_LONGEST * flow->latency_s)
		return 0;
	if (slowing(flow) && !are_alike(&slowing(flow)->hopes))
		return 0;
	for (int i = 0; i < flow->route->nlinks; i++) {
		const struct link *link = flow->route->links[i].link;

		if (link->nriding > 0 || !all_stay(link, PASSED * ride_s, now_s))
			return 0;
	}
	return 1;
}

/* Companions on such a link count, though another one slows the flow more. */
static int is_near(struct link *link, const struct flow *flow)
{
	return level_for(link) < NEAR * level_of_rider(flow);
}

static void refuse(struct flow *flow)
{
	flow->updated_s = INFINITY;
	for (int i = 0; i < flow->route->nlinks; i++)
		if (is_near(flow->route->links[i].link, flow))
			flow->route->links[i].link->is_refused = 1;
}

static int meets_refused(const struct flow *flow)
{
	for (int i = 0; i < flow->route->nlinks; i++)
		if (flow->route->links[i].link->is_refused &&
		    is_near(flow->route->links[i].link, flow))
			return 1;
	return 0;
}

/* Those of one date that slow each other ride together, or enter together. */
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

/* Finds when each would have ridden, as its updated_s; INFINITY: it may not. */
static void look(struct solver *solver)
{
	double now_s = solver->sim->now_s;
	int is_refused = 0;

	for (struct flow *flow = solver->hoping; flow; flow = flow->next)
		add_hope(flow);
	for (struct flow *flow = solver->hoping; flow; flow = flow->next)
		slow(flow);
	for (struct flow *flow = solver->hoping; flow; flow = flow->next) {
		double ride_s = flow->left_bytes / flow->rate;

		flow->updated_s = now_s + ride_s;
		if (may_ride(flow, ride_s, now_s))
			continue;
		refuse(flow);
		is_refused = 1;
	}
	if (is_refused && solver->hoping->next)
		refuse_companions(solver);
	for (struct flow *flow = solver->hoping; flow; flow = flow->next)
		remove_hope(flow);
}

static void ride(struct flow *flow, double until_s)
{
	flow->event.fire = on_ridden;
	if (flow->expect)
		flow->expect(flow->arg, 1);
	join(flow);
	flow_end_at(flow, until_s);
}

void riders_start(struct solver *solver)
{
	struct flow *flow = solver->hoping, *next;

	if (!flow)
		return;
	look(solver);
	for (flow = solver->hoping, solver->hoping = NULL; flow; flow = next) {
		double until_s = flow->updated_s;

		next = flow->next;
		flow->updated_s = solver->sim->now_s;
		if (until_s < INFINITY) {
			ride(flow, until_s);
			continue;
		}
		flow->rate = 0;
		solver_enter(flow);
	}
}
