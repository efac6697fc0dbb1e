/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MIGRATE_H
#define ORR_MPI_MIGRATE_H

/*
 * migrate.h - a datum gets another owner, and its value goes there.
 */
#include "core/data/data.h"

struct mpi;

/* All ranks, at the same place: to is a rank of the communicator.  Asynchronous. */
void migrate_data(struct mpi *mpi, starpu_data_handle_t handle, int comm, int to,
		  const char *what);

#endif
