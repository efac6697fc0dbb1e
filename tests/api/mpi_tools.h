/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_MPI_TOOLS_H
#define ORR_TESTS_MPI_TOOLS_H

/* mpi_tools.h - what the claims about messages and communicators share. */
#include <stdint.h>

#include "mpi_claim.h"

enum { TAG = 100, EAGER = 16384, LARGE = 3 << 20 };

#define WORLD MPI_COMM_WORLD
#define RANK  claim_rank

static inline void start(void)
{
	claim_init(1);
}

static inline void stop(void)
{
	starpu_mpi_shutdown();
}

static inline starpu_data_handle_t variable(long *at)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				      sizeof *at);
	return handle;
}

static inline starpu_data_handle_t vector(unsigned char *at, size_t bytes)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				    (uint32_t)bytes, 1);
	return handle;
}

static inline unsigned char pattern(size_t i, unsigned seed)
{
	return (unsigned char)(i * 7 + i / 251 + seed);
}

static inline unsigned char *filled(size_t bytes, unsigned seed)
{
	unsigned char *at = malloc(bytes ? bytes : 1);

	for (size_t i = 0; i < bytes; i++)
		at[i] = pattern(i, seed);
	return at;
}

static inline int is_filled(const unsigned char *at, size_t bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != pattern(i, seed))
			return 0;
	return 1;
}

#endif
