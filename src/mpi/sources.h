/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_SOURCES_H
#define ORR_MPI_SOURCES_H

/*
 * sources.h - who sends a datum's value to which rank, where that is not the owner.
 *
 * All ranks are told the same, between the same insertions, so each knows by which ranks
 * a value comes: a rank's source, the source's own source, and so on to the owner.  Each
 * of them keeps account of what the rank holds, as the owner does in any case.  A source
 * that does not hold the value gets it first.  Ranks are those of the datum's
 * communicator.
 */
#include "core/data/data.h"

struct mpi;

struct sources {
	struct orr_lock lock;
	struct table lists; /* by handle: of those that have DATUM_SOURCED */
};

void sources_init(struct mpi *mpi);
/* Handles that still exist are left clean. */
void sources_free(struct mpi *mpi);

/* What the function below does for a datum with DATUM_SOURCED. */
int sources_find(struct mpi *mpi, starpu_data_handle_t handle, int rank);

/* Who sends to the rank. */
static inline int sources_get(struct mpi *mpi, starpu_data_handle_t handle, int rank)
{
	return data_flags(handle) & DATUM_SOURCED ? sources_find(mpi, handle, rank)
						  : handle->owner;
}

/* Does the value come to the rank by another one? */
int sources_lead_by(struct mpi *mpi, starpu_data_handle_t handle, int rank, int by);

/* From now on source sends to the rank; OWNER_UNSET: the owner.  What ranks hold is
 * forgotten.  0, or -ELOOP: the value would come to the rank by the rank itself. */
int sources_set(struct mpi *mpi, starpu_data_handle_t handle, int rank, int source);
/* The handle goes away. */
void sources_forget(struct mpi *mpi, starpu_data_handle_t handle);

#endif
