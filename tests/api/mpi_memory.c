/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Copies of what other ranks own take memory as long as they are current, no longer. */
#include "mpi_distributed.h"

int claim_failures, claim_rank, claim_size;

enum { N = 4096, BYTES = N * (int)sizeof(long) };

#define LAST (claim_size - 1)

static long values[N];
static starpu_data_handle_t handle;
static size_t base;

/* ---- codelets -------------------------------------------------------- */

static long *vector(void *buffer)
{
	return (long *)STARPU_VECTOR_GET_PTR(buffer);
}

static void step_cpu(void *buffers[], void *arg)
{
	(void)arg;
	for (int i = 0; i < N; i++)
		vector(buffers[0])[i]++;
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void)arg;
	memset(vector(buffers[0]), 0, BYTES);
}

static void plus_cpu(void *buffers[], void *arg)
{
	(void)arg;
	for (int i = 0; i < N; i++)
		vector(buffers[0])[i] += vector(buffers[1])[i];
}

#define CODELET(id, function, n, ...)                                                    \
	static struct starpu_codelet id = {.cpu_funcs = {function},                      \
					   .nbuffers = n,                                \
					   .modes = {__VA_ARGS__},                       \
					   .model = &starpu_perfmodel_nop,               \
					   .name = #id}
CODELET(step, step_cpu, 1, STARPU_RW);
CODELET(zero, zero_cpu, 1, STARPU_W);
CODELET(plus, plus_cpu, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
CODELET(by_rank, step_cpu, 1, STARPU_MPI_REDUX);
CODELET(by_worker, step_cpu, 1, STARPU_REDUX);

/* ---- tools ----------------------------------------------------------- */

static void settle(void)
{
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

static void begin(void)
{
	start();
	for (int i = 0; i < N; i++)
		values[i] = i;
	starpu_vector_data_register(&handle, RANK ? -1 : STARPU_MAIN_RAM,
				    RANK ? 0 : (uintptr_t)values, N, sizeof(long));
	starpu_mpi_data_register(handle, 1, 0);
	starpu_data_set_reduction_methods(handle, &plus, &zero);
	settle();
	base = starpu_memory_get_used(STARPU_MAIN_RAM);
}

static void end(void)
{
	starpu_data_unregister(handle);
	stop();
}

static void expect_held(int bytes)
{
	settle();
	CLAIM_EQ(starpu_memory_get_used(STARPU_MAIN_RAM) - base, bytes);
}

/* At element 7, which began as 7. */
static void expect_value(long expected)
{
	if (RANK)
		return;
	starpu_data_acquire(handle, STARPU_R);
	CLAIM_EQ(values[7], expected);
	starpu_data_release(handle);
}

/* A task on each rank reads it. */
static void read_everywhere(void)
{
	for (int rank = 0; rank < claim_size; rank++)
		starpu_mpi_task_insert(WORLD, &only_read, STARPU_R, handle,
				       STARPU_EXECUTE_ON_NODE, rank, 0);
}

/* What a copy takes on this rank while the cache keeps it. */
static int kept(void)
{
	return RANK && starpu_mpi_cache_is_enabled() ? BYTES : 0;
}

/* ---- claims ---------------------------------------------------------- */

static void copies_go_when_they_are_flushed(void)
{
	begin();
	read_everywhere();
	expect_held(kept());
	starpu_mpi_cache_flush(WORLD, handle);
	expect_held(0);
	read_everywhere();
	expect_held(kept());
	starpu_mpi_cache_flush_all_data(WORLD);
	expect_held(0);
	end();
}

/* Where it was written as well: the value has gone home. */
static void copies_go_when_it_is_written(void)
{
	begin();
	for (int writer = 0; writer < claim_size; writer++) {
		read_everywhere();
		expect_held(kept());
		starpu_mpi_task_insert(WORLD, &step, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE, writer, 0);
		expect_held(0);
	}
	expect_value(7 + claim_size);
	end();
}

static void copies_go_when_their_mark_is_cleared(void)
{
	begin();
	starpu_mpi_get_data_on_all_nodes_detached(WORLD, handle);
	expect_held(RANK ? BYTES : 0);
	if (starpu_mpi_cache_is_enabled()) {
		starpu_mpi_cached_receive_clear(handle);
		starpu_mpi_cached_send_clear(handle);
	} else if (RANK) {
		starpu_data_invalidate(handle);
	}
	expect_held(0);
	read_everywhere();
	expect_held(kept());
	end();
}

static void contribute(struct starpu_codelet *cl, enum starpu_data_access_mode mode)
{
	for (int rank = 0; rank < claim_size; rank++)
		starpu_mpi_task_insert(WORLD, cl, mode, handle, STARPU_EXECUTE_ON_NODE,
				       rank, 0);
}

static void contributions_go_when_they_are_reduced(void)
{
	begin();
	contribute(&by_rank, STARPU_MPI_REDUX);
	starpu_mpi_redux_data(WORLD, handle);
	expect_held(0);
	contribute(&by_worker, STARPU_REDUX);
	starpu_mpi_redux_data_tree(WORLD, handle, 2);
	expect_held(0);
	contribute(&by_rank, STARPU_MPI_REDUX);
	expect_held(0);
	expect_value(7 + 3 * claim_size);
	end();
}

static void what_moved_is_at_its_owner_alone(void)
{
	begin();
	starpu_mpi_data_migrate(WORLD, handle, LAST);
	expect_held(RANK == LAST ? BYTES : 0);
	starpu_mpi_data_migrate(WORLD, handle, LAST);
	expect_held(RANK == LAST ? BYTES : 0);
	starpu_mpi_data_migrate(WORLD, handle, 0);
	expect_held(0);
	end();
}

static void what_was_received_goes_with_its_handle(void)
{
	starpu_data_handle_t other;

	begin();
	starpu_vector_data_register(&other, -1, 0, N, sizeof(long));
	if (RANK == 0)
		starpu_mpi_isend_detached(handle, 1, 88, WORLD, NULL, NULL);
	else if (RANK == 1)
		starpu_mpi_irecv_detached(other, 0, 88, WORLD, NULL, NULL);
	expect_held(RANK == 1 ? BYTES : 0);
	starpu_data_unregister_submit(other);
	expect_held(0);
	end();
}

static const struct claim claims[] = {
	{"copies go when they are flushed", copies_go_when_they_are_flushed},
	{"copies go when it is written", copies_go_when_it_is_written},
	{"copies go when their mark is cleared", copies_go_when_their_mark_is_cleared},
	{"contributions go when they are reduced",
	 contributions_go_when_they_are_reduced},
	{"what moved is at its owner alone", what_moved_is_at_its_owner_alone},
	{"what was received goes with its handle",
	 what_was_received_goes_with_its_handle},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
