/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/outbox.h"

#include <stdlib.h>

#include "base/check.h"

/* How often a carrier looks again before it leaves the rest to who polls. */
enum { MAX_ROUNDS = 8 };

void outbox_init(struct outbox *outbox, struct orr_lock *lock,
		 void (*left)(struct outbox *outbox, struct net_message *messages))
{
	outbox->lock = lock;
	outbox->left = left;
	pool_init(&outbox->queue_pool, sizeof(struct outbox_queue));
}

static void free_raises(struct outbox_raise *raise)
{
	struct outbox_raise *next;

	for (; raise; raise = next) {
		next = raise->next;
		free(raise);
	}
}

void outbox_free(struct outbox *outbox)
{
	struct outbox_queue *queue;
	size_t cursor = 0;

	while ((queue = table_next(&outbox->queues, &cursor)))
		waiting_free(&queue->waiting);
	table_free(&outbox->queues);
	pool_free(&outbox->queue_pool);
	free_raises(outbox->raised);
	free_raises(outbox->spare_raises);
	waiting_orders_free(&outbox->orders);
}

/* ---- handing over ---------------------------------------------------- */

static void refused(const struct outbox *outbox, int ret)
{
	if (ret < 0)
		orr_die(outbox->net->rank,
			"transport %s refuses to send to, or receive from, one of %d "
			"ranks",
			outbox->net->ops->name, outbox->net->size);
}

static void start(struct outbox *outbox, const struct outgoing *item)
{
	struct net *net = outbox->net;

	if (item->kind == OUTGOING_PUT)
		refused(outbox, net->ops->put(net, item->what.bulk));
	else if (item->kind == OUTGOING_GET)
		refused(outbox, net->ops->get(net, item->what.bulk));
	else
		net->ops->barrier(net, item->what.barrier);
}

static struct outbox_queue *queue_of(struct outbox *outbox, int peer)
{
	struct outbox_queue *queue = outbox->recent;

	if (queue && queue->peer == peer)
		return queue;
	queue = table_get(&outbox->queues, (uint64_t)peer);
	if (!queue) {
		queue = pool_get(&outbox->queue_pool);
		*queue = (struct outbox_queue){.peer = peer};
		table_put(&outbox->queues, (uint64_t)peer, queue);
	}
	outbox->recent = queue;
	return queue;
}

static void append_turn(struct outbox *outbox, struct outbox_queue *queue)
{
	queue->next = NULL;
	queue->is_in_turn = 1;
	*(outbox->turn ? &outbox->last_turn->next : &outbox->turn) = queue;
	outbox->last_turn = queue;
}

static void enqueue(struct outbox *outbox, struct outgoing *item)
{
	struct outbox_queue *queue = queue_of(outbox, item->what.message->peer);

	waiting_append(&queue->waiting, item);
	if (!queue->is_in_turn)
		append_turn(outbox, queue);
}

/* Take out the next message and those behind it that can travel with it. */
static struct net_message *dequeue(struct outbox *outbox, struct outbox_queue *queue)
{
	struct waiting *waiting = &queue->waiting;
	struct net_message *first = NULL, **end = &first, *next;
	size_t bytes = 0;

	while ((next = waiting_first(waiting, &outbox->orders))) {
		bytes += net_message_bytes(next);
		if (first && bytes > outbox->net->packet_bytes)
			break;
		waiting_take(waiting, &outbox->orders);
		orr_bring(next->head); /* for who fills the packet */
		*end = next;
		end = &next->next;
	}
	*end = NULL;
	return first;
}

static int has_place(const struct outbox *outbox, const struct outbox_queue *queue)
{
	int limit = outbox->net->max_packets;
	int share =
		queue->waiting.bytes >= outbox->net->packet_bytes ? limit / 2 : limit / 4;

	return queue->nsending == 0 ||
	       (queue->nsending < share && outbox->nsending < limit);
}

static void take_place(struct outbox *outbox, struct outbox_queue *queue, int lingers)
{
	outbox->nsending++;
	queue->nsending++;
	if (!lingers || queue->nlingering++ > 0)
		return;
	queue->next_lingering = outbox->lingering;
	outbox->lingering = queue;
}

static void note_gone(struct outbox *outbox, struct net_message *packet)
{
	*(outbox->gone ? &outbox->last_gone->next : &outbox->gone) = packet;
	while (packet->next)
		packet = packet->next;
	outbox->last_gone = packet;
}

/* queue: whose place it takes, where places are counted. */
static void send_packet(struct outbox *outbox, struct outbox_queue *queue,
			struct net_message *packet, int is_full)
{
	struct net *net = outbox->net;
	int ret = net->ops->send(net, packet);

