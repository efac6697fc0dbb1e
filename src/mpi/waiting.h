/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_WAITING_H
#define ORR_MPI_WAITING_H

/*
 * waiting.h - the messages that wait to leave for one peer, and which of them is next.
 *
 * They leave as they came, until some of them have another priority than others: from
 * then on the more urgent ones go first.  Messages of one key never overtake one another,
 * so a message is at most as urgent as those of its key before it; and one without a key
 * overtakes nothing, and nothing overtakes it.  Where all have one priority this costs a
 * comparison for each.
 */
#include "base/heap.h"
#include "base/table.h"
#include "plat/net.h"

enum outgoing_kind { OUTGOING_MESSAGE, OUTGOING_PUT, OUTGOING_GET, OUTGOING_BARRIER };

/* Lies in the struct of what is started, which belongs to the outbox, then to the
 * transport. */
struct outgoing {
	struct outgoing *next;
	unsigned char kind;      /* enum outgoing_kind */
	unsigned char is_sorted; /* a message: in the heap of its peer */
	unsigned char mark;      /* its owner's */
	int priority;            /* of a message */
	uint64_t key;            /* of a message; 0: none */
	union {
		struct net_message *message;
		struct net_bulk *bulk;
		struct net_barrier *barrier;
	} what;
};

/* Part of waiting, while some of it is in the order of priorities. */
struct waiting_order {
	struct heap heap;
	struct table
		keys; /* in the heap: how many have the key, and the least priority */
	struct waiting_order *next; /* that nobody uses */
};

/* A zeroed one is empty. */
struct waiting {
	struct waiting_order *order; /* or NULL; those in it go first */
	struct outgoing *first, *last;
	size_t bytes; /* that all of them take in packets; 0: there are none */
	int priority; /* of the last one that came */
	int is_mixed; /* of those that are not in order, perhaps some have another one */
};

/* Orders that nobody needs now.  A zeroed one has none. */
struct waiting_orders {
	struct waiting_order *idle;
};

void waiting_orders_free(struct waiting_orders *orders);

/* More urgent from now on, where that overtakes none of its key.  It may have left, or
 * may not have come: then waiting may be NULL. */
void waiting_raise(struct waiting *waiting, struct outgoing *item, int priority);
/* What is left is forgotten. */
void waiting_free(struct waiting *waiting);

static inline void waiting_append(struct waiting *waiting, struct outgoing *item)
{
	item->next = NULL;
	if (waiting->first)
		waiting->last->next = item;
	else
		waiting->first = item;
	waiting->last = item;
	waiting->is_mixed |= waiting->bytes > 0 && item->priority != waiting->priority;
	waiting->priority = item->priority;
	waiting->bytes += net_message_bytes(item->what.message);
}

/* Where there is or may be an order. */
struct net_message *waiting_first_sorted(struct waiting *waiting,
					 struct waiting_orders *orders);
void waiting_take_sorted(struct waiting *waiting, struct waiting_orders *orders);

/* The next one to leave, which stays; NULL: there is none. */
static inline struct net_message *waiting_first(struct waiting *waiting,
						struct waiting_orders *orders)
{
	if (waiting->order || waiting->is_mixed)
		return waiting_first_sorted(waiting, orders);
	return waiting->first ? waiting->first->what.message : NULL;
}

/* Take out the one that waiting_first() has just found. */
static inline void waiting_take(struct waiting *waiting, struct waiting_orders *orders)
{
	if (waiting->order) {
		waiting_take_sorted(waiting, orders);
		return;
	}
	waiting->bytes -= net_message_bytes(waiting->first->what.message);
	waiting->first = waiting->first->next;
	if (!waiting->first)
		waiting->is_mixed = 0;
}

#endif
