/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MS_H
#define ORR_MPI_MS_H

/*
 * ms.h - master and slaves: cores of other ranks are workers of one rank.
 *
 * The master is an ordinary node whose machine has devices of type MPI_MS: a memory for
 * each slave, a worker for each of its cores (and, in simulation, GPUs).  Their drivers
 * (ms_master.c) send commands.  A slave is an ordinary node as well, of its own cores;
 * its main thread serves the commands (ms_slave.c) until the master closes, and what it
 * executes are tasks of its node.  ms.c carries what both say over a transport of net.h,
 * so that master and slaves are the same on all backends.
 *
 * The master gives out addresses of its slaves' memory: each slave reserves some when it
 * says hello.  So allocation costs no message, and interfaces hold addresses of the
 * slave.  A copy ends when its last piece has arrived, and only then does a task start
 * that uses it; commands to one slave arrive in the order in which they were given.
 *
 * Locks: ms->lock is a leaf, but for the outbox under it.  What has come is handled
 * without it, by one thread at a time, in the order in which it came.
 */
#include "core/node.h"
#include "mpi/outbox.h"

enum ms_kind {
	/* To the master. */
	MS_HELLO,    /* body: struct ms_hello */
	MS_DONE,     /* the piece with this cookie is in place */
	MS_BYE,      /* nothing follows, MS_END has come */
	MS_EXECUTED, /* body: an ms_executed for each job, all of one worker of the
			master's */
	/* To a slave. */
	MS_EXECUTE, /* body: see ms_master.c */
	MS_WRITE,   /* body: a layout, then its bytes */
	MS_GET,     /* body: a layout, to which a bulk with this key comes from peer */
	MS_PUT,     /* body: a layout, from which it goes to peer */
	MS_FREE,    /* bytes at address mean nothing any more */
	MS_END,
	/* To both: a piece of the body of a later message of this sender. */
	MS_PART,
	/* Of the caller's own: a bulk has moved. */
	MS_MOVED
};

struct ms_head {
	uint8_t kind;
	int32_t worker, peer;
	uint32_t key;
	uint64_t cookie, address, bytes;
};

_Static_assert(sizeof(struct ms_head) <= NET_HEAD_BYTES, "it must fit into a message");

struct ms_executed {
	uint64_t cookie;
	double duration_s;
};

struct ms_hello {
	uint64_t base, arena_bytes; /* addresses that the master gives out */
	uint64_t memory_bytes;      /* that there is; 0: unknown */
	int32_t ncpus, ngpus;       /* workers */
	struct node *node;          /* where master and slaves are one process */
	char model[64];
};

struct ms_bulk {
	struct net_bulk bulk; /* first */
	struct outgoing outgoing;
	struct ms *ms;
	uint64_t cookie; /* of the MS_MOVED that tells its end; 0: nobody is told */
};

/* What has come and is to be handled. */
struct ms_event {
	struct ms_event *next;
	struct ms_head head;
	int peer;
	size_t bytes;
	_Alignas(16) char body[];
};

/* What came of a long body. */
struct ms_parts {
	char *bytes;
	size_t n, capacity;
};

struct ms {
	struct node *node;
	struct net *net;
	struct orr_lock lock;
	struct outbox outbox;
	void (*handle)(struct ms *ms, struct ms_event *event);
	void (*polled)(struct ms *ms); /* at each poll; NULL: nothing */
	struct ms_parts *parts;        /* by rank */
	struct ms_event *first, *last; /* to be handled */
	int is_handling;               /* somebody does */
	int nflying;                   /* atomic: the transport's */
	int nawaited;                  /* atomic: answers that others owe */
	int is_asleep;                 /* atomic: nobody polls any more */
	uint64_t nevents;              /* that have been handled: for the watchdog */
	struct plat_gate gate;         /* of the main thread, when it waits; */
	struct net_barrier barrier;    /* for the last time */
	struct outgoing last_outgoing;
	struct ms_master *master; /* of a master, else NULL */
	struct ms_slave *slave;   /* of a slave */
};

/* What both sides are told.  net.rank, net.size: in the communicator of all. */
struct ms_config {
	struct net_config net; /* comm: to the next field */
	_Alignas(16) char comm[16];
	int master, nwanted; /* slaves */
};

/* For node_open_extended(): arg is a struct ms_config.  Waits for all slaves, then gives
 * the node their cores. */
int ms_master_open(struct node *node, void *arg);
/* Of an open node: serve the master until it closes.  0 or -errno. */
int ms_serve(struct node *node, const struct ms_config *config);

/* ---- ms.c, for the two sides ------------------------------------------ */

int ms_open(struct node *node, const struct ms_config *config,
	    void (*handle)(struct ms *ms, struct ms_event *event));
/* The side has set its field of ms: from now on what comes is handled. */
void ms_start(struct ms *ms);
/* Collective, when all that was sent has been heard. */
void ms_close(struct ms *ms);
/* Any thread; body is copied, and may be long. */
void ms_send(struct ms *ms, int peer, const struct ms_head *head, const void *body,
	     size_t bytes);
/* Start a half of a bulk: its peer, key and layout are set; it is freed at its end. */
struct ms_bulk *ms_bulk_new(struct ms *ms, int peer, uint32_t key,
			    const struct layout *layout);
void ms_bulk_start(struct ms_bulk *bulk, enum outgoing_kind kind);
/* One more or less is owed to the caller. */
void ms_awaits(struct ms *ms, int more);

/* The two sides, of others that they need: a rank whose process has ended, or whose
 * machine has failed; or -1. */
int ms_is_lost(const struct ms *ms, int rank);
int ms_master_lost(const struct ms *ms);
int ms_slave_lost(const struct ms *ms);

#endif
