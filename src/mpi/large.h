/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_LARGE_H
#define ORR_MPI_LARGE_H

/*
 * large.h - large transfers, once they are announced.
 *
 * The receiver grants: at most ORRERY_MPI_WINDOW transfers and
 * ORRERY_MPI_WINDOW_BYTES to it move at a time, so that what a poll costs does not
 * grow with what is pending; one moves whatever its size.  Among those that are ready
 * to be received, the most urgent one is granted next, then the oldest.  Who is granted
 * has its datum and moves as soon as few enough other sends do
 * (STARPU_MPI_NDETACHED_SEND, ORRERY_MPI_PUT_BYTES), the most urgent first, whatever its
 * receiver does: granted transfers cannot block one another.
 *
 * What moves shares the way out, so a less urgent one leaves beside a more urgent one
 * only as long as ORRERY_MPI_BESIDE bytes move, two in any case.
 *
 * A node that sends nothing large pushes: the payload follows its announcement at once,
 * with a key of the sender, and waits in the transport until the receiver's half is
 * there, which comes under the same window.  That saves the grant and its way.  It ends
 * when it has met that half, and only then the next one may be pushed, so that at most
 * one from each node waits unasked.
 *
 * Where the transport lets the receiver take the payload from its place in the memory of
 * the sender (net_ops.reaches), the announcement says where that is.  The receiver takes
 * it when it would have granted, under the same window, and says so, which ends the send:
 * how many others move from that sender makes no difference to it, since it does not move
 * them.  What cannot be taken so after all is granted.
 */
#include "base/heap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/table.h"
#include "mpi/wire.h"

struct early;
struct half;
struct net_bulk;
struct mpi;
struct request;

/* Part of the engine, under its lock. */
struct large {
	/* Announced to this node, wait for the window: those of one priority, mostly all,
	 * in a line, which costs the same however long it is, the others in a heap. */
	struct list line;
	struct heap others;
	uint64_t nwanted;                      /* ever: their order */
	int nmoving, max_moving;               /* granted, not yet all here */
	size_t moving_bytes, max_moving_bytes; /* of these */
	uint32_t *free_keys;                   /* of transfers to this node */
	uint32_t nkeys, nfree_keys, free_keys_capacity;
	int has_pushed;                  /* what is not all there yet */
	struct table shared;             /* granted, others get it as well, by key */
	struct heap puts;                /* that wait for a place among the moving ones */
	int nputs, max_puts;             /* that move; 0: any number */
	size_t put_bytes, max_put_bytes; /* of these */
	size_t beside_bytes;             /* of these, when one of them is more urgent */
	struct half *leaving;            /* the most urgent of these */
	int ntaking;                     /* of nmoving, those that this node copies */
	struct pool halves;
};

/* commons: for its pools, or NULL. */
void large_init(struct large *large, struct pool_commons *commons);
void large_free(struct large *large);
/* early is WANTED: grant it, now or when the window has room. */
void large_want(struct mpi *mpi, struct early *early);
/* What was granted is to be kept for others. */
void large_on_keep(struct mpi *mpi, int owner, const struct wire_head *head);
/* How the payload of a send that is not shared and has its datum leaves: WIRE_DIRECT, and
 * *from where it lies, or with WIRE_SPREAD where its layout does; WIRE_PUSHED; or 0: when
 * it is granted. */
int large_offer(const struct mpi *mpi, const struct request *request, uint64_t *from);
/* It is announced as pushed. */
void large_push(struct mpi *mpi, struct request *request);
/* See net.h. */
void large_expect_end(const struct net_bulk *bulk, int step);
/* The receiver of a send of this node is ready. */
void large_on_grant(struct mpi *mpi, const struct wire_head *head);
/* The receiver of a send of this node has taken the payload itself. */
void large_on_taken(struct mpi *mpi, const struct wire_head *head);

/* Where a payload goes: a rank that has granted it, with its key. */
struct large_target {
	int peer, priority;
	uint32_t key;
};

/* The payload of request, a send or a receive that is kept, shall go there; then
 * coop_put_done(), or the end of the send. */
struct half *large_put(struct mpi *mpi, struct request *request,
		       const struct large_target *to);
/* It has not been started, and shall not be. */
void large_take_back(struct mpi *mpi, struct half *half);
/* Its request, which waits, is more urgent now. */
void large_raise(struct mpi *mpi, struct request *request);
/* Start those that may, the most urgent first: few enough move at a time. */
void large_start_puts(struct mpi *mpi);

#endif
