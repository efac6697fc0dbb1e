/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net_sim.h"

#include "base/check.h"

/*
 * packet.c - packets of messages, which cost what one message of their size costs.
 * Those from one node to one peer queue in a channel, which exists while something is in
 * it: a short one may be faster than a long one before it, and is then held back.
 */
struct packet {
	struct packet *next;       /* in its channel */
	struct packet *next_early; /* in the group's list */
	struct channel *channel;
	/* Between whom it started, for expect() alone: they may close meanwhile. */
	const struct net_group *group;
	const struct sim_net *from, *to;
	const struct plat *plat;
	const void *owner;
	void (*expect)(const void *owner, int peer, const void *head, int step);
	int rank, peer, nexpected;
	int arrived, nmessages, is_pooled;
	struct plat_timer received;
	struct look look;                      /* until somebody looks for it */
	double start_s, bytes;                 /* carried, of heads and bodies */
	_Alignas(NET_ALIGN_BYTES) char data[]; /* of each: piece, head, body, aligned */
};

enum { EXPECT_STEPS = 3 };

/* Packets that carry no more, as those of control messages, are pooled. */
enum { POOLED_BYTES = 160 };

/* One message in a packet. */
struct piece {
	size_t body_bytes;
	unsigned head_bytes;
	unsigned has_body;
};

_Static_assert(sizeof(struct piece) == NET_ALIGN_BYTES, "what lies behind is aligned");

struct channel {
	struct sim_net *from;
	int peer, draining;
	struct packet *first, *last;
};

void packet_open(struct net_group *group)
{
	pool_init(&group->packets, sizeof(struct packet) + POOLED_BYTES);
	pool_init(&group->channels, sizeof(struct channel));
}

/* In message->backend, as the next in net->sending: backend[1]. */
static double *sent_date(struct net_message *message)
{
	return (double *)(void *)&message->backend[0];
}

static struct channel *find_channel(struct sim_net *net, int peer)
{
	struct channel *channel = table_get(&net->channels, (uint64_t)peer);

	if (!channel) {
		channel = pool_get(&net->group->channels);
		*channel = (struct channel){.from = net, .peer = peer};
		table_put(&net->channels, (uint64_t)peer, channel);
	}
	return channel;
}

static size_t piece_bytes(const struct net_message *message)
{
	return sizeof(struct piece) + net_aligned(message->head_bytes) +
	       (message->body ? net_aligned(message->body_bytes) : 0);
}

/* Returns where the next one lies. */
static char *fill_piece(char *at, const struct net_message *message)
{
	struct piece *piece = (struct piece *)(void *)at;
	char *head = at + sizeof(*piece);

	*piece = (struct piece){message->body_bytes, message->head_bytes,
				message->body != NULL};
	memcpy(head, message->head, message->head_bytes);
	if (message->body)
		memcpy(head + net_aligned(message->head_bytes), message->body,
		       message->body_bytes);
	return at + piece_bytes(message);
}

static struct packet *new_packet(struct sim_net *net, size_t bytes)
{
	int is_pooled = bytes <= POOLED_BYTES;
	struct packet *packet = is_pooled ? pool_get(&net->group->packets)
					  : malloc(sizeof(*packet) + bytes);

	if (!packet)
		orr_die(ORR_NO_RANK, "no memory for a message of %zu bytes", bytes);
	memset(packet, 0, sizeof(*packet));
	packet->is_pooled = is_pooled;
	return packet;
}

static void free_packet(struct sim_net *net, struct packet *packet)
{
	if (packet->is_pooled)
		pool_put(&net->group->packets, packet);
	else
		free(packet);
}

static struct packet *make_packet(struct sim_net *net, const struct net_message *message)
{
	struct packet *packet;
	size_t bytes = 0;
	char *at;

	for (const struct net_message *m = message; m; m = m->next)
		bytes += piece_bytes(m);
	packet = new_packet(net, bytes);
	at = packet->data;
	for (; message; message = message->next) {
		at = fill_piece(at, message);
		packet->nmessages++;
	}
	return packet;
}

static void deliver_pieces(struct net *to, int from, const struct packet *packet)
{
	const char *at = packet->data;

	for (int left = packet->nmessages; left > 0; left--) {
		const struct piece *piece = (const struct piece *)(const void *)at;
		const char *head = at + sizeof(*piece), *body;

		body = head + net_aligned(piece->head_bytes);
		to->has_more = left > 1;
		to->deliver(to, from, head, piece->head_bytes,
			    piece->has_body ? body : NULL, piece->body_bytes);
		at = body + (piece->has_body ? net_aligned(piece->body_bytes) : 0);
	}
}

static void deliver(struct channel *channel, struct packet *packet)
{
	struct sim_net *from = channel->from;
	struct sim_net *to = from->group->members[channel->peer];

	net_moves(from, -1);
	if (to) { /* else it has closed meanwhile, and cannot want it */
		net_moves(to, -1);
		net_become(to);
		deliver_pieces(&to->net, from->net.rank, packet);
	}
	free_packet(from, packet);
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
		struct sim_net *from = channel->from;

		table_remove(&from->channels, (uint64_t)channel->peer);
		pool_put(&from->group->channels, channel);
	}
}

static void on_received(struct plat_timer *timer)
{
	take(ORR_CONTAINER(timer, struct packet, received));
}

