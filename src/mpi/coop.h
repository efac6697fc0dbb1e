/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_COOP_H
#define ORR_MPI_COOP_H

/*
 * coop.h - cooperative sends: who has a value passes it on to others that want it.
 *
 * The sends of one datum that have it at the same time carry the same value.  When there
 * are several, and they are large, they are announced as shared: the receiver takes the
 * payload from whoever sends it.  The owner serves those that are ready as its other
 * sends, the most urgent first; what still waits is passed on (WIRE_FORWARD) to receivers
 * that have the value by then.  So the value spreads as a tree that grows where receivers
 * are ready, and a late or slow one holds up nobody.
 *
 * Who is told to keep the value (WIRE_KEEP) gives its datum to readers and holds up
 * writers until the owner lets it go (WIRE_LET_GO).  The owner does as soon as none of
 * those that are ready waits: what is ready moves whatever programs do, so that no writer
 * waits for another rank's program.
 *
 * All of it under the engine's lock, but for what says otherwise.
 */
#include <starpu.h>

#include "base/pool.h"
#include "base/table.h"
#include "mpi/wire.h"

struct half;
struct large_target;
struct mpi;
struct request;

/* Part of the engine. */
struct coop {
	size_t least_bytes;  /* of what is shared */
	struct table groups; /* by datum: sends that are not over, and what waits */
	int nexpecting;      /* atomic: of these, with sends that are announced */
	struct pool group_pool, share_pool, keeper_pool, kept_pool;
	struct kept *let_go; /* to be given back */
};

/* commons: for its pools, or NULL. */
void coop_init(struct coop *coop, struct pool_commons *commons);
void coop_free(struct coop *coop);
/* So many sends of a datum are going to be posted. */
void coop_expect(struct mpi *mpi, const void *handle, int nsends);
/* The datum is unregistered: of sends that did not come nothing is left. */
void coop_forget(struct mpi *mpi, const void *handle);

/* ---- the owner ------------------------------------------------------- */

/* May a send of the datum be shared?  Asks its interface, so not under the lock. */
int coop_wants(struct mpi *mpi, starpu_data_handle_t handle);
/* Such a send is posted. */
void coop_post(struct mpi *mpi, struct request *request);
/* It has its datum, and is announced: WIRE_SHARED or 0. */
int coop_announce(struct request *request);
/* Its receiver is ready; half is its put, which waits. */
void coop_on_grant(struct request *request, const struct large_target *to,
		   struct half *half);
/* It did not start at once: perhaps somebody else can serve it. */
void coop_granted(struct mpi *mpi, struct request *request);
/* It is more urgent than before. */
void coop_raise(struct request *request);
/* Its put starts. */
void coop_leaves(struct mpi *mpi, struct request *request);
void coop_on_have(struct mpi *mpi, const struct wire_head *head);
/* A send is over, shared or not. */
void coop_moved(struct mpi *mpi, struct request *request);

/* ---- who gets it ----------------------------------------------------- */

/* Of a shared value: it is here.  flags: WIRE_KNOWN or 0; request: the receive that keeps
 * it from now on, or NULL. */
void coop_tell(struct mpi *mpi, int owner, uint64_t sender, int flags,
	       struct request *request);
void coop_on_forward(struct mpi *mpi, const struct wire_head *head);
void coop_on_let_go(struct mpi *mpi, const struct wire_head *head);
/* The end of a receive, not under the lock: 1 when it keeps its datum for reading. */
int coop_keep(struct request *request);
/* Give back what was let go; not under the lock.  Returns how many. */
int coop_drain(struct mpi *mpi);

/* ---- both ------------------------------------------------------------ */

/* Its payload has left.  0: it is not shared, and over. */
int coop_put_done(struct mpi *mpi, struct request *request);

#endif
