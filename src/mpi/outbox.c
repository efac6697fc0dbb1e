/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/outbox.h"

#include "base/check.h"

/* How often a carrier looks again before it leaves the rest to who polls. */
enum { MAX_ROUNDS = 8 };

void outbox_init(struct outbox *outbox, struct orr_lock *lock)
{
	outbox->lock = lock;
	pool_init(&outbox->queue_pool, sizeof(struct outbox_queue));
}

void outbox_free(struct outbox *outbox)
{
	table_free(&outbox->queues);
	pool_free(&outbox->queue_pool);
}

/* ---- handing over ---------------------------------------------------- */

static int start(struct net *net, const struct outgoing *item)
{
	switch (item->kind) {
	case OUTGOING_MESSAGE:
		return net->ops->send(net, item->what.message);
	case OUTGOING_PUT:
		return net->ops->put(net, item->what.bulk);
	case OUTGOING_GET:
		return net->ops->get(net, item->what.bulk);
	case OUTGOING_BARRIER:
		net->ops->barrier(net, item->what.barrier);
		return 0;
	}
	return 0;
}

static void start_or_die(struct outbox *outbox, const struct outgoing *item)
{
	struct net *net = outbox->net;

	if (start(net, item) < 0)
		orr_die(net->rank,
			"transport %s refuses to send to, or receive from, one of %d "
			"ranks",
			net->ops->name, net->size);
}

static void append_turn(struct outbox *outbox, struct outbox_queue *queue)
{
	queue->next = NULL;
	*(outbox->turn ? &outbox->last_turn->next : &outbox->turn) = queue;
	outbox->last_turn = queue;
}

static void enqueue(struct outbox *outbox, struct outgoing *item)
{
	uint64_t peer = (uint64_t)item->what.message->peer;
	struct outbox_queue *queue = table_get(&outbox->queues, peer);

	item->next = NULL;
	if (queue) {
		queue->last->next = item;
		queue->last = item;
		return;
	}
	queue = pool_get(&outbox->queue_pool);
	queue->first = queue->last = item;
	table_put(&outbox->queues, peer, queue);
	append_turn(outbox, queue);
}

static struct outgoing *dequeue(struct outbox *outbox)
{
	struct outbox_queue *queue = outbox->turn;
	struct outgoing *item = queue->first;

	outbox->turn = queue->next;
	queue->first = item->next;
	if (queue->first) {
		append_turn(outbox, queue);
	} else {
		table_remove(&outbox->queues, (uint64_t)item->what.message->peer);
		pool_put(&outbox->queue_pool, queue);
	}
	return item;
}

static void hand_over_one(struct outbox *outbox, struct outgoing *item)
{
	int limit = outbox->net->max_messages;

	if (limit > 0 && item->kind == OUTGOING_MESSAGE) {
		/* Who has a place leaves none waiting, so none is overtaken. */
		if (outbox->nsending == limit) {
			enqueue(outbox, item);
			return;
		}
		outbox->nsending++;
	}
	start_or_die(outbox, item);
}

void outbox_sent(struct outbox *outbox)
{
	if (outbox->net->max_messages == 0)
		return;
	if (outbox->turn)
		start_or_die(outbox, dequeue(outbox));
	else
		outbox->nsending--;
}

/* The lock is held, and given back. */
static void hand_over(struct outbox *outbox)
{
	struct outgoing *item = outbox->first, *next;

	outbox->first = NULL;
	orr_unlock(outbox->lock);
	for (; item; item = next) {
		next = item->next;
		hand_over_one(outbox, item);
	}
}

/* ---- the carrier ----------------------------------------------------- */

/*
 * The lock is held, and given back.  Notes are claimed in the same hold in which they
 * are made, so the claims that are seen here are those of what is handed over, and who
 * finds no other afterwards has left nothing behind.
 */
static int carry(struct outbox *outbox)
{
	for (int round = 0;; round++) {
		int nseen = orr_load(&outbox->nclaims);

		hand_over(outbox);
		if (orr_add(&outbox->nclaims, -nseen) == 0)
			return 0;
		if (round == MAX_ROUNDS) {
			orr_store(&outbox->is_left, 1);
			return 1;
		}
		orr_lock(outbox->lock);
	}
}

int outbox_unlock(struct outbox *outbox)
{
	if (orr_add(&outbox->nclaims, 1) == 1)
		return carry(outbox);
	orr_unlock(outbox->lock);
	return 0;
}

void outbox_unlock_polling(struct outbox *outbox)
{
	if (outbox->first)
		hand_over(outbox);
	else
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
	nevents = outbox->net->ops->poll(outbox->net);
	outbox->is_polling = 0;
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
