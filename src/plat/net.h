/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_NET_H
#define ORR_PLAT_NET_H

/*
 * net.h - the transport: messages between the nodes of one communicator.
 *
 * A transport is a table under the request engine.  Implementations: "mpi"
 * (src/mpi/transport_mpi.c, compiled against Open MPI and against SMPI), "ucx"
 * (src/mpi/transport_ucx.c, real machines only), "routes", "flows" and "none" (src/sim),
 * "fake" (tests/fake).
 *
 * Peers are ranks of the communicator given at init.  One thread at a time calls the
 * operations, so a transport needs no lock; deliver() and the callbacks are called from
 * poll() in real and from the calendar in sim and fake.  They may call send(), put() and
 * get() again.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/layout.h"

struct net;
struct place;
struct plat;

enum {
	NET_HEAD_BYTES = 64, /* largest head */
	NET_KEYS = 1 << 20,
	NET_NOTED_PACKETS = 128, /* see ncoming */
	NET_ANYBODY = -1
};

struct net_message;

/* Who sends messages. */
struct net_sender {
	/* The packet belongs to the caller again, as it was sent: called with its first
	 * message. */
	void (*sent)(struct net_message *message);
};

/*
 * One message: a head that is always carried, and a small contiguous body.  Floods leave
 * many of them waiting, so what is before the head is half a line of the cache, and the
 * backend's part, which small ones that leave at once have no use for, comes last.
 */
struct net_message {
	int peer;
	unsigned head_bytes : 8;  /* <= NET_HEAD_BYTES */
	unsigned body_bytes : 24; /* <= the eager limit of the engine */
	const void *body;         /* NULL: not carried, though it counts */
	const struct net_sender *sender;
	struct net_message *next; /* travels with this one, to the same peer */
	char head[NET_HEAD_BYTES];
	/* The backend's, while it owns the message; before, of who orders messages. */
	union {
		void *backend[4];
		struct {
			struct heap_entry order;
			void *item;
		} wait;
	};
};

enum { NET_ALIGN_BYTES = 16, NET_FRAME_BYTES = 16 };

static inline size_t net_aligned(size_t bytes)
{
	return (bytes + NET_ALIGN_BYTES - 1) & ~(size_t)(NET_ALIGN_BYTES - 1);
}

/* What a message takes of net->packet_bytes. */
static inline size_t net_message_bytes(const struct net_message *message)
{
	return net_aligned(NET_FRAME_BYTES + message->head_bytes) +
	       net_aligned(message->body_bytes);
}

/*
 * One half of a large transfer that both sides agreed on by messages.  key pairs
 * the halves: unique among those in flight to one node; chosen by the receiver, or by the
 * sender of what is pushed, below NET_KEYS.
 */
struct net_bulk {
	int peer; /* of a get also NET_ANYBODY; then, in done, who it was */
	uint32_t key;
	/* Where net->may_push: a put that ends after its get has begun, and that get. */
	int is_pushed;
	/* Of a get with from: what net_ahead.await() gave, and keep() has kept; or 0. */
	unsigned berth;
	/* Of a get: all bytes lie there in one run, in the memory of the peer, which does
	 * not put them; see net_ops.reaches.  0: it does. */
	uint64_t from;
	/* There is a struct layout instead, which says where in that memory they lie. */
	int is_spread;
	struct layout layout;
	const void *datum; /* of a put: names the value, or NULL */
	int status;        /* out, valid in done: 0 or a negative errno */
	void (*done)(struct net_bulk *bulk);
	struct net_bulk *next;
	void *backend[6];
};

/* Collective and not blocking; done runs when all nodes have started theirs. */
struct net_barrier {
	void (*done)(struct net_barrier *barrier);
	void *backend[4];
};

/* An MPI_Datatype, whatever that is here. */
struct net_type {
	void *mpi;
};

/* src/mpi/types_mpi.c, for the backends that are compiled with an MPI: what the type
 * describes, or NULL: it is of a kind that is not known.  Local; the caller sees that MPI
 * may be called. */
struct place *types_mpi_place(const struct net_type *type);

/* Half of a large transfer, before the other one is known. */
struct net_half {
	int peer;
	uint64_t comm;
	int64_t tag;
	uint64_t place, bytes; /* in one run, in main memory; place 0: not so */
	uint64_t name;         /* of a send: the sender's, while it is pending */
};

