/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Collective operations on handles: all ranks get a value, or combine theirs. */
#include <orrery_mpi.h>

#include "mpi_tools.h"

int claim_failures, claim_rank, claim_size;

enum { MAX_RANKS = 8, SMALL = 3, BIG = 30000 };

static long values[MAX_RANKS][BIG], own_values[BIG];
static int nends;

static void ended(void *arg)
{
	++*(int *)arg;
}

/* ---- tasks ------------------------------------------------------------ */

static void set_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = value + (long)i;
}

static void neutral_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = 0;
}

static void add_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const long *y = (const long *)STARPU_VECTOR_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += y[i];
}

static struct starpu_codelet set = {.cpu_funcs = {set_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_W},
				    .model = &starpu_perfmodel_nop,
				    .name = "set"};
static struct starpu_codelet neutral = {.cpu_funcs = {neutral_cpu},
					.nbuffers = 1,
					.modes = {STARPU_W},
					.model = &starpu_perfmodel_nop,
					.name = "neutral"};
static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

/* ---- data ------------------------------------------------------------- */

static starpu_data_handle_t owned(int i, int owner, unsigned n)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				    RANK == owner ? (uintptr_t)values[i] : 0, n,
				    sizeof(long));
	starpu_mpi_data_register(handle, TAG + i, owner);
	return handle;
}

/* The value of each rank begins with another number. */
static starpu_data_handle_t own(unsigned n)
{
	starpu_data_handle_t handle;

	for (unsigned i = 0; i < n; i++)
		own_values[i] = 100 * (RANK + 1) + (long)i;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)own_values, n,
				    sizeof(long));
	starpu_mpi_data_register(handle, TAG + 90, STARPU_MPI_PER_NODE);
	return handle;
}

static void set_to(starpu_data_handle_t handle, long value)
{
	starpu_mpi_task_insert(WORLD, &set, STARPU_W, handle, STARPU_VALUE, &value,
			       sizeof(value), 0);
}

/* What this rank holds, without asking another one. */
static void expect_here(starpu_data_handle_t handle, unsigned n, long first, long step)
{
	const long *x;

	starpu_data_acquire(handle, STARPU_R);
	x = (const long *)starpu_data_get_local_ptr(handle);
	CLAIM_EQ(x[0], first);
	CLAIM_EQ(x[n - 1], first + step * (long)(n - 1));
	starpu_data_release(handle);
}

static unsigned length_of(int i)
{
	return i % 2 ? BIG : SMALL;
}

/* ---- claims ----------------------------------------------------------- */

static void all_ranks_get_the_value(void)
{
	start();
	nends = 0;
	for (int i = 0; i < 4; i++) {
		starpu_data_handle_t handle = owned(0, i % claim_size, length_of(i));

		/* The second one has nothing to send, the third another value. */
		set_to(handle, 10);
		for (int again = 0; again < 2; again++)
			CLAIM_EQ(orrery_mpi_broadcast_detached(handle, WORLD, again,
							       ended, &nends),
				 0);
		set_to(handle, 20);
		CLAIM_EQ(orrery_mpi_broadcast_detached(handle, WORLD, 0, NULL, NULL), 0);
		starpu_mpi_wait_for_all(WORLD);
		CLAIM_EQ(nends, 2 * (i + 1));
		expect_here(handle, length_of(i), 20, 1);
		CLAIM_EQ(starpu_mpi_cached_receive(handle), RANK != i % claim_size);
		starpu_data_unregister(handle);
	}
	stop();
}

/* Rank 2 gets it from rank 1, which has a part in that. */
static void another_source_sends(void)
{
	starpu_data_handle_t handle;

	start();
	nends = 0;
	handle = owned(0, 0, BIG);
	set_to(handle, 10);
	if (claim_size > 2)
		starpu_mpi_data_set_source(handle, 2, 1);
	CLAIM_EQ(orrery_mpi_broadcast_detached(handle, WORLD, 0, ended, &nends), 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nends, 1);
	expect_here(handle, BIG, 10, 1);
	starpu_data_unregister(handle);
	stop();
}

static void all_ranks_get_all_values(void)
{
	starpu_data_handle_t data[MAX_RANKS];

	start();
	nends = 0;
	for (int i = 0; i < claim_size; i++) {
		data[i] = owned(i, i, length_of(i));
		set_to(data[i], 10 * i);
	}
	CLAIM_EQ(orrery_mpi_allgather_detached(data, claim_size, WORLD, 1, ended, &nends),
		 0);
	CLAIM_EQ(orrery_mpi_allgather_detached(data, 0, WORLD, 0, ended, &nends), 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nends, 1);
	for (int i = 0; i < claim_size; i++) {
		expect_here(data[i], length_of(i), 10 * i, 1);
		starpu_data_unregister(data[i]);
	}
	stop();
}

/* Number i of rank r is 100 (r + 1) + i. */
static long sum_of_firsts(void)
{
	return 50L * claim_size * (claim_size + 1);
}

static void combine(int for_all, unsigned n)
{
	int owner = claim_size - 1;
	starpu_data_handle_t mine = own(n), result = owned(1, owner, n);

	nends = 0;
	starpu_data_set_reduction_methods(result, &add, &neutral);
	set_to(result, 7); /* is lost */
	for (int again = 0; again < 3; again++)
		CLAIM_EQ((for_all ? orrery_mpi_allreduce_detached
				  : orrery_mpi_reduce_detached)(mine, result, WORLD,
								again, ended, &nends),
			 0);
	starpu_mpi_wait_for_all(WORLD);
	CLAIM_EQ(nends, for_all || RANK == owner ? 3 : 0);
	if (for_all || RANK == owner)
		expect_here(result, n, sum_of_firsts(), claim_size);
	expect_here(mine, n, 100 * (RANK + 1), 1);
	starpu_data_unregister(mine);
	starpu_data_unregister(result);
}

static void the_owner_gets_what_is_combined(void)
{
	start();
	combine(0, SMALL);
	combine(0, BIG);
	stop();
}

static void all_ranks_get_what_is_combined(void)
{
	start();
	combine(1, SMALL);
	combine(1, BIG);
	stop();
}

static const struct claim claims[] = {
	{"all ranks get the value", all_ranks_get_the_value},
	{"another source sends to all that it is of", another_source_sends},
	{"all ranks get all values", all_ranks_get_all_values},
	{"the owner gets what is combined", the_owner_gets_what_is_combined},
	{"all ranks get what is combined", all_ranks_get_what_is_combined},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
