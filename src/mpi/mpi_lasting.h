/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MPI_LASTING_H
#define ORR_MPI_MPI_LASTING_H

/*
 * mpi_lasting.h - what the application sets and asks of the MPI layer while that is
 * not open; see core/lasting.h.  Policies, tags handed out and the hook are the
 * program's, not a life's.
 */
#include "core/lasting.h"
#include "mpi/datatype.h"
#include "mpi/policy.h"
#include "mpi/tag_ranges.h"

struct mpi_lasting {
	int cache_is_on;            /* in the last life; each one reads the environment */
	int use_coop_sends;         /* so is this */
	int world_size, world_rank; /* pretended or not; 0 before the first life */
	struct policies policies;
	struct tag_ranges tags;
	struct datatypes datatypes;
	void (*hook)(struct starpu_task *task); /* see insertion.hook */
};

/* Those of the rank that lasting belongs to. */
struct mpi_lasting *mpi_lasting_of(struct lasting *lasting);

#endif
