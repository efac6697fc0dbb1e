/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_LB_H
#define ORR_MPI_LB_H

/*
 * lb.h - the load balancer: rounds in which data change their owner.
 *
 * Placement depends on owners, so all ranks must change them at the same place in the
 * order of insertion.  A round is therefore held by the inserting threads, before the
 * first task of an iteration that all ranks can name: threshold iterations after the one
 * before which the last round was.  What is measured are the iterations at the beginning
 * of that span, which have ended on each rank when it comes to the round, and which ran
 * with the owners of the last one; the rest keeps the workers busy during the round.
 */
#include "mpi/lb_heat.h"

struct job;
struct mpi;
struct starpu_task;

/* Of the environment and the program, alike on all ranks. */
struct lb_wish {
	const char *policy; /* the name, as given */
	const char *given_by;
	struct lb_calls calls; /* may be NULL */
	int64_t threshold, threshold_us;
	double ratio;
};

/* Collective: mpi->balances is set, or a message says why not. */
void lb_open(struct mpi *mpi, const struct lb_wish *wish);
/* Collective, while mpi->balances. */
void lb_close(struct mpi *mpi);
/* No task is left. */
void lb_free(struct mpi *mpi);

/* While mpi->balances: a task is inserted, and its owners are not looked at yet.
 * has_iteration: it has one.  Blocks when a round is due. */
void lb_arrive(struct mpi *mpi, int has_iteration, uint64_t iteration);
/* As well: it is about to be submitted here; it was refused. */
void lb_submit(struct mpi *mpi, const struct starpu_task *task);
void lb_refused(struct mpi *mpi, const struct starpu_task *task);

#endif
