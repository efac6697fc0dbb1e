/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A load balancer: data move to ranks that have less to do, and with them the tasks that
 * write them.
 *
 * The policy "heat" lets load flow between neighbours as heat does.  Tasks inserted with
 * STARPU_TAG_ONLY tell the iteration that they belong to; iterations must not come back.
 * Each time that a task of iteration i + LB_HEAT_SLEEP_THRESHOLD or later is inserted
 * for the first time, i being where this happened last, all ranks
 *
 *  1. wait until their own tasks of the first iterations since then have ended: of all
 *     but LB_HEAT_WAKEUP_RATIO * LB_HEAT_SLEEP_THRESHOLD of them, which keep the workers
 *     busy meanwhile;
 *  2. tell each other their load: the time that these tasks ran, over the number of
 *     workers;
 *  3. move data to each neighbour whose load is less by more than LB_HEAT_TIME_THRESHOLD
 *     microseconds: the difference over 1 + the larger number of neighbours, as first
 *     order diffusion prescribes (G. Cybenko, "Dynamic load balancing for distributed
 *     memory multiprocessors", 1989).  The load of a datum is that of the tasks that
 *     wrote it.
 *
 * So all ranks must insert at least the first task of each iteration at the same place,
 * which those do that insert all tasks; one thread of each rank inserts; and programs
 * ask starpu_mpi_data_get_rank() for the owner of data, which changes.  A rank that does
 * otherwise ends the program with a message.
 */

#ifndef STARPU_MPI_LB_H
#define STARPU_MPI_LB_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What the application knows.  Both are called by the thread that inserts, allocate
 * their result with malloc(), and the library frees it; they must not insert tasks.
 */
struct starpu_mpi_lb_conf {
	/** The ranks that this one may move data to, itself not among them. */
	void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
	/**
	 * What moves together: data of this rank that shall move to dst_node next;
	 * *nhandles 0: none.  It is asked again until enough moves, and may be told no
	 * for the last that it named.  Meanwhile starpu_mpi_data_get_rank() tells the new
	 * owner of those named before.
	 */
	void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit,
					 int *nhandles, int dst_node);
};

/**
 * Start balancing.  Blocking, all ranks of the communicator given at init, with the same
 * policy.
 *
 * @param lb_policy_name  "heat"; STARPU_MPI_LB replaces it.  NULL, "", "help", an unknown
 *                        name: a message, and nothing is balanced
 * @param conf            copied; without both functions: as well
 */
void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *conf);

/** Stop.  Blocking, all ranks; without effect when nothing is balanced. */
void starpu_mpi_lb_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_MPI_LB_H */
