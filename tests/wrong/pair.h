/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_WRONG_PAIR_H
#define ORR_TESTS_WRONG_PAIR_H

/* pair.h - tasks on from, owned by rank 0, and to, owned by rank 1: what all ranks
 * insert. */
#include "wrong.h"

static starpu_data_handle_t from, to;

static inline void register_both(void)
{
	from = owned(&value, 1, 0);
	to = owned(&other_value, 2, 1);
}

static inline void insert_copy(void)
{
	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to, 0);
}

static inline void end_both(void)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
}

#endif
