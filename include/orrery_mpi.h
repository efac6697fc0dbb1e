/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Between nodes, beyond StarPU's interface: collective operations on handles, and what
 * checkpoints are for.
 */

#ifndef ORRERY_MPI_H
#define ORRERY_MPI_H

#include <starpu_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Send and receive what can be at this moment, and run callbacks of messages that are
 * over. Any thread may call it, at any time, also a kernel; where MPI was started with
 * MPI_THREAD_FUNNELED, it does nothing in others than the one that called
 * starpu_mpi_init(). Needed with ORRERY_MPI_EXPLICIT only, by programs that compute for
 * long between calls that wait or test: no thread of the library sees to messages then.
 * In simulation, where messages need no thread, it lets a microsecond pass.
 *
 * @return 1: something has happened; 0: nothing
 */
int orrery_mpi_progress(void);

/*
 * Collective operations.
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

/*
 * Back to a checkpoint (starpu_mpi_ft.h).
 *
 *	for (i = 0; i < n; i++) {
 *		insert(i);
 *		if (i % 20 != 19)
 *			continue;
 *		next = i + 1;    // a STARPU_VALUE of the template
 *		starpu_mpi_checkpoint_template_submit(template, 0);
 *		if (orrery_mpi_checkpoint_wait(template, 1) == -EOWNERDEAD) {
 *			orrery_mpi_lost_ranks(&lost, 1);
 *			orrery_mpi_checkpoint_restore(template, &lost, &spare, 1);
 *			i = next - 1;
 *		}
 *	}
 *
 * What a loss is.  A rank that is lost has lost its memory: the values of its data and
 * variables, and what it kept for others.  Its process goes on, or one that was started
 * in its place: MPI ends the job when a process dies, so its death cannot be survived
 * here, neither with Open MPI nor in simulation; losses are told by the program, which
 * finds that values are wrong, or emulated, at a date of ORRERY_MPI_LOSE.  From a loss on
 * no checkpoint becomes complete, since the lost rank does not acknowledge any.  Tasks
 * that were inserted are executed, and messages travel, up to the restoration, which
 * discards what they computed: in simulation this is time lost, as long as the program
 * runs ahead of the checkpoints that it waits for.
 *
 * What a restoration brings back.  All entries of the template, on all ranks, to what
 * they were at the last complete checkpoint.  Data of a lost rank belong to the rank
 * that takes its place.  What the template does not name stays as it is, wrong on the
 * lost rank: the program computes it again, or restores another template. Of the
 * checkpoints of these the lost rank has lost its part as well, and who takes its place
 * here does so there; the others need not be told of the loss.
 *
 * All ranks of the communicator given at init call, at the same place in their order of
 * insertion; no task and no callback does.
 */

/**
 * Block until all checkpoints of the template, but the last nahead submitted, are
 * complete or have failed.  So the program does not run further ahead than that.
 *
 * @return 0; -EOWNERDEAD, on all ranks alike: since the last restoration, of any
 *         template, one of these has failed, for a rank is lost; -EINVAL with a message;
 *         -EDEADLK: they cannot end
 */
int orrery_mpi_checkpoint_wait(starpu_mpi_checkpoint_template_t cp_template, int nahead);

/**
 * Wait for everything, go back to the last complete checkpoint, and take a new one, so
 * that everything exists twice again.  Blocking.
 *
 * @param lost    n ranks; all that orrery_mpi_lost_ranks() names, perhaps more.  n may be
 *                0: nothing is lost, but what was computed since is not wanted
 * @param spares  who takes the place of each: another rank, idle so far or not, which
 *                is not lost, or the same, whose process was replaced.  Its variables
 * become those of the lost rank, which gets them back as well, so that a process that
 * goes on can make the same calls as all.  A spare keeps no backup of what it owns: the
 * next rank does then
 * @return 0; -EOWNERDEAD: done, but one more rank was lost meanwhile: ask which, and
 *         restore again.  With a message, on all ranks and without any effect: -EINVAL:
 *         ranks do not exist, are named twice, a spare is lost, a lost rank is not named,
 *         or the ranks' calls differ; -ENOENT: no checkpoint is complete; -ENODATA: of
 * some value both owner and backup are lost
 */
int orrery_mpi_checkpoint_restore(starpu_mpi_checkpoint_template_t cp_template,
				  const int *lost, const int *spares, int n);

/**
 * This rank has lost its memory.  Not collective, any thread and callbacks too.
 * @return 0; -EINVAL with a message: starpu_mpi_checkpoint_init() was not called
 */
int orrery_mpi_lose(void);

/**
 * Ask for the ranks that are lost and were not restored.  Blocking.
 *
 * @param ranks  up to most of them, in order; or NULL
 * @return how many there are, the same on all ranks; -EINVAL with a message, -EDEADLK
 */
int orrery_mpi_lost_ranks(int *ranks, int most);

#ifdef __cplusplus
}
#endif

#endif /* ORRERY_MPI_H */
