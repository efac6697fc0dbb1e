/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Collective operations on handles, beyond StarPU's interface.
 *
 * All ranks of the communicator call, at the same place of their order; the call returns
 * at once.  The operation takes its turn on the data like tasks that read or write them,
 * before and after others, and the ranks are not synchronised with each other.  The data
 * need tags and owners, the same on all ranks, otherwise the program ends.
 *
 * prio: of messages and tasks, as in starpu_mpi_isend_prio().
 *
 * callback(arg), which may be NULL, is called once on each rank that gets a result, when
 * it is there; it may start tasks and detached messages but must not block.
 * starpu_mpi_wait_for_all() waits for all of it.
 */

#ifndef ORRERY_MPI_H
#define ORRERY_MPI_H

#include <starpu_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Bring the owner's value to all ranks.  They hold it until it is written or flushed, as
 * if tasks had read it, so those that hold it already are sent nothing.  Large values
 * are passed on by those that have them (starpu_mpi_coop_sends_set_use()).  Returns 0.
 */
int orrery_mpi_broadcast_detached(starpu_data_handle_t data, MPI_Comm comm, int prio,
				  void (*callback)(void *), void *arg);

/** The same for count data, of any owners; one callback for all of them. */
int orrery_mpi_allgather_detached(starpu_data_handle_t *data, int count, MPI_Comm comm,
				  int prio, void (*callback)(void *), void *arg);

/**
 * Combine the values that the ranks have of own into result, which loses its value.
 *
 * @param own     the owner is STARPU_MPI_PER_NODE: each rank has a value; only read
 * @param result  of the same kind and shape, with starpu_data_set_reduction_methods() on
 *                all ranks; what its owner has afterwards
 * @return 0; -ENODEV: no worker of this rank can execute the codelet that combines
 */
int orrery_mpi_reduce_detached(starpu_data_handle_t own, starpu_data_handle_t result,
			       MPI_Comm comm, int prio, void (*callback)(void *),
			       void *arg);

/** The same, and the result is brought to all ranks. */
int orrery_mpi_allreduce_detached(starpu_data_handle_t own, starpu_data_handle_t result,
				  MPI_Comm comm, int prio, void (*callback)(void *),
				  void *arg);

#ifdef __cplusplus
}
#endif

#endif /* ORRERY_MPI_H */
