/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/transport.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "plat/plat.h"

_Static_assert(sizeof(struct frame_head) == NET_FRAME_BYTES,
	       "what a message takes of a packet");

/* ---- life ------------------------------------------------------------ */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t body_offset(size_t head_bytes)
{
	return net_aligned(sizeof(struct frame_head) + head_bytes);
}

void transport_init(struct transport *transport, const struct net_config *config,
		    size_t op_bytes, size_t margin_bytes)
{
	struct net *base = &transport->base;

	base->rank = config->rank;
	base->size = config->size;
	base->max_packets = TRANSPORT_MAX_PACKETS;
	base->packet_bytes = smaller(config->packet_bytes, TRANSPORT_MAX_PACKET_BYTES);
	base->eager_bytes = smaller(config->eager_bytes, TRANSPORT_MAX_EAGER_BYTES);
	transport->frame_bytes = body_offset(NET_HEAD_BYTES) + base->eager_bytes;
	if (transport->frame_bytes < base->packet_bytes)
		transport->frame_bytes = base->packet_bytes;
	transport->margin_bytes = margin_bytes;
	transport->piece_bytes = config->piece_bytes ? config->piece_bytes : SIZE_MAX;
	pool_init(&transport->frame_pool, margin_bytes + transport->frame_bytes);
	pool_init(&transport->op_pool, op_bytes);
	transport->ended = NULL;
	transport->ended_last = &transport->ended;
}

void transport_free(struct transport *transport)
{
	pool_free(&transport->op_pool);
	pool_free(&transport->frame_pool);
}

/* ---- ends ------------------------------------------------------------ */

struct transport_op *transport_op_new(struct transport *transport,
				      enum transport_op_kind kind)
{
	struct transport_op *op = pool_get(&transport->op_pool);

	memset(op, 0, transport->op_pool.object_bytes);
	op->kind = kind;
	return op;
}

void transport_op_end(struct transport *transport, struct transport_op *op)
{
	op->next = NULL;
	*transport->ended_last = op;
	transport->ended_last = &op->next;
}

void transport_frame_left(struct transport *transport, struct transport_op *op)
{
	pool_put(&transport->frame_pool, op->frame);
	if (op->kind == OP_ROUND)
		pool_put(&transport->op_pool, op);
	else
		transport_op_end(transport, op);
}

static void call_back(struct transport *transport, struct transport_op *op)
{
	struct transport_op ended = *op;

	pool_put(&transport->op_pool, op);
	switch (ended.kind) {
	case OP_MESSAGE:
		ended.of.message->sender->sent(ended.of.message);
		break;
	case OP_PUT:
	case OP_GET:
		ended.of.bulk->status = ended.status;
		ended.of.bulk->done(ended.of.bulk);
		break;
	case OP_BARRIER:
		ended.of.barrier->done(ended.of.barrier);
		break;
	case OP_ROUND:
		break; /* nobody's */
	}
}

int transport_call_back(struct transport *transport)
{
	struct transport_op *op = transport->ended;
	int ncalled = 0;

	transport->ended = NULL;
	transport->ended_last = &transport->ended;
	while (op) {
		struct transport_op *next = op->next;

		transport->base.has_more = next != NULL;
		call_back(transport, op);
		op = next;
		ncalled++;
	}
	return ncalled;
}

/* ---- pieces ---------------------------------------------------------- */

void transport_cut(const struct transport *transport, struct transport_op *op)
{
	size_t left = layout_bytes(&op->of.bulk->layout) - op->offset_bytes;

	op->piece_bytes = smaller(left, transport->piece_bytes);
}

/*
 * What is pushed waits with the first and the last piece: its key is used again when it
 * has ended, so all of it has to have been met then.  Small pieces leave before anybody
 * has asked for them, and the library searches what nobody has asked for when a receive
 * is posted: so few are ahead.
 */
int transport_awaits(const struct transport *transport, const struct transport_op *op)
{
	const struct net_bulk *bulk = op->of.bulk;
	size_t end = op->offset_bytes + op->piece_bytes;

	if (bulk->is_pushed &&
	    (op->offset_bytes == 0 || end == layout_bytes(&bulk->layout)))
		return 1;
	return op->offset_bytes > 0 &&
	       op->offset_bytes / transport->piece_bytes % TRANSPORT_PIECES_AHEAD ==
		       TRANSPORT_PIECES_AHEAD - 1;
}

int transport_piece_ended(struct transport *transport, struct transport_op *op)
{
	op->offset_bytes += op->piece_bytes;
	if (op->status == 0 && op->offset_bytes < layout_bytes(&op->of.bulk->layout)) {
		orr_next(&transport->base.npieces);
		return 1;
	}
	transport_op_end(transport, op);
	return 0;
}

