/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_STATS_H
#define ORR_MPI_STATS_H

/*
 * stats.h - payload bytes sent to each rank, as starpu_mpi_comm_stats_*() shows them, and
 * the trace of messages.
 */
#include <stddef.h>
#include <stdint.h>

struct mpi;
struct request;

struct stats {
	int is_on;            /* one of the two */
	int counts;           /* starpu_mpi_comm_stats_enable(), STARPU_MPI_STATS */
	int traces;           /* each message is told on stderr (STARPU_MPI_COMM) */
	int is_longer;        /* messages by destination are printed, too */
	uint64_t *sent_bytes; /* by rank of communicator 0; NULL: never enabled */
	uint64_t *nsent;      /* messages, as well */
	unsigned long nsends;
	uint64_t max_bytes;
	double since_s;
};

void stats_open(struct mpi *mpi, int how, int traces);
void stats_enable(struct mpi *mpi);
void stats_disable(struct mpi *mpi);
void stats_moves_slow(const struct request *request, uint64_t bytes);
/* On stderr, in the format of StarPU. */
void stats_print(struct mpi *mpi);
void stats_free(struct mpi *mpi);

/* A send has its datum, a receive its message; the engine is locked. */
#define stats_moves(request, bytes)                                                      \
	(orr_load(&(request)->mpi->stats.is_on) ? stats_moves_slow(request, bytes)       \
						: (void)0)

#endif
