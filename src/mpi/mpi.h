/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_MPI_H
#define ORR_MPI_MPI_H

/*
 * mpi.h - the MPI layer of one node: everything it owns hangs here.
 *
 * Lives from starpu_mpi_init() to starpu_mpi_shutdown(), as node->mpi.
 */
#include "mpi/barrier.h"
#include "mpi/cache.h"
#include "mpi/comm.h"
#include "mpi/compare.h"
#include "mpi/engine.h"
#include "mpi/ft.h"
#include "mpi/insert.h"
#include "mpi/lb.h"
#include "mpi/mpi_lasting.h"
#include "mpi/reduce.h"
#include "mpi/registry.h"
#include "mpi/sources.h"
#include "mpi/standstill.h"
#include "mpi/stats.h"
#include "mpi/tally.h"
#include "mpi/watch.h"

struct mpi {
	struct node *node;
	struct net *net; /* NULL when is_fake */
	int is_fake;     /* a size is pretended, nothing is communicated */
	int rank, size;  /* in the communicator of init, or pretended */
	int last_comm_index;
	const void *last_comm; /* of the API, of that index: the usual look-up */
	struct comm_table comms;
	struct mpi_lasting *lasting; /* the rank's, longer-lived than this */
	void *api;                   /* the API's, see src/api/mpi_comm.c */
	struct engine engine;
	struct barriers barriers;
	struct registry registry;
	struct cache cache;
	struct sources sources;
	struct insertion insertion;
	struct reductions reductions;
	struct stats stats;
	struct standstill standstill;
	struct tally tally;
	struct ft *ft;           /* NULL: no checkpoints */
	struct lb *lb;           /* NULL: there never was one */
	struct compare *compare; /* NULL: not with ORRERY_MPI_COMPARE */
	char balances; /* between starpu_mpi_lb_init() and starpu_mpi_lb_shutdown() */
	char looks_closely; /* insertion reads whole lists: it balances or compares */
	char all_trace;     /* all ranks have ORRERY_TRACE */
	char mpi_is_serial; /* MPI may be called by one thread at a time */
	/* Of the environment at init. */
	int has_priorities;
	int redux_threshold; /* bytes from which automatic reductions are binary trees */
	int is_leaving;      /* shutting down: everything of ours is complete */
};

/* How urgent a transfer is; NULL: nobody's yet. */
static inline int mpi_priority(const struct mpi *mpi, const struct request *request)
{
	return request && mpi->has_priorities ? request->priority : 0;
}

/*
 * Start the layer on an open node.  Collective.  config names the communicator of
 * init, which becomes number 0.  0, or -EINVAL for an unknown transport.
 */
int mpi_open(struct node *node, const struct net_config *config);
/* Wait for everything, agree with all nodes, check that nothing is left. */
void mpi_close_begin(struct node *node);
/* Stop communicating and free all. */
void mpi_close_end(struct node *node);
/* Block until all ranks of a communicator have called it.  0 or -EDEADLK. */
int mpi_barrier(struct mpi *mpi, int comm);

#endif