	refused(outbox, ret);
	if (queue && !(ret == 1 && is_full))
		take_place(outbox, queue, ret == 1);
	if (ret == 1)
		note_gone(outbox, packet);
}

void outbox_raise(struct outbox *outbox, struct outgoing *item, int priority)
{
	struct outbox_raise *raise = outbox->spare_raises;

	if (raise)
		outbox->spare_raises = raise->next;
	else
		raise = orr_alloc(sizeof(*raise));
	*raise = (struct outbox_raise){outbox->raised, item, priority};
	orr_swap_ptr((void **)(void *)&outbox->raised, raise);
}

/* The lock is held. */
static void raise_noted(struct outbox *outbox)
{
	struct outbox_raise *raise, *next;

	for (raise = outbox->raised; raise; raise = next) {
		uint64_t peer = (uint64_t)raise->item->what.message->peer;
		struct outbox_queue *queue = table_get(&outbox->queues, peer);

		next = raise->next;
		waiting_raise(queue ? &queue->waiting : NULL, raise->item,
			      raise->priority);
		raise->next = outbox->spare_raises;
		outbox->spare_raises = raise;
	}
	orr_swap_ptr((void **)(void *)&outbox->raised, NULL);
}

/* One packet for each in turn, as long as there are places. */
static void send_queued(struct outbox *outbox)
{
	int is_limited = outbox->net->max_packets > 0;

	if (outbox->turn && orr_load_ptr((void **)(void *)&outbox->raised)) {
		orr_lock(outbox->lock);
		raise_noted(outbox);
		orr_unlock(outbox->lock);
	}
	while (outbox->turn) {
		struct outbox_queue *queue = outbox->turn;
		int is_full = queue->waiting.bytes >= outbox->net->packet_bytes;
		struct net_message *packet;

		outbox->turn = queue->next;
		queue->is_in_turn = 0;
		if (is_limited && !has_place(outbox, queue)) {
			outbox->is_held_up |= !queue->is_held_up;
			queue->is_held_up = 1;
			continue; /* until one of its own has left */
		}
		queue->is_held_up = 0;
		packet = dequeue(outbox, queue);
		send_packet(outbox, is_limited ? queue : NULL, packet, is_full);
		if (queue->waiting.bytes > 0) {
			append_turn(outbox, queue);
		} else if (!is_limited) {
			outbox->recent = NULL;
			table_remove(&outbox->queues, (uint64_t)queue->peer);
			pool_put(&outbox->queue_pool, queue);
		}
	}
}

/* Lock the engine, and tell it what has left. */
static void lock_and_tell(struct outbox *outbox)
{
	struct net_message *gone = outbox->gone;

	outbox->gone = NULL;
	orr_lock(outbox->lock);
	if (outbox->raised) /* what may be gone afterwards */
		raise_noted(outbox);
	if (gone)
		outbox->left(outbox, gone);
}

static void give_places(struct outbox *outbox, struct outbox_queue *queue, int n)
{
	outbox->nsending -= n;
	queue->nsending -= n;
	if (queue->waiting.bytes > 0 && !queue->is_in_turn)
		append_turn(outbox, queue);
}

void outbox_sent_lock(struct outbox *outbox, int peer)
{
	if (outbox->net->max_packets > 0) {
		give_places(outbox, queue_of(outbox, peer), 1);
		send_queued(outbox);
	}
	lock_and_tell(outbox);
}

/* Places of what had left since the last poll. */
static void end_lingering(struct outbox *outbox)
{
	struct outbox_queue *queue = outbox->lingering;

	outbox->lingering = NULL;
	for (; queue; queue = queue->next_lingering) {
		int n = queue->nlingering;

		queue->nlingering = 0;
		give_places(outbox, queue, n);
	}
	send_queued(outbox);
	if (outbox->gone) {
		lock_and_tell(outbox);
		outbox_unlock_polling(outbox);
	}
}

/* One that is alone leaves at once; others when it is known what travels together. */
static void hand_over_message(struct outbox *outbox, struct outgoing *item)
{
	struct net_message *message = item->what.message;
	struct outbox_queue *queue = NULL;

	if (!item->next && !outbox->turn) {
		if (outbox->net->max_packets > 0)
			queue = queue_of(outbox, message->peer);
		if (!queue || (queue->waiting.bytes == 0 && has_place(outbox, queue))) {
			message->next = NULL;
			send_packet(outbox, queue, message,
				    outbox->net->packet_bytes == 0);
			return;
		}
	}
	enqueue(outbox, item);
}

