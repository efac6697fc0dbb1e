/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Reductions between ranks: contributions of all, and when they meet. */
#include <stdint.h>

#include "mpi_claim.h"
#include "reducing.h"

int claim_failures, claim_rank, claim_size;

#define WORLD MPI_COMM_WORLD
#define RANK  claim_rank

enum { SMALL = 3, BIG = 5000, TAG = 70 };

/* ---- kernels ---------------------------------------------------------- */

REDUCING(long);

static void contribute_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]), number;

	starpu_codelet_unpack_args(arg, &number);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += number;
}

static void look_cpu(void *buffers[], void *arg)
{
	long *x = (long *)STARPU_VECTOR_GET_PTR(buffers[0]), *seen;
	unsigned last = STARPU_VECTOR_GET_NX(buffers[0]) - 1;

	starpu_codelet_unpack_args(arg, &seen);
	*seen = x[0] == x[last] ? x[0] : -1;
}

static struct starpu_codelet contribute = {.cpu_funcs = {contribute_cpu},
					   .nbuffers = 1,
					   .modes = {STARPU_RW | STARPU_COMMUTE},
					   .model = &starpu_perfmodel_nop,
					   .name = "contribute"};
static struct starpu_codelet update = {.cpu_funcs = {contribute_cpu},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .model = &starpu_perfmodel_nop,
				       .name = "update"};
