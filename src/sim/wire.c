/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>
#include <simgrid/link.h>
#include <xbt/config.h>
#include <xbt/dynar.h>

#include "base/check.h"
#include "base/near.h"

/* SMPI adds these to each message: tag, peer and communicator. */
#define ENVELOPE_BYTES 16

/* What a flow takes of the links back, by SimGrid's crosstraffic law. */
#define CROSSTRAFFIC 0.05

/* A transfer that has an event of its own: all in "none", the start in "flows". */
struct lone {
	struct kernel_flow flow; /* first: done gets its address */
	struct plat_timer timer;
	struct wire *wire;
	struct wire_transfer transfer;
};

/* Routes are remembered in sets, a power of two: those of a node's peers come again. */
enum { ROUTE_SETS = 1 << 16, ROUTE_WAYS = 4, EXPECTED_LINES = 3 };

struct known_route {
	sg_host_t from, to;
	struct known_route *next; /* of the same place */
	int most_links;           /* that there is room for */
	struct flow_route route;  /* its links follow */
};

/* Those for whose hosts' hash it is the set; a line, so that who looks for one of them
 * waits once. */
struct route_set {
	ORR_OWN_LINE uint64_t hashes[ROUTE_WAYS];
	/* NULL: a place is free; behind a route others that are still in use. */
	struct known_route *routes[ROUTE_WAYS];
};

enum { NCOST_NAMES = 3 };

struct wire_costs {
	struct wire_costs *next;
	char *texts[NCOST_NAMES]; /* of the properties; NULL: SimGrid's options */
	struct wire_pieces send_s, receive_s, blocking_send_s;
	double detached_bytes; /* only smaller messages have a receiver's overhead */
};

/* What is known of a route besides its shared links. */
struct route {
	double latency_s, least_bytes_per_s;
	double inverse_bytes_per_s; /* sum over the links of 1 / bandwidth */
};

/* With its shared links, in its order. */
struct way {
	struct route route;
	struct link **links;
	int nlinks, capacity;
};

struct wire {
	struct sim *sim;
	struct wire_costs *costs; /* all that there are */
	enum wire_kind kind;
	struct wire_law law;
	struct solver *solver;   /* routes only */
	struct route_set *known; /* by a hash of both hosts */
	void *sets;              /* what they are in, see pages_get() */
	struct near near;        /* where they are */
	struct way ways[2];      /* scratch: there and back */
};

struct wire *wire_new(struct sim *sim, enum wire_kind kind)
{
	struct wire *wire = orr_alloc(sizeof(*wire));

	wire->sim = sim;
	wire->kind = kind;
	if (kind == WIRE_FLOWS)
		calendar_bind(sim);
	law_read(&wire->law);
	if (kind == WIRE_ROUTES) {
		wire->solver = solver_new(sim);
		wire->known = pages_get(sim, ROUTE_SETS * sizeof(struct route_set),
					&wire->sets);
	}
	return wire;
}

static size_t route_bytes(int nlinks)
{
	return sizeof(struct known_route) + (size_t)nlinks * sizeof(struct flow_link);
}

/* All of a place that nobody uses. */
static void forget_routes(struct wire *wire, struct known_route **place)
{
	while (*place) {
		struct known_route *known = *place;

		if (known->route.nflows > 0) {
			place = &known->next;
			continue;
		}
		*place = known->next;
		near_put(&wire->near, known, route_bytes(known->most_links));
	}
}

void wire_free(struct wire *wire)
{
	if (!wire)
		return;
	solver_free(wire->solver);
	for (int i = 0; wire->known && i < ROUTE_SETS * ROUTE_WAYS; i++)
		forget_routes(wire, &wire->known[i / ROUTE_WAYS].routes[i % ROUTE_WAYS]);
	near_free(&wire->near);
	pages_put(wire->sets, ROUTE_SETS * sizeof(struct route_set));
	while (wire->costs) {
		struct wire_costs *costs = wire->costs;

		wire->costs = costs->next;
		for (int i = 0; i < NCOST_NAMES; i++)
			free(costs->texts[i]);
		free(costs);
	}
	for (int i = 0; i < 2; i++)
		free(wire->ways[i].links);
	free(wire);
}

enum wire_kind wire_kind(const struct wire *wire)
{
	return wire->kind;
}

static void append_link(struct way *way, struct link *link)
{
	if (way->nlinks == way->capacity) {
		way->capacity = way->capacity ? 2 * way->capacity : 16;
		way->links = orr_realloc(way->links,
					 (size_t)way->capacity * sizeof(*way->links));
	}
	way->links[way->nlinks++] = link;
}