/* The transport may copy at once what was pushed, and nothing moves meanwhile that waits
 * for a grant of ours. */
static int may_copy(const struct outgoing *item)
{
	return item->kind == OUTGOING_GET && item->what.bulk->is_pushed;
}

static void hand_over_list(struct outbox *outbox, struct outgoing *item)
{
	struct outgoing *pushed = NULL, **last = &pushed, *next;

	for (; item; item = next) {
		next = item->next;
		if (item->kind == OUTGOING_MESSAGE) {
			hand_over_message(outbox, item);
			continue;
		}
		if (may_copy(item)) {
			*last = item;
			last = &item->next;
			continue;
		}
		/* Receives cost no time on the way out, and are there when the grant
		 * leaves.  What is to be sent keeps its order. */
		if (item->kind != OUTGOING_GET)
			send_queued(outbox);
		start(outbox, item);
	}
	*last = NULL;
	send_queued(outbox);
	for (item = pushed; item; item = next) {
		next = item->next;
		start(outbox, item);
	}
}

/* The lock is held, and given back. */
static void hand_over(struct outbox *outbox)
{
	do {
		struct outgoing *item = outbox->first;

		outbox->first = NULL;
		orr_unlock(outbox->lock);
		hand_over_list(outbox, item);
		if (!outbox->gone)
			return;
		lock_and_tell(outbox);
	} while (outbox->first);
	orr_unlock(outbox->lock);
}

/* ---- the carrier ----------------------------------------------------- */

/*
 * The lock is held, and given back.  Notes are claimed in the same hold in which they
 * are made, so the claims that are seen here are those of what is handed over, and who
 * finds no other afterwards has left nothing behind.
 */
static int carry(struct outbox *outbox)
{
	int is_held_up = 0;

	for (int round = 0;; round++) {
		int nseen = orr_load(&outbox->nclaims);

		hand_over(outbox);
		is_held_up |= outbox->is_held_up;
		outbox->is_held_up = 0;
		if (orr_add(&outbox->nclaims, -nseen) == 0)
			return is_held_up;
		if (round == MAX_ROUNDS) {
			orr_store(&outbox->is_left, 1);
			return 1;
		}
		orr_lock(outbox->lock);
	}
}

int outbox_unlock(struct outbox *outbox)
{
	if (!outbox->by_poll && orr_add(&outbox->nclaims, 1) == 1)
		return carry(outbox);
	orr_unlock(outbox->lock);
	return outbox->by_poll;
}

void outbox_unlock_polling(struct outbox *outbox)
{
	outbox->defers = 0;
	if (outbox->first)
		hand_over(outbox);
	else
		orr_unlock(outbox->lock);
}

void outbox_unlock_deferring(struct outbox *outbox)
{
	outbox->defers = 1;
	orr_unlock(outbox->lock);
}

static int become_carrier(struct outbox *outbox)
{
	int is_free = orr_cas(&outbox->nclaims, 0, 1);

	if (!is_free && !(orr_load(&outbox->is_left) && orr_cas(&outbox->is_left, 1, 0)))
		return 0;
	outbox->took_over = !is_free;
	return 1;
}

static int stop_carrying(struct outbox *outbox)
{
	if (!outbox->took_over && orr_cas(&outbox->nclaims, 1, 0))
		return 0;
	orr_lock(outbox->lock);
	return carry(outbox);
}

int outbox_poll(struct outbox *outbox)
{
	int nevents;

	if (orr_load(&outbox->nwanting) > 0 || !become_carrier(outbox))
		return -1;
	outbox->is_polling = 1;
	if (outbox->lingering)
		end_lingering(outbox);
	if (outbox->by_poll) {
		orr_lock(outbox->lock);
		outbox_unlock_polling(outbox);
	}
	nevents = outbox->net->ops->poll(outbox->net);
	outbox->is_polling = 0;
	outbox->is_held_up = 0; /* Who polls sees to it. */
	outbox->net->has_more = 0;
	/* None has followed, or one that had nothing to do with the engine. */
	if (outbox->defers) {
		orr_lock(outbox->lock);
		outbox_unlock_polling(outbox);
	}
	return nevents + stop_carrying(outbox);
}

void outbox_hold(struct outbox *outbox, struct plat *plat)
{
	orr_add(&outbox->nwanting, 1);
	while (!become_carrier(outbox))
		plat_yield(plat);
	orr_add(&outbox->nwanting, -1);
}

int outbox_let_go(struct outbox *outbox)
{
	return stop_carrying(outbox);
}
