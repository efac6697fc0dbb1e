/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Planned partitions: several of a datum, changed by hand and by the tasks. */
#include <string.h>

#include "adding.h"

int claim_failures;

enum { N = 24, HALVES = 2, THIRDS = 3 };

/* The sum of what it reads, added to where it is told. */
static void sum_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), sum = 0;
	long *to;

	starpu_codelet_unpack_args(arg, &to);
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		sum += x[i];
	__atomic_fetch_add(to, sum, __ATOMIC_RELAXED);
}

static struct starpu_codelet sum = {.cpu_funcs = {sum_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .name = "sum"};

static void sum_of(starpu_data_handle_t handle, long *to)
{
	CLAIM_EQ(starpu_task_insert(&sum, STARPU_R, handle, STARPU_VALUE, &to, sizeof(to),
				    0),
		 0);
}

static void plan(starpu_data_handle_t whole, unsigned n, starpu_data_handle_t *parts)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = n};

	starpu_data_partition_plan(whole, &f, parts);
	memset(&f, 0, sizeof(f)); /* It is not needed any more. */
}

static void claim_all(const int *x, int expected)
{
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], expected);
}

static void count_call(void *arg)
{
	++*(int *)arg;
}

/* ---- by hand --------------------------------------------------------- */

static void views_are_changed_by_hand(void)
{
	starpu_data_handle_t whole, part[THIRDS];
	int x[N] = {0}, ncalls = 0;
	long before = 0, after = 0;

	start();
	whole = vector(x, N);
	plan(whole, THIRDS, part);
	add_to(whole, 1);
	starpu_data_partition_submit(whole, THIRDS, part);
	for (int i = 0; i < THIRDS; i++)
		add_to(part[i], 10);
	starpu_data_partition_readonly_downgrade_submit(whole, THIRDS, part);
	sum_of(whole, &before);
	sum_of(part[2], &before);
	starpu_data_partition_readwrite_upgrade_submit(whole, THIRDS, part);
	for (int i = 0; i < THIRDS; i++)
		add_to(part[i], 100);
	starpu_data_unpartition_readonly_submit(whole, THIRDS, part, STARPU_MAIN_RAM);
	starpu_data_unpartition_readonly_submit(whole, THIRDS, part, -1);
	sum_of(part[1], &after);
	sum_of(whole, &after);
	starpu_data_unpartition_submit_sequential_consistency_cb(
		whole, THIRDS, part, STARPU_MAIN_RAM, 1, count_call, &ncalls);
	add_to(whole, 1000);
	starpu_data_partition_readonly_submit(whole, THIRDS, part);
	sum_of(part[0], &after);
	starpu_data_unpartition_submit(whole, THIRDS, part, -1);
	starpu_data_partition_clean_node(whole, THIRDS, part, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	claim_all(x, 1111);
	CLAIM_EQ(before, 11 * N + 11 * (N / THIRDS));
	CLAIM_EQ(after, 111 * N + 111 * (N / THIRDS) + 1111 * (N / THIRDS));
	CLAIM_EQ(ncalls, 1);
	starpu_shutdown();
}

/* Without turns, by an application that waits itself. */
static void views_are_changed_without_turns(void)
{
	starpu_data_handle_t whole, part[THIRDS];
	int x[N] = {0};
	long total = 0;

	start();
	whole = vector(x, N);
	starpu_data_set_sequential_consistency_flag(whole, 0);
	plan(whole, THIRDS, part);
	starpu_data_partition_submit_sequential_consistency(whole, THIRDS, part, 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < THIRDS; i++)
		add_to(part[i], 3);
	starpu_task_wait_for_all();
	starpu_data_unpartition_submit_sequential_consistency(whole, THIRDS, part,
							      STARPU_MAIN_RAM, 0);
	starpu_task_wait_for_all();
	add_to(whole, 4);
	starpu_task_wait_for_all();
	starpu_data_partition_readonly_submit_sequential_consistency(whole, THIRDS, part,
								     0);
	starpu_task_wait_for_all();
	sum_of(part[1], &total);
	starpu_task_wait_for_all();
	starpu_data_unpartition_submit(whole, THIRDS, part, STARPU_MAIN_RAM);
	starpu_data_partition_clean(whole, THIRDS, part);
	starpu_data_unregister(whole);
	claim_all(x, 7);
	CLAIM_EQ(total, 7 * (N / THIRDS));
	starpu_shutdown();
}

/* ---- by the tasks ---------------------------------------------------- */

static void tasks_change_the_view(void)
{
	starpu_data_handle_t whole, half[HALVES], third[THIRDS];
	int x[N] = {0};
	long total = 0;

	start();
	whole = vector(x, N);
	plan(whole, HALVES, half);
	plan(whole, THIRDS, third);
	for (int round = 0; round < 3; round++) {
		add_to(whole, 1);
		for (int i = 0; i < HALVES; i++)
			add_to(half[i], 10);
		for (int i = 0; i < THIRDS; i++)
			add_to(third[i], 100);
		for (int i = 0; i < HALVES; i++)
			sum_of(half[i], &total);
		for (int i = 0; i < THIRDS; i++)
			sum_of(third[i], &total);
		sum_of(whole, &total);
		add_to(third[0], 1000);
		add_to(half[1], 1000);
		add_to(third[1], 1000);
		add_to(half[1], -1000);
		add_to(third[1], -1000);
		add_to(third[0], -1000);
	}
	starpu_data_partition_clean(whole, THIRDS, third);
	add_to(half[0], 0);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	claim_all(x, 333);
	CLAIM_EQ(total, 3 * N * (111 + 222 + 333));
	starpu_shutdown();
}

static int value_of(starpu_data_handle_t handle, int i)
{
	int value;

	starpu_data_acquire(handle, STARPU_R);
	value = ((int *)starpu_data_get_local_ptr(handle))[i];
	starpu_data_release(handle);
	return value;
}

/* Parts of parts, of a vector that has no memory at first. */
static void plans_are_nested(void)
{
	starpu_data_handle_t whole, half[HALVES], third[HALVES][THIRDS], other[4];

	start();
	whole = vector(NULL, N);
	plan(whole, HALVES, half);
	for (int i = 0; i < HALVES; i++)
		plan(half[i], THIRDS, third[i]);
	plan(whole, 4, other);
	starpu_data_acquire(whole, STARPU_W);
	memset(starpu_data_get_local_ptr(whole), 0, N * sizeof(int));
	starpu_data_release(whole);
	for (int i = 0; i < HALVES; i++)
		for (int k = 0; k < THIRDS; k++)
			add_to(third[i][k], 1 + k);
	add_to(half[1], 10);
	CLAIM_EQ(value_of(third[0][2], 0), 3);
	CLAIM_EQ(value_of(other[3], 5), 13);
	CLAIM_EQ(value_of(whole, 0), 1);
	add_to(third[1][0], 100);
	CLAIM_EQ(value_of(half[0], N / HALVES - 1), 3);
	add_to(third[0][0], 100);
	add_to(other[0], 1000);
	add_to(third[0][0], 0);
	CLAIM_EQ(value_of(whole, 0), 1101);
	CLAIM_EQ(value_of(whole, N / 2), 111);
	for (int i = 0; i < HALVES; i++)
		starpu_data_partition_clean(half[i], THIRDS, third[i]);
	CLAIM_EQ(starpu_data_partition_get_nplans(whole), 2);
	CLAIM_EQ(starpu_data_partition_get_nplans(half[0]), 0);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_partition_clean(whole, 4, other);
	CLAIM_EQ(starpu_data_partition_get_nplans(whole), 0);
	CLAIM_EQ(value_of(whole, N - 1), 13);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* Some parts of a datum without a value are written; it is invalidated, and again. */
static void values_come_and_go(void)
{
	starpu_data_handle_t whole, half[HALVES];

	start();
	whole = vector(NULL, N);
	plan(whole, HALVES, half);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < HALVES; i++) {
			starpu_data_acquire(half[i], STARPU_W);
			for (int k = 0; k < N / HALVES; k++)
				((int *)starpu_data_get_local_ptr(half[i]))[k] = i;
			starpu_data_release(half[i]);
		}
		add_to(whole, 5);
		CLAIM_EQ(value_of(half[1], 3), 6);
		starpu_data_invalidate_submit(half[0]);
		CLAIM_EQ(value_of(half[1], 4), 6);
		starpu_data_invalidate_submit(whole);
	}
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* The mode and the codelet's flag that leave the views alone. */
static void views_are_left_alone(void)
{
	static struct starpu_codelet quiet;
	starpu_data_handle_t whole, half[HALVES];
	int x[N] = {0}, value = 2;

	start();
	quiet = add;
	quiet.flags = STARPU_CODELET_NOPLANS;
	whole = vector(x, N);
	plan(whole, HALVES, half);
	add_to(half[0], 1);
	CLAIM_EQ(starpu_task_insert(&quiet, STARPU_RW, half[1], STARPU_VALUE, &value,
				    sizeof(value), 0),
		 0);
	starpu_data_unpartition_submit(whole, HALVES, half, STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_task_insert(&quiet, STARPU_RW, whole, STARPU_VALUE, &value,
				    sizeof(value), 0),
		 0);
	CLAIM_EQ(starpu_data_prefetch_on_node(half[0], STARPU_MAIN_RAM, 0), 0);
	starpu_data_acquire(whole, STARPU_R);
	CLAIM_EQ(x[0], 3);
	CLAIM_EQ(x[N - 1], 4);
	starpu_data_release(whole);
	CLAIM_EQ(starpu_data_acquire_try(whole, STARPU_RW), 0);
	starpu_data_release_on_node(whole, STARPU_MAIN_RAM);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* Synchronous parts of planned parts, and planned parts of synchronous ones. */
static void both_kinds_are_nested(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 2};
	starpu_data_handle_t whole, half[HALVES], third[THIRDS];
	int x[N] = {0};

	start();
	whole = vector(x, N);
	plan(whole, HALVES, half);
	add_to(whole, 1);
	starpu_data_partition(half[0], &f);
	add_to(starpu_data_get_child(half[0], 1), 10);
	plan(starpu_data_get_child(half[0], 0), THIRDS, third);
	for (int i = 0; i < THIRDS; i++)
		add_to(third[i], 10);
	add_to(half[1], 10);
	starpu_data_partition_clean(starpu_data_get_child(half[0], 0), THIRDS, third);
	starpu_data_unpartition(half[0], STARPU_MAIN_RAM);
	add_to(whole, 100);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	claim_all(x, 111);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"views are changed by hand", views_are_changed_by_hand},
	{"views are changed without turns", views_are_changed_without_turns},
	{"tasks change the view", tasks_change_the_view},
	{"plans are nested", plans_are_nested},
	{"values come and go", values_come_and_go},
	{"views are left alone", views_are_left_alone},
	{"both kinds are nested", both_kinds_are_nested},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
