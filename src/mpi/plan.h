/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_PLAN_H
#define ORR_MPI_PLAN_H

/*
 * plan.h - who executes a task, and what travels before and after it.
 *
 * Pure: depends on the accesses, on the owners of the data and on who holds what,
 * which all ranks know alike, so that all make the same plan without a message.
 * Tested by the lines of tests/golden/plan.txt.  All of it is inline: most data of most
 * tasks have nothing to travel for, and a call for each would be most of the work.
 */
#include <starpu.h>

#include "mpi/registry.h"

enum { PLAN_INLINE_USES = 16 };

/* What plan_joined() answers when it is not a rank. */
enum {
	PLAN_EVERYWHERE = -2, /* all written data are private: each rank executes */
	PLAN_CONFLICT = -10,  /* no single owner of written data: ask a policy */
	PLAN_MIXED = -11,     /* error: private and other data are written */
	PLAN_UNOWNED = -12,   /* error: a written datum has no owner */
	PLAN_OPEN = -13       /* plan_join() only: nothing is written so far */
};

struct plan_use {
	int owner;     /* a rank, OWNER_UNSET or OWNER_PER_NODE */
	unsigned mode; /* enum starpu_data_access_mode */
};

struct plan_move {
	int use, from, to;
};

/*
 * Who executes, one use after the other: place is PLAN_OPEN at first, then the owner of
 * what is written so far, PLAN_CONFLICT, or an error, which stays.
 */
static inline int plan_join(int place, int owner, unsigned mode)
{
	if (!(mode & (STARPU_W | STARPU_REDUX)) || place == owner ||
	    place == PLAN_MIXED || place == PLAN_UNOWNED)
		return place;
	if (owner == OWNER_UNSET)
		return PLAN_UNOWNED;
	if (place == PLAN_OPEN)
		return owner;
	return (owner == OWNER_PER_NODE) != (place == OWNER_PER_NODE) ? PLAN_MIXED
								      : PLAN_CONFLICT;
}

/* After the last one: a rank, or what is said above. */
static inline int plan_joined(int place)
{
	if (place == PLAN_OPEN)
		return PLAN_CONFLICT;
	return place == OWNER_PER_NODE ? PLAN_EVERYWHERE : place;
}

/* Whether the value that the owner holds is wanted, or will be replaced. */
static inline int plan_reads(unsigned mode)
{
	return (mode & STARPU_R) && !(mode & STARPU_MPI_REDUX);
}

static inline int plan_writes(unsigned mode)
{
	return (mode & STARPU_W) && !(mode & STARPU_MPI_REDUX);
}

/* The same for what no other rank executes with the same result. */
static inline int plan_replaces(unsigned mode)
{
	return plan_writes(mode) && !(mode & STARPU_MPI_SAME);
}

/* Does the datum of another rank matter to who executes? */
static inline int plan_is_remote(const struct plan_use *use, int executor)
{
	return use->owner != executor && use->owner != OWNER_PER_NODE &&
	       executor != PLAN_EVERYWHERE;
}

/*
 * What must travel before a task on executor, into moves, which have room for all uses;
 * returns how many.  holds(arg, use, rank) tells whether rank has the current value of a
 * datum that another owns; "no" means that it will have it from now on.  Asked once for
 * each use that needs it, in order.
 */
static inline int plan_before(struct plan_move *moves, const struct plan_use *uses,
			      int nuses, int executor,
			      int (*holds)(void *arg, int use, int rank), void *arg)
{
	int n = 0;

	for (int i = 0; i < nuses; i++)
		if (plan_reads(uses[i].mode) && plan_is_remote(&uses[i], executor) &&
		    !holds(arg, i, executor))
			moves[n++] = (struct plan_move){i, uses[i].owner, executor};
	return n;
}

/* And after it. */
static inline int plan_after(struct plan_move *moves, const struct plan_use *uses,
			     int nuses, int executor)
{
	int n = 0;

	for (int i = 0; i < nuses; i++)
		if (plan_replaces(uses[i].mode) && plan_is_remote(&uses[i], executor))
			moves[n++] = (struct plan_move){i, executor, uses[i].owner};
	return n;
}

#endif
