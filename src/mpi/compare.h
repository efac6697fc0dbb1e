/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_COMPARE_H
#define ORR_MPI_COMPARE_H

/*
 * compare.h - with ORRERY_MPI_COMPARE: have all ranks inserted the same tasks, and taken
 * the same rank for the executor of each?
 *
 * For programs whose ranks all insert all tasks, in one order.  Each rank notes its
 * calls, and what all calls up to each come to; at shutdown every rank looks for the
 * first one where that differs from rank 0's, by halves, one question for each.
 */
#include <stdint.h>

struct mpi;
struct wire_head;
struct compare;

/* Before the first insertion. */
void compare_open(struct mpi *mpi);
void compare_free(struct mpi *mpi);
/* While mpi->compare: a call with this name, and who it says executes the task: a rank,
 * or PLAN_EVERYWHERE; OWNER_UNSET: the call is not this rank's concern, and does not say.
 * Any thread. */
void compare_note(struct mpi *mpi, const char *name, int executor);
/* In shutdown, all ranks have inserted all; what differs is told.  Collective. */
void compare_check(struct mpi *mpi);
/* A question or an answer has come; the engine is locked. */
void compare_heard(struct mpi *mpi, int peer, const struct wire_head *head);

#endif
