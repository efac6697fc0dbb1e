/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/engine_messages.h"

#include <stdlib.h>

#include "mpi/finish.h"

void engine_tell_message(struct mpi *mpi, enum event_kind kind, int peer,
			 unsigned char wire, size_t bytes)
{
	if (events_on(&mpi->node->events))
		event_tell(mpi->node, NULL,
			   (struct event){.kind = (uint8_t)kind,
					  .flag = wire,
					  .n = (uint32_t)peer,
					  .value = bytes});
}

static void parcel_left(struct mpi *mpi, struct parcel *parcel)
{
	struct engine *engine = &mpi->engine;

	engine_flies(mpi, -1);
	if (standstill_has_sent(&mpi->standstill, parcel->message.head[0]))
		engine_happened(engine);
	if (parcel->outgoing.mark == PARCEL_COMPLETES) {
		parcel->request->message = NULL;
		finish_moved(mpi, parcel->request);
		free(parcel->copy);
	}
	pool_put(&engine->parcels, parcel);
}

/* The engine is locked. */
void engine_messages_left(struct outbox *outbox, struct net_message *messages)
{
	struct mpi *mpi = ORR_CONTAINER(outbox, struct mpi, engine.outbox);
	struct net_message *next;

	for (; messages; messages = next) {
		next = messages->next;
		parcel_left(mpi, parcel_of(messages));
	}
}

void parcels_sent(struct net_message *message)
{
	const struct net_sender *sender = message->sender;
	struct mpi *mpi = ORR_CONTAINER(sender, struct mpi, engine.sender);

	outbox_sent_lock(&mpi->engine.outbox, message->peer);
	engine_messages_left(&mpi->engine.outbox, message);
	engine_unlock_called_back(mpi);
}

void parcel_send(struct mpi *mpi, struct parcel *parcel)
{
	engine_flies(mpi, 1);
	engine_tell_message(mpi, EVENT_MESSAGE_SENT, parcel->message.peer,
			    (unsigned char)parcel->message.head[0],
			    parcel->message.body_bytes);
	standstill_sends(&mpi->standstill, parcel->message.head[0]);
	engine_note(mpi, &parcel->outgoing);
}

int engine_tell(struct mpi *mpi, int peer, const struct wire_head *head,
		size_t head_bytes)
{
	struct net *net = mpi->net;

	if (!net->ops->tell || !net->ops->tell(net, peer, head, head_bytes))
		return 0;
	engine_tell_message(mpi, EVENT_MESSAGE_SENT, peer, head->kind, 0);
	standstill_sends(&mpi->standstill, head->kind);
	return 1;
}

void engine_send_control(struct mpi *mpi, int peer, const struct wire_head *head,
			 size_t head_bytes)
{
	parcel_send(mpi, parcel_new(mpi, peer, head, head_bytes));
}

void engine_send_about(struct mpi *mpi, int peer, int priority,
		       const struct wire_head *head, size_t head_bytes)
{
	struct parcel *parcel = parcel_new(mpi, peer, head, head_bytes);

	parcel_set_priority(parcel, head, priority);
	parcel_send(mpi, parcel);
}

int engine_send_behind(struct mpi *mpi, const struct wire_head *head, size_t head_bytes)
{
	size_t cursor = 0;
	void *peer;

	while ((peer = table_next(&mpi->engine.sent_to, &cursor)))
		engine_send_control(mpi, (int)(uintptr_t)peer - 1, head, head_bytes);
	return (int)mpi->engine.sent_to.count;
}
