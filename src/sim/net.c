/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "leader.h"
#include "net_sim.h"

static int net_poll(struct net *net)
{
	(void)net;
	return 0; /* The calendar does everything. */
}

void net_moves(struct sim_net *net, int change)
{
	double now_s = net->sim->in_kernel ? net->sim->now_s : plat_now_s(net->plat);

	if (net->nmoving == 0)
		net->moving_s = now_s;
	net->nmoving += change;
	if (net->nmoving == 0 && now_s > net->moving_s && net->net.carried)
		net->net.carried(&net->net, net->moving_s);
}

double net_send_date_s(struct plat *plat, struct net_pace *pace, double bytes)
{
	double date_s = plat_now_s(plat);
	double overhead_s = wire_send_overhead_s(pace->costs, bytes);

	sim_lend(plat, overhead_s, 0);
	if (date_s < pace->sending_until_s)
		date_s = pace->sending_until_s;
	date_s += overhead_s;
	pace->sending_until_s = date_s;
	return date_s;
}

double net_receive_date_s(const struct plat *plat, struct net_pace *pace, double bytes)
{
	double overhead_s = wire_receive_overhead_s(pace->costs, bytes);
	double date_s = plat->sim->in_kernel ? plat->sim->now_s : simgrid_get_clock();

	if (overhead_s <= 0)
		return date_s;
	if (date_s < pace->receiving_until_s)
		date_s = pace->receiving_until_s;
	pace->receiving_until_s = date_s + overhead_s;
	return pace->receiving_until_s;
}

double net_carried_bytes(const struct net_message *message)
{
	size_t bytes = 0;

	for (; message->next; message = message->next)
		bytes += net_message_bytes(message);
	ORR_ASSERT(message->head_bytes <= NET_HEAD_BYTES);
	bytes += net_aligned(NET_FRAME_BYTES + message->head_bytes);
	return (double)(bytes + message->body_bytes);
}

void net_lend_for(struct sim_net *to, const struct sim_net *from, double bytes,
		  double stretch, int is_late)
{
	struct plat *plat = to->plat;

	if (!plat->lends_cores)
		return;
	if (plat->copies_messages)
		sim_lend(plat,
			 stretch * wire_bytes_s(to->sim->wire, from->plat->host,
						plat->host, bytes),
			 !is_late);
	sim_lend(plat, wire_receive_overhead_s(to->pace.costs, bytes), 0);
}

void net_copy(struct sim_net *from, int peer, double bytes)
{
	const struct net_group *group = from->group;

	if (from->plat->lends_cores && from->plat->copies_messages && group->hosts[peer])
		sim_lend(from->plat,
			 wire_copy_s(from->sim->wire, from->plat->host,
				     group->hosts[peer], bytes),
			 0);
}

void net_touch(struct sim_net *to, double bytes)
{
	sim_lend(to->plat, costs_pages_s(to->plat, bytes), 0);
}

/* ---- groups ---------------------------------------------------------- */

static void on_release(struct plat_timer *timer)
{
	struct net_group *group = ORR_CONTAINER(timer, struct net_group, release);

	group->narrived = 0;
	for (int i = 0; i < group->size; i++) {
		struct net_barrier *barrier = group->barriers[i];

		group->barriers[i] = NULL;
		group->sim->current = group->plats[i];
		barrier->done(barrier);
	}
}

static struct net_group *new_group(struct sim *sim, int leader, int size)
{
	struct net_group *group = orr_alloc(sizeof(*group));
	struct net_group **at = &sim->groups;

	group->sim = sim;
	group->leader = leader;
	group->size = size;
	group->members = orr_alloc((size_t)size * sizeof(struct sim_net *));
	group->hosts = orr_alloc((size_t)size * sizeof(sg_host_t));
	group->plats = orr_alloc((size_t)size * sizeof(struct plat *));
	group->barriers = orr_alloc((size_t)size * sizeof(struct net_barrier *));
	group->ncoming = orr_alloc((size_t)size * sizeof(int));
	group->joined = orr_alloc((size_t)size);
	group->release.fire = on_release;
	packet_open(group);
	bulk_open(group);
	deferred_group(group);
	while (*at)
		at = &(*at)->next;
	*at = group;
	return group;
}

static void free_group(struct net_group *group)
{
	struct net_group **at = &group->sim->groups;

	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	pool_free(&group->packets);
	pool_free(&group->channels);
	pool_free(&group->pairs);
	deferred_group_free(group);
	free(group->members);
	free(group->hosts);
	free(group->plats);
	free(group->barriers);
	free(group->ncoming);
	free(group->joined);
	free(group);
}

/*
 * Communicators with the same first member differ in time: that member is in one at a
 * time.  So a rank belongs to the first such group that it has not been in.
 */
static struct net_group *find_group(struct sim *sim, const struct net_config *config)
{
	int leader = config->comm ? leader_of(config->comm) : -1;

	for (struct net_group *g = sim->groups; g && leader >= 0; g = g->next)
		if (g->leader == leader && g->size == config->size &&
		    !g->joined[config->rank])
			return g;
	return new_group(sim, leader, config->size);
}

struct net_group *net_join(struct plat *plat, const struct net_config *config)
{
	struct net_group *group = find_group(plat->sim, config);

	group->joined[config->rank] = 1;
	group->plats[config->rank] = plat;
	group->njoined++;
	return group;
}

void net_leave(struct net_group *group)
{
	if (++group->nleft == group->size)
		free_group(group);
}

