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
	unsigned me, executor; /* 0: not known yet */
	int is_given;          /* by STARPU_EXECUTE_ON_NODE */
	int is_open;           /* what is written has several owners */
	int is_ours;           /* it concerns this rank for certain */
};

_Static_assert(GIST_READERS == (int)STARPU_R && GIST_WRITERS == (int)STARPU_W,
	       "a mode says which bits of a gist it has to ask for");

/* 0: this access may concern the rank, or its gist does not tell. */
static inline int access_is_afar(struct placing *placing, unsigned mode,
				 starpu_data_handle_t handle)
{
	unsigned gist, owner;

	if (!handle || (mode & (STARPU_REDUX | STARPU_MPI_REDUX)))
		return 0;
	if (!(mode & STARPU_RW))
		return 1;
	gist = data_gist(handle);
	owner = gist >> GIST_OWNER_SHIFT;
	if (owner == placing->me || owner == 0) {
		placing->is_ours = owner != 0;
		return 0;
	}
	if (mode & STARPU_W) {
		if (placing->executor && placing->executor != owner)
			placing->is_open = 1;
		placing->executor = owner;
	}
	return !(gist & mode & (GIST_READERS | GIST_WRITERS));
}

static inline int all_are_afar(struct placing *placing,
			       const struct starpu_data_descr *data, int n)
{
	for (int i = 0; i < n; i++)
		if (!access_is_afar(placing, data[i].mode, data[i].handle))
			return 0;
	return 1;
}

static inline int node_is_afar(struct placing *placing, int node, int size)
{
	if (node == -1)
		return 1;
	placing->is_given = 1;
	return node >= 0 && node < size && (unsigned)node + 1 != placing->me;
}

static inline void skip_operands(struct arg_walk *walk, const char *operands)
{
	for (; *operands; operands++)
		ARGS_SKIP_OPERAND(*operands, walk->list);
}

/* What is no access: 0 when it may make the task concern the rank. */
static inline int key_is_afar(struct placing *placing, int key, int size,
			      struct arg_walk *walk)
{
	const struct starpu_data_descr *data;
	const char *operands;

	/* The most frequent ones first. */
	if (key == STARPU_PRIORITY) {
		(void)va_arg(walk->list, int);
		return 1;
	}
	if (key == STARPU_FLOPS) {
		(void)va_arg(walk->list, double);
		return 1;
	}
	switch (key) {
	case STARPU_EXECUTE_ON_NODE:
		return node_is_afar(placing, va_arg(walk->list, int), size);
	case STARPU_NONE:
		(void)va_arg(walk->list, starpu_data_handle_t);
		return 1;
	case STARPU_DATA_MODE_ARRAY:
		data = va_arg(walk->list, const struct starpu_data_descr *);
		return all_are_afar(placing, data, va_arg(walk->list, int));
	default:
		operands = args_operands(key);
		skip_operands(walk, operands);
		return *operands != 0;
	}
}

enum { AFAR_UNKNOWN, AFAR_FOREIGN, AFAR_OURS };

/* What is_foreign() [insert.c] finds, without the list, where that is certain. */
static inline int look_from_afar(const struct mpi_comm *members,
				 const struct arg_walk *args)
{
	struct placing placing = {.me = (unsigned)members->rank + 1};
	struct arg_walk walk = *args;
	int key, goes_on;

	while ((key = va_arg(walk.list, int)) != 0) {
		/* Nearly all modes are one of these three: two comparisons less. */
		if ((unsigned)key <= STARPU_RW || args_is_access(key))
			goes_on = access_is_afar(&placing, (unsigned)key,
						 va_arg(walk.list, starpu_data_handle_t));
		else
			goes_on = key_is_afar(&placing, key, members->size, &walk);
		if (!goes_on)
			return placing.is_ours ? AFAR_OURS : AFAR_UNKNOWN;
	}
	if (placing.is_given)
		return AFAR_FOREIGN;
	return placing.executor && placing.executor <= (unsigned)members->size &&
			       !placing.is_open
		       ? AFAR_FOREIGN
		       : AFAR_UNKNOWN;
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

/* As starpu_mpi_task_insert(): 0, -EINVAL or -ENODEV. */
static inline int insert_task(struct mpi *mpi, int comm, struct starpu_codelet *cl,
			      struct arg_walk *args)
{
	int seen = AFAR_UNKNOWN;

	insert_count(mpi->node);
	if (!mpi->balances)
		seen = look_from_afar(comm_at(&mpi->comms, comm), args);
	if (seen != AFAR_FOREIGN)
		return insert_closely(mpi, comm, cl, args->list, seen == AFAR_OURS);
	insert_charge(mpi, 0, 0);
	return 0;
}

#endif
