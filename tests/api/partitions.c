/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Synchronous partitions. */
#include <string.h>

#include "adding.h"

int claim_failures;

enum { N = 24 };

static void number(int *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = i;
}

/* ---- values ---------------------------------------------------------- */

static void parts_are_in_place(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 5};
	starpu_data_handle_t whole;
	int x[N];

	start();
	number(x, N);
	whole = vector(x, N);
	add_to(whole, 100);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 0);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 5);
	for (int i = 0, first = 0; i < 5; i++) {
		starpu_data_handle_t part = starpu_data_get_sub_data(whole, 1, i);

		CLAIM(part == starpu_data_get_child(whole, (unsigned)i));
		CLAIM_EQ(starpu_vector_get_nx(part), i < 4 ? 5 : 4);
		CLAIM(starpu_vector_get_local_ptr(part) == (uintptr_t)(x + first));
		first += (int)starpu_vector_get_nx(part);
		add_to(part, 1000 * (i + 1));
		add_to(part, 10000);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	CLAIM_EQ(starpu_data_get_nb_children(whole), 0);
	add_to(whole, 100000);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 111100 + i + 1000 * (i / 5));
	starpu_shutdown();
}

/* Three levels: 2, then 3 each, then 2 each; twice. */
static void filters_are_mapped(void)
{
	struct starpu_data_filter f[3] = {
		{.filter_func = starpu_vector_filter_block, .nchildren = 2},
		{.filter_func = starpu_vector_filter_block, .nchildren = 3},
		{.filter_func = starpu_vector_filter_block, .nchildren = 2}};
	struct starpu_data_filter *each[3] = {&f[0], &f[1], &f[2]};
	starpu_data_handle_t whole;
	int x[N];

	start();
	memset(x, 0, sizeof(x));
	whole = vector(x, N);
	for (int round = 0; round < 3; round++) {
		if (round == 0)
			starpu_data_map_filters(whole, 3, &f[0], &f[1], &f[2]);
		else if (round == 1)
			starpu_data_map_filters_parray(whole, 3, each);
		else
			starpu_data_map_filters_array(whole, 3, f);
		for (int i = 0; i < 12; i++)
			add_to(starpu_data_get_sub_data(whole, 3, i / 6, i / 2 % 3,
							i % 2),
			       i);
		starpu_data_unpartition(starpu_data_get_sub_data(whole, 1, 1),
					STARPU_MAIN_RAM);
		add_to(starpu_data_get_sub_data(whole, 1, 1), 100);
		starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	}
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], 3 * (i / 2 + (i >= N / 2 ? 100 : 0)));
	starpu_shutdown();
}

/* Memory that comes with the first use, of a vector without a home. */
static void homeless_data_are_partitioned(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 3};
	starpu_data_handle_t whole;
	int first = -1, last = -1;

	start();
	whole = vector(NULL, N);
	starpu_data_partition(whole, &f);
	for (int i = 0; i < 3; i++) {
		starpu_data_handle_t part = starpu_data_get_child(whole, (unsigned)i);

		starpu_data_acquire(part, STARPU_W);
		for (int k = 0; k < N / 3; k++)
			((int *)starpu_data_get_local_ptr(part))[k] = 100 * i + k;
		starpu_data_release(part);
		add_to(part, 5);
	}
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_acquire(whole, STARPU_R);
	first = ((int *)starpu_data_get_local_ptr(whole))[0];
	last = ((int *)starpu_data_get_local_ptr(whole))[N - 1];
	starpu_data_release(whole);
	CLAIM_EQ(first, 5);
	CLAIM_EQ(last, 200 + N / 3 - 1 + 5);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* An application's own: every other element cannot be, but pairs from both ends can. */
static void ends_filter(void *father_interface, void *child_interface,
			struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct starpu_vector_interface *father = father_interface,
				       *child = child_interface;
	unsigned nx = father->nx / nparts, at = (nparts - 1 - id) * nx;

	(void)f;
	child->nx = nx;
	child->elemsize = father->elemsize;
	if (father->dev_handle) {
		if (father->ptr)
			child->ptr = father->ptr + at * father->elemsize;
		child->dev_handle = father->dev_handle;
		child->offset = father->offset + at * father->elemsize;
	}
}

static unsigned half(struct starpu_data_filter *f, starpu_data_handle_t handle)
{
	(void)f;
	return starpu_vector_get_nx(handle) / 2;
}

static void own_filters_are_called(void)
{
	struct starpu_data_filter f = {.filter_func = ends_filter, .get_nchildren = half};
	starpu_data_handle_t whole;
	int x[N];

	start();
	number(x, N);
	whole = vector(x, N);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(starpu_data_get_nb_children(whole), N / 2);
	for (int i = 0; i < N / 2; i++)
		add_to(starpu_data_get_child(whole, (unsigned)i), 100 * i);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int i = 0; i < N; i++)
		CLAIM_EQ(x[i], i + 100 * (N / 2 - 1 - i / 2));
	starpu_shutdown();
}

static void parts_inherit(void)
{
	struct starpu_data_filter f = {.filter_func = starpu_vector_filter_block,
				       .nchildren = 4};
	int x[N] = {0}, at[5] = {0};
	starpu_data_handle_t whole;

	start();
	whole = vector(x, N);
	starpu_data_set_coordinates(whole, 2, 7, 8);
	starpu_data_set_sequential_consistency_flag(whole, 0);
	starpu_data_partition(whole, &f);
	CLAIM_EQ(
		starpu_data_get_coordinates_array(starpu_data_get_child(whole, 3), 5, at),
		3);
	CLAIM_EQ(at[0], 7);
	CLAIM_EQ(at[2], 3);
	CLAIM_EQ(starpu_data_get_sequential_consistency_flag(
			 starpu_data_get_child(whole, 1)),
		 0);
	starpu_data_set_sequential_consistency_flag(whole, 1);
	CLAIM_EQ(starpu_data_get_sequential_consistency_flag(
			 starpu_data_get_child(whole, 1)),
		 1);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	starpu_shutdown();
}

/* Parts of another interface than the parent's, on columns that are apart. */
static void columns_are_vectors(void)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_matrix_filter_pick_vector_y,
		.nchildren = 3,
		.get_child_ops = starpu_matrix_filter_pick_vector_child_ops};
	starpu_data_handle_t whole;
	int x[3][4];

	start();
	memset(x, 0, sizeof(x));
	starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)x, 4, 2, 3,
				    sizeof(int));
	starpu_data_partition(whole, &f);
	for (int i = 0; i < 3; i++)
		add_to(starpu_data_get_child(whole, (unsigned)i), i + 1);
	starpu_data_unpartition(whole, STARPU_MAIN_RAM);
	starpu_data_unregister(whole);
	for (int j = 0; j < 3; j++)
		for (int i = 0; i < 4; i++)
			CLAIM_EQ(x[j][i], i < 2 ? j + 1 : 0);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"parts of a vector are in place", parts_are_in_place},
	{"filters are mapped level by level", filters_are_mapped},
	{"data without a home are partitioned", homeless_data_are_partitioned},
	{"own filters are called", own_filters_are_called},
	{"parts inherit", parts_inherit},
	{"columns of a matrix are vectors", columns_are_vectors},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
