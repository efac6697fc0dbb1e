/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_FINISH_H
#define ORR_MPI_FINISH_H

/*
 * finish.h - the end of requests: release, callback, count, and who waits for it.
 *
 * Order for each request: the datum is released, the callback runs, the pending
 * count drops, the waiter goes on.  Callbacks run one at a time, in the order of
 * completion, without any lock; a slow one delays other callbacks, not the network.
 */
#include "mpi/engine.h"

/* The payload of request has moved; the engine is locked. */
void finish_moved(struct mpi *mpi, struct request *request);
/* Its value was copied, and nothing is awaited.  1: the caller calls
 * finish_release_copied() when the engine is locked no more; 0: whoever polls does all.
 */
int finish_copied(struct mpi *mpi, struct request *request);
/* Give back the datum of a request that has moved; whoever polls calls its callback. */
void finish_release(struct request *request);
/* The same for what finish_copied() has left to the caller: whoever polls does it where
 * others wait for the datum and the caller is in the application's code. */
void finish_release_copied(struct request *request);
/* The datum of a receive that was kept for others has been released. */
void finish_let_go(struct request *request);
/* Work off what has moved.  Returns how many requests.  Not under the lock. */
int finish_drain(struct mpi *mpi);
/* Requests may have been completed outside of polling: see that it is drained. */
void finish_drain_later(struct mpi *mpi);

/* Block until request has ended and free it.  0 or -EDEADLK (not freed). */
int finish_wait(struct request *request);
/* 1: it has ended and is freed; 0: not yet. */
int finish_test(struct request *request);
/* Send and receive what can be at this moment, and call back.  1: something happened. */
int finish_poll(struct mpi *mpi);
/* The same for a loop of the program's. */
int finish_progress(struct mpi *mpi);
/* Block until no task, of a context or NULL: of any, and no request is pending.  0 or
 * -EDEADLK. */
int finish_wait_all(struct mpi *mpi, struct sched *sched);

#endif