/* Receiving may cost the node time. */
static void looked(struct look *look)
{
	struct packet *packet = ORR_CONTAINER(look, struct packet, look);
	struct sim_net *from = packet->channel->from;
	struct sim_net *to = from->group->members[packet->channel->peer];
	double now_s = from->sim->now_s, date_s = now_s;

	if (to) {
		net_lend_for(to, from, packet->bytes, 1, packet->look.is_late);
		net_touch(to, packet->bytes);
		date_s = net_receive_date_s(to->plat, &to->pace, packet->bytes);
	}
	if (date_s <= now_s) {
		take(packet);
		return;
	}
	packet->received.fire = on_received;
	calendar_add(from->sim, &packet->received, date_s);
}

/*
 * Who receives it is far away, as a rule, as the events before were of other nodes, and
 * so is what he looks at.  Of several messages the first; it may be answered.
 */
static void expect(void *arg, int step)
{
	struct packet *packet = arg;
	const struct net_group *group = packet->group;
	int peer = packet->peer, rank = packet->rank;

	if (step >= EXPECT_STEPS)
		return;
	packet->nexpected = step + 1;
	if (step == 0) {
		orr_bring(packet->channel);
		net_expect(packet->from, packet->to, packet->plat);
	} else {
		wire_expect(group->sim->wire, group->hosts[peer], group->hosts[rank],
			    step - 1);
	}
	if (step == 2)
		table_expect(&packet->channel->from->channels, (uint64_t)peer);
	if (packet->expect && group->members[peer])
		packet->expect(packet->owner, rank, packet->data + sizeof(struct piece),
			       step);
}

static int expect_received(const struct plat_timer *timer, unsigned step)
{
	struct packet *packet = ORR_CONTAINER(timer, struct packet, received);

	expect(packet, (int)step);
	return step + 1 < EXPECT_STEPS;
}

const struct scout_kind scout_packet_received = {on_received, expect_received};

/* The bytes are there. */
static void on_arrival(void *arg)
{
	struct packet *packet = arg;
	const struct channel *channel = packet->channel;
	struct sim_net *to;

	while (packet->nexpected < EXPECT_STEPS)
		expect(packet, packet->nexpected);
	to = channel->from->group->members[channel->peer];
	if (!to || !look_later(to->plat, &packet->look, looked))
		looked(&packet->look);
}

static void start_packet(struct packet *packet)
{
	struct sim_net *from = packet->channel->from;
	const struct net_group *group = from->group;
	struct sim_net *to = group->members[packet->channel->peer];
	struct wire_transfer transfer = {
		.from = group->hosts[from->net.rank],
		.to = group->hosts[packet->channel->peer],
		.bytes = packet->bytes,
		.start_s = packet->start_s,
		.done = on_arrival,
		.expect = expect,
		.arg = packet,
	};

	packet->group = group;
	packet->rank = from->net.rank;
	packet->peer = packet->channel->peer;
	packet->from = from;
	packet->to = to;
	packet->expect = to->net.expect;
	packet->plat = group->plats[packet->channel->peer];
	packet->owner = to->net.owner;
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
	message->backend[1] = NULL;
	if (net->last_sending)
		net->last_sending->backend[1] = message;
	else
		net->sending = message;
	net->last_sending = message;
	if (!calendar_has(&net->sent))
		calendar_add(net->sim, &net->sent, date_s);
}

void packet_on_sent(struct plat_timer *timer)
{
	struct sim_net *net = ORR_CONTAINER(timer, struct sim_net, sent);

	while (net->sending && *sent_date(net->sending) <= net->sim->now_s) {
		struct net_message *message = net->sending;

		net->sending = message->backend[1];
		if (!net->sending)
			net->last_sending = NULL;
		message->sender->sent(message);
	}
	if (net->sending && !calendar_has(&net->sent))
		calendar_add(net->sim, &net->sent, *sent_date(net->sending));
}

static int expect_sent(const struct plat_timer *timer, unsigned step)
{
	const struct sim_net *net = ORR_CONTAINER(timer, const struct sim_net, sent);

	if (net->sending && step == 0)
		orr_bring_lines(net->sending, 3 * ORR_LINE_BYTES);
	else if (net->sending)
		orr_bring(net->sending->sender);
	return step < 1;
}

const struct scout_kind scout_packet_sent = {packet_on_sent, expect_sent};

/* What sending to a peer looks at: most nodes and routes are far away. */
static void expect_peer(const struct sim_net *net, int peer, int is_second)
{
	const struct net_group *group = net->group;

	const struct sim_net *to = group->members[peer];

	if (!is_second) {
		table_expect(&net->channels, (uint64_t)peer);
		orr_bring(to ? &to->net.owner : NULL);
		orr_bring(to ? &to->plat : NULL);
		orr_bring(to ? &to->nmoving : NULL);
	} else if (to) {
		orr_bring(&to->plat->lends_cores);
	}
	wire_expect(net->sim->wire, group->hosts[net->net.rank], group->hosts[peer],
		    is_second);
}

int packet_send(struct net *base, struct net_message *message)
{
	struct sim_net *net = ORR_CONTAINER(base, struct sim_net, net);
	struct packet *packet;
	double bytes, start_s;

	if (message->peer < 0 || message->peer >= net->net.size)
		return -EINVAL;
	expect_peer(net, message->peer, 0);
	bytes = net_carried_bytes(message);
	start_s = net_send_date_s(net->plat, &net->pace, bytes);
	net_copy(net, message->peer, bytes);
	packet = make_packet(net, message);
	expect_peer(net, message->peer, 1);
	packet->start_s = start_s;
	packet->bytes = bytes;
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