/* ---- frames ---------------------------------------------------------- */

static void message_fill(char *frame, const struct net_message *message)
{
	struct frame_head head = {.head_bytes = (uint16_t)message->head_bytes,
				  .flags = message->body ? FRAME_HAS_BODY : 0,
				  .body_bytes = message->body_bytes};

	if (message->next)
		head.flags |= FRAME_HAS_MORE;
	memcpy(frame, &head, sizeof(head));
	memcpy(frame + sizeof(head), message->head, message->head_bytes);
	if (message->body && message->body_bytes > 0)
		memcpy(frame + body_offset(message->head_bytes), message->body,
		       message->body_bytes);
}

size_t frame_fill(char *frame, const struct net_message *message)
{
	size_t at = 0;

	for (;; message = message->next) {
		message_fill(frame + at, message);
		if (!message->next)
			break;
		at += net_message_bytes(message);
	}
	return at + body_offset(message->head_bytes) + message->body_bytes;
}

int transport_check_message(const struct net *net, const struct net_message *message)
{
	ORR_ASSERT(message->head_bytes <= NET_HEAD_BYTES);
	ORR_ASSERT(message->body_bytes <= net->eager_bytes);
	return message->peer < 0 || message->peer >= net->size ? -EINVAL : 0;
}

int transport_check_bulk(const struct net *net, const struct net_bulk *bulk, int is_put)
{
	ORR_ASSERT(bulk->key < NET_KEYS);
	return net_bulk_has_peer(net, bulk, is_put) ? 0 : -EINVAL;
}

static void heard_round(struct transport *transport, uint64_t round);

int transport_take_frame(struct transport *transport, int peer, const char *frame,
			 int follows)
{
	struct net *base = &transport->base;
	struct frame_head head;
	int count = 0;

	memcpy(&head, frame, sizeof(head));
	if (head.flags & FRAME_BARRIER) {
		heard_round(transport, head.body_bytes);
		return 1;
	}
	do {
		const char *body;

		memcpy(&head, frame, sizeof(head));
		ORR_ASSERT(head.head_bytes <= NET_HEAD_BYTES);
		body = frame + body_offset(head.head_bytes);
		base->has_more = follows || (head.flags & FRAME_HAS_MORE);
		base->deliver(base, peer, frame + sizeof(head), head.head_bytes,
			      head.flags & FRAME_HAS_BODY ? body : NULL,
			      (size_t)head.body_bytes);
		frame = body + net_aligned((size_t)head.body_bytes);
		count++;
	} while (head.flags & FRAME_HAS_MORE);
	return count;
}

/* ---- barrier --------------------------------------------------------- */

static void start_round(struct transport *transport)
{
	struct frame_head head = {.flags = FRAME_BARRIER,
				  .body_bytes = (uint64_t)transport->round};
	const struct net *base = &transport->base;
	int peer = (int)((base->rank + (1LL << transport->round)) % base->size);
	char *frame = pool_get(&transport->frame_pool);

	memcpy(frame + transport->margin_bytes, &head, sizeof(head));
	transport->send_round(transport, frame, transport->margin_bytes + sizeof(head),
			      peer);
}

static void start_barrier(struct transport *transport, struct net_barrier *barrier)
{
	transport->barrier = barrier;
	transport->round = 0;
	if (transport->base.size > 1)
		start_round(transport);
}

/* Go as far as the rounds allow.  Frames of one round come from one node and in
 * order, so those of a later barrier, which may be early, are only counted. */
static void go_on_barrier(struct transport *transport)
{
	while (transport->barrier) {
		struct transport_op *op;
		int is_last = (1LL << transport->round) >= transport->base.size;

		if (!is_last && transport->heard[transport->round] == 0)
			return;
		if (!is_last) {
			transport->heard[transport->round++]--;
			if ((1LL << transport->round) < transport->base.size)
				start_round(transport);
			continue;
		}
		op = transport_op_new(transport, OP_BARRIER);
		op->of.barrier = transport->barrier;
		transport_op_end(transport, op);
		transport->barrier = NULL;
		if (op->of.barrier->backend[0])
			start_barrier(transport, op->of.barrier->backend[0]);
	}
}

static void heard_round(struct transport *transport, uint64_t round)
{
	ORR_ASSERT(round < TRANSPORT_MAX_ROUNDS);
	transport->heard[round]++;
	go_on_barrier(transport);
}

void transport_barrier(struct net *net, struct net_barrier *barrier)
{
	struct transport *transport = transport_of(net);
	struct net_barrier *last = transport->barrier;

	barrier->backend[0] = NULL;
	if (last) {
		while (last->backend[0])
			last = last->backend[0];
		last->backend[0] = barrier;
		return;
	}
	start_barrier(transport, barrier);
	go_on_barrier(transport);
}
