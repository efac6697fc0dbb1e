/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_WATCH_H
#define ORR_MPI_WATCH_H

/*
 * watch.h - notices transfers that will never end, and says which.
 *
 * On a real machine, when nothing happened for ORRERY_MPI_WATCHDOG seconds, the peers
 * of pending transfers are asked whether they still take part, and when somebody waits
 * for transfers, they are listed, once.  A peer that has completed everything and shuts
 * down can never match them: that ends the program.  In simulation, the simulator
 * itself notices, and asks for the same list.
 */
#include "core/node.h"

struct mpi;

struct watch {
	int nwaiting; /* atomic: threads that wait for communication */
	int has_reported;
	unsigned long nevents; /* of the engine, when something happened last */
	double since_s;
};

void watch_wait_begins(struct mpi *mpi);
void watch_wait_ends(struct mpi *mpi);
/* A poll brought nothing; the engine is locked. */
void watch_idle(struct mpi *mpi);
/* A peer asks, or answers that it is gone; the engine is locked. */
void watch_heard(struct mpi *mpi, int peer, int is_gone);
/* For node->on_describe. */
void watch_describe(struct node *node, void (*say)(void *arg, const char *line),
		    void *arg);
/* All is complete: die when messages came that nobody received. */
void watch_check_leftovers(struct mpi *mpi);

#endif