/*
 * Receives that are ready before they are announced.  Their ranks may tell the sender
 * where they wait, and it may begin to write there when it has announced what belongs
 * there, long before the receiver looks at messages.  For peers that reaches() is true
 * of; under the lock of who owns the net, in the order of the announcements.
 */
struct net_ahead {
	/* A send is about to be announced; those of one communicator and tag arrive in
	 * this order.  Returns the number that travels with it; 0: none. */
	uint64_t (*announce)(struct net *net, const struct net_half *send);
	/* Its receiver has answered; from a callback of the net. */
	void (*answered)(struct net *net, const struct net_half *send);
	/* An announcement with that number has come. */
	void (*announced)(struct net *net, const struct net_half *receive,
			  uint64_t number);
	/* The next announcement of that communicator and tag will be for this receive.
	 * Returns what to call it, or 0: nobody is told. */
	unsigned (*await)(struct net *net, const struct net_half *receive);
	/* It came, with that number.  0: it has nothing of what waits there; nor is
	 * anything written there from now on.  1: the get shall say so. */
	int (*keep)(struct net *net, int peer, unsigned berth, uint64_t number);
};

struct net_ops {
	const char *name;

	/* Send a packet: a message, and by next those that travel with it, which are
	 * delivered one by one; several take at most net->packet_bytes together.
	 * Messages from one node to one peer arrive in the order of send().
	 * Returns 0; 1: the packet has left already and is the caller's; or -EINVAL: no
	 * such peer.  sent will run in the first case only. */
	int (*send)(struct net *net, struct net_message *message);

	/* The two halves of a large transfer, sender's and receiver's. */
	int (*put)(struct net *net, struct net_bulk *bulk);
	int (*get)(struct net *net, struct net_bulk *bulk);

	/* May the peer get from this node's memory, and this node from the peer's, with
	 * bulk->from?  Then some parts of that memory may still refuse: such a get ends
	 * with -EFAULT or -EPERM and has changed nothing but the bytes of its layout.
	 * NULL: nobody may. */
	int (*reaches)(const struct net *net, int peer);
	/* Of who is reached: is a value that lies so, not in one run, got sooner than it
	 * would be put?  NULL: none is. */
	int (*takes)(const struct layout *layout);

	/* Hand the peer a head that is delivered as a message, but in no order with
	 * others; it costs both less.  0: it has to be sent.  NULL: all have. */
	int (*tell)(struct net *net, int peer, const void *head, size_t head_bytes);

	/* Or NULL. */
	const struct net_ahead *ahead;

	void (*barrier)(struct net *net, struct net_barrier *barrier);

	/* Advance; returns how much happened.  Bounded: when much happens, others want
	 * their turn in between.  Does nothing in a transport that is driven by the
	 * calendar. */
	int (*poll)(struct net *net);

	/* Nothing is in flight. */
	void (*close)(struct net *net);
};

enum { NET_SHARED_WORDS = 8 };

/*
 * Embedded first in the transport's own struct.  deliver and carried are set by the
 * engine before the first message can arrive; body is valid during the call only, NULL
 * when it was not carried.
 */
struct net {
	const struct net_ops *ops;
	int rank, size;
	size_t eager_bytes;  /* largest body of a message */
	size_t packet_bytes; /* largest packet of several messages; 0: each is alone */
	int max_packets;     /* that it wants to own at a time; 0: any number */
	/* In a callback: another one follows at once, and what this one wants sent may
	 * wait for it.  Still set after a poll: none has followed. */
	int has_more;
	/* orr_next(): pieces of bulks that have moved, though more of them has to;
	 * anybody may look. */
	uint64_t npieces;
	/* A put may be there long before its get, and costs nobody anything while it
	 * waits: the library below has a meeting of its own, which goes on beside ours.
	 */
	int may_push;
	/* Packets that are on their way here or wait here; NULL: nobody counts them.  Who
	 * counts has poll() called whenever it comes to a multiple of NET_NOTED_PACKETS.
	 */
	const int *ncoming;
	/* Who sends a small value need not wait until the message has left: a copy of it
	 * takes no time that the network would not take. */
	int may_copy;
	void *owner;
	void (*deliver)(struct net *net, int peer, const void *head, size_t head_bytes,
			const void *body, size_t body_bytes);
	/* NULL, or brings what will be looked at soon: when a message is delivered, in
	 * steps from 0 to 2, of which the first does not look at the owner, who may be
	 * gone; when a bulk ends, in steps from 0 to 2. */
	void (*expect)(const void *owner, int peer, const void *head, int step);
	void (*expect_end)(const struct net_bulk *bulk, int step);
	/* From since_s until now the network had something of this node to carry.  Only
	 * where knows_busy: elsewhere the engine takes what it has handed over for it.
	 * NULL: nobody wants to know. */
	void (*carried)(struct net *net, double since_s);
	int knows_busy;
	/* Memories of devices, as bits, where a bulk may leave and arrive; set by
	 * plat_net_open(). */
	uint64_t memories;
	/* types_mpi_place(); NULL: MPI's datatypes are unknown here. */
	struct place *(*place_of)(const struct net_type *type);
	/* Where all nodes are one process: words that they share, 0 at first. */
	uint64_t *shared;
	/* May the caller make datatypes?  NULL: any thread may, at any time.  Else the
	 * application is asked when a transfer is posted, and not later. */
	int (*may_ask)(void);
};

