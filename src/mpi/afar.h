/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_AFAR_H
#define ORR_MPI_AFAR_H

/*
 * afar.h - insertion, up to where it is known that the task does not concern this rank.
 *
 * On most ranks most calls end here.  Of a datum they read nothing but its gist
 * [core/data/data.h], and they are part of the function that the program calls, so that
 * nothing is handed from one to the next but for tasks that concern the rank.
 */
#include <limits.h>

#include "core/task/args.h"
#include "mpi/insert.h"
#include "mpi/mpi.h"

/*
 * A list of arguments that is copied by assignment, which all ABIs allow whose va_list
 * is a number, a pointer or a struct of them: compilers keep such a copy in registers,
 * and what va_copy() makes in memory.
 */
struct arg_walk {
	va_list list;
};

/* Who executes, as far as a walk over the arguments has seen; in the gist's numbers. */
struct placing {
	unsigned me;
	unsigned executor; /* 0: not known yet; PLACING_OPEN: several owners */
	int is_given;      /* by STARPU_EXECUTE_ON_NODE */
};

#define PLACING_OPEN UINT_MAX

_Static_assert(GIST_READERS == (int)STARPU_R && GIST_WRITERS == (int)STARPU_W,
	       "a mode says which bits of a gist it has to ask for");

/* What a look at the list, and at nothing else, says of a task. */
enum afar {
	AFAR_UNKNOWN,
	AFAR_FOREIGN, /* it does not concern this rank */
	AFAR_LONGER, /* there is more in the list than was looked for, or nobody looked */
	AFAR_PASSED  /* it does not concern this rank, and that is taken note of */
};

/* One that reads, writes or does both.  0: it may concern the rank, or its gist does not
 * tell. */
static inline int plain_is_afar(struct placing *placing, unsigned mode,
				starpu_data_handle_t handle)
{
	unsigned gist, owner;

	if (!handle)
		return 0;
	gist = data_gist(handle);
	owner = gist >> GIST_OWNER_SHIFT;
	if (owner == placing->me || owner == 0)
		return 0;
	if (mode & STARPU_W)
		placing->executor = placing->executor == 0 || placing->executor == owner
					    ? owner
					    : PLACING_OPEN;
	return !(gist & mode & (GIST_READERS | GIST_WRITERS));
}

/* What is_foreign() [insert.c] finds, without the list, where that is certain. */
static inline enum afar afar_judge(const struct placing *placing, int size)
{
	return placing->executor - 1 < (unsigned)size ? AFAR_FOREIGN : AFAR_UNKNOWN;
}

/* Any list. */
enum afar afar_look(const struct mpi_comm *members, const struct arg_walk *args);

/* Nearly all modes are one of these three. */
static inline int afar_is_plain(int key)
{
	return (unsigned)key - 1 < STARPU_RW;
}

/* The end, or a priority, operations and the end. */
static inline int afar_ends(int key, struct arg_walk walk)
{
	if (key == STARPU_PRIORITY) {
		(void)va_arg(walk.list, int);
		key = va_arg(walk.list, int);
	}
	if (key == STARPU_FLOPS) {
		(void)va_arg(walk.list, double);
		key = va_arg(walk.list, int);
	}
	return key == 0;
}

/*
 * Most lists: one to three accesses, a priority or none, operations or none.  Written one
 * after the other, with the end for each number of accesses, since a compiler then knows
 * where all of it lies, and keeps no account of how far the walk has come.
 */
static inline enum afar afar_look_straight(const struct mpi_comm *members,
					   struct arg_walk walk)
{
	struct placing placing = {.me = (unsigned)members->rank + 1};
	int key = va_arg(walk.list, int);

#define NEXT_ACCESS                                                                      \
	if (!plain_is_afar(&placing, (unsigned)key,                                      \
			   va_arg(walk.list, starpu_data_handle_t)))                     \
		return AFAR_UNKNOWN;                                                     \
	key = va_arg(walk.list, int);                                                    \
	if (!afar_is_plain(key))                                                         \
	return afar_ends(key, walk) ? afar_judge(&placing, members->size) : AFAR_LONGER

	if (afar_is_plain(key)) {
		NEXT_ACCESS;
		NEXT_ACCESS;
		NEXT_ACCESS;
	}
#undef NEXT_ACCESS
	return AFAR_LONGER;
}

/* Where it takes simulated time: a task elsewhere, or one here. */
static inline void insert_charge(struct mpi *mpi, int is_own, int ndata)
{
	const struct insertion *insertion = &mpi->insertion;

	if (insertion->is_charged)
		plat_charge(mpi->node->plat,
			    insertion->charge_s[is_own] +
				    (is_own ? ndata * insertion->datum_s : 0));
}

/* For summaries: not worth an atomic addition, which would be half of an insertion. */
static inline void insert_count(struct node *node)
{
	orr_note(&node->tasks_inserted, orr_count(&node->tasks_inserted) + 1);
	if (orr_load(&node->insertion) == INSERTION_NONE)
		node_begin_insertion(node);
}

/* Take note of a task that does not concern this rank, if it takes no more than a line.
 */
static inline int insert_pass(struct mpi *mpi)
{
	struct node *node = mpi->node;

	if (orr_load(&node->insertion) == INSERTION_NONE ||
	    (mpi->insertion.is_charged &&
	     !plat_charge_lightly(node->plat, mpi->insertion.charge_s[0])))
		return 0;
	orr_note(&node->tasks_inserted, orr_count(&node->tasks_inserted) + 1);
	return 1;
}

/*
 * The first step of an insertion, and nearly always all of it: AFAR_PASSED.  It calls no
 * function, so that the function that the program calls has no registers to save, and the
 * list is a copy of which nothing else knows, so that compilers know where it lies.
 */
static inline enum afar insert_look(struct mpi *mpi, int comm, struct arg_walk args)
{
	enum afar seen;

	if (mpi->looks_closely)
		return AFAR_UNKNOWN;
	seen = afar_look_straight(comm_at(&mpi->comms, comm), args);
	return seen == AFAR_FOREIGN && insert_pass(mpi) ? AFAR_PASSED : seen;
}

/* The rest, with what that step has seen if it was not AFAR_PASSED: 0, -EINVAL or
 * -ENODEV. */
int insert_closely(struct mpi *mpi, int comm, struct starpu_codelet *cl,
		   struct arg_walk *args, enum afar seen);

#endif
