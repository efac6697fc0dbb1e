/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/ring_mpi.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"

enum {
	RECEIVES = 16,
	LONG_RECEIVES = 2 * NET_NOTED_PACKETS, /* where frames overtake, to begin with */
	NOBODY = -1
};

/* Where receives end in any order: the slots in the order of posting, whose frame lies in
 * each (NOBODY: none), and by peer how many frames were sent and taken. */
struct overtaking {
	int *order, *peers;
	uint32_t *nsent, *ntaken;
};

static int failed(struct transport *transport, int rc, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int length = 0;

	MPI_Error_string(rc, text, &length);
	orr_complain(transport->base.rank, "%s failed: %.*s", call, length, text);
	return -EIO;
}

int mpi_check(struct transport *transport, int rc, const char *call)
{
	return rc == MPI_SUCCESS ? 0 : failed(transport, rc, call);
}

void mpi_check_or_die(struct transport *transport, int rc, const char *call)
{
	if (mpi_check(transport, rc, call) < 0)
		orr_die(transport->base.rank, "a message between nodes was lost; ending");
}

/* ---- posting --------------------------------------------------------- */

/* Persistent: what MPI makes of the arguments it makes once. */
static void make_receive(struct mpi_ring *ring, int slot)
{
	ring->frames[slot] = orr_alloc(ring->transport->frame_bytes);
	mpi_check_or_die(ring->transport,
			 MPI_Recv_init(ring->frames[slot],
				       (int)ring->transport->frame_bytes, MPI_BYTE,
				       MPI_ANY_SOURCE, RING_TAG, ring->comm,
				       &ring->requests[slot]),
			 "MPI_Recv_init of messages");
}

static void post_receive(struct mpi_ring *ring, int slot)
{
	mpi_check_or_die(ring->transport, MPI_Start(&ring->requests[slot]),
			 "MPI_Start of a receive");
}

/* To so many, the new ones as the newest. */
static void lengthen(struct mpi_ring *ring, int nslots)
{
	struct overtaking *overtaking = ring->overtaking;
	size_t n = (size_t)nslots;

	ring->frames = orr_realloc(ring->frames, n * sizeof(*ring->frames));
	ring->requests = orr_realloc(ring->requests, n * sizeof(*ring->requests));
	if (overtaking) {
		overtaking->order = orr_realloc(overtaking->order, n * sizeof(int));
		overtaking->peers = orr_realloc(overtaking->peers, n * sizeof(int));
	}
	for (; ring->nslots < nslots; ring->nslots++) {
		if (overtaking) {
			overtaking->order[ring->nslots] = ring->nslots;
			overtaking->peers[ring->nslots] = NOBODY;
		}
		make_receive(ring, ring->nslots);
		post_receive(ring, ring->nslots);
	}
}

/* ---- frames ---------------------------------------------------------- */

void ring_number(struct mpi_ring *ring, char *frame, int peer)
{
	if (ring->overtaking)
		frame_set_number(frame, ring->overtaking->nsent[peer]++);
}

int ring_has_come(struct mpi_ring *ring, int *peer)
{
	MPI_Status status;
	int has_come;

	mpi_check_or_die(ring->transport,
			 MPI_Test(&ring->requests[ring->oldest], &has_come, &status),
			 "receiving a message");
	*peer = has_come ? status.MPI_SOURCE : -1;
	return has_come;
}

int ring_take(struct mpi_ring *ring)
{
	int slot = ring->oldest;

	ring->oldest = (slot + 1) % ring->nslots;
	return slot;
}

int ring_receive(struct mpi_ring *ring, int slot, int peer, int follows)
{
	int count =
		transport_take_frame(ring->transport, peer, ring->frames[slot], follows);

	post_receive(ring, slot);
	return count;
}

/* ---- overtaking ------------------------------------------------------ */

/* The frame in the i-th receive by order of posting is the next one of its peer: hand it
 * over and post the receive again, as the newest. */
static int take_at(struct mpi_ring *ring, int i)
{
	struct overtaking *overtaking = ring->overtaking;
	int slot = overtaking->order[i], peer = overtaking->peers[slot], count;

	overtaking->ntaken[peer]++;
	overtaking->peers[slot] = NOBODY;
	count = ring_receive(ring, slot, peer, 0);
	memmove(overtaking->order + i, overtaking->order + i + 1,
		(size_t)(ring->nslots - i - 1) * sizeof(int));
	overtaking->order[ring->nslots - 1] = slot;
	return count;
}

/* Which of the n oldest receives have ended? */
static void look(struct mpi_ring *ring, int n)
{
	struct overtaking *overtaking = ring->overtaking;

	for (int i = 0; i < n; i++) {
		int slot = overtaking->order[i], has_come;
		MPI_Status status;

		if (overtaking->peers[slot] != NOBODY)
			continue;
		mpi_check_or_die(ring->transport,
				 MPI_Test(&ring->requests[slot], &has_come, &status),
				 "receiving a message");
		if (has_come)
			overtaking->peers[slot] = status.MPI_SOURCE;
	}
}

/* The order of each peer's frames is that of posting, too. */
int ring_receive_overtaking(struct mpi_ring *ring)
{
	struct overtaking *overtaking = ring->overtaking;
	const int *ncoming = ring->transport->base.ncoming;
	int n = ncoming ? *ncoming : ring->nslots, count = 0;

	if (n > ring->nslots - NET_NOTED_PACKETS && ncoming)
		lengthen(ring, 2 * (n + NET_NOTED_PACKETS));
	look(ring, n);
	for (int i = 0; i < n;) {
		int slot = overtaking->order[i], peer = overtaking->peers[slot];

		if (peer != NOBODY &&
		    frame_number(ring->frames[slot]) == overtaking->ntaken[peer]) {
			count += take_at(ring, i);
			n--;
		} else {
			i++;
		}
	}
	return count;
}

/* ---- life ------------------------------------------------------------ */

void ring_open(struct mpi_ring *ring, struct transport *transport, MPI_Comm comm,
	       int may_overtake)
{
	size_t npeers = (size_t)transport->base.size;

	ring->transport = transport;
	ring->comm = comm;
	if (may_overtake) {
		ring->overtaking = orr_alloc(sizeof(*ring->overtaking));
		ring->overtaking->nsent = orr_alloc(npeers * sizeof(uint32_t));
		ring->overtaking->ntaken = orr_alloc(npeers * sizeof(uint32_t));
	}
	lengthen(ring, may_overtake ? LONG_RECEIVES : RECEIVES);
}

static void close_overtaking(struct overtaking *overtaking)
{
	if (!overtaking)
		return;
	free(overtaking->order);
	free(overtaking->peers);
	free(overtaking->nsent);
	free(overtaking->ntaken);
	free(overtaking);
}

void ring_close(struct mpi_ring *ring)
{
	for (int i = 0; i < ring->nslots; i++) {
		if (ring->requests[i] != MPI_REQUEST_NULL) {
			MPI_Cancel(&ring->requests[i]);
			MPI_Wait(&ring->requests[i], MPI_STATUS_IGNORE);
			MPI_Request_free(&ring->requests[i]);
		}
		free(ring->frames[i]);
	}
	free(ring->frames);
	free(ring->requests);
	close_overtaking(ring->overtaking);
}
