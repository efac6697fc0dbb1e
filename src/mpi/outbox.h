/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_OUTBOX_H
#define ORR_MPI_OUTBOX_H

/*
 * outbox.h - between the engine and the transport: nobody waits for the engine while
 * MPI works.
 *
 * What the transport shall do is noted under the engine's lock and handed over without
 * it, in the order of the notes, by one thread at a time: the carrier.  Who gives the
 * lock back behind a note becomes the carrier; when there is one, it looks again for
 * them.  Who polls is the carrier meanwhile, so only one thread at a time calls the
 * transport.  A carrier that others keep busy leaves the rest to those who poll; where
 * one thread alone may call the transport, all is left to that one's polls.
 *
 * What is ready for one peer when the carrier looks travels as one packet, up to
 * net->packet_bytes.  A message that is alone leaves at once.  Where the transport takes
 * a limited number of packets at a time (net->max_packets), a peer has at most half of
 * the places, the second half of these for full packets only, so that many messages to a
 * peer become few packets; what has no place waits in a queue for each peer.  A peer that
 * has no packet on its way may always send one, so that none is held up by others, and
 * who waits is served when a packet of its own has left.  Of what waits for one peer the
 * more urgent leaves first (waiting.h).  One that has left by the time that send()
 * returns keeps its place until the next poll, unless it was full: else nothing would
 * ever become a full packet.
 */
#include "base/pool.h"
#include "base/table.h"
#include "mpi/waiting.h"
#include "plat/net.h"
#include "plat/plat.h"

struct outbox;

/* A message that more urgent ones are to let pass no more. */
struct outbox_raise {
	struct outbox_raise *next;
	struct outgoing *item;
	int priority;
};

/* A peer's; exists while messages wait, and from then on where packets are counted. */
struct outbox_queue {
	struct outbox_queue *next; /* whose turn is after this one's */
	struct waiting waiting;
	struct outbox_queue *next_lingering;
	int peer, nsending;
	int nlingering; /* of these, places of packets that have left */
	unsigned char is_in_turn, is_held_up; /* waits for a place */
};

struct outbox {
	struct orr_lock *lock; /* the engine's, borrowed */
	/* Told, with the lock held, of messages that left as they were sent. */
	void (*left)(struct outbox *outbox, struct net_message *messages);
	struct outgoing *first, *last;
	struct outbox_raise *raised; /* atomic, changed with the lock held */
	struct outbox_raise *spare_raises;
	int nclaims;  /* atomic, raised under the lock: who raises it from 0 carries */
	int is_left;  /* atomic: the carrier went; a poller is the next */
	int nwanting; /* atomic: threads that want to be alone with MPI */
	int by_poll;  /* only who polls carries */
	/* The carrier's. */
	struct net *net;
	int is_polling;
	int defers;          /* what a callback noted is left to the next one */
	int took_over;       /* from who left */
	int nsending;        /* packets that the transport owns, where it has a limit */
	int is_held_up;      /* since the carrier last said so, a queue has to wait */
	struct table queues; /* by peer */
	struct outbox_queue *recent; /* of these, the last one asked for, or NULL */
	struct outbox_queue *turn, *last_turn; /* that may be able to send */
	struct outbox_queue *lingering;        /* with places of packets that have left */
	struct net_message *gone, *last_gone;  /* to be told by left() */
	struct pool queue_pool;
	struct waiting_orders orders;
};

void outbox_init(struct outbox *outbox, struct orr_lock *lock,
		 void (*left)(struct outbox *outbox, struct net_message *messages));
void outbox_free(struct outbox *outbox);

/* The engine is locked. */
static inline void outbox_note(struct outbox *outbox, struct outgoing *item)
{
	item->next = NULL;
	if (outbox->first)
		outbox->last->next = item;
	else
		outbox->first = item;
	outbox->last = item;
}

/* A message that was noted, and of which left() has not told, is more urgent now.  The
 * engine is locked. */
void outbox_raise(struct outbox *outbox, struct outgoing *item, int priority);

/* Give the engine's lock back behind a note.  1: somebody must poll soon. */
int outbox_unlock(struct outbox *outbox);
/* As well, inside of poll(): the caller is the carrier, and does at once what was noted.
 */
void outbox_unlock_polling(struct outbox *outbox);

/* As well, where another callback follows at once: that one, or the end of the poll, does
 * it for both. */
void outbox_unlock_deferring(struct outbox *outbox);

/* In the callback of a packet to that peer: the transport does not own it any more.  The
 * engine is not locked, and is afterwards. */
void outbox_sent_lock(struct outbox *outbox, int peer);

/* Poll the transport.  Returns how much happened, -1: somebody else carries. */
int outbox_poll(struct outbox *outbox);

/* Be the only one who calls MPI, until outbox_let_go(), which returns as
 * outbox_unlock(). */
void outbox_hold(struct outbox *outbox, struct plat *plat);
int outbox_let_go(struct outbox *outbox);

#endif
