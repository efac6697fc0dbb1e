/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_STATS_H
#define ORR_MPI_STATS_H

/*
 * stats.h - payload bytes sent to each rank, as starpu_mpi_comm_stats_*() shows them.
 */
#include <stddef.h>
#include <stdint.h>

struct mpi;

struct stats {
	int is_on;
	uint64_t *sent_bytes; /* by rank of communicator 0; NULL: never enabled */
	unsigned long nsends;
	uint64_t max_bytes;
	double since_s;
};

void stats_enable(struct mpi *mpi);
void stats_count_slow(struct mpi *mpi, int peer, uint64_t bytes);
/* On stderr, in the format of StarPU. */
void stats_print(struct mpi *mpi);
void stats_free(struct mpi *mpi);

/* The engine is locked. */
#define stats_count(mpi, peer, bytes)                                                    \
	((mpi)->stats.is_on ? stats_count_slow(mpi, peer, bytes) : (void)0)

#endif
