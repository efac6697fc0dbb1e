/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_KIN_H
#define ORR_MPI_KIN_H

/*
 * kin.h - data that share bytes: a datum, its parts, what it is a part of, and the parts
 * of other partitions of that.
 *
 * What one of them holds is of the past when another one is written: no rank has a copy
 * any more, and contributions to one have to be reduced before another one is used.  All
 * ranks that have the datum cut it alike, so all come to the same account without a
 * message.  DATUM_KIN says that there may be something to do: set when one of the kin is
 * noted as sent, received or contributed to, and never taken back.
 */
#include "core/data/data.h"

struct mpi;

/* Something was noted of the datum: that some rank has a copy, that some contributed. */
void kin_note_copies(starpu_data_handle_t handle);
void kin_note_contributions(starpu_data_handle_t handle);
/* What the two below do when there may be something to do. */
void kin_clear_all(struct mpi *mpi, starpu_data_handle_t handle);
void kin_settle_all(struct mpi *mpi, starpu_data_handle_t handle);

/* The datum was written, or will be: copies of its kin are of the past. */
static inline void kin_clear(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (data_flags(handle) & DATUM_KIN)
		kin_clear_all(mpi, handle);
}

/* The datum will be used: reduce what ranks contributed to its kin. */
static inline void kin_settle(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (data_flags(handle) & DATUM_KIN)
		kin_settle_all(mpi, handle);
}

#endif
