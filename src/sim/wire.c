/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "wire.h"

#include <math.h>
#include <stdlib.h>

#include <simgrid/host.h>
#include <simgrid/link.h>
#include <xbt/dynar.h>

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

struct wire {
	struct sim *sim;
	enum wire_kind kind;
	struct wire_law law;
	struct solver *solver;   /* routes only */
	xbt_dynar_t dynar;       /* scratch: a route of SimGrid */
	struct flow_link *links; /* scratch: a route of ours */
	int nlinks, capacity;
};

/* What is known of a route besides its shared links. */
struct route {
	double latency_s, least_bytes_per_s;
	double inverse_bytes_per_s; /* sum over the links of 1 / bandwidth */
};

struct wire *wire_new(struct sim *sim, enum wire_kind kind)
{
	struct wire *wire = orr_alloc(sizeof(*wire));

	wire->sim = sim;
	wire->kind = kind;
	law_read(&wire->law);
	wire->dynar = xbt_dynar_new(sizeof(void *), NULL);
	if (kind == WIRE_ROUTES)
		wire->solver = solver_new(sim);
	return wire;
}

void wire_free(struct wire *wire)
{
	if (!wire)
		return;
	solver_free(wire->solver);
	xbt_dynar_free(&wire->dynar);
	free(wire->links);
	free(wire);
}

enum wire_kind wire_kind(const struct wire *wire)
{
	return wire->kind;
}

static void append_link(struct wire *wire, sg_link_t link, double weight)
{
	if (wire->nlinks == wire->capacity) {
		wire->capacity = wire->capacity ? 2 * wire->capacity : 16;
		wire->links = orr_realloc(wire->links,
					  (size_t)wire->capacity * sizeof(*wire->links));
	}
	wire->links[wire->nlinks++] =
		(struct flow_link){.link = link,
				   .bytes_per_s = sg_link_get_bandwidth(link),
				   .weight = weight};
}

/* Ask SimGrid for a route; append its shared links to wire->links. */
static struct route read_route(struct wire *wire, sg_host_t from, sg_host_t to,
			       double weight)
{
	struct route route = {.least_bytes_per_s = INFINITY};

	route.latency_s = sg_host_get_route_latency(from, to);
	xbt_dynar_reset(wire->dynar);
	sg_host_get_route(from, to, wire->dynar);
	for (unsigned long i = 0; i < xbt_dynar_length(wire->dynar); i++) {
		sg_link_t link;
		double bytes_per_s;

		xbt_dynar_get_cpy(wire->dynar, i, &link);
		bytes_per_s = sg_link_get_bandwidth(link);
		route.least_bytes_per_s = fmin(route.least_bytes_per_s, bytes_per_s);
		route.inverse_bytes_per_s += 1 / bytes_per_s;
		/* 0 is FATPIPE: everybody has it alone. */
		if (sg_link_is_shared(link))
			append_link(wire, link, weight);
	}
	return route;
}

static double raw_bound(const struct wire *wire, const struct route *route)
{
	double bound = route->least_bytes_per_s;

	if (route->latency_s > 0 && wire->law.tcp_gamma > 0)
		bound = fmin(bound, wire->law.tcp_gamma / (2 * route->latency_s));
	return bound;
}

static void start_flow(struct wire *wire, const struct wire_transfer *transfer)
{
	const struct wire_law *law = &wire->law;
	struct flow_spec spec = {.done = transfer->done, .arg = transfer->arg};
	struct route route;
	double bytes = transfer->bytes + ENVELOPE_BYTES, delay_s;

	wire->nlinks = 0;
	route = read_route(wire, transfer->from, transfer->to, 1);
	if (law->crosstraffic)
		read_route(wire, transfer->to, transfer->from, CROSSTRAFFIC);
	spec.links = wire->links;
	spec.nlinks = wire->nlinks;
	spec.bytes = bytes / pieces_at(&law->bandwidth_factor, bytes, 1);
	spec.penalty = route.latency_s + law->weight_s * route.inverse_bytes_per_s;
	if (!(spec.penalty > 0))
		spec.penalty = 1;
	spec.bound = raw_bound(wire, &route);
	delay_s = route.latency_s * pieces_at(&law->latency_factor, bytes, 1);
	solver_start(wire->solver, &spec, transfer->start_s + delay_s);
}

static double alone_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes)
{
	const struct wire_law *law = &wire->law;
	struct route route;

	wire->nlinks = 0;
	route = read_route(wire, from, to, 1);
	bytes += ENVELOPE_BYTES;
	return route.latency_s * pieces_at(&law->latency_factor, bytes, 1) +
	       bytes / (raw_bound(wire, &route) *
			pieces_at(&law->bandwidth_factor, bytes, 1));
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
			  lone->transfer.to, lone->transfer.bytes + ENVELOPE_BYTES);
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

double wire_send_overhead_s(const struct wire *wire, double bytes)
{
	return pieces_at(&wire->law.send_overhead_s, bytes, 0);
}

double wire_receive_overhead_s(const struct wire *wire, double bytes)
{
	if (bytes >= wire->law.detached_bytes)
		return 0;
	return pieces_at(&wire->law.receive_overhead_s, bytes, 0);
}

double wire_latency_s(struct wire *wire, sg_host_t from, sg_host_t to)
{
	return alone_s(wire, from, to, 0);
}
