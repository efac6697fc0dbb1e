/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/place.h"

/* Numbers a and c of each of three structs of 4 bytes, the structs from the last on. */
static struct place *members_backwards(void)
{
	struct place *one = place_members(2);

	place_set(one, 0, 0, place_block(1));
	place_set(one, 1, 2, place_block(1));
	return place_repeat(one, 3, -4);
}

static void bytes_come_in_the_order_of_the_tree(void **state)
{
	char value[12] = "aXcXdXfXgXi", row[6], back[12];
	struct place *place = members_backwards();
	struct layout layout;

	(void)state;
	assert_int_equal(place_bytes(place), 6);
	place_gather(row, place, value + 8);
	assert_memory_equal(row, "gidfac", 6);
	memset(back, '-', sizeof(back));
	place_scatter(place, back + 8, row);
	assert_memory_equal(back, "a-c-d-f-g-i-", 12);
	assert_int_equal(place_layout(place, value + 8, &layout), -E2BIG);
	place_free(place);
}

static void strides_are_a_layout(void **state)
{
	char cells[64];
	struct place *rows = place_repeat(place_block(2), 4, 2), *all;
	struct layout layout;

	(void)state;
	/* 4 times 2 bytes in a row are 8. */
	assert_int_equal(place_layout(rows, cells, &layout), 0);
	assert_true(layout_is_flat(&layout));
	assert_int_equal(layout_bytes(&layout), 8);
	all = place_members(1);
	place_set(all, 0, 3, place_repeat(rows, 5, 10));
	assert_int_equal(place_layout(all, cells, &layout), 0);
	assert_ptr_equal(layout.base, cells + 3);
	assert_int_equal(layout.ndims, 1);
	assert_int_equal(layout_bytes(&layout), 40);
	assert_int_equal(place_bytes(all), 40);
	place_free(all);
	/* What overlaps is none. */
	all = place_repeat(place_block(8), 2, 4);
	assert_int_equal(place_layout(all, cells, &layout), -E2BIG);
	place_free(all);
}

static void one_member_may_be_used_often(void **state)
{
	struct place *inner = place_repeat(place_block(1), 2, 3), *all = place_members(3);
	char value[] = "a..b.c..d.e..f", row[6];

	(void)state;
	for (int i = 0; i < 3; i++)
		place_set(all, (size_t)i, 5 * i, i ? place_hold(inner) : inner);
	place_gather(row, all, value);
	assert_memory_equal(row, "abcdef", 6);
	place_free(all);
}

/* What lies from 8 on has moved by 100. */
static ptrdiff_t later_ones(void *arg, ptrdiff_t at)
{
	(*(int *)arg)++;
	return at >= 8 ? 100 : 0;
}

static void blocks_move_by_their_offsets(void **state)
{
	struct place *all = place_members(2), *inner = place_members(2), *moved;
	char value[128] = "ab", row[8];
	int ncalls = 0;

	(void)state;
	place_set(inner, 0, 0, place_repeat(place_block(1), 2, 2));
	place_set(inner, 1, 8, place_block(2));
	place_set(all, 0, 0, place_block(2));
	place_set(all, 1, 4, inner);
	moved = place_shifted(all, later_ones, &ncalls);
	place_free(all);
	assert_int_equal(ncalls, 5);
	assert_int_equal(place_bytes(moved), 6);
	value[4] = 'c';
	value[6] = 'd';
	memcpy(value + 112, "ef", 2);
	place_gather(row, moved, value);
	assert_memory_equal(row, "abcdef", 6);
	place_free(moved);
}

static void spans_reach_from_the_first_byte_to_the_last(void **state)
{
	struct place *all = place_members(2);
	struct place_range span = {0, 0}, some = {0, 0}, few = {0, 0};
	struct place_range first = {-13, -10}, least = {-13, -12};

	(void)state;
	place_set(all, 0, 4, place_repeat(place_block(3), 3, 10));
	place_set(all, 1, -5, place_repeat(place_repeat(place_block(1), 2, 2), 2, -8));
	place_span(all, 0, NULL, &span);
	assert_int_equal(span.from, -13);
	assert_int_equal(span.to, 27);
	/* The two bytes of the second row do not count, or one of them. */
	place_span(all, 0, &first, &some);
	assert_int_equal(some.from, -5);
	assert_int_equal(some.to, 27);
	place_span(all, 0, &least, &few);
	assert_int_equal(few.from, -11);
	place_free(all);
}

static void nothing_is_no_bytes(void **state)
{
	struct place *place = place_repeat(place_block(3), 0, 8);
	struct place_range span = {0, 0};
	struct layout layout;

	(void)state;
	assert_int_equal(place_bytes(place), 0);
	place_span(place, 0, NULL, &span);
	assert_int_equal(span.to - span.from, 0);
	assert_int_equal(place_layout(place, NULL, &layout), 0);
	assert_int_equal(layout_bytes(&layout), 0);
	place_free(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_in_the_order_of_the_tree),
		cmocka_unit_test(strides_are_a_layout),
		cmocka_unit_test(one_member_may_be_used_often),
		cmocka_unit_test(blocks_move_by_their_offsets),
		cmocka_unit_test(spans_reach_from_the_first_byte_to_the_last),
		cmocka_unit_test(nothing_is_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
