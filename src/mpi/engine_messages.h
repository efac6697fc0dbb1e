/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_ENGINE_MESSAGES_H
#define ORR_MPI_ENGINE_MESSAGES_H

/*
 * engine_messages.h - what the engine sends, from its head until it has left.
 *
 * For engine.c; others call engine_send_control().  The engine is locked in all of it.
 */
#include <string.h>

#include "mpi/mpi.h"

/*
 * A message that the engine sends.  Many wait in a flood, most of them with a copy of a
 * small value behind their heads: of these the first two lines are touched, no more.
 */
struct parcel {
	struct outgoing outgoing;
	struct net_message message;
	/* Where outgoing.mark is PARCEL_COMPLETES. */
	struct request *request; /* the send that it completes */
	void *copy;              /* owned body, or NULL */
};

enum { PARCEL_COMPLETES = 1 };

_Static_assert(offsetof(struct parcel, message.head) == ORR_LINE_BYTES &&
		       offsetof(struct parcel, message.backend) == 2 * ORR_LINE_BYTES,
	       "a small message has two lines of the cache");

/* What each message and each end of a transfer looks at. */
static inline void engine_bring(const struct engine *engine)
{
	const struct mpi *mpi = ORR_CONTAINER(engine, const struct mpi, engine);

	orr_bring(mpi);
	orr_bring(&engine->lock);
	orr_bring(&engine->outbox.net);
	orr_bring(&engine->posted);
	orr_bring(&engine->moved);
	orr_bring(&engine->nevents);
	orr_bring(&engine->large.shared);
	orr_bring(&engine->coop.groups);
	orr_bring(&engine->coop.let_go);
	orr_bring(&mpi->standstill);
}

/* What was given back last will be got soon, and so much of it written; its first line
 * has come with pool_get(). */
static inline void engine_expect(const struct pool *pool, size_t bytes)
{
	const char *next = (pool->common ? pool->common : pool)->free_list;

	if (next && bytes > ORR_LINE_BYTES)
		orr_bring_lines(next + ORR_LINE_BYTES, bytes - ORR_LINE_BYTES);
}

static inline struct parcel *parcel_of(struct net_message *message)
{
	return ORR_CONTAINER(message, struct parcel, message);
}

/* For engine->sender. */
void parcels_sent(struct net_message *message);

static inline struct parcel *parcel_new(struct mpi *mpi, int peer,
					const struct wire_head *head, size_t head_bytes)
{
	struct parcel *parcel = pool_get(&mpi->engine.parcels);
	struct net_message *message = &parcel->message;

	engine_expect(&mpi->engine.parcels, 2 * ORR_LINE_BYTES);
	message->peer = peer;
	message->head_bytes = (unsigned)head_bytes;
	memcpy(message->head, head, head_bytes);
	message->body = NULL;
	message->body_bytes = 0;
	message->sender = &mpi->engine.sender;
	message->next = NULL;
	parcel->outgoing.kind = OUTGOING_MESSAGE;
	parcel->outgoing.is_sorted = 0;
	parcel->outgoing.priority = 0;
	parcel->outgoing.key = 0;
	parcel->outgoing.what.message = message;
	parcel->outgoing.mark = 0;
	return parcel;
}

/*
 * What is matched keeps the order of its communicator and tag; the rest that is about one
 * transfer keeps the order of the name that it has for it.  Names are addresses.
 */
static inline uint64_t parcel_key(const struct wire_head *head)
{
	if (head->kind == WIRE_EAGER || head->kind == WIRE_ANNOUNCE)
		return (((uint64_t)head->tag << 1) ^ (head->comm << 48)) | 1;
	return head->sender;
}

/* It is about a transfer, so it may overtake what is less urgent, but for messages that
 * its head says it belongs together with. */
static inline void parcel_set_priority(struct parcel *parcel,
				       const struct wire_head *head, int priority)
{
	parcel->outgoing.key = parcel_key(head);
	parcel->outgoing.priority = priority;
}

/* It completes that send. */
static inline void parcel_completes(struct parcel *parcel, struct request *request)
{
	parcel->outgoing.mark = PARCEL_COMPLETES;
	parcel->request = request;
	parcel->copy = NULL;
}

void parcel_send(struct mpi *mpi, struct parcel *parcel);

/* For outbox_init(). */
void engine_messages_left(struct outbox *outbox, struct net_message *messages);

/* To the sinks of events. */
void engine_tell_message(struct mpi *mpi, enum event_kind kind, int peer,
			 unsigned char wire, size_t bytes);

#endif
