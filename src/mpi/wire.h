/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_WIRE_H
#define ORR_MPI_WIRE_H

/*
 * wire.h - the heads of messages between two engines.
 *
 * All nodes run the same program on the same kind of processor, so heads travel as
 * they lie in memory; a kind sends the first bytes only, up to the fields it uses.
 */
#include <stddef.h>
#include <stdint.h>

enum wire_kind {
	WIRE_EAGER = 1, /* a transfer, its payload is the body */
	WIRE_ANNOUNCE,  /* a transfer whose payload follows when it is granted */
	WIRE_GRANT,     /* the receiver of an announced transfer is ready */
	WIRE_BARRIER,   /* one step of a barrier of a communicator that is not 0 */
	WIRE_FLUSH,     /* all before this has arrived when it does: say so */
	WIRE_FLUSHED,   /* it did */
	WIRE_LEAVING,   /* in shutdown, after so many barriers of all ranks */
	WIRE_PROBE,     /* do you still take part, and in which state are you? */
	WIRE_GONE,      /* no: everything of mine is complete, I am shutting down */
	WIRE_STATE,     /* answer to a probe, see standstill.c */
	WIRE_LIST,      /* all ranks are stuck: say what you wait for */
	WIRE_LISTED,    /* it is said */
	WIRE_KEEP,      /* who granted it shall keep a shared value for others */
	WIRE_HAVE,      /* a shared value is here, and perhaps kept */
	WIRE_FORWARD,   /* to who keeps it: send it to that rank, too */
	WIRE_LET_GO,    /* as well: nobody else wants it */
	WIRE_TALLY, /* to rank 0, in shutdown: tasks inserted, executed, data; see tally.h
		     */
	WIRE_COMPARE,  /* to rank 0, in shutdown: what have you for call number tag? */
	WIRE_COMPARED, /* the answer, see compare.c */
	WIRE_TAKEN     /* the receiver has what was announced as DIRECT */
};

enum wire_flag {
	WIRE_SYNCHRONOUS = 1,
	WIRE_SHARED = 2,  /* ANNOUNCE: others get it as well, see coop.h */
	WIRE_KNOWN = 4,   /* HAVE: it was known that it shall be kept */
	WIRE_PUSHED = 8,  /* ANNOUNCE: the payload has been sent already, see large.h */
	WIRE_DIRECT = 16, /* ANNOUNCE: the payload may be taken from its place */
	WIRE_SPREAD = 32  /* DIRECT: it is not in one run: key is where its layout lies */
};

struct wire_head {
	uint8_t kind;
	uint8_t round;    /* BARRIER */
	uint16_t flags;   /* EAGER, ANNOUNCE, HAVE: enum wire_flag.  TALLY: does_else */
	uint32_t ordinal; /* LEAVING: barriers.  EAGER, ANNOUNCE: among the transfers that
			   * insertion made from this node to that one, modulo 2^32; 0:
			   * none.  FORWARD: to which rank */
	uint64_t comm; /* EAGER, ANNOUNCE, BARRIER: id.  TALLY: inserted.  HAVE: names the
			* receiver's request when it keeps the value, else 0 */
	int64_t tag;   /* EAGER, ANNOUNCE.  FORWARD: priority.  TALLY: known */
	uint64_t bytes; /* EAGER, ANNOUNCE: of the payload.  TALLY: executed */
	uint64_t
		sender; /* ANNOUNCE, GRANT, TAKEN, KEEP, HAVE: names the sender's request.
			 * FORWARD,  LET_GO: who keeps it, as in its HAVE.  TALLY: owned
			 */
	uint64_t key;   /* GRANT, KEEP, FORWARD: of the bulk transfer.  TALLY: listed.
			 * DIRECT: where the payload lies */
	uint64_t number; /* ANNOUNCE: see struct net_ahead; 0: none */
};

enum {
	WIRE_SHORT_BYTES = 4,
	WIRE_LEAVING_BYTES = offsetof(struct wire_head, comm),
	WIRE_EAGER_BYTES = offsetof(struct wire_head, sender),
	WIRE_BARRIER_BYTES = offsetof(struct wire_head, tag),
	WIRE_STATE_BYTES = offsetof(struct wire_head, key),
	WIRE_ANNOUNCE_BYTES = offsetof(struct wire_head, key),
	WIRE_TAKEN_BYTES = offsetof(struct wire_head, key),
	WIRE_DIRECT_BYTES = offsetof(struct wire_head, number),
	WIRE_NUMBERED_BYTES = sizeof(struct wire_head),
	WIRE_GRANT_BYTES = offsetof(struct wire_head, number)
};

#endif
