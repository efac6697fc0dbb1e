/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_COMM_H
#define ORR_MPI_COMM_H

/*
 * comm.h - the communicators that a program uses, by index.
 *
 * Below the API a communicator is an index into this table; 0 is the one given at
 * init, whose ranks are those of the transport.  All others are subsets of it.  Their
 * id names them on the wire: members compute the same one without a message, from
 * the list of members and from how the communicator was made; where that is not known,
 * from how often that list has been registered before.
 */
#include <stdint.h>

#include "base/table.h"
#include "plat/plat.h"

struct mpi;

/* Communicators of the library's own, by what their tags tell apart. */
enum inner_comm { INNER_WORDS, INNER_DATA, INNER_VALUES, NINNER };

enum { COMM_MAX = 32767 - NINNER };

struct mpi_comm {
	int rank, size;
	int *to_net; /* ranks in the transport, -1: not in it; NULL: the same numbers */
	uint64_t id;
};

struct comm_table {
	struct orr_lock lock;
	/* Read without the lock: a larger array replaces this one, which stays. */
	struct mpi_comm **comms;
	int count, capacity;
	struct table times; /* by hash of members: registrations so far */
	int inner[NINNER];  /* indices of the library's own; 0: none yet */
};

void comm_table_init(struct comm_table *table);
void comm_table_free(struct comm_table *table);

/* "" for that of init, " in communicator 2 (of 3 ranks)" for others.  Returns text. */
const char *comm_describe(struct comm_table *table, int index, char *text, size_t bytes);
/* The index of the one with this id, or -1. */
int comm_with_id(struct comm_table *table, uint64_t id);

/* Register; takes to_net over; birth as plat_net_birth() says.  Returns the index, or
 * -ENOSPC. */
int comm_add(struct comm_table *table, int rank, int size, int *to_net, uint64_t birth);

/*
 * The index of a communicator with the members of number 0, where the library's own
 * transfers meet no others.  Its id does not depend on when it is first asked for.
 */
int comm_inner(struct comm_table *table, enum inner_comm which);

static inline const struct mpi_comm *comm_at(const struct comm_table *table, int index)
{
	/* The array may be replaced by a larger one meanwhile. */
	struct mpi_comm **comms = orr_load_ptr((void **)(uintptr_t)&table->comms);

	return comms[index];
}

static inline int comm_net_rank(const struct mpi_comm *comm, int rank)
{
	return comm->to_net ? comm->to_net[rank] : rank;
}

#endif
