/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_ADDING_H
#define ORR_TESTS_ADDING_H

/*
 * adding.h - for claims about who has which value: two workers, vectors of int, and tasks
 * that add to all elements of one.
 */
#include <stdint.h>

#include "claim.h"

static inline void start(void)
{
	claim_start(2);
}

static inline void add_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += value;
}

/* Main memory, so that values exist in a simulation that executes. */
static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static inline void add_to(starpu_data_handle_t handle, int value)
{
	CLAIM_EQ(starpu_task_insert(&add, STARPU_RW, handle, STARPU_VALUE, &value,
				    sizeof(value), 0),
		 0);
}

/* Without x: one that has no value yet. */
static inline starpu_data_handle_t vector(int *x, int n)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, x ? STARPU_MAIN_RAM : -1, (uintptr_t)x,
				    (uint32_t)n, sizeof(*x));
	return handle;
}

#endif
