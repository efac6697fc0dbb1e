/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_STANDSTILL_H
#define ORR_MPI_STANDSTILL_H

/*
 * standstill.h - on a real machine: can the ranks that wait ever go on?
 *
 * A rank is stuck when nothing but a message can make it go on (core/watchdog.h).  Rank
 * 0, once stuck, asks all ranks, twice.  When each time all are stuck, as many messages
 * were received as were sent, and no counter of any rank has changed between the two,
 * then nothing is under way and nothing can come: all ranks say what they wait for, and
 * the run ends.  (The messages of this conversation are not counted.)
 *
 * Other ranks that stand still ask the peers of their pending transfers: one that is
 * gone can never match them, one that works calls for patience, one that is silent is
 * named.
 */
#include "core/node.h"
#include "mpi/wire.h"

struct mpi;
struct peer_state;

struct standstill {
	uint64_t nsent, nreceived; /* messages, but for those of the watchdog */
	int nflying;               /* atomic: messages of the watchdog on their way out */
	int nawaited;              /* atomic: answers */
	struct peer_state *peers;  /* by rank; NULL before the first question */
	uint32_t wave;             /* of questions; odd: the first of two */
	double asked_s;
	int is_certain;       /* that the run cannot go on */
	int is_call_told;     /* that a peer waits in MPI, since something happened */
	int is_ending;        /* all ranks are telling what they wait for */
	int nunlisted;        /* of these, who have not told yet */
	int is_engine_locked; /* by who describes */
};

/* Is a message one of this conversation? */
static inline int standstill_owns(int kind)
{
	return kind >= WIRE_PROBE && kind <= WIRE_LISTED;
}

/* The engine, which is locked, tells of its messages by kind: one is handed out, has
 * left, has come.  1 when it is one of the program's. */
static inline int standstill_sends(struct standstill *own, int kind)
{
	if (standstill_owns(kind))
		orr_add(&own->nflying, 1);
	else
		own->nsent++;
	return !standstill_owns(kind);
}

static inline int standstill_has_sent(struct standstill *own, int kind)
{
	if (standstill_owns(kind))
		orr_add(&own->nflying, -1);
	return !standstill_owns(kind);
}

static inline int standstill_receives(struct standstill *own, int kind)
{
	if (!standstill_owns(kind))
		own->nreceived++;
	return !standstill_owns(kind);
}

/* Does it wait for answers? */
static inline int standstill_asks(const struct standstill *own)
{
	return orr_load(&own->nawaited) > 0;
}

/* Is it certain that the run cannot go on?  Who finds out says so. */
static inline int standstill_is_certain(const struct standstill *own)
{
	return own->is_certain;
}

static inline void standstill_set_certain(struct standstill *own)
{
	own->is_certain = 1;
}

/* Does it describe the node just now, with the engine locked? */
static inline int standstill_describes(const struct standstill *own)
{
	return own->is_engine_locked;
}

/* For the node's hooks. */
unsigned long standstill_signature(struct node *node);
int standstill_busy(struct node *node);
/* 1; 0: other ranks have no part in it. */
int standstill_look(struct node *node, double silence_s, const char *why);

/* Nobody polls: 1 when messages wait for that, which is said.  for_ever: and nobody will,
 * so that the run ends. */
int standstill_unpolled(struct node *node, double silence_s, int for_ever);

/* A message of this conversation came, or of shutdown; the engine is locked. */
void standstill_heard(struct mpi *mpi, int peer, const struct wire_head *head);
void standstill_free(struct mpi *mpi);

#endif
