/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_EARLY_H
#define ORR_MPI_EARLY_H

/*
 * early.h - transfers that came before their receive was ready for them.
 *
 * Small ones bring their payload along.  A large one is only announced, and its sender
 * waits.  When the receive may be waiting for that sender in turn, the payload is taken
 * in: received into temporary memory, up to ORRERY_MPI_EARLY_BYTES for all together.
 * Where a backend knows that nothing else can happen, that is when it is done
 * (node->on_stuck), so no date changes of a program that does not need it.  On a real
 * machine it is done for what has waited for long.
 */
#include "base/heap.h"
#include "base/list.h"
#include "base/pool.h"
#include "mpi/match.h"
#include "mpi/store.h"
#include "mpi/wire.h"

struct mpi;
struct node;
struct request;

enum early_state {
	EARLY_ANNOUNCED, /* the sender has it */
	EARLY_WANTED,    /* as well, but it will be granted when the window has room */
	EARLY_MOVING,    /* it comes into body */
	EARLY_HERE       /* nothing is missing */
};

struct early {
	struct match_entry match; /* first */
	struct wire_head head;
	enum early_state state;
	int is_taken_in;         /* counted in early_bytes */
	void *body;              /* owned copy; NULL when nothing is carried */
	struct request *local;   /* the send, when it is of this node and has the value */
	struct request *receive; /* that it is matched with */
	struct list link;        /* in announced, oldest first; or in large.line */
	double since_s;
	struct heap_entry order; /* in without_room; or while WANTED */
};

/* Part of the engine, under its lock. */
struct earlies {
	struct pool pool;
	struct store bodies;
	struct match unmatched;
	/* The sender waits, and the payload may be taken in: not of a synchronous send,
	 * which ends with its match.  Nobody looks at all of them again and again. */
	struct list announced;    /* that nobody has tried to take in */
	struct heap without_room; /* that somebody has, by their bytes */
	int nannounced;           /* of both; atomic */
	size_t bytes, max_bytes;
	int ntests;                 /* that failed while nothing happened */
	unsigned long ntest_events; /* the engine's events at the first of them */
	double tested_s;            /* its date */
};

void earlies_init(struct mpi *mpi);
void earlies_free(struct mpi *mpi);

/* A transfer has arrived.  local: the send, when it is of this node. */
struct early *early_new(struct mpi *mpi, int peer, const struct wire_head *head,
			struct request *local);
/* The payload that came with it. */
void early_keep_body(struct mpi *mpi, struct early *early, const void *body);
void early_free(struct mpi *mpi, struct early *early);
/* It goes straight to its receive, which is ready: no temporary memory after all. */
void early_go_direct(struct mpi *mpi, struct early *early);
/* All of its payload is in temporary memory. */
void early_arrived(struct early *early);

/* "tag 7 came from rank 0 ...".  Returns text. */
const char *early_describe(const struct mpi *mpi, const struct early *early, char *text,
			   size_t bytes);
/* Those that nobody receives, in no order: cursor is 0 at first, NULL after the last. The
 * engine is locked. */
struct early *early_next(struct mpi *mpi, size_t *cursor, struct match_entry **entry);
size_t early_nunmatched(const struct mpi *mpi);
/* What temporary memory would have to be for what has found no room in it, in text; NULL:
 * nothing has.  The engine is locked, or nothing else runs. */
const char *early_lack(const struct mpi *mpi, char *text, size_t bytes);
/* For node->on_stuck. */
int early_on_stuck(struct node *node);
/* Real machine, at each poll: take in what has waited for long. */
void early_look(struct mpi *mpi);
/* A test of the application failed, which may loop around it.  The engine is not locked.
 */
void early_test_failed(struct mpi *mpi);

#endif
