/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_TRANSPORT_H
#define ORR_MPI_TRANSPORT_H

/*
 * transport.h - what the transports on a message library have in common: "mpi", "ucx".
 *
 * A packet is sent as one run of bytes, a frame: for each message a struct frame_head,
 * its head and, from the next multiple of NET_ALIGN_BYTES on, its body.  The barrier is
 * made of frames too (dissemination: in round r each node hears from the one 2^r before
 * it), since it must not block and SMPI's MPI_Ibarrier() does not wait for all.
 * Whatever ends waits in a list for its callback: the library may tell of an end inside
 * the call that starts something, callbacks come from poll() only.
 */
#include <string.h>

#include "base/pool.h"
#include "plat/net.h"

enum {
	TRANSPORT_MAX_PACKETS = 64,
	TRANSPORT_MAX_POLLED = 64, /* events, about */
	TRANSPORT_MAX_EAGER_BYTES = 1 << 20,
	TRANSPORT_MAX_PACKET_BYTES = 1 << 20,
	TRANSPORT_MAX_ROUNDS = 31, /* of a barrier */
	/* On real machines.  Who copies a piece, mostly in one call, answers others only
	 * between two; and that a value moves is seen by its pieces. */
	TRANSPORT_MAX_PIECE_BYTES = 64 << 20,
	TRANSPORT_PIECES_AHEAD = 16 /* of a receiver, at most */
};

enum frame_flag {
	FRAME_HAS_BODY = 1,
	FRAME_BARRIER = 2,
	FRAME_HAS_MORE = 4 /* another message lies behind this one */
};

/* What goes before each head and its body. */
struct frame_head {
	uint16_t head_bytes;
	uint16_t flags;  /* enum frame_flag */
	uint32_t number; /* of a frame among those to this peer, where they overtake */
	uint64_t body_bytes; /* FRAME_BARRIER: the round */
};

enum transport_op_kind { OP_MESSAGE, OP_PUT, OP_GET, OP_ROUND, OP_BARRIER };

/* One thing that the library works on, or that has ended and waits for its callback;
 * first in the transport's own struct. */
struct transport_op {
	enum transport_op_kind kind;
	int status; /* 0 or a negative errno */
	union {
		struct net_message *message;
		struct net_bulk *bulk;
		struct net_barrier *barrier;
	} of;
	int peer; /* the transport's, as is backend */
	void *backend;
	void *frame; /* OP_MESSAGE, OP_ROUND: from frame_pool; the library's until it ends
		      */
	size_t offset_bytes, piece_bytes; /* of a bulk's present piece */
	struct transport_op *next;
};

/* First in the transport's own struct. */
struct transport {
	struct net base;                          /* first */
	struct transport_op *ended, **ended_last; /* to be called back by poll */
	/* The barrier under way, then those started meanwhile, by backend[0]. */
	struct net_barrier *barrier;
	int round, heard[TRANSPORT_MAX_ROUNDS]; /* frames of each round that came */
	/* Send a frame from frame_pool of which nobody waits to hear that it has left. */
	void (*send_round)(struct transport *transport, char *frame, size_t bytes,
			   int peer);
	size_t frame_bytes, margin_bytes; /* of the largest frame; before each */
	/* Bulks are cut by size alone, so that both sides cut alike whatever their
	 * layouts are. */
	size_t piece_bytes;
	struct pool op_pool, frame_pool;
};

static inline struct transport *transport_of(struct net *net)
{
	return (struct transport *)net;
}

/* base but for ops, and the rest but for send_round, from config; op_bytes: of the
 * transport's ops, margin_bytes: before each frame. */
void transport_init(struct transport *transport, const struct net_config *config,
		    size_t op_bytes, size_t margin_bytes);
void transport_free(struct transport *transport);

/* Zeroed but for its kind. */
struct transport_op *transport_op_new(struct transport *transport,
				      enum transport_op_kind kind);
/* It waits for its callback from now on. */
void transport_op_end(struct transport *transport, struct transport_op *op);
/* op, a bulk's, is at offset_bytes: how much of it is its present piece. */
void transport_cut(const struct transport *transport, struct transport_op *op);
/* Does a put wait until its present piece is received? */
int transport_awaits(const struct transport *transport, const struct transport_op *op);
/* The present piece has ended with op->status.  1: op is at its next one, to be started;
 * 0: it waits for its callback from now on. */
int transport_piece_ended(struct transport *transport, struct transport_op *op);
/* A frame has left: nobody waits for a round's. */
void transport_frame_left(struct transport *transport, struct transport_op *op);
/* Call those back that had ended, and free their ops: callbacks may start more, which
 * may end at once, for the next time.  Returns how many. */
int transport_call_back(struct transport *transport);

static inline void frame_set_number(char *frame, uint32_t number)
{
	memcpy(frame + offsetof(struct frame_head, number), &number, sizeof(number));
}

static inline uint32_t frame_number(const char *frame)
{
	struct frame_head head;

	memcpy(&head, frame, sizeof(head));
	return head.number;
}

/* Returns the size of the frame, at most frame_bytes. */
size_t frame_fill(char *frame, const struct net_message *message);
/* May message be sent?  0, or -EINVAL: no such peer. */
int transport_check_message(const struct net *net, const struct net_message *message);
/* The same for a half. */
int transport_check_bulk(const struct net *net, const struct net_bulk *bulk, int is_put);
/* Deliver the messages of a frame; follows: another one at once.  Returns how many. */
int transport_take_frame(struct transport *transport, int peer, const char *frame,
			 int follows);

/* net_ops.barrier. */
void transport_barrier(struct net *net, struct net_barrier *barrier);

#endif