/* Ask SimGrid for a route; its shared links go to way, where wanted. */
static struct route read_route(struct wire *wire, sg_host_t from, sg_host_t to,
			       struct way *way)
{
	struct route route = {.least_bytes_per_s = INFINITY};
	struct kernel_links links;

	route.latency_s = kernel_route(wire->sim->kernel, from, to, &links);
	for (size_t i = 0; i < links.n; i++) {
		double bytes_per_s = sg_link_get_bandwidth(links.links[i]);

		route.least_bytes_per_s = fmin(route.least_bytes_per_s, bytes_per_s);
		route.inverse_bytes_per_s += 1 / bytes_per_s;
		/* 0 is FATPIPE: everybody has it alone. */
		if (way && sg_link_is_shared(links.links[i]))
			append_link(way, solver_link(wire->solver, links.links[i],
						     bytes_per_s));
	}
	return route;
}

static void read_way(struct wire *wire, sg_host_t from, sg_host_t to, struct way *way)
{
	way->nlinks = 0;
	way->route = read_route(wire, from, to, way);
}

static double raw_bound(const struct wire *wire, const struct route *route)
{
	double bound = route->least_bytes_per_s;

	/* As SimGrid, where nothing holds a flow without links, as between hosts with
	 * coordinates. */
	if (isinf(bound))
		return bound;
	if (route->latency_s > 0 && wire->law.tcp_gamma > 0)
		bound = fmin(bound, wire->law.tcp_gamma / (2 * route->latency_s));
	return bound;
}

/* What goes over a link twice, as both ways over one that is shared by them, is added. */
static void add_use(struct flow_route *route, struct link *link, double weight)
{
	for (int i = 0; i < route->nlinks; i++)
		if (route->links[i].link == link) {
			route->links[i].weight += weight;
			return;
		}
	route->links[route->nlinks++] = (struct flow_link){link, weight};
}

/* back: what acknowledgements take, or NULL. */
static struct known_route *make_route(struct wire *wire, const struct way *way,
				      const struct way *back)
{
	const struct route *told = &way->route;
	int most = way->nlinks + (back ? back->nlinks : 0);
	struct known_route *known = near_get(&wire->near, route_bytes(most));
	struct flow_route *route = &known->route;

	*known = (struct known_route){.most_links = most, .route.solver = wire->solver};
	for (int i = 0; i < way->nlinks; i++)
		add_use(route, way->links[i], 1);
	for (int i = 0; back && i < back->nlinks; i++)
		add_use(route, back->links[i], CROSSTRAFFIC);
	/* As SimGrid, where flows without latency weigh the same. */
	route->penalty = 1;
	if (told->latency_s > 0)
		route->penalty =
			told->latency_s + wire->law.weight_s * told->inverse_bytes_per_s;
	for (int i = 0; i < route->nlinks; i++)
		route->links[i].weight /= route->penalty;
	route->bound = raw_bound(wire, told);
	route->latency_s = told->latency_s;
	return known;
}

static uint64_t hash_of(sg_host_t from, sg_host_t to)
{
	return table_mix(table_mix((uintptr_t)from) + (uintptr_t)to);
}

static struct route_set *set_of(const struct wire *wire, uint64_t hash)
{
	return &wire->known[hash & (ROUTE_SETS - 1)];
}

/* The place of the route that has the hash, else one that is free, else NULL. */
static struct known_route **place_in(struct route_set *set, uint64_t hash)
{
	struct known_route **place = NULL;

	for (int way = 0; way < ROUTE_WAYS; way++) {
		if (set->routes[way] && set->hashes[way] == hash)
			return &set->routes[way];
		if (!set->routes[way])
			place = &set->routes[way];
	}
	return place;
}

static void keep_route(struct wire *wire, struct known_route *known, sg_host_t from,
		       sg_host_t to)
{
	uint64_t hash = hash_of(from, to);
	struct route_set *set = set_of(wire, hash);
	struct known_route **place = place_in(set, hash);

	if (!place)
		place = &set->routes[(hash >> 32) % ROUTE_WAYS];
	forget_routes(wire, place);
	known->from = from;
	known->to = to;
	known->next = *place;
	*place = known;
	set->hashes[place - set->routes] = hash;
}

static int has_room_for(const struct wire *wire, sg_host_t from, sg_host_t to)
{
	uint64_t hash = hash_of(from, to);
	struct known_route **place = place_in(set_of(wire, hash), hash);

	return place && !*place;
}

