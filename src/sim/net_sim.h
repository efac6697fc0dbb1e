/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_NET_SIM_H
#define ORR_SIM_NET_SIM_H

/*
 * net_sim.h - the transports that keep messages in the process, inside.
 *
 * The nodes that open a transport on one communicator form a group, where each finds
 * its peers, and which is all that those of SMPI's transport have in common.  Nothing
 * here grows with the number of peers but the group's table, and what is in flight.
 */
#include <simgrid/barrier.h>

#include "base/pool.h"
#include "base/table.h"
#include "wire.h"

struct packet;

struct net_group {
	struct net_group *next;
	int leader; /* rank in the world of member 0; -1: a group of its own */
	int size, njoined, nleft;
	struct sim_net **members; /* NULL: not yet here, or gone */
	sg_host_t *hosts;         /* of those that have been here */
	struct plat **plats;      /* of all that have joined */
	char *joined;
	struct packet *early, *last_early;    /* to members that are not yet here */
	struct pool packets, channels, pairs; /* of messages on their way */
	/* Of SMPI's transport: packets on their way to each member, the numbers of those
	 * of each pair, and of puts by their pair and key. */
	int *ncoming;
	struct table sends, puts;
	struct pool numbers, transits;
	sg_bar_t opened;
	/* A barrier costs the same under all transports, and all leave it at one date. */
	struct net_barrier **barriers; /* of those that have arrived */
	int narrived;
	double arrived_s;
	struct plat_timer release;
	struct sim *sim;
	uint64_t shared[NET_SHARED_WORDS]; /* see struct net */
};

/* What messages cost a node, and until when it is at it: overheads do not overlap. */
struct net_pace {
	const struct wire_costs *costs;
	double sending_until_s, receiving_until_s;
};

struct sim_net {
	struct net net;
	struct plat *plat;
	struct sim *sim;
	struct net_group *group;
	struct net_pace pace;
	/* Messages that wait for sent(), in the order of their dates. */
	struct net_message *sending, *last_sending;
	struct plat_timer sent;
	struct table channels; /* by peer: packets on their way to it */
	struct table halves;   /* by key: half transfers to this node */
	int nmoving;           /* transfers to or from this node */
	double moving_s;
};

/* A rank becomes one of the group of its communicator, and leaves it. */
struct net_group *net_join(struct plat *plat, const struct net_config *config);
void net_leave(struct net_group *group);
/* A member has come to the barrier of all. */
void net_arrive(struct net_group *group, int rank, struct net_barrier *barrier);

/* A transfer begins or ends at a node. */
void net_moves(struct sim_net *net, int change);
/* When a message leaves that is sent now. */
double net_send_date_s(struct plat *plat, struct net_pace *pace, double bytes);
/* When one has been received whose bytes are there now. */
double net_receive_date_s(const struct plat *plat, struct net_pace *pace, double bytes);
/* Of heads and bodies. */
double net_carried_bytes(const struct net_message *message);
/* A message has come: who received it took the core of a worker, where none is spare; of
 * one that idled until now, when its bytes are moved from now on.  They take so many
 * times (stretch) as long as a value of their size does. */
void net_lend_for(struct sim_net *to, const struct sim_net *from, double bytes,
		  double stretch, int is_late);
/* A core of the sender copies what is sent, as long as the message is later than a small
 * one for its size alone. */
void net_copy(struct sim_net *from, int peer, double bytes);
/* What came lies in memory that may be new. */
void net_touch(struct sim_net *to, double bytes);
/* Something comes from one to the other, whose platform that is: what this looks at is
 * brought. */
static inline void net_expect(const struct sim_net *from, const struct sim_net *to,
			      const struct plat *plat)
{
	orr_bring(&to->net.owner);
	orr_bring(&to->plat);
	orr_bring(&to->nmoving);
	orr_bring(plat);
	orr_bring(&plat->lends_cores);
	orr_bring(&plat->new_bytes);
	orr_bring(&from->group);
	orr_bring(&from->channels);
	orr_bring(&from->nmoving);
}

/* From now on, callbacks run on behalf of this node. */
static inline void net_become(struct sim_net *net)
{
	net->sim->current = net->plat;
}

/* The group's pools of packets and channels, and of pairs of halves. */
void packet_open(struct net_group *group);
void bulk_open(struct net_group *group);

int packet_send(struct net *net, struct net_message *message);
/* The member has joined: start what waits for it. */
void packet_start_early(struct net_group *group, int rank);
void packet_on_sent(struct plat_timer *timer);

int bulk_put(struct net *net, struct net_bulk *bulk);
int bulk_get(struct net *net, struct net_bulk *bulk);

/* Transport "mpi": see deferred.c. */
int deferred_open(struct plat *plat, const struct net_config *config, struct net **net);
void deferred_group(struct net_group *group);
void deferred_group_free(struct net_group *group);

#endif
