/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_API_MPI_API_H
#define ORR_API_MPI_API_H

/*
 * mpi_api.h - what the functions of starpu_mpi.h share: they find the caller's MPI
 * layer, turn communicators into indices, and call down.
 */
#include <starpu_mpi.h>

#include "api/api.h"
#include "mpi/mpi.h"

_Static_assert(STARPU_MPI_PER_NODE == OWNER_PER_NODE, "see mpi/registry.h");

/* The API's part of struct mpi. */
struct mpi_api {
	MPI_Comm comm;            /* given at init; MPI_COMM_NULL when it is freed */
	MPI_Group group;          /* its ranks */
	int keyval;               /* its attribute tells when a communicator is freed */
	struct orr_lock learning; /* of communicators */
	struct table comms;       /* value of an MPI_Comm to index + 1 */
	MPI_Comm *live;           /* those with the attribute, to be told at shutdown */
	int nlive, live_capacity;
	int owns_mpi;       /* MPI_Finalize() is ours */
	int started_starpu; /* starpu_shutdown() is ours */
	int world_rank, world_size;
};

/* The layer of the caller's node, or NULL. */
struct mpi *api_mpi_or_null(void);

/* The same; ends the program when there is none. */
struct mpi *api_no_mpi(const char *func) __attribute__((noreturn));

static inline struct mpi *api_mpi(const char *func)
{
	struct node *node = plat_self();

	return node && node->mpi ? node->mpi : api_no_mpi(func);
}

int api_comm_find(struct mpi *mpi, MPI_Comm comm, const char *func);
int api_comm_learn_slow(struct mpi *mpi, MPI_Comm comm, const char *func);

static inline const void *api_comm_value(MPI_Comm comm)
{
	return (const void *)(uintptr_t)comm;
}

/* Is its index mpi->last_comm_index? */
static inline int api_comm_is_usual(struct mpi *mpi, MPI_Comm comm)
{
	return api_comm_value(comm) == orr_load_ptr((void **)(void *)&mpi->last_comm);
}

/* The index of a communicator; ends the program when it was never registered. */
static inline int api_comm(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	if (api_comm_is_usual(mpi, comm))
		return mpi->last_comm_index;
	return api_comm_find(mpi, comm, func);
}

/* The same, but it is registered when it was not. */
static inline int api_comm_learn(struct mpi *mpi, MPI_Comm comm, const char *func)
{
	if (api_comm_is_usual(mpi, comm))
		return mpi->last_comm_index;
	return api_comm_learn_slow(mpi, comm, func);
}

/* Ends the program when nothing can be sent in the communicator. */
void api_comm_check(int rank, MPI_Comm comm, const char *func);

/* Called by init with the layer open, and by shutdown. */
void api_comms_open(struct mpi *mpi, MPI_Comm comm);
void api_comms_close(struct mpi_api *api);

#endif
