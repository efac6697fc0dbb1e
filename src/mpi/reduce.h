/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_REDUCE_H
#define ORR_MPI_REDUCE_H

/*
 * reduce.h - reductions between nodes.
 *
 * A task that contributes to a datum where its owner is not leaves its contribution on
 * the rank that executes it: in the copy there (STARPU_MPI_REDUX), which is no copy of
 * the owner's value any more, or in its workers' (STARPU_REDUX).  All ranks note who
 * contributed.  The reduction, asked for by the application or due because somebody
 * reads, waits for all or unregisters, sends the contributions up a tree whose root is
 * the owner; since all ranks noted alike, each knows its part without a message.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/table.h"
#include "core/data/data.h"

struct mpi;

struct reductions {
	struct orr_lock lock;
	struct table by_handle;
	struct list due; /* struct contributors, in the order of the first contribution */
};

void reduce_init(struct mpi *mpi);
void reduce_free(struct mpi *mpi);

/* A task on rank executor of a communicator, not built yet, contributes to the datum.
 * what names it in messages. */
void reduce_note(struct mpi *mpi, int comm, starpu_data_handle_t handle, int executor,
		 const char *what);

/* A reduction: arity below 2 means that all send to the owner. */
struct reduction {
	starpu_data_handle_t handle;
	int priority, arity;
	const char *what; /* function called */
};

/* Submit the task that adds a value to the one of this rank.  0 or -ENODEV. */
int reduce_add(struct mpi *mpi, const struct reduction *reduction,
	       starpu_data_handle_t from);
/* Submit it, if there are contributions outside of the owner. */
void reduce_data(struct mpi *mpi, const struct reduction *reduction);
/* Somebody is going to use the value: a tree as STARPU_MPI_REDUX_ARITY_THRESHOLD says. */
void reduce_settle(struct mpi *mpi, starpu_data_handle_t handle);
/* The same for all data. */
void reduce_all(struct mpi *mpi);
/* By rank of the datum's communicator: has it contributed?  NULL: nobody has. */
char *reduce_map(struct mpi *mpi, starpu_data_handle_t handle);
/* How many ranks have contributed to what has not been reduced; 0: none. */
int reduce_nwaiting(struct mpi *mpi, starpu_data_handle_t handle);
void reduce_forget(struct mpi *mpi, starpu_data_handle_t handle);

/* Which of a group of n ranks receives the others' contributions. */
int reduce_root(const int *ranks, int n, int owner, int64_t tag, int arity);

#endif
