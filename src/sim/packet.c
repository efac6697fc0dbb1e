/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net_sim.h"

/*
 * packet.c - messages.  Those from one node to one peer queue in a channel, which
 * exists while something is in it: a short message may be faster than a long one
 * before it, and is then held back.
 */
struct packet {
	struct packet *next;       /* in its channel */
	struct packet *next_early; /* in the group's list */
	struct channel *channel;
	struct plat_timer received;
	double start_s;
	size_t body_bytes;
	unsigned head_bytes;
	unsigned char arrived, has_body;
	_Alignas(16) char bytes[]; /* the head in NET_HEAD_BYTES, then the body */
};

struct channel {
	struct sim_net *from;
	int peer, draining;
	struct packet *first, *last;
};

/* In message->backend. */
static double *sent_date(struct net_message *message)
{
	return (double *)(void *)&message->backend[0];
}

static struct channel *find_channel(struct sim_net *net, int peer)
{
	struct channel *channel = table_get(&net->channels, (uint64_t)peer);

	if (!channel) {
		channel = orr_alloc(sizeof(*channel));
		channel->from = net;
		channel->peer = peer;
		table_put(&net->channels, (uint64_t)peer, channel);
	}
	return channel;
}

static struct packet *make_packet(const struct net_message *message)
{
	size_t body_bytes = message->body ? message->body_bytes : 0;
	struct packet *packet = malloc(sizeof(*packet) + NET_HEAD_BYTES + body_bytes);

	if (!packet)
		orr_die(ORR_NO_RANK, "no memory for a message of %zu bytes", body_bytes);
	memset(packet, 0, sizeof(*packet));
	packet->head_bytes = message->head_bytes;
	packet->body_bytes = message->body_bytes;
	memcpy(packet->bytes, message->head, message->head_bytes);
	if (message->body) {
		packet->has_body = 1;
		memcpy(packet->bytes + NET_HEAD_BYTES, message->body, body_bytes);
	}
	return packet;
}

static void deliver(struct channel *channel, struct packet *packet)
{
	struct sim_net *from = channel->from;
	struct sim_net *to = from->group->members[channel->peer];

	net_moves(from, -1);
	if (to) { /* else it has closed meanwhile, and cannot want it */
		net_moves(to, -1);
		net_become(to);
		to->net.deliver(&to->net, from->net.rank, packet->bytes,
				packet->head_bytes,
				packet->has_body ? packet->bytes + NET_HEAD_BYTES : NULL,
				packet->body_bytes);
	}
	free(packet);
}

static void take(struct packet *packet)
{
	struct channel *channel = packet->channel;

	packet->arrived = 1;
	if (channel->draining)
		return;
	channel->draining = 1;
	while (channel->first && channel->first->arrived) {
		packet = channel->first;
		channel->first = packet->next;
		if (!channel->first)
			channel->last = NULL;
		deliver(channel, packet);
	}
	channel->draining = 0;
	if (!channel->first) {
		table_remove(&channel->from->channels, (uint64_t)channel->peer);
		free(channel);
	}
}

static void on_received(struct plat_timer *timer)
{
	take(ORR_CONTAINER(timer, struct packet, received));
}

/* The bytes are there; receiving may cost the node time. */
static void on_arrival(void *arg)
{
	struct packet *packet = arg;
	struct sim_net *from = packet->channel->from;
	struct sim_net *to = from->group->members[packet->channel->peer];
	double overhead_s = wire_receive_overhead_s(
		from->sim->wire, (double)(packet->head_bytes + packet->body_bytes));
	double date_s = from->sim->now_s;

	if (!to || overhead_s <= 0) {
		take(packet);
		return;
	}
	if (date_s < to->receiving_until_s)
		date_s = to->receiving_until_s;
	to->receiving_until_s = date_s + overhead_s;
	packet->received.fire = on_received;
	calendar_add(from->sim, &packet->received, date_s + overhead_s);
}

static void start_packet(struct packet *packet)
{
	struct sim_net *from = packet->channel->from;
	struct sim_net *to = from->group->members[packet->channel->peer];
	double bytes = (double)(packet->head_bytes + packet->body_bytes);
	struct wire_transfer transfer = {
		.from = from->plat->host,
		.to = to->plat->host,
		.bytes = bytes,
		.start_s = packet->start_s,
		.done = on_arrival,
		.arg = packet,
	};

	net_moves(from, 1);
	net_moves(to, 1);
	wire_start(from->sim->wire, &transfer);
}

void packet_start_early(struct net_group *group, int rank)
{
	struct packet **at = &group->early;

	group->last_early = NULL;
	while (*at) {
		struct packet *packet = *at;
		double now_s = plat_now_s(group->members[rank]->plat);

		if (packet->channel->peer != rank) {
			group->last_early = packet;
			at = &packet->next_early;
			continue;
		}
		*at = packet->next_early;
		if (packet->start_s < now_s)
			packet->start_s = now_s;
		start_packet(packet);
	}
}

static void append_early(struct net_group *group, struct packet *packet)
{
	*(group->last_early ? &group->last_early->next_early : &group->early) = packet;
	group->last_early = packet;
}

/* sent() may not run before send() returns: it has an event of its own. */
static void queue_sent(struct sim_net *net, struct net_message *message, double date_s)
{
	*sent_date(message) = date_s;
	message->next = NULL;
	*(net->last_sending ? &net->last_sending->next : &net->sending) = message;
	net->last_sending = message;
	if (!calendar_has(&net->sent))
		calendar_add(net->sim, &net->sent, date_s);
}

void packet_on_sent(struct plat_timer *timer)
{
	struct sim_net *net = ORR_CONTAINER(timer, struct sim_net, sent);

	while (net->sending && *sent_date(net->sending) <= net->sim->now_s) {
		struct net_message *message = net->sending;

		net->sending = message->next;
		if (!net->sending)
			net->last_sending = NULL;
		message->next = NULL;
		message->sent(message);
	}
	if (net->sending && !calendar_has(&net->sent))
		calendar_add(net->sim, &net->sent, *sent_date(net->sending));
}

int packet_send(struct net *base, struct net_message *message)
{
	struct sim_net *net = ORR_CONTAINER(base, struct sim_net, net);
	struct packet *packet;
	double bytes, start_s;

	if (message->peer < 0 || message->peer >= net->net.size)
		return -EINVAL;
	ORR_ASSERT(message->head_bytes <= NET_HEAD_BYTES);
	bytes = (double)(message->head_bytes + message->body_bytes);
	start_s = net_send_date_s(net, bytes);
	packet = make_packet(message);
	packet->start_s = start_s;
	packet->channel = find_channel(net, message->peer);
	*(packet->channel->last ? &packet->channel->last->next
				: &packet->channel->first) = packet;
	packet->channel->last = packet;
	if (net->group->members[message->peer])
		start_packet(packet);
	else
		append_early(net->group, packet);
	queue_sent(net, message, start_s);
	return 0;
}