static struct starpu_codelet look = {.cpu_funcs = {look_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "look"};

/* ---- data and tasks ---------------------------------------------------- */

static long home[BIG];
static long seen;

static starpu_data_handle_t reduced(unsigned n, int owner, long first)
{
	starpu_data_handle_t handle;

	for (unsigned i = 0; i < n; i++)
		home[i] = first;
	starpu_vector_data_register(&handle, RANK == owner ? STARPU_MAIN_RAM : -1,
				    RANK == owner ? (uintptr_t)home : 0, n, sizeof(long));
	starpu_mpi_data_register(handle, TAG, owner);
	starpu_data_set_reduction_methods(handle, &combine, &neutral);
	return handle;
}

static void insert(struct starpu_codelet *cl, unsigned mode, starpu_data_handle_t handle,
		   int node, long number)
{
	CLAIM_EQ(starpu_mpi_task_insert(WORLD, cl, mode, handle, STARPU_VALUE, &number,
					sizeof(number), STARPU_EXECUTE_ON_NODE, node, 0),
		 0);
}

static void look_on(starpu_data_handle_t handle, int node)
{
	long *at = &seen;

	CLAIM_EQ(starpu_mpi_task_insert(WORLD, &look, STARPU_R, handle, STARPU_VALUE, &at,
					sizeof(at), STARPU_EXECUTE_ON_NODE, node, 0),
		 0);
}

/* On each rank two; returns their sum. */
static long contribute_everywhere(starpu_data_handle_t handle, unsigned mode)
{
	long sum = 0;

	for (int rank = 0; rank < claim_size; rank++)
		for (int i = 0; i < 2; i++) {
			long number = 1 + 10 * rank + i;

			insert(&contribute, mode, handle, rank, number);
			sum += number;
		}
	return sum;
}

static void expect_home(int owner, unsigned n, long expected)
{
	if (RANK != owner)
		return;
	CLAIM_EQ(home[0], expected);
	CLAIM_EQ(home[n - 1], expected);
}

static void set_threshold(const char *bytes)
{
	setenv("STARPU_MPI_REDUX_ARITY_THRESHOLD", bytes, 1);
}

/* ---- claims ------------------------------------------------------------ */

static const unsigned modes[] = {STARPU_MPI_REDUX, STARPU_REDUX};

enum { NMODES = 2 };

static void reduce_by(starpu_data_handle_t handle, int how)
{
	switch (how) {
	case 0:
		CLAIM_EQ(starpu_mpi_redux_data(WORLD, handle), 0);
		break;
	case 1:
		CLAIM_EQ(starpu_mpi_redux_data_prio(WORLD, handle, 3), 0);
		break;
	case 2:
		CLAIM_EQ(starpu_mpi_redux_data_tree(WORLD, handle, 2), 0);
		break;
	default:
		CLAIM_EQ(starpu_mpi_redux_data_prio_tree(WORLD, handle, -1, 3), 0);
	}
}

static void all_contributions_reach_the_owner(void)
{
	claim_init(2);
	for (int m = 0; m < NMODES; m++) {
		for (int how = 0; how < 4; how++) {
			int owner = (how + m) % claim_size;
			unsigned n = how % 2 ? BIG : SMALL;
			starpu_data_handle_t handle = reduced(n, owner, 1000);
			long sum = contribute_everywhere(handle, modes[m]);

			reduce_by(handle, how);
			/* Nothing is left for a second one. */
			reduce_by(handle, how);
			starpu_mpi_wait_for_all(WORLD);
			starpu_data_unregister(handle);
			expect_home(owner, n, 1000 + sum);
		}
	}
	starpu_mpi_shutdown();
}

/* Also where the owner itself has no value. */
static void an_owner_without_value_starts_at_neutral(void)
{
	starpu_data_handle_t handle;
	long sum;

	claim_init(2);
	for (int m = 0; m < NMODES; m++) {
		starpu_vector_data_register(&handle, -1, 0, SMALL, sizeof(long));
		starpu_mpi_data_register(handle, TAG, 0);
		starpu_data_set_reduction_methods(handle, &combine, &neutral);
		sum = 0;
		for (int rank = 1; rank < claim_size; rank++) {
			insert(&contribute, modes[m], handle, rank, rank);
			sum += rank;
		}
		starpu_mpi_redux_data(WORLD, handle);
		seen = 0;
		look_on(handle, 0);
		starpu_mpi_wait_for_all(WORLD);
		if (RANK == 0)
			CLAIM_EQ(seen, sum);
		starpu_data_unregister(handle);
	}
	starpu_mpi_shutdown();
}

/* With the threshold at both sides of the sizes: flat, and in a binary tree. */
static void a_reader_finds_them_reduced(void)
{
	static const char *const thresholds[] = {"-1", "0", "1024"};

	for (int t = 0; t < 3; t++) {
		set_threshold(thresholds[t]);
		claim_init(2);
		for (int m = 0; m < NMODES; m++) {
			int reader = (m + t + 1) % claim_size;
			unsigned n = m ? SMALL : BIG;
			starpu_data_handle_t handle = reduced(n, 0, 5);
			long sum = contribute_everywhere(handle, modes[m]);

			seen = 0;
			look_on(handle, reader);
			starpu_mpi_wait_for_all(WORLD);
			if (RANK == reader)
				CLAIM_EQ(seen, 5 + sum);
			starpu_data_unregister(handle);
			expect_home(0, n, 5 + sum);
		}
		starpu_mpi_shutdown();
	}
	set_threshold("1024");
}

static void waiting_for_all_reduces(void)
{
	claim_init(1);
	for (int m = 0; m < NMODES; m++) {
		starpu_data_handle_t handle = reduced(SMALL, 0, 5);
		long sum = contribute_everywhere(handle, modes[m]);

		starpu_mpi_wait_for_all(WORLD);
		if (RANK == 0) {
			starpu_data_acquire(handle, STARPU_R);
			expect_home(0, SMALL, 5 + sum);
			starpu_data_release(handle);
		}
		starpu_data_unregister(handle);
	}
	starpu_mpi_shutdown();
}

static void unregistering_reduces(void)
{
	claim_init(2);
	for (int m = 0; m < NMODES; m++) {
		starpu_data_handle_t handle = reduced(BIG, 1 % claim_size, 5);
		long sum = contribute_everywhere(handle, modes[m]);

		starpu_data_unregister(handle);
		expect_home(1 % claim_size, BIG, 5 + sum);
		starpu_mpi_barrier(WORLD);
	}
	starpu_mpi_shutdown();
}

/* What was sent before is no contribution; what is sent after is the sum. */
static void copies_from_before_do_not_count(void)
{
	claim_init(2);
	for (int m = 0; m < NMODES; m++) {
		starpu_data_handle_t handle = reduced(SMALL, 0, 100);
		long sum = 0;

		for (int round = 0; round < 3; round++) {
			for (int rank = 0; rank < claim_size; rank++)
				look_on(handle, rank);
			sum += contribute_everywhere(handle, modes[m]);
			starpu_mpi_cache_flush(WORLD, handle);
			if (round == 1)
				starpu_mpi_redux_data_tree(WORLD, handle, 2);
			for (int rank = 0; rank < claim_size; rank++)
				look_on(handle, rank);
			starpu_mpi_wait_for_all(WORLD);
			CLAIM_EQ(seen, 100 + sum);
			insert(&update, STARPU_RW, handle, (round + 1) % claim_size, 7);
			sum += 7;
		}
		starpu_data_unregister(handle);
		expect_home(0, SMALL, 100 + sum);
	}
	starpu_mpi_shutdown();
}

static void they_follow_a_datum_that_moves(void)
{
	claim_init(1);
	for (int m = 0; m < NMODES; m++) {
		starpu_data_handle_t handle = reduced(SMALL, 0, 1);
		int last = claim_size - 1;
		long sum = contribute_everywhere(handle, modes[m]);

		starpu_mpi_data_migrate(WORLD, handle, last);
		sum += contribute_everywhere(handle, modes[m]);
		seen = 0;
		starpu_mpi_get_data_on_node_detached(WORLD, handle, 0, NULL, NULL);
		look_on(handle, last);
		starpu_mpi_wait_for_all(WORLD);
		if (RANK == last)
			CLAIM_EQ(seen, 1 + sum);
		if (RANK == 0) {
			starpu_data_acquire(handle, STARPU_R);
			CLAIM_EQ(home[0], 1 + sum);
			starpu_data_release(handle);
		}
		starpu_data_unregister(handle);
	}
	starpu_mpi_shutdown();
}

static void the_map_says_who_contributed(void)
{
	starpu_data_handle_t handle;
	int last = claim_size - 1;
	char *map;

	claim_init(1);
	handle = reduced(SMALL, 0, 1);
	CLAIM(starpu_mpi_data_get_redux_map(handle) == NULL);
	insert(&contribute, STARPU_MPI_REDUX, handle, last, 4);
	map = starpu_mpi_data_get_redux_map(handle);
	CLAIM(map != NULL);
	for (int rank = 0; map && rank < claim_size; rank++)
		CLAIM_EQ(map[rank], rank == 0 || rank == last);
	starpu_mpi_redux_data(WORLD, handle);
	CLAIM(starpu_mpi_data_get_redux_map(handle) == NULL);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	expect_home(0, SMALL, 5);
	starpu_mpi_shutdown();
}

/* Data of each rank are each rank's business. */
static void private_data_are_reduced_at_home(void)
{
	starpu_data_handle_t handle;
	long number = 3;

	claim_init(2);
	home[0] = 1;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)home, 1,
				    sizeof(long));
	starpu_mpi_data_register(handle, TAG, STARPU_MPI_PER_NODE);
	starpu_data_set_reduction_methods(handle, &combine, &neutral);
	for (int i = 0; i < 4; i++)
		CLAIM_EQ(starpu_mpi_task_insert(WORLD, &contribute, STARPU_REDUX, handle,
						STARPU_VALUE, &number, sizeof(number), 0),
			 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	CLAIM_EQ(home[0], 13);
	starpu_mpi_shutdown();
}

