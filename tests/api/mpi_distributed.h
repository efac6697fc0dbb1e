/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_MPI_DISTRIBUTED_H
#define ORR_TESTS_MPI_DISTRIBUTED_H

/* mpi_distributed.h - what the claims about tasks that all ranks insert share. */
#include <stdint.h>

#include "mpi_claim.h"

#define WORLD MPI_COMM_WORLD
#define RANK  claim_rank

enum { UNSET = -1000 };

/* ---- tools ----------------------------------------------------------- */

static int nruns;

static inline void start(void)
{
	nruns = 0;
	claim_init(2);
}

static inline void stop(void)
{
	starpu_mpi_shutdown();
}

/* A variable that lives on one rank; others have no value of it. */
static inline starpu_data_handle_t distributed(long *at, starpu_mpi_tag_t tag, int owner)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				      RANK == owner ? (uintptr_t)at : 0, sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

/* The value that this rank has at this point of the program, or UNSET. */
static inline long value_here(starpu_data_handle_t handle)
{
	long value;

	if (starpu_data_acquire(handle, STARPU_R) != 0)
		return UNSET;
	value = *(long *)starpu_data_get_local_ptr(handle);
	starpu_data_release(handle);
	return value;
}

static inline long *pointer(void *buffer)
{
	return (long *)STARPU_VARIABLE_GET_PTR(buffer);
}

static inline void count(void *arg)
{
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

/* Bytes that this rank has sent since the last call. */
static inline size_t bytes_sent(void)
{
	static size_t before;
	size_t *sent = calloc((size_t)claim_size, sizeof *sent), total = 0, since;

	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_comm_stats_retrieve(sent);
	for (int i = 0; i < claim_size; i++)
		total += sent[i];
	free(sent);
	since = total >= before ? total - before : total;
	before = total;
	return since;
}

static inline void count_bytes(void)
{
	starpu_mpi_comm_stats_enable();
	bytes_sent();
}

/* ---- codelets: each program uses some of them ------------------------- */

static inline void add_cpu(void *buffers[], void *arg)
{
	int value = 1;

	if (arg)
		starpu_codelet_unpack_args(arg, &value);
	*pointer(buffers[0]) += value;
	count(&nruns);
}

static inline void sum_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*pointer(buffers[0]) += *pointer(buffers[1]);
	count(&nruns);
}

static inline void read_cpu(void *buffers[], void *arg)
{
	(void)arg;
	(void)buffers;
	count(&nruns);
}

static __attribute__((unused)) struct starpu_codelet add = {.cpu_funcs = {add_cpu},
							    .nbuffers = 1,
							    .modes = {STARPU_RW},
							    .model =
								    &starpu_perfmodel_nop,
							    .name = "add"};
static __attribute__((unused)) struct starpu_codelet sum = {
	.cpu_funcs = {sum_cpu},
	.nbuffers = 2,
	.modes = {STARPU_RW, STARPU_R},
	.model = &starpu_perfmodel_nop,
	.name = "sum"};
static __attribute__((unused)) struct starpu_codelet only_read = {
	.cpu_funcs = {read_cpu},
	.nbuffers = 1,
	.modes = {STARPU_R},
	.model = &starpu_perfmodel_nop,
	.name = "only_read"};

#endif
