/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_TALLY_H
#define ORR_MPI_TALLY_H

/*
 * tally.h - has one rank, and only one, executed each task that was inserted?
 *
 * Ranks that take different ones for the owner of a datum, or for the executor of a task,
 * may each leave the task to the other, or each execute it.  No message shows it.  So at
 * shutdown rank 0 adds up.  Ranks have executed at least as many tasks as any one of them
 * has inserted, however many calls ranks leave out that do not concern them.  And where
 * all have registered the same data and inserted as many tasks, each datum has one owner.
 */
#include <stdint.h>

struct mpi;
struct plat_gate;
struct wire_head;

/* What a rank says of itself. */
struct tally_told {
	uint64_t inserted;     /* tasks, but for those that nobody or several execute */
	uint64_t listed;       /* of these by this rank */
	uint64_t executed;     /* the same, or more: tasks that it has submitted */
	uint64_t known, owned; /* data: see struct registry */
	int does_else; /* more than to insert tasks on data that stay where they are */
};

struct tally_sum {
	uint64_t executed, listed, owned;
	uint64_t most_inserted, known;
	int nranks, rank_of_most;
	int differ; /* ranks, in the data that they know or in how many tasks they insert
		     */
	int does_else;
};

struct tally {
	/* orr_next(), of this rank: tasks inserted here that it executes, and those that
	 * nobody or several execute, which do not count. */
	uint64_t nexecuted, nleft_out;
	uint64_t inserted_before, submitted_before; /* by the node, in other lives of
						     * the layer */
	int posts; /* the program has posted transfers itself */
	/* Rank 0's, under the engine's lock: what ranks have told. */
	struct tally_sum sum;
	struct plat_gate *gate; /* until all have, or NULL */
};

void tally_open(struct mpi *mpi);
/* In shutdown: before a barrier of all, and after it. */
void tally_tell(struct mpi *mpi);
void tally_check(struct mpi *mpi);
/* A rank has told; the engine is locked. */
void tally_came(struct mpi *mpi, int peer, const struct wire_head *head);

#endif
