/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_ENGINE_MESSAGES_H
#define ORR_MPI_ENGINE_MESSAGES_H

/*
 * engine_messages.h - what the engine sends, from its head until it has left.
 *
 * For engine.c; others call engine_send_control().  The engine is locked in all of it.
 */
#include "core/event.h"
#include "mpi/outbox.h"
#include "mpi/wire.h"

struct mpi;
struct request;

/* A message that the engine sends. */
struct parcel {
	struct net_message message; /* first */
	struct outgoing outgoing;
	struct mpi *mpi;
	struct request *request; /* the send that it completes, or NULL */
	void *copy;              /* owned body, or NULL */
};

struct parcel *parcel_new(struct mpi *mpi, int peer, const struct wire_head *head,
			  size_t head_bytes);
/* It is about a transfer, so it may overtake what is less urgent, but for messages that
 * its head says it belongs together with. */
void parcel_set_priority(struct parcel *parcel, const struct wire_head *head,
			 int priority);
void parcel_send(struct parcel *parcel);

/* For outbox_init(). */
void engine_messages_left(struct outbox *outbox, struct net_message *messages);

/* To the sinks of events. */
void engine_tell_message(struct mpi *mpi, enum event_kind kind, int peer,
			 unsigned char wire, size_t bytes);

#endif
