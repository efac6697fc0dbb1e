/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_AHEAD_H
#define ORR_MPI_AHEAD_H

/*
 * ahead.h - large receives that their senders know of before they announce anything.
 *
 * Where the transport has struct net_ahead: a receive that has its datum and is the next
 * of its source and tag tells the sender where the value goes.  A sender that has nothing
 * else to do writes it there while this node computes, and its announcement, grant and
 * answer stay as they are; the receiver only finds less to copy.  The engine is locked.
 */
#include <stddef.h>

#include "mpi/wire.h"

struct early;
struct mpi;
struct request;

/* The receive is ready, and its message has not come. */
void ahead_await(struct mpi *mpi, struct request *request);
/* What has come may be for it; before that is looked up. */
void ahead_announced(struct mpi *mpi, int peer, const struct wire_head *head);
/* The head of an announcement is complete but for its number.  Returns how many bytes of
 * it are sent. */
size_t ahead_announce(struct mpi *mpi, const struct request *request,
		      struct wire_head *head);
/* The receiver of that send is ready, or has the value. */
void ahead_answered(struct mpi *mpi, const struct request *request);
/* The receive of early is about to be filled: for struct net_bulk. */
unsigned ahead_keep(struct mpi *mpi, const struct early *early);

#endif