/* SimGrid takes long to find a route, and who gets a message mostly answers: where both
 * ways are asked for, both become known. */
static struct known_route *learn_route(struct wire *wire, sg_host_t from, sg_host_t to)
{
	struct way *way = &wire->ways[0], *back = &wire->ways[1];
	struct known_route *known;

	read_way(wire, from, to, way);
	if (!wire->law.crosstraffic)
		back = NULL;
	else
		read_way(wire, to, from, back);
	if (back && has_room_for(wire, to, from))
		keep_route(wire, make_route(wire, back, way), to, from);
	known = make_route(wire, way, back);
	keep_route(wire, known, from, to);
	return known;
}

/* The one that is remembered for the hash, or NULL: mostly the route that is asked for.
 */
static struct known_route *look_up(const struct wire *wire, uint64_t hash)
{
	struct known_route **place = place_in(set_of(wire, hash), hash);

	return place ? *place : NULL;
}

static int joins(const struct known_route *known, sg_host_t from, sg_host_t to)
{
	return known->from == from && known->to == to;
}

/* One that lost its place while it was in use.  A second one for the same hosts would
 * have flows of its own, and dates would depend on where SimGrid's hosts lie. */
static struct known_route *look_behind(const struct route_set *set, sg_host_t from,
				       sg_host_t to)
{
	for (int way = 0; way < ROUTE_WAYS; way++)
		for (struct known_route *known = set->routes[way]; known;
		     known = known->next)
			if (joins(known, from, to))
				return known;
	return NULL;
}

static struct flow_route *find_route(struct wire *wire, sg_host_t from, sg_host_t to)
{
	uint64_t hash = hash_of(from, to);
	struct known_route *known = look_up(wire, hash);

	if (!known || !joins(known, from, to))
		known = look_behind(set_of(wire, hash), from, to);
	if (!known)
		known = learn_route(wire, from, to);
	return &known->route;
}

void wire_expect(const struct wire *wire, sg_host_t from, sg_host_t to, int is_second)
{
	uint64_t hash = hash_of(from, to);
	const char *known;

	if (!wire->known)
		return;
	if (!is_second) {
		orr_bring(set_of(wire, hash));
		return;
	}
	known = (const char *)look_up(wire, hash);
	for (int line = 0; known && line < EXPECTED_LINES; line++)
		orr_bring(known + line * ORR_LINE_BYTES);
}

static double stretch_of(const struct wire_transfer *transfer)
{
	return transfer->stretch > 0 ? transfer->stretch : 1;
}

static void start_flow(struct wire *wire, const struct wire_transfer *transfer)
{
	const struct wire_law *law = &wire->law;
	struct flow_route *route = find_route(wire, transfer->from, transfer->to);
	double bytes = transfer->bytes + ENVELOPE_BYTES;
	struct flow_spec spec = {
		.route = route,
		.latency_s = route->latency_s * pieces_at(&law->latency_factor, bytes, 1),
		.bytes = bytes / pieces_at(&law->bandwidth_factor, bytes, 1) *
			 stretch_of(transfer),
		.done = transfer->done,
		.expect = transfer->expect,
		.arg = transfer->arg,
	};

	solver_start(wire->solver, &spec, transfer->start_s);
}

/* With what SMPI adds to each message. */
static double bytes_s(struct wire *wire, const struct route *route, double bytes)
{
	return bytes / (raw_bound(wire, route) *
			pieces_at(&wire->law.bandwidth_factor, bytes, 1));
}

static double alone_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes)
{
	const struct wire_law *law = &wire->law;
	struct route route;

	route = read_route(wire, from, to, NULL);
	bytes += ENVELOPE_BYTES;
	return route.latency_s * pieces_at(&law->latency_factor, bytes, 1) +
	       bytes_s(wire, &route, bytes);
}

static void lone_done(struct plat_timer *timer)
{
	struct lone *lone = ORR_CONTAINER(timer, struct lone, timer);
	struct wire_transfer transfer = lone->transfer;

	free(lone);
	transfer.done(transfer.arg);
}

static void flow_done(struct kernel_flow *flow)
{
	struct lone *lone = (struct lone *)(void *)flow;
	struct wire_transfer transfer = lone->transfer;
	struct sim *sim = lone->wire->sim;

	free(lone);
	calendar_enter(sim);
	transfer.done(transfer.arg);
	calendar_leave(sim);
}

