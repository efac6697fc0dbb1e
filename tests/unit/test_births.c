/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/births.h"
#include "mpi/comm.h"

/* Two ranks have other values for the same communicators. */
enum { ALL = 1, ON_ONE = 10, ON_OTHER = 20 };

static void members_agree_whatever_they_ask_first(void **state)
{
	struct births one = {0}, other = {0};
	uint64_t numbers[4];

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		births_note(&one, ALL, ALL, ON_ONE + i);
	births_note(&one, ALL, ON_ONE + 1, ON_ONE + 3);
	for (uint64_t i = 0; i < 3; i++)
		births_note(&other, ALL, ALL, i == 1 ? ON_OTHER + i : ON_OTHER + 8);
	births_note(&other, ALL, ON_OTHER + 1, ON_OTHER + 3);
	for (uint64_t i = 0; i < 4; i++)
		numbers[i] = births_number(&one, ON_ONE + i);
	assert_int_equal(births_number(&other, ON_OTHER + 3), numbers[3]);
	assert_int_equal(births_number(&other, ON_OTHER + 1), numbers[1]);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(numbers[i], numbers[k]);
	assert_int_equal(births_number(&one, ALL), 0);
	births_free(&one);
	births_free(&other);
}

/* Who gets none of a split counts it; who is no member is not asked. */
static void a_split_counts_for_all(void **state)
{
	struct births one = {0}, other = {0};

	(void)state;
	births_note(&one, ALL, ALL, 0);
	births_note(&one, ALL, ALL, ON_ONE);
	births_note(&other, ALL, ALL, ON_OTHER + 1);
	births_note(&other, ALL, ON_OTHER + 1, ON_OTHER + 2);
	births_note(&other, ALL, ALL, ON_OTHER);
	assert_int_equal(births_number(&one, ON_ONE), births_number(&other, ON_OTHER));
	births_free(&one);
	births_free(&other);
}

static void values_come_again(void **state)
{
	struct births births = {0};
	uint64_t first;

	(void)state;
	births_note(&births, ALL, ALL, ON_ONE);
	first = births_number(&births, ON_ONE);
	assert_int_not_equal(first, 0);
	births_end(&births, ON_ONE);
	assert_true(births_has_ended(&births, ON_ONE));
	assert_int_equal(births_number(&births, ON_ONE), 0);
	births_note(&births, ALL, ALL, ON_ONE);
	assert_false(births_has_ended(&births, ON_ONE));
	assert_int_not_equal(births_number(&births, ON_ONE), first);
	births_end(&births, ON_ONE);
	births_note_unknown(&births, ON_ONE);
	assert_false(births_has_ended(&births, ON_ONE));
	/* Its children are unknown, too. */
	births_note(&births, ALL, ON_ONE, ON_ONE + 1);
	assert_int_equal(births_number(&births, ON_ONE + 1), 0);
	births_free(&births);
}

/* What a rank registers first does not matter, where the births are known. */
static void ids_depend_on_births(void **state)
{
	const uint64_t births[2] = {7, 9};
	struct comm_table one, other;

	(void)state;
	comm_table_init(&one);
	comm_table_init(&other);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(comm_add(&one, 0, 2, NULL, births[i]), i);
		assert_int_equal(comm_add(&other, 1, 2, NULL, births[1 - i]), i);
	}
	assert_int_equal(comm_at(&one, 0)->id, comm_at(&other, 1)->id);
	assert_int_equal(comm_at(&one, 1)->id, comm_at(&other, 0)->id);
	assert_int_not_equal(comm_at(&one, 0)->id, comm_at(&one, 1)->id);
	/* Otherwise the first of one is the first of the other. */
	assert_int_equal(comm_add(&one, 0, 2, NULL, 0), 2);
	assert_int_equal(comm_add(&other, 1, 2, NULL, 0), 2);
	assert_int_equal(comm_at(&one, 2)->id, comm_at(&other, 2)->id);
	comm_table_free(&one);
	comm_table_free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_agree_whatever_they_ask_first),
		cmocka_unit_test(a_split_counts_for_all),
		cmocka_unit_test(values_come_again),
		cmocka_unit_test(ids_depend_on_births),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
