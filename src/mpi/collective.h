/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_COLLECTIVE_H
#define ORR_MPI_COLLECTIVE_H

/*
 * collective.h - several data, or a value and several ranks, in one call of all ranks.
 *
 * All is made of the transfers of insert_post(), which take their turns on the data; each
 * rank posts its own halves only and knows them without a message.  Scatter and gather
 * move values whatever the cache says, since programs write to the copy of a rank that is
 * not the owner before they scatter it.
 */
#include "core/data/data.h"

struct mpi;

/* The value will be used: reduce what ranks contributed to it, and to what shares bytes
 * with it. */
void collective_settle(struct mpi *mpi, starpu_data_handle_t handle);
/* The value is replaced: copies of it, and of what shares bytes with it, are of the past.
 */
void collective_overwrites(struct mpi *mpi, starpu_data_handle_t handle);

/* Values go from one rank to the owners of the data (scatter), or the other way. */
struct spread {
	starpu_data_handle_t *handles; /* NULL where it does not concern this rank */
	int n;
	int comm, root; /* index of the communicator, rank in it */
	int gathers;
	/* After the last transfer of this rank; never when it has none. */
	void (*callback)(void *arg);
	void *arg;
	const char *what; /* function called */
};

void collective_spread(struct mpi *mpi, const struct spread *spread);

/* A value into data of another owner. */
struct value_copy {
	starpu_data_handle_t dst, src;
	int comm; /* index */
	int is_blocking, priority;
	void (*callback)(void *arg); /* on the owner of dst, after the copy */
	void *arg;
	const char *what;
};

/* Owners' values to all ranks, which hold them as if tasks had read them. */
struct broadcast {
	starpu_data_handle_t *handles;
	int n;
	int comm, priority;
	void (*callback)(void *arg); /* on each rank, when it has all of them */
	void *arg;
	const char *what;
};

void collective_broadcast(struct mpi *mpi, const struct broadcast *broadcast);

/* Each rank's own value, combined in the result as its reduction methods say. */
struct combination {
	starpu_data_handle_t own, result;
	int comm, priority;
	int for_all;                 /* the result is brought to all ranks */
	void (*callback)(void *arg); /* where the result is, when it is there */
	void *arg;
	const char *what;
};

/* 0 or -ENODEV. */
int collective_combine(struct mpi *mpi, const struct combination *combination);

/* 0, -EDEADLK, or on the owner of dst -ENODEV: no worker can copy. */
int collective_copy(struct mpi *mpi, const struct value_copy *copy);

#endif