/* Does the peer of a half exist? */
static inline int net_bulk_has_peer(const struct net *net, const struct net_bulk *bulk,
				    int is_put)
{
	return bulk->peer < net->size &&
	       (bulk->peer >= 0 || (!is_put && bulk->peer == NET_ANYBODY));
}

/* What a transport is opened with. */
struct net_config {
	const char *name;    /* as in ORRERY_TRANSPORT, "" for the backend's default */
	const void *comm;    /* pointer to the MPI_Comm given at init; its owner dups */
	int rank, size;      /* in that communicator */
	size_t eager_bytes;  /* wanted; the transport may lower net->eager_bytes */
	size_t piece_bytes;  /* larger payloads are cut; 0: the transport's limit */
	size_t packet_bytes; /* wanted; the transport may lower net->packet_bytes */
	int funnels;         /* only the thread that opens it may call it */
};

/* A number that all nodes must take alike. */
struct net_agreement {
	int64_t own, least, most;
};

/*
 * Provided by the backend.  The number of a communicator, at which comm points: the same
 * on all its members, and no other of theirs has it; 0: it is the one of all ranks, or it
 * is not known how it was made.
 */
uint64_t plat_net_birth(const void *comm);
/* Has the program freed it, and has its value not come again?  As far as is known. */
int plat_net_has_ended(const void *comm);

/* Provided by the backend.  Collective: fill least and most over all nodes from own.
 * Where all nodes are one process they have one environment, and nothing is asked.
 * 0, -EIO or -ENODEV. */
int plat_net_agree(struct plat *plat, const struct net_config *config,
		   struct net_agreement *items, int n);

/* Provided by the backend.  Collective.  0, or -EINVAL for an unknown name. */
int plat_net_open(struct plat *plat, const struct net_config *config, struct net **net);

/* What a backend knows of its MPI. */
enum net_mpi_trait {
	NET_MPI_SHOWS_LATE = 1,  /* MPI_Testsome() shows only what an earlier call found,
				  * MPI_Test() what it has found itself */
	NET_MPI_SENDS_NOW = 2,   /* send() may tell that the packet has left */
	NET_MPI_PUSHES = 4,      /* net->may_push */
	NET_MPI_MEETS_FIRST = 8, /* no byte of a message moves before its receive is
				  * there, so many are posted */
	NET_MPI_COMPARES = 16    /* what comes with each receive of its communicator */
};

/* src/mpi/transport_mpi.c: for the backends that offer "mpi". */
int transport_mpi_open(struct plat *plat, const struct net_config *config, int traits,
		       struct net **net);
int transport_mpi_agree(const struct net_config *config, struct net_agreement *items,
			int n);

/*
 * How a transport wakes who sleeps instead of polling.  Who wants to sleep sets
 * is_wanted, polls, and looks at is_armed: while it is set, fd becomes readable when
 * there is something to poll for.  Whoever uses the transport in a way that needs a poll
 * afterwards disarms it, and makes fd readable.
 */
struct net_bell {
	int fd;        /* atomic; -1: there is no such transport */
	int is_wanted; /* atomic: a poll that finds nothing arms it */
	int is_armed;  /* atomic */
};

/*
 * src/mpi/transport_ucx.c: for the backends that offer "ucx", in builds that have it.
 * library: the file to load, "" for the usual one; bell: NULL: nobody sleeps. Collective.
 * -ENODEV on all ranks, with a message, when one of them cannot.
 */
int transport_ucx_open(const struct net_config *config, const char *library,
		       struct net_bell *bell, struct net **net);

#endif
