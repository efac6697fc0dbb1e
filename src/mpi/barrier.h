/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_BARRIER_H
#define ORR_MPI_BARRIER_H

/*
 * barrier.h - barriers that let everything else progress.
 *
 * Communicator 0 uses the transport's.  Others use a dissemination of messages
 * between their members only: in round k, rank r tells rank r + 2^k and hears from
 * rank r - 2^k.  Steps of one round come from one rank in order, so counting them
 * keeps successive barriers apart.
 */
#include <stdint.h>

#include "base/table.h"
#include "plat/plat.h"

struct mpi;

/* Under the engine's lock. */
struct barriers {
	struct table among; /* by communicator's id */
	int nentered;       /* atomic: threads in a barrier, a flush or leaving */
	uint32_t nall;      /* of all ranks, entered */
	int is_in_all;
	int nunflushed; /* peers that have not answered WIRE_FLUSH */
	struct plat_gate *flush_gate;
	struct plat_gate *leave_gate;
	int peer_leaves;    /* the rank before this one is in shutdown, */
	uint32_t peer_nall; /* after so many barriers of all ranks */
};

void barriers_free(struct mpi *mpi);

/* Threads in a barrier, a flush or leaving. */
int barrier_nentered(struct mpi *mpi);
/* Barriers of all ranks that this one has come to, and whether it waits in the last. */
uint32_t barrier_nall(const struct mpi *mpi, int *is_inside);

/* A step came; the engine is locked. */
void barrier_step_arrived(struct mpi *mpi, uint64_t comm_id, int round);

/*
 * Block until all that this rank sent has arrived, though perhaps not been received:
 * messages to one peer arrive in order, so each peer answers one that comes last.
 * 0 or -EDEADLK.
 */
int barrier_flush(struct mpi *mpi);
/* A peer asks, or answers; the engine is locked. */
void barrier_flush_arrived(struct mpi *mpi, int peer, int is_answer);

/*
 * In shutdown, block until the rank before this one is there, too.  It must have come to
 * as many barriers of all ranks, or the last barrier would meet one of the application.
 * 0 or -EDEADLK.
 */
int barrier_leave(struct mpi *mpi);
/* A peer is there; the engine is locked. */
void barrier_peer_leaves(struct mpi *mpi, int peer, uint32_t nbarriers);

#endif
