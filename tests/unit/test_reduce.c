/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* The root of a group of a reduction between nodes: all ranks must choose alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mpi/reduce.h"

static const int ranks[] = {2, 3, 5, 8};

static void the_owner_is_the_root(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		for (int tag = 0; tag < 9; tag++)
			assert_int_equal(reduce_root(ranks, 4, ranks[i], tag, 4), i);
}

static void elsewhere_the_tag_chooses(void **state)
{
	(void)state;
	assert_int_equal(reduce_root(ranks, 4, 7, 0, 4), 0);
	assert_int_equal(reduce_root(ranks, 4, 7, 6, 4), 2);
	assert_int_equal(reduce_root(ranks, 4, 7, INT64_MAX, 4), 3);
}

/* The last group may be short. */
static void or_the_first_when_there_is_none(void **state)
{
	(void)state;
	assert_int_equal(reduce_root(ranks, 2, 7, 3, 4), 0);
	assert_int_equal(reduce_root(ranks, 2, 7, 1, 4), 1);
	assert_int_equal(reduce_root(ranks, 1, 7, 1, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_owner_is_the_root),
		cmocka_unit_test(elsewhere_the_tag_chooses),
		cmocka_unit_test(or_the_first_when_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
