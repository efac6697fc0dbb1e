/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Contributions to data and to their parts, which change hands meanwhile. */
#include <stdint.h>
#include <string.h>

#include "claim.h"
#include "reducing.h"

int claim_failures;

enum { N = 12, HALVES = 2, THIRDS = 3, PICKED = 5 };

REDUCING(int);

static void add_cpu(void *buffers[], void *arg)
{
	int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += value;
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_REDUX},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

static void start(void)
{
	claim_start(2);
}

/* A vector that is reduced, with memory or without a value. */
static starpu_data_handle_t vector(int *x)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, x ? STARPU_MAIN_RAM : -1, (uintptr_t)x, N,
				    sizeof(*x));
	starpu_data_set_reduction_methods(handle, &combine, &neutral);
	return handle;
}

static void contribute(starpu_data_handle_t handle, int value)
{
	for (int i = 0; i < 3; i++)
		CLAIM_EQ(starpu_task_insert(&add, STARPU_REDUX, handle, STARPU_VALUE,
					    &value, sizeof(value), 0),
			 0);
}

static void plan(starpu_data_handle_t whole, unsigned n, starpu_data_handle_t *parts)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = n};

	starpu_data_partition_plan(whole, &f, parts);
}

static void number(int *x)
{
	for (int i = 0; i < N; i++)
		x[i] = 100 * (i + 1);
}

/* By starpu_data_unpartition(), which nobody told that contributions are pending. */
static void unpartitioning_combines(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = HALVES};
	starpu_data_handle_t whole;
	int x[N];

	start();
	number(x);
	whole = vector(x);
	contribute(whole, 1);
	starpu_data_partition(whole, &f);
	contribute(starpu_data_get_child(whole, 1), 10);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	contribute(whole, 1);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 100 * (i + 1) + (i < N / 2 ? 6 : 36));
	starpu_shutdown();
}

/* The parts of one plan, the whole, the parts of another one. */
static void contributions_follow_the_view(void)
{
	starpu_data_handle_t whole, half[HALVES], third[THIRDS];
	int x[N];

	start();
	number(x);
	whole = vector(x);
	plan(whole, HALVES, half);
	contribute(whole, 1);
	contribute(half[0], 10);
	plan(whole, THIRDS, third);
	contribute(third[2], 100);
	contribute(half[1], 10);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_partition_clean(whole, THIRDS, third);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 100 * (i + 1) + 33 + (i < 8 ? 0 : 300));
	starpu_shutdown();
}

/* Neither a part's partition that was never opened is, nor what is beside it. */
static void cleaning_writes_nothing(void)
{
	starpu_data_handle_t whole, half[HALVES], inner[HALVES];
	int x[N];

	start();
	number(x);
	whole = vector(x);
	plan(whole, HALVES, half);
	plan(half[0], HALVES, inner);
	starpu_data_partition_clean(half[0], HALVES, inner);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 100 * (i + 1));
	starpu_shutdown();
}

static void claim_value(starpu_data_handle_t whole, int from, int to, int expected)
{
	const int *x;

	starpu_data_acquire(whole, STARPU_R);
	x = (const int *)starpu_vector_get_local_ptr(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], i >= from && i < to ? expected : 0);
	starpu_data_release(whole);
}

/* Memory of freed data holds something: without that this claims less. */
static void fill_memory(void)
{
	starpu_data_handle_t whole = vector(NULL);

	contribute(whole, 77);
	claim_value(whole, 0, N, 231);
	starpu_data_unregister(whole);
}

static void what_no_part_wrote_is_neutral(void)
{
	starpu_data_handle_t whole, half[HALVES];
	int x[N];

	start();
	fill_memory();
	whole = vector(NULL);
	plan(whole, HALVES, half);
	contribute(half[1], 1);
	claim_value(whole, N / 2, N, 3);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	number(x);
	whole = vector(x);
	plan(whole, HALVES, half);
	starpu_data_invalidate_submit(whole);
	contribute(half[0], 2);
	claim_value(whole, 0, N / 2, 6);
	starpu_data_partition_clean(whole, HALVES, half);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

static void what_is_in_no_part_is_neutral(void)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_vector_filter_pick_variable,
		.get_child_ops = starpu_vector_filter_pick_variable_child_ops,
		.filter_arg_ptr = (void *)(uintptr_t)PICKED,
		.nchildren = 1};
	starpu_data_handle_t whole, part;
	int x[N], *picked;

	start();
	number(x);
	whole = vector(x);
	starpu_data_partition_plan(whole, &f, &part);
	starpu_data_invalidate_submit(whole);
	starpu_data_acquire(part, STARPU_W);
	picked = (int *)starpu_variable_get_local_ptr(part);
	*picked = 5;
	starpu_data_release(part);
	claim_value(whole, PICKED, PICKED + 1, 5);
	starpu_data_partition_clean(whole, 1, &part);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"unpartitioning combines", unpartitioning_combines},
	{"contributions follow the view", contributions_follow_the_view},
	{"cleaning writes nothing", cleaning_writes_nothing},
	{"what no part wrote is neutral", what_no_part_wrote_is_neutral},
	{"what is in no part is neutral", what_is_in_no_part_is_neutral},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