/*
 * An interface whose size is what this rank's copy holds now, as one of matrices of low
 * rank tells: other ranks see another one.
 */
static size_t held(starpu_data_handle_t handle)
{
	size_t bytes = starpu_interface_vector_ops.get_size(handle);

	return RANK % 2 ? bytes : 4096;
}

static void ranks_that_see_different_sizes_reduce_alike(void)
{
	struct starpu_data_interface_ops ops = starpu_interface_vector_ops;

	claim_init(2);
	ops.interfaceid = starpu_data_interface_get_next_id();
	ops.get_alloc_size = starpu_interface_vector_ops.get_size;
	ops.get_size = held;
	for (int owner = 0; owner < claim_size; owner++) {
		struct starpu_vector_interface vector = {.id = ops.interfaceid,
							 .nx = SMALL,
							 .elemsize = sizeof(long),
							 .allocsize =
								 SMALL * sizeof(long)};
		starpu_data_handle_t handle;
		long sum;

		starpu_data_register(&handle, -1, &vector, &ops);
		starpu_mpi_data_register(handle, TAG, owner);
		starpu_data_set_reduction_methods(handle, &combine, &neutral);
		sum = contribute_everywhere(handle, STARPU_MPI_REDUX);
		seen = 0;
		look_on(handle, owner);
		starpu_mpi_wait_for_all(WORLD);
		if (RANK == owner)
			CLAIM_EQ(seen, sum);
		starpu_data_unregister(handle);
	}
	starpu_mpi_shutdown();
}

/* The owner of before is no longer the place to meet, and the new one may hold a copy. */
static void they_meet_at_the_owner_of_now(void)
{
	for (int holds = 0; holds < 2; holds++) {
		int next = claim_size - 1;
		starpu_data_handle_t handle;

		CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, WORLD, NULL), 0);
		handle = reduced(SMALL, 0, 100);
		if (holds)
			look_on(handle, next);
		for (int rank = 0; rank < next; rank++)
			insert(&contribute, STARPU_MPI_REDUX, handle, rank, 1);
		starpu_mpi_data_set_rank(handle, next);
		starpu_mpi_redux_data(WORLD, handle);
		look_on(handle, next);
		starpu_mpi_wait_for_all(WORLD);
		if (RANK == next)
			CLAIM_EQ(seen, 100 + next);
		starpu_data_unregister(handle);
		starpu_mpi_shutdown();
	}
}

static const struct claim claims[] = {
	{"all contributions reach the owner", all_contributions_reach_the_owner},
	{"an owner without value starts at neutral",
	 an_owner_without_value_starts_at_neutral},
	{"a reader finds them reduced", a_reader_finds_them_reduced},
	{"waiting for all reduces", waiting_for_all_reduces},
	{"unregistering reduces", unregistering_reduces},
	{"copies from before do not count", copies_from_before_do_not_count},
	{"they follow a datum that moves", they_follow_a_datum_that_moves},
	{"they meet at the owner of now", they_meet_at_the_owner_of_now},
	{"the map says who contributed", the_map_says_who_contributed},
	{"private data are reduced at home", private_data_are_reduced_at_home},
	{"ranks that see different sizes reduce alike",
	 ranks_that_see_different_sizes_reduce_alike},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return mpi_claims_run(argc, argv, claims);
}
