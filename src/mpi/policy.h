/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_POLICY_H
#define ORR_MPI_POLICY_H

/*
 * policy.h - who executes a task whose written data have several owners, or none.
 *
 * Number 0 is the rank that holds most bytes; the others are the application's.
 */
#include "core/data/data.h"

struct mpi;

enum { POLICY_MAX = 24, POLICY_CURRENT = -1, POLICY_MOST_R_DATA = 0 };

typedef int (*policy_chooser)(int me, int size, struct starpu_data_descr *data,
			      int ndata);

struct policies {
	policy_chooser funcs[POLICY_MAX]; /* [0] is never set */
	unsigned lasting;                 /* a bit each: registered outside of a life */
	int current;
};

/* A life of the layer begins; those that are registered in it go with it. */
void policies_begin(struct policies *policies);
void policies_end(struct policies *policies);

/* The rank in comm that policy chooses; ends the program when it is none. */
int policy_select(struct mpi *mpi, int policy, int comm, struct starpu_data_descr *data,
		  int ndata);
/* Does it choose by sizes? */
int policy_counts_bytes(const struct mpi *mpi, int policy);
/* The new number, or -ENOSPC. */
int policy_add(struct policies *policies, policy_chooser func);
/* 1 when it may be used. */
int policy_exists(const struct policies *policies, int policy);
/* The rank with most bytes: those read, and those written, which would go back. */
int policy_most_data(struct starpu_data_descr *data, int ndata);

#endif
