/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/outbox.h"

#include "base/check.h"

/* How often a carrier looks again before it leaves the rest to who polls. */
enum { MAX_ROUNDS = 8 };

void outbox_init(struct outbox *outbox, struct orr_lock *lock)
{
	outbox->lock = lock;
}

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

/* The lock is held, and given back. */
static void hand_over(struct outbox *outbox)
{
	struct outgoing *item = outbox->first, *next;
	struct net *net = outbox->net;

	outbox->first = NULL;
	orr_unlock(outbox->lock);
	for (; item; item = next) {
		next = item->next;
		if (start(net, item) < 0)
			orr_die(net->rank,
				"transport %s refuses to send to, or receive from, one "
				"of %d ranks",
				net->ops->name, net->size);
	}
}

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
