/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_RAISE_H
#define ORR_MPI_RAISE_H

/*
 * raise.h - transfers that become more urgent while they wait.
 *
 * A transfer that insertion makes has the priority of the first task that reads the value
 * on that rank.  Later readers there find that it is on its way; when one is more
 * urgent, so is the transfer from then on, on the rank that sends as on the one that
 * receives: both insert that task.  What moves already is not hurried; neither is a small
 * value that has been copied beside the head of its message.  A transfer that its sender
 * has passed on to another receiver (coop.h) keeps the priority that it had then.
 */
#include "base/table.h"
#include "mpi/request.h"

/* Part of the engine. */
struct raising {
	/* By datum, half and peer: the last one, until it moved.  Empty until somebody
	 * looks for one: in most programs nobody does. */
	struct table requests;
	int is_indexed;
	int nnoted;  /* atomic: of these */
	int least;   /* atomic: priority of all that were noted ever */
	int is_used; /* atomic: somebody gave a priority */
};

/* It is posted by insertion; the engine is locked. */
void raise_note(struct mpi *mpi, struct request *request);
/* It is over; the engine is locked. */
void raise_forget(struct mpi *mpi, struct request *request);
/* Of a half that waits: somebody so urgent wants it, too.  net_peer: of a send.  Any
 * thread, without the lock. */
void raise_transfer(struct mpi *mpi, enum request_kind kind, starpu_data_handle_t handle,
		    int net_peer, int priority);

static inline void raising_free(struct raising *raising)
{
	table_free(&raising->requests);
}

#endif