static void net_close(struct net *base)
{
	struct sim_net *net = ORR_CONTAINER(base, struct sim_net, net);
	struct net_group *group = net->group;

	ORR_ASSERT(net->channels.count == 0 && net->halves.count == 0);
	ORR_ASSERT(!net->sending && !group->barriers[base->rank]);
	group->members[base->rank] = NULL;
	table_free(&net->channels);
	table_free(&net->halves);
	net_leave(group);
	free(net);
}

void net_close_all(struct sim *sim)
{
	while (sim->groups)
		free_group(sim->groups);
	wire_free(sim->wire);
	sim->wire = NULL;
}

static int tree_depth(int size)
{
	int depth = 0;

	while (1 << depth < size)
		depth++;
	return depth;
}

/* A tree of messages, up and down. */
static double barrier_cost_s(struct net_group *group)
{
	struct wire *wire = group->sim->wire;
	sg_host_t first = group->plats[0]->host,
		  last = group->plats[group->size - 1]->host;
	double hop_s = wire_send_overhead_s(wire_costs(wire, first), 0) +
		       wire_receive_overhead_s(wire_costs(wire, last), 0) +
		       wire_latency_s(wire, first, last);

	return tree_depth(group->size) * hop_s;
}

void net_arrive(struct net_group *group, int rank, struct net_barrier *barrier)
{
	double now_s = plat_now_s(group->plats[rank]);

	ORR_ASSERT(!group->barriers[rank]);
	group->barriers[rank] = barrier;
	if (group->narrived == 0 || now_s > group->arrived_s)
		group->arrived_s = now_s;
	if (++group->narrived == group->size)
		calendar_add(group->sim, &group->release,
			     group->arrived_s + barrier_cost_s(group));
}

static void net_barrier(struct net *base, struct net_barrier *barrier)
{
	net_arrive(ORR_CONTAINER(base, struct sim_net, net)->group, base->rank, barrier);
}

/* ---- opening --------------------------------------------------------- */

static const struct {
	const char *name;
	enum wire_kind kind;
	struct net_ops ops;
} transports[] = {
#define TRANSPORT(text, kind)                                                            \
	{                                                                                \
		text, kind,                                                              \
		{                                                                        \
			text, packet_send, bulk_put, bulk_get, NULL, NULL, NULL, NULL,   \
				net_barrier, net_poll, net_close                         \
		}                                                                        \
	}
	TRANSPORT("routes", WIRE_ROUTES),
	TRANSPORT("flows", WIRE_FLOWS),
	TRANSPORT("none", WIRE_NONE),
};

enum { NTRANSPORTS = sizeof(transports) / sizeof(transports[0]) };

static int open_wire(struct sim *sim, enum wire_kind kind)
{
	if (!sim->wire)
		sim->wire = wire_new(sim, kind);
	return wire_kind(sim->wire) == kind ? 0 : -EINVAL;
}

static struct net *open_sim(struct plat *plat, const struct net_config *config,
			    const struct net_ops *ops)
{
	struct sim_net *net = orr_alloc(sizeof(*net));

	net->net.ops = ops;
	net->net.knows_busy = 1;
	net->net.rank = config->rank;
	net->net.size = config->size;
	net->net.eager_bytes = config->eager_bytes;
	net->net.packet_bytes = config->packet_bytes;
	net->net.place_of = types_mpi_place;
	net->net.may_ask = sim_is_main;
	net->plat = plat;
	net->sim = plat->sim;
	net->pace.costs = wire_costs(plat->sim->wire, plat->host);
	net->sent.fire = packet_on_sent;
	net->sent.plat = plat;
	net->group = net_join(plat, config);
	net->net.shared = net->group->shared;
	net->group->members[config->rank] = net;
	net->group->hosts[config->rank] = plat->host;
	packet_start_early(net->group, config->rank);
	return &net->net;
}

int plat_net_agree(struct plat *plat, const struct net_config *config,
		   struct net_agreement *items, int n)
{
	(void)plat;
	(void)config;
	for (int i = 0; i < n; i++)
		items[i].least = items[i].most = items[i].own;
	return 0;
}

/* Hosts of clusters whose topology is a torus have no route to themselves unless they are
 * given one, and SimGrid ends the program at the first message on it. */
static void check_neighbours(const struct plat *plat, int rank)
{
	const struct plat *other = plat->sim->first;

	if (wire_has_route(plat->host, plat->host))
		return;
	while (other && (other == plat || other->host != plat->host))
		other = other->next;
	if (other)
		orr_die(rank,
			"several ranks are on host %s, which has no route to itself on "
			"this platform: give its cluster loopback_bw and loopback_lat, "
			"or each rank a host of its own",
			sg_host_get_name(plat->host));
}

int plat_net_open(struct plat *plat, const struct net_config *config, struct net **net)
{
	const char *name = *config->name ? config->name : "routes";

	check_neighbours(plat, config->rank);
	if (strcmp(name, "mpi") == 0)
		return deferred_open(plat, config, net);
	for (int i = 0; i < NTRANSPORTS; i++)
		if (strcmp(name, transports[i].name) == 0) {
			if (open_wire(plat->sim, transports[i].kind) < 0)
				return -EINVAL;
			*net = open_sim(plat, config, &transports[i].ops);
			return 0;
		}
	orr_complain(config->rank,
		     "ORRERY_TRANSPORT is \"%s\": expected routes, flows, none or mpi",
		     name);
	return -EINVAL;
}
