/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/table.h"

static void empty_has_nothing(void **state)
{
	struct table table = {0};
	size_t cursor = 0;

	(void)state;
	assert_null(table_get(&table, 0));
	assert_null(table_remove(&table, 0));
	assert_null(table_next(&table, &cursor));
	table_free(&table);
}

static void put_returns_the_previous(void **state)
{
	struct table table = {0};
	int a, b;

	(void)state;
	assert_null(table_put(&table, 0, &a));
	assert_null(table_put(&table, UINT64_MAX, &b));
	assert_ptr_equal(table_put(&table, 0, &b), &a);
	assert_ptr_equal(table_get(&table, 0), &b);
	assert_int_equal(table.count, 2);
	assert_ptr_equal(table_remove(&table, 0), &b);
	assert_null(table_get(&table, 0));
	assert_ptr_equal(table_get(&table, UINT64_MAX), &b);
	table_free(&table);
}

static void stays_three_quarters_full(void **state)
{
	struct table table = {0};
	int value;

	(void)state;
	for (uint64_t key = 0; key < 10000; key++) {
		table_put(&table, key << 32, &value);
		assert_true(4 * table.count <= 3 * (table.mask + 1));
	}
	table_free(&table);
}

static void walk_visits_each_once(void **state)
{
	enum { N = 1000 };
	struct table table = {0};
	int seen[N] = {0}, *value;
	size_t cursor = 0;

	(void)state;
	for (int i = 0; i < N; i++)
		table_put(&table, (uint64_t)i, &seen[i]);
	while ((value = table_next(&table, &cursor)))
		++*value;
	for (int i = 0; i < N; i++)
		assert_int_equal(seen[i], 1);
	table_free(&table);
}

/* A small range of keys, so that probing meets gaps and closes them. */
static void agrees_with_an_array(void **state)
{
	enum { N = 200, STEPS = 200000 };
	struct table table = {0};
	char values[N][2];
	void *reference[N] = {NULL};
	size_t count = 0;
	unsigned seed = 11;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		int key = rand_r(&seed) % N, which = rand_r(&seed) % 2;
		/* Waves of growth and of shrinking. */
		int removes = rand_r(&seed) % 100 < (step / 5000 % 2 ? 70 : 30);
		void *value = removes ? NULL : &values[key][which];
		void *old = removes ? table_remove(&table, (uint64_t)key)
				    : table_put(&table, (uint64_t)key, value);

		assert_ptr_equal(old, reference[key]);
		count += (value != NULL) - (size_t)(old != NULL);
		reference[key] = value;
		assert_int_equal(table.count, count);
		key = rand_r(&seed) % N;
		assert_ptr_equal(table_get(&table, (uint64_t)key), reference[key]);
	}
	table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_has_nothing),
		cmocka_unit_test(put_returns_the_previous),
		cmocka_unit_test(stays_three_quarters_full),
		cmocka_unit_test(walk_visits_each_once),
		cmocka_unit_test(agrees_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
