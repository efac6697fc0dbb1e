/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/ranks.h"

/* A letter x for each rank that is named. */
static int is_x(const void *arg, int rank)
{
	return ((const char *)arg)[rank] == 'x';
}

static int is_even(const void *arg, int rank)
{
	(void)arg;
	return rank % 2 == 0;
}

static void they_are_named(void **state)
{
	static const struct {
		const char *of, *text;
		int n;
	} cases[] = {
		{"--", "", 0},
		{"x-", "rank 0 (of 2)", 1},
		{"-x", "rank 1 (of 2)", 1},
		{"xx", "ranks 0, 1 (of 2)", 2},
		{"xxx", "ranks 0 to 2 (of 3)", 3},
		{"x--xxx--", "ranks 0, 3 to 5 (of 8)", 4},
		{"xx-xx-x", "ranks 0, 1, 3, 4, 6 (of 7)", 5},
		{"x", "rank 0 (of 1)", 1},
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ranks_name(text, sizeof(text), (int)strlen(cases[i].of),
					    is_x, cases[i].of),
				 cases[i].n);
		assert_string_equal(text, cases[i].text);
	}
}

/* Whatever the room: it ends as it should, and says how many are left out. */
static void many_have_no_room(void **state)
{
	char text[80];

	(void)state;
	assert_int_equal(ranks_name(text, sizeof(text), 200, is_even, NULL), 100);
	assert_string_equal(text, "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 92 more (of 200)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_named),
		cmocka_unit_test(many_have_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
