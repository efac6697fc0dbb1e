/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_ONEHOST_H
#define ORR_REAL_ONEHOST_H

/*
 * onehost.h - what onehost.c shares with berths.c.
 *
 * berths.c: receives that wait say where in memory that the sender maps: a berth.  It is
 * a slot, as an offer's, that is there before its announcement; the sender finds by
 * communicator, tag and number which of its announcements it will meet (a lead), and
 * claims units of it.  When the announcement has come the receiver claims the others.
 *
 * The number makes it certain.  Announcements of a class, some bits of communicator and
 * tag, are numbered by the sender; the receiver counts those that came.  When as many
 * have come as the largest of their numbers, all up to it have come and no other, and of
 * those that follow, the first of a communicator and tag meets the receive that is first
 * in the queue for these.  So if it is the very next one of its class, the sender knows
 * that it is, and any other one is no lead to this berth.
 */
#include <sys/types.h>

#include "plat/net.h"
#include "real/notes.h"

enum {
	UNIT_BYTES = 16 << 10,
	LEAST_CLAIMED = 2, /* units, by who helps or is helped */
	MOST_CLAIMED = 4,
	SHARES = 4,
	LEAST_OFFERED = 4,      /* units */
	POLL_BYTES = 256 << 10, /* copied before others have their turn */
	MAX_UNITS = 1 << 30,
	NSLOTS = 2,   /* of a receiver at a sender */
	NBERTHS = 32, /* as well */
	NCLASSES = 64,
	NLEADS = 64,              /* of a sender: bits of a word */
	NROWS = 64,               /* of a strided value, for a call */
	SPREAD_BYTES = 128 << 10, /* with their gaps, of a value that is spread there */
	/* Who was not helped so often offers one of so many only: two calls of the system
	 * cost 1 us more than one. */
	NUNHELPED = 2,
	NSKIPPED = 8
};

/* Written by the receiver before it sets claim; all atomic. */
struct slot {
	uint64_t claim; /* the number of the offer << 32 | the next unit */
	uint64_t from, to, bytes, unit_bytes;
	uint32_t nunits;
	uint32_t nwritten;   /* by the sender, as far as its writes have ended */
	uint32_t has_failed; /* of these, one */
} __attribute__((aligned(64)));

struct berth {
	struct slot slot; /* first; from is the sender's to know */
	uint64_t comm, tag, number;
} __attribute__((aligned(64)));

/* Of a sender: how many slots are open, how often a berth was filled, whether it looks at
 * the notes, and for each rank of the host NSLOTS, and behind these NBERTHS. */
struct row {
	uint32_t nopen __attribute__((aligned(64)));
	uint32_t nawaited;
	uint32_t is_read;
	struct notes notes;
	struct slot slots[];
};

/* Announcements from a peer. */
struct class
{
	uint64_t ncame, last;
};

struct neighbour {
	int pid, place;  /* pid: 0: it cannot be reached */
	struct row *row; /* or NULL */
	uint32_t nunhelped, nskipped;
	int is_unable; /* to write here; atomic */
	/* Of one that can be reached, under the lock of the net's owner. */
	struct class *came;
	uint64_t *nannounced; /* to it, by class */
};

/* A send that is announced and not answered. */
struct lead {
	struct net_half half;
	uint64_t number;
	struct slot *slot; /* of its berth; NULL: not found yet */
	struct span {
		uint64_t from, to, bytes, unit_bytes;
		uint32_t nunits;
	} span;
	uint32_t slot_number;
	int is_over; /* nothing is left to be written */
};

struct leads {
	struct lead of[NLEADS];
	uint64_t used;     /* atomic, bits; set under the lock of the net's owner */
	uint32_t nadded;   /* atomic */
	uint32_t nlooked;  /* who polls: at how many of them, */
	uint32_t nawaited; /* and of what is awaited */
	int nfollowed;     /* of them, those whose berths had units left */
};

struct onehost {
	struct net_ops ops; /* first; the net's */
	const struct net_ops *inner;
	struct net *net;
	struct plat *plat;
	size_t unit_bytes, row_bytes;
	int n, place;                   /* ranks of the host */
	int size;                       /* all ranks */
	struct neighbour *neighbours;   /* by place */
	int *places;                    /* by rank, or -1 */
	struct net_bulk *first, **last; /* to be copied, in order */
	uint32_t noffers;
	uint64_t ntaken; /* of the notes of its own row */
	uint64_t secret;
	struct leads *leads;
	char *gathered; /* see spread.c; or NULL */
};

/* Of words in memory that several processes map. */
static inline void set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void set_small(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint32_t load_small(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline struct onehost *onehost_of(const struct net *net)
{
	return (struct onehost *)(void *)net->ops;
}

static inline struct neighbour *neighbour_of(const struct onehost *onehost, int rank)
{
	return &onehost->neighbours[onehost->places[rank]];
}

static inline uint32_t units_of(size_t bytes, size_t unit_bytes)
{
	return (uint32_t)((bytes + unit_bytes - 1) / unit_bytes);
}

/* Of what a payload of so many bytes is copied in. */
size_t onehost_unit_bytes(const struct onehost *onehost, size_t bytes);
/* Claim the next units of slot behind *word, its claim, and write them to the process.
 * Returns how many bytes; 0: the claim has changed.  It is *word then. */
size_t onehost_write(int pid, struct slot *slot, const struct span *span, uint64_t *word);
/* Does this rank do nothing that a copy would delay? */
int onehost_is_idle(const struct onehost *onehost);

/* 0, or what a call that should have moved so many bytes means. */
int onehost_status(ssize_t moved, size_t bytes);

/* spread.c: values that the sender has with gaps. */
int spread_takes(const struct layout *layout);
/* Read the layout, of so many bytes, from the memory of the process.  NULL: not all is
 * readable. */
struct layout *spread_layout(int pid, uint64_t at, size_t bytes);
/* Read bytes [at, at + bytes) of the value.  0 or a negative errno. */
int spread_read(struct onehost *onehost, int pid, const struct layout *to,
		const struct layout *from, size_t at, size_t bytes);

/* berths.c.  Before those of the net's table are used. */
void berths_open(struct onehost *onehost);
void berths_close(struct onehost *onehost);
extern const struct net_ahead berths_ahead;
size_t berths_row_bytes(int size);
/* That a get meets. */
struct slot *berth_slot(const struct onehost *onehost, int peer, unsigned berth);
/* The sender has claimed nothing of it, and will not.  0: it has. */
int berth_withdraw(struct slot *slot);
/* Write some of what waits for this rank's sends.  Returns how many bytes. */
size_t berths_help(struct onehost *onehost, struct row *own);

#endif
