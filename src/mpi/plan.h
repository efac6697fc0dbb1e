/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_PLAN_H
#define ORR_MPI_PLAN_H

/*
 * plan.h - who executes a task, and what travels before and after it.
 *
 * Pure: depends on the accesses, on the owners of the data and on who holds what,
 * which all ranks know alike, so that all make the same plan without a message.
 * Tested by the lines of tests/golden/plan.txt.
 */
#include <stddef.h>

#include <starpu.h>

enum { PLAN_INLINE_USES = 16 };

/* What plan_place() answers when it is not a rank. */
enum {
	PLAN_EVERYWHERE = -2, /* all written data are private: each rank executes */
	PLAN_CONFLICT = -10,  /* no single owner of written data: ask a policy */
	PLAN_MIXED = -11,     /* error: private and other data are written */
	PLAN_UNOWNED = -12    /* error: a written datum has no owner */
};

struct plan_use {
	int owner;     /* a rank, OWNER_UNSET or OWNER_PER_NODE */
	unsigned mode; /* enum starpu_data_access_mode */
};

struct plan_move {
	int use, from, to;
};

struct plan {
	int executor; /* a rank, or PLAN_EVERYWHERE */
	int nbefore, nafter;
	struct plan_move *before, *after; /* moves, or allocated */
	struct plan_move moves[2 * PLAN_INLINE_USES];
};

/* The owner of the data that are written. */
int plan_place(const struct plan_use *uses, int nuses);

/*
 * What must travel for a task on executor.  holds(arg, use, rank) tells whether rank
 * has the current value of a datum that another owns; "no" means that it will have it
 * from now on.  Asked once for each use that needs it, in order.
 */
void plan_make(struct plan *plan, const struct plan_use *uses, int nuses, int executor,
	       int (*holds)(void *arg, int use, int rank), void *arg);
void plan_free(struct plan *plan);

/* Whether the value that the owner holds is wanted, or will be replaced. */
static inline int plan_reads(unsigned mode)
{
	return (mode & STARPU_R) && !(mode & STARPU_MPI_REDUX);
}

static inline int plan_writes(unsigned mode)
{
	return (mode & STARPU_W) && !(mode & STARPU_MPI_REDUX);
}

#endif
