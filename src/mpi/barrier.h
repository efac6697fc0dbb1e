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
#include "mpi/engine.h"

/* The engine is locked. */
void barrier_step_arrived(struct mpi *mpi, uint64_t comm_id, int round);
void barrier_free_all(struct mpi *mpi);

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
