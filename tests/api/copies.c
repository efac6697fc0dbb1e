/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Copies of data into other data, and read-only duplicates. */
#include <string.h>

#include "adding.h"

int claim_failures;

enum { N = 6 };

static int value_of(starpu_data_handle_t handle, int i)
{
	int value;

	starpu_data_acquire(handle, STARPU_R);
	value = ((int *)starpu_data_get_local_ptr(handle))[i];
	starpu_data_release(handle);
	return value;
}

static void count_call(void *arg)
{
	++*(int *)arg;
}

/* Between writers before and after, with and without a home, and in place. */
static void copies_take_their_turn(void)
{
	int x[N] = {1, 2, 3, 4, 5, 6}, y[N] = {0}, ncalls = 0;
	starpu_data_handle_t from, to, homeless;

	start();
	from = vector(x, N);
	to = vector(y, N);
	homeless = vector(NULL, N);
	add_to(from, 10);
	CLAIM_EQ(starpu_data_cpy(to, from, 1, count_call, &ncalls), 0);
	add_to(from, 100);
	CLAIM_EQ(starpu_data_cpy_priority(homeless, to, 1, NULL, NULL, 3), 0);
	add_to(to, 1000);
	CLAIM_EQ(starpu_data_cpy(from, from, 0, count_call, &ncalls), 0);
	CLAIM(ncalls >= 1);
	CLAIM_EQ(value_of(from, 0), 111);
	CLAIM_EQ(value_of(to, N - 1), 1016);
	CLAIM_EQ(value_of(homeless, 1), 12);
	CLAIM_EQ(starpu_data_cpy(to, homeless, 0, count_call, &ncalls), 0);
	CLAIM_EQ(ncalls, 3);
	CLAIM_EQ(value_of(to, 2), 13);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	starpu_data_unregister(homeless);
	CLAIM_EQ(y[0], 11);
	starpu_shutdown();
}

/* Columns that are apart, to columns that are not. */
static void matrices_are_copied(void)
{
	int x[3][4], y[3][2];
	starpu_data_handle_t from, to;

	start();
	for (int j = 0; j < 3; j++)
		for (int i = 0; i < 4; i++)
			x[j][i] = 10 * j + i;
	memset(y, 0, sizeof(y));
	starpu_matrix_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)x, 4, 2, 3,
				    sizeof(int));
	starpu_matrix_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)y, 2, 2, 3,
				    sizeof(int));
	CLAIM_EQ(starpu_data_cpy(to, from, 0, NULL, NULL), 0);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	for (int j = 0; j < 3; j++)
		for (int i = 0; i < 2; i++)
			CLAIM_EQ(y[j][i], 10 * j + i);
	starpu_shutdown();
}

static void duplicates_are_shared_until_a_write(void)
{
	int x[N] = {1, 2, 3, 4, 5, 6};
	starpu_data_handle_t data, first, second, third, again;

	start();
	data = vector(x, N);
	add_to(data, 10);
	CLAIM_EQ(starpu_data_dup_ro(&first, data, 1), 0);
	CLAIM_EQ(starpu_data_dup_ro(&second, data, 1), 0);
	CLAIM(second == first);
	CLAIM(first != data);
	CLAIM_EQ(starpu_data_dup_ro(&again, first, 0), 0); /* of a duplicate: itself */
	CLAIM(again == first);
	add_to(data, 100);
	CLAIM_EQ(starpu_data_dup_ro(&third, data, 1), 0);
	CLAIM(third != first);
	CLAIM_EQ(value_of(first, 0), 11);
	CLAIM_EQ(value_of(third, 0), 111);
	starpu_data_unregister(first);
	CLAIM_EQ(value_of(second, 1), 12);
	starpu_data_unregister_submit(again);
	CLAIM_EQ(value_of(second, 2), 13);
	starpu_data_unregister_submit(second);
	starpu_data_unregister(third);
	/* Its duplicate is gone: a new one. */
	CLAIM_EQ(starpu_data_dup_ro(&first, data, 0), 0);
	CLAIM_EQ(value_of(first, 3), 114);
	/* It goes with its last holder, though a reader is still to come. */
	starpu_data_acquire(first, STARPU_R);
	starpu_data_unregister_submit(first);
	CLAIM_EQ(starpu_data_dup_ro(&second, data, 0), 0);
	CLAIM(second != first);
	starpu_data_release(first);
	starpu_data_unregister(data);
	CLAIM_EQ(value_of(second, 3), 114);
	starpu_data_unregister(second);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	starpu_shutdown();
}

static void an_acquired_write_ends_sharing_too(void)
{
	int x[N] = {1, 2, 3, 4, 5, 6};
	starpu_data_handle_t data, first, second;

	start();
	data = vector(x, N);
	CLAIM_EQ(starpu_data_dup_ro(&first, data, 0), 0);
	starpu_data_acquire(data, STARPU_RW);
	x[0] = 77;
	starpu_data_release(data);
	CLAIM_EQ(starpu_data_dup_ro(&second, data, 0), 0);
	CLAIM(first != second);
	CLAIM_EQ(value_of(first, 0), 1);
	CLAIM_EQ(value_of(second, 0), 77);
	starpu_data_unregister(second);
	starpu_data_unregister(first);
	starpu_data_unregister(data);
	starpu_shutdown();
}

/* Values that nobody computes, but that the library brings from one datum to another. */
static void small_values_need_no_kernel(void)
{
	int x[N] = {1, 2, 3, 4, 5, 6}, y[N] = {0};
	starpu_data_handle_t from, to, homeless, twin;

	start();
	from = vector(x, N);
	to = vector(y, N);
	homeless = vector(NULL, N);
	CLAIM_EQ(starpu_data_cpy(homeless, from, 1, NULL, NULL), 0);
	CLAIM_EQ(starpu_data_cpy(to, homeless, 1, NULL, NULL), 0);
	CLAIM_EQ(starpu_data_dup_ro(&twin, to, 1), 0);
	CLAIM_EQ(value_of(homeless, 2), 3);
	CLAIM_EQ(value_of(twin, N - 1), 6);
	starpu_data_unregister(twin);
	starpu_data_unregister(homeless);
	starpu_data_unregister(to);
	starpu_data_unregister(from);
	CLAIM_EQ(y[4], 5);
	starpu_shutdown();
}

/* What programs made for simulation register has an address that is none. */
static void what_has_no_memory_is_not_copied(void)
{
	starpu_data_handle_t from, to;

	if (!orrery_is_simulated())
		return;
	start();
	starpu_vector_data_register(&from, STARPU_MAIN_RAM, 0, N, sizeof(int));
	to = vector(NULL, N);
	CLAIM_EQ(starpu_data_cpy(to, from, 0, NULL, NULL), 0);
	starpu_data_unregister(to);
	starpu_data_unregister(from);
	starpu_shutdown();
}

static const struct claim carried[] = {
	{"small values need no kernel", small_values_need_no_kernel},
	{"what has no memory is not copied", what_has_no_memory_is_not_copied},
	{NULL, NULL},
};

static const struct claim claims[] = {
	{"copies take their turn", copies_take_their_turn},
	{"matrices are copied", matrices_are_copied},
	{"duplicates are shared until a write", duplicates_are_shared_until_a_write},
	{"an acquired write ends sharing too", an_acquired_write_ends_sharing_too},
	{"small values need no kernel", small_values_need_no_kernel},
	{NULL, NULL},
};

/* carried: what holds though no kernels are called. */
int main(int argc, char **argv)
{
	return claims_run(argc > 1 && strcmp(argv[1], "carried") == 0 ? carried : claims,
			  0);
}
