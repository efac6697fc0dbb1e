/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_DUPLICATE_H
#define ORR_CORE_DATA_DUPLICATE_H

/*
 * duplicate.h - copies of data into other data, and read-only duplicates.
 *
 * A copy is a task.  A datum remembers its read-only duplicate until the next write is
 * submitted; who asks for one meanwhile gets the same, once more to be unregistered.
 * The links and counts are under node->duplicates_lock, a leaf.
 */
#include "core/data/data.h"
#include "core/task/task.h"

struct copy_wish {
	int asynchronous, priority;
	/* As of a task: the runtime's own copy, whose caller has the turn on dst. */
	unsigned char *out_of_order;
	void (*callback)(void *);
	void *arg;
};

/* Copy src, of the same interface, into dst after what was submitted before.  0, or
 * -ENODEV when no worker can. */
int duplicate_copy(struct node *node, starpu_data_handle_t dst, starpu_data_handle_t src,
		   const struct copy_wish *wish);
/* A copy of a value so small that a simulation carries it, see mpi/payload.c. */
int duplicate_is_carried(const struct job *job);
int duplicate_read_only(struct node *node, starpu_data_handle_t *dst,
			starpu_data_handle_t src, int asynchronous);

/* A write to the datum, locked, is submitted: it has no current duplicate any more.  Ends
 * the program when it is a duplicate itself. */
void duplicate_on_write_slow(starpu_data_handle_t handle);

static inline void duplicate_on_write(starpu_data_handle_t handle)
{
	if (data_flags(handle) & (DATUM_READ_ONLY | DATUM_DUPLICATED))
		duplicate_on_write_slow(handle);
}

/* Before unregistering: 1 when others still hold the datum, so it stays. */
int duplicate_drop(starpu_data_handle_t handle);
/* The datum goes away: nobody finds it any more. */
void duplicate_forget(starpu_data_handle_t handle);

#endif
