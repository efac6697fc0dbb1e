/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_WIRE_H
#define ORR_SIM_WIRE_H

/*
 * wire.h - how long bytes take from one host to another.
 *
 * The laws are those of SimGrid's SMPI network model, with the same parameters, read
 * from SimGrid's configuration; WIRE_ROUTES solves them here, WIRE_FLOWS lets SimGrid
 * do it, WIRE_NONE leaves contention out.
 */
#include "sim.h"

enum wire_kind { WIRE_ROUTES, WIRE_FLOWS, WIRE_NONE };

/* Up to so many sizes change a factor. */
enum { WIRE_MAX_PIECES = 32 };

/* Piecewise: from size > above_bytes on, value[0] + value[1] * bytes. */
struct wire_piece {
	double above_bytes, value[2];
};

struct wire_pieces {
	int n;
	struct wire_piece piece[WIRE_MAX_PIECES];
};

/* A route's law, besides its links. */
struct wire_law {
	struct wire_pieces bandwidth_factor, latency_factor;
	double tcp_gamma, weight_s;
	int crosstraffic;
};

struct wire_transfer {
	sg_host_t from, to;
	double bytes, start_s;   /* start_s: not before now */
	double stretch;          /* the bytes take so many times as long; 0: once */
	void (*done)(void *arg); /* in kernel context, with sim->current unset */
	/* NULL, or brings what done() will look at: may be called with steps 0, then 1,
	 * at two events before. */
	void (*expect)(void *arg, int step);
	void *arg;
};

struct wire *wire_new(struct sim *sim, enum wire_kind kind);
/* Nothing is in flight. */
void wire_free(struct wire *wire);
enum wire_kind wire_kind(const struct wire *wire);
/* A transfer between two hosts will start soon: what is known of their route is brought
 * near, first where it lies, then, the second time, itself. */
void wire_expect(const struct wire *wire, sg_host_t from, sg_host_t to, int is_second);
void wire_start(struct wire *wire, const struct wire_transfer *transfer);

/* What messages cost the software of a host: its properties smpi/ois and smpi/or, else
 * SimGrid's options of these names.  Hosts with the same texts share one. */
struct wire_costs;
const struct wire_costs *wire_costs(struct wire *wire, sg_host_t host);

/* What sending and receiving a message of a size costs, beside the network. */
double wire_send_overhead_s(const struct wire_costs *costs, double bytes);
double wire_receive_overhead_s(const struct wire_costs *costs, double bytes);
/* What SMPI would charge the application for a message of its own. */
double wire_message_s(const struct wire_costs *costs, enum kernel_message kind,
		      double bytes);
/* Of a smallest message, alone. */
double wire_latency_s(struct wire *wire, sg_host_t from, sg_host_t to);
/* How long the bytes of a message alone are on their way, without the latency. */
double wire_bytes_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes);
/* By how much it is later than a smallest one for the factor of its latency. */
double wire_copy_s(struct wire *wire, sg_host_t from, sg_host_t to, double bytes);
/* Does the platform say how to come from one to the other? */
int wire_has_route(sg_host_t from, sg_host_t to);

/* ---- law.c ----------------------------------------------------------- */

void law_read(struct wire_law *law);
/* Read pieces from text, or, without one, from SimGrid's option name. */
void law_read_pieces(struct wire_pieces *pieces, const char *name, const char *text);
/* The value at a size, absent below the first piece. */
double pieces_at(const struct wire_pieces *pieces, double bytes, double absent);
/* Parse "above:value[:slope...];..."; 0, or -EINVAL. */
int pieces_parse(struct wire_pieces *pieces, const char *text);

/* ---- solver.c -------------------------------------------------------- */

struct solver;

/* A flow on shared links. */
struct flow;

struct solver *solver_new(struct sim *sim);
void solver_free(struct solver *solver);

struct link;

/* A link by what identifies it; made when it is new. */
struct link *solver_link(struct solver *solver, const void *key, double bytes_per_s);

/* One link of a flow's route. */
struct flow_link {
	struct link *link;
	double weight; /* what part of the flow's rate it carries, over the penalty */
};

struct stream;

/* What the flows between two hosts have in common. */
struct flow_route {
	struct solver *solver;
	struct stream *stream; /* its flows that are on their links, or NULL */
	unsigned nflows;       /* that have not ended: until then it stays where it is */
	int nlinks;
	double penalty; /* shares are inverse to it */
	double bound;   /* largest raw rate */
	double latency_s;
	struct flow_link links[];
};

struct flow_spec {
	struct flow_route *route;
	double latency_s; /* from its start to its first byte */
	double bytes;     /* to transfer at the raw rate */
	void (*done)(void *arg);
	void (*expect)(void *arg, int step); /* the transfer's */
	void *arg;
};

/* Enter the links latency_s after start_s; done is called when the bytes are through. */
void solver_start(struct solver *solver, const struct flow_spec *spec, double start_s);

#endif
