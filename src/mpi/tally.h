/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_TALLY_H
#define ORR_MPI_TALLY_H

/*
 * tally.h - has somebody executed each task that was inserted?
 *
 * Ranks that take different ones for the owner of a datum, or for the executor of a task,
 * may each leave the task to the other.  No message shows it.  So at shutdown rank 0 adds
 * up the tasks that ranks have executed: they are at least as many as any rank has
 * inserted, however many calls ranks leave out that do not concern them.
 */
#include <stdint.h>

struct mpi;
struct plat_gate;
struct wire_head;

struct tally {
	/* orr_next(), of this rank: tasks inserted here that it executes, and those that
	 * nobody or several execute, which do not count. */
	uint64_t nexecuted, nleft_out;
	uint64_t inserted_before, submitted_before; /* by the node, in other lives of
						     * the layer */
	/* Rank 0's, under the engine's lock: what ranks have told. */
	int ntold, rank_of_most;
	uint64_t executed, most_inserted;
	struct plat_gate *gate; /* until all have, or NULL */
};

void tally_open(struct mpi *mpi);
/* In shutdown: before a barrier of all, and after it. */
void tally_tell(struct mpi *mpi);
void tally_check(struct mpi *mpi);
/* A rank has told; the engine is locked. */
void tally_came(struct mpi *mpi, int peer, const struct wire_head *head);

#endif
