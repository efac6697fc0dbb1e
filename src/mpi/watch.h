/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_WATCH_H
#define ORR_MPI_WATCH_H

/*
 * watch.h - says which transfers have not ended, and finds those that never can.
 */
#include "core/node.h"

struct mpi;

/* A peer has completed everything of its own and shuts down: a transfer that waits for
 * it ends the program.  The engine is locked. */
void watch_gone(struct mpi *mpi, int peer);
/* For node->on_describe. */
void watch_describe(struct node *node, void (*say)(void *arg, const char *line),
		    void *arg);
/* All is complete: die when messages came that nobody received. */
void watch_check_leftovers(struct mpi *mpi);
/* Say which ended requests the application still holds. */
void watch_check_held(struct mpi *mpi);

#endif
