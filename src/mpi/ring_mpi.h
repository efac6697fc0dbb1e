/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_RING_MPI_H
#define ORR_MPI_RING_MPI_H

/*
 * ring_mpi.h - the receives that transport "mpi" posts for frames.
 *
 * They are from any source; MPI matches them in the order of posting, so looking only at
 * the oldest keeps the order of each peer.  Where a younger one may end long before
 * (messages move once they are matched, each at its own pace), frames to a peer are
 * numbered, all receives are looked at that may have ended, and there are more than there
 * are frames on their way: one that finds none would not move.
 */
#include <mpi.h>

#include "mpi/transport.h"

enum { RING_TAG = 1 /* of frames */ };

struct overtaking;

struct mpi_ring {
	struct transport *transport;
	MPI_Comm comm;
	char **frames;
	MPI_Request *requests;
	int nslots, oldest;            /* the one posted first */
	struct overtaking *overtaking; /* NULL: receives end in the order of posting */
};

/* 0, or -EIO with the reason told. */
int mpi_check(struct transport *transport, int rc, const char *call);
/* Without a message the engine cannot go on, and nobody could be told. */
void mpi_check_or_die(struct transport *transport, int rc, const char *call);

void ring_open(struct mpi_ring *ring, struct transport *transport, MPI_Comm comm,
	       int may_overtake);
void ring_close(struct mpi_ring *ring);

/* Before a frame is sent to a peer. */
void ring_number(struct mpi_ring *ring, char *frame, int peer);

static inline MPI_Request ring_oldest(const struct mpi_ring *ring)
{
	return ring->requests[ring->oldest];
}

/* Has the oldest ended, and whose frame is it?  Only a look that finds none makes MPI
 * work. */
int ring_has_come(struct mpi_ring *ring, int *peer);
/* The slot of the oldest, which has ended; the next one is the oldest from now on. */
int ring_take(struct mpi_ring *ring);
/* Hand over the frame in a receive that was taken and post it again, as the newest.
 * follows: there is one behind it.  Returns how many messages were in it. */
int ring_receive(struct mpi_ring *ring, int slot, int peer, int follows);

/* Where receives end in any order: hand over what has come, of each peer in the order of
 * sending.  Returns how many messages. */
int ring_receive_overtaking(struct mpi_ring *ring);

#endif
