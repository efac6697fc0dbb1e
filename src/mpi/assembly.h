/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_ASSEMBLY_H
#define ORR_MPI_ASSEMBLY_H

/*
 * assembly.h - every rank hears what each has to say.
 *
 * All ranks of the communicator of init call, in the same order; the caller blocks.
 * Records are gathered as by J. Bruck et al. (1997): in round k each rank passes on the
 * 2^k records that it has, so a rank sends log2(size) times.  They travel as small data
 * in a communicator of the library's own, where no tag of the application meets them.
 */
#include <stddef.h>

struct mpi;

/* Records of as many bytes on all ranks: own is this rank's, all[rank] the ranks'.  what
 * names the caller in messages.  0 or -EDEADLK. */
int assembly_hear(struct mpi *mpi, const void *own, void *all, size_t bytes,
		  const char *what);

#endif