static void flow_begin(struct plat_timer *timer)
{
	struct lone *lone = ORR_CONTAINER(timer, struct lone, timer);

	lone->flow.done = flow_done;
	kernel_flow_start(lone->wire->sim->kernel, &lone->flow, lone->transfer.from,
			  lone->transfer.to,
			  (lone->transfer.bytes + ENVELOPE_BYTES) *
				  stretch_of(&lone->transfer));
}

static void start_lone(struct wire *wire, const struct wire_transfer *transfer)
{
	struct lone *lone = orr_alloc(sizeof(*lone));
	double date_s = transfer->start_s;

	lone->wire = wire;
	lone->transfer = *transfer;
	lone->timer.fire = flow_begin;
	if (wire->kind == WIRE_NONE) {
		lone->timer.fire = lone_done;
		date_s += alone_s(wire, transfer->from, transfer->to, transfer->bytes);
		if (transfer->stretch > 1)
			date_s += (transfer->stretch - 1) *
				  wire_bytes_s(wire, transfer->from, transfer->to,
					       transfer->bytes);
	}
	calendar_add(wire->sim, &lone->timer, date_s);
}

void wire_start(struct wire *wire, const struct wire_transfer *transfer)
{
	if (wire->kind == WIRE_ROUTES)
		start_flow(wire, transfer);
	else
		start_lone(wire, transfer);
}

static const char *const cost_names[NCOST_NAMES] = {"smpi/ois", "smpi/or", "smpi/os"};

static int is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct wire_costs *new_costs(const char *const texts[NCOST_NAMES])
{
	struct wire_costs *costs = orr_alloc(sizeof(*costs));
	struct wire_pieces *pieces[NCOST_NAMES] = {&costs->send_s, &costs->receive_s,
						   &costs->blocking_send_s};

	for (int i = 0; i < NCOST_NAMES; i++) {
		costs->texts[i] = texts[i] ? orr_strdup(texts[i]) : NULL;
		law_read_pieces(pieces[i], cost_names[i], texts[i]);
	}
	costs->detached_bytes = sg_cfg_get_int("smpi/send-is-detached-thresh");
	return costs;
}

const struct wire_costs *wire_costs(struct wire *wire, sg_host_t host)
{
	const char *texts[NCOST_NAMES];
	struct wire_costs *costs;

	for (int i = 0; i < NCOST_NAMES; i++)
		texts[i] = sg_host_get_property_value(host, cost_names[i]);
	for (costs = wire->costs; costs; costs = costs->next)
		if (is_same(costs->texts[0], texts[0]) &&
		    is_same(costs->texts[1], texts[1]) &&
		    is_same(costs->texts[2], texts[2]))
			return costs;
	costs = new_costs(texts);
	costs->next = wire->costs;
	wire->costs = costs;
	return costs;
}

double wire_send_overhead_s(const struct wire_costs *costs, double bytes)
{
	return pieces_at(&costs->send_s, bytes, 0);
}

double wire_message_s(const struct wire_costs *costs, enum kernel_message kind,
		      double bytes)
{
	const struct wire_pieces *pieces = &costs->send_s;

	if (kind == KERNEL_SEND)
		pieces = &costs->blocking_send_s;
	else if (kind == KERNEL_RECEIVE)
		pieces = &costs->receive_s;
	return pieces_at(pieces, bytes, 0);
}

double wire_receive_overhead_s(const struct wire_costs *costs, double bytes)
{
	if (bytes >= costs->detached_bytes)
		return 0;
	return pieces_at(&costs->receive_s, bytes, 0);
}

double wire_latency_s(struct wire *wire, sg_host_t from, sg_host_t to)
{
	return alone_s(wire, from, to, 0);
}

double wire_bytes_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes)
{
	struct route route;

	route = read_route(wire, from, to, NULL);
	return bytes_s(wire, &route, bytes + ENVELOPE_BYTES);
}

double wire_copy_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes)
{
	const struct wire_pieces *factor = &wire->law.latency_factor;
	double more = pieces_at(factor, bytes + ENVELOPE_BYTES, 1) -
		      pieces_at(factor, ENVELOPE_BYTES, 1);

	return more > 0 ? more * read_route(wire, from, to, NULL).latency_s : 0;
}

int wire_has_route(sg_host_t from, sg_host_t to)
{
	xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
	int has;

	sg_host_get_route(from, to, links);
	has = !xbt_dynar_is_empty(links) || sg_host_get_route_latency(from, to) > 0;
	xbt_dynar_free(&links);
	return has;
}
