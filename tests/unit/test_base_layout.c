/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/layout.h"

enum { MAX_NDIM = 5, MAX_BYTES = 1 << 14 };

/* An array of the program's: count elements each, ld elements apart; ld[0] is 1. */
struct array {
	int ndim;
	size_t element_bytes, count[MAX_NDIM], ld[MAX_NDIM];
};

static struct layout layout_of(const struct array *array, void *base)
{
	struct layout layout;

	layout_flat(&layout, base, array->element_bytes);
	for (int i = 0; i < array->ndim; i++)
		assert_int_equal(layout_repeat(&layout, array->count[i],
					       array->ld[i] * array->element_bytes),
				 0);
	return layout;
}

/* The oracle: where byte number i of the value lies. */
static size_t place_of(const struct array *array, size_t i)
{
	size_t place = i % array->element_bytes;

	i /= array->element_bytes;
	for (int k = 0; k < array->ndim; k++) {
		place += i % array->count[k] * array->ld[k] * array->element_bytes;
		i /= array->count[k];
	}
	return place;
}

static size_t bytes_of(const struct array *array)
{
	size_t bytes = array->element_bytes;

	for (int i = 0; i < array->ndim; i++)
		bytes *= array->count[i];
	return bytes;
}

static unsigned char byte_of(size_t i)
{
	return (unsigned char)(i * 7 + i / 251 + 1);
}

/* Gathered, scattered and cut as the oracle says; nothing else is touched. */
static void check(const struct array *array)
{
	static unsigned char memory[MAX_BYTES], flat[MAX_BYTES], wanted[MAX_BYTES];
	struct layout layout = layout_of(array, memory);
	size_t bytes = bytes_of(array);

	assert_int_equal(layout_bytes(&layout), bytes);
	assert_true(layout_extent_bytes(&layout) <= MAX_BYTES);
	memset(memory, 0xee, sizeof(memory));
	memset(wanted, 0xee, sizeof(wanted));
	for (size_t i = 0; i < bytes; i++) {
		flat[i] = byte_of(i);
		wanted[place_of(array, i)] = byte_of(i);
	}
	layout_scatter(&layout, flat);
	assert_memory_equal(memory, wanted, sizeof(memory));
	memset(flat, 0, sizeof(flat));
	layout_gather(flat, &layout);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(flat[i], byte_of(i));
	assert_int_equal(flat[bytes], 0);
}

static void check_cut(const struct array *array, size_t from, size_t bytes)
{
	static unsigned char memory[MAX_BYTES], flat[MAX_BYTES];
	struct layout layout = layout_of(array, memory), parts[LAYOUT_MAX_PARTS];
	int nparts = layout_cut(&layout, from, bytes, parts);
	size_t done = 0;

	for (size_t i = 0; i < bytes_of(array); i++)
		memory[place_of(array, i)] = byte_of(i);
	assert_true(nparts <= 2 * layout.ndims + 1);
	for (int i = 0; i < nparts; i++) {
		assert_true(layout_bytes(&parts[i]) > 0);
		layout_gather(flat + done, &parts[i]);
		done += layout_bytes(&parts[i]);
	}
	assert_int_equal(done, bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(flat[i], byte_of(from + i));
}

static const struct array arrays[] = {
	{0, 8, {0}, {0}},
	{0, 1, {0}, {0}},
	{1, 4, {10}, {1}},
	{1, 4, {1}, {1}},
	{2, 8, {5, 7}, {1, 9}},
	{2, 8, {5, 7}, {1, 5}},
	{3, 4, {3, 4, 5}, {1, 6, 40}},
	{3, 4, {3, 4, 5}, {1, 3, 40}},
	{3, 4, {3, 4, 5}, {1, 6, 24}},
	{4, 2, {3, 2, 3, 4}, {1, 4, 11, 50}},
	{5, 1, {3, 2, 3, 2, 4}, {1, 4, 11, 50, 200}},
	{5, 8, {2, 2, 1, 2, 2}, {1, 3, 100, 11, 50}},
	{5, 3, {2, 2, 0, 2, 2}, {1, 3, 7, 11, 50}},
};

static void values_of_0_to_5_dimensions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		check(&arrays[i]);
}

static void every_range_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		size_t bytes = bytes_of(&arrays[i]);

		for (size_t from = 0; from <= bytes; from++)
			for (size_t to = from; to <= bytes; to++)
				check_cut(&arrays[i], from, to - from);
	}
}

static void what_is_contiguous_is_one_block(void **state)
{
	const struct array whole = {4, 8, {3, 4, 1, 5}, {1, 3, 12, 12}};
	const struct array planes = {3, 8, {3, 4, 5}, {1, 3, 20}};
	const struct array columns = {3, 8, {3, 4, 5}, {1, 7, 28}};
	struct layout layout = layout_of(&whole, NULL);

	(void)state;
	assert_true(layout_is_flat(&layout));
	assert_int_equal(layout.block_bytes, 8 * 60);
	layout = layout_of(&planes, NULL);
	assert_int_equal(layout.ndims, 1);
	assert_int_equal(layout.block_bytes, 8 * 12);
	layout = layout_of(&columns, NULL);
	assert_int_equal(layout.ndims, 1);
	assert_int_equal(layout.dims[0].count, 20);
}

static void too_many_dimensions_are_refused(void **state)
{
	struct layout layout;

	(void)state;
	layout_flat(&layout, NULL, 1);
	for (size_t i = 0, stride = 3; i < LAYOUT_MAX_DIMS; i++, stride *= 3)
		assert_int_equal(layout_repeat(&layout, 2, stride), 0);
	assert_int_equal(layout_repeat(&layout, 1, 12345), 0);
	assert_int_equal(layout_repeat(&layout, 2, 12345), -E2BIG);
	assert_int_equal(layout_bytes(&layout), 1 << LAYOUT_MAX_DIMS);
}

static void what_does_not_exist_is_not_copied(void **state)
{
	char bytes[4] = {1, 2, 3, 4};
	struct layout none, some;

	(void)state;
	layout_flat(&none, NULL, 4);
	layout_flat(&some, bytes, 4);
	layout_copy(&none, &some);
	layout_copy(&some, &none);
	layout_scatter(&some, NULL);
	layout_gather(NULL, &some);
	assert_int_equal(bytes[3], 4);
}

/* ---- random ---------------------------------------------------------- */

static uint32_t state_of_random;

static size_t random_below(size_t n)
{
	state_of_random = state_of_random * 1664525u + 1013904223u;
	return (state_of_random >> 8) % n;
}

/* Any number of dimensions, gaps behind some of them. */
static struct array random_array(void)
{
	struct array array = {.ndim = (int)random_below(MAX_NDIM + 1),
			      .element_bytes = 1 + random_below(9)};
	size_t ld = 1;

	for (int i = 0; i < array.ndim; i++) {
		array.count[i] = 1 + random_below(4);
		array.ld[i] = ld;
		ld = ld * array.count[i] + (random_below(2) ? random_below(3) : 0);
	}
	return array;
}

static void random_arrays(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 3000; seed++) {
		struct array array;
		size_t bytes, from;

		state_of_random = seed;
		array = random_array();
		if (array.ndim &&
		    array.ld[array.ndim - 1] * 4 * array.element_bytes >= MAX_BYTES)
			continue;
		bytes = bytes_of(&array);
		from = random_below(bytes + 1);
		check(&array);
		check_cut(&array, from, random_below(bytes - from + 1));
	}
}

/* Between two arrays of the same number of bytes, in other dimensions. */
static void layouts_may_differ(void **state)
{
	static unsigned char left[MAX_BYTES], right[MAX_BYTES];
	const struct array pairs[][2] = {
		{{2, 4, {6, 10}, {1, 8}}, {3, 8, {2, 3, 5}, {1, 3, 10}}},
		{{4, 3, {2, 4, 3, 5}, {1, 3, 13, 40}}, {1, 1, {360}, {1}}},
		{{5, 2, {3, 2, 2, 3, 2}, {1, 4, 9, 20, 70}}, {2, 9, {4, 4}, {1, 5}}},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
		struct layout from = layout_of(&pairs[k][0], left);
		struct layout to = layout_of(&pairs[k][1], right);

		for (size_t i = 0; i < bytes_of(&pairs[k][0]); i++)
			left[place_of(&pairs[k][0], i)] = byte_of(i);
		layout_copy(&to, &from);
		for (size_t i = 0; i < bytes_of(&pairs[k][1]); i++)
			assert_int_equal(right[place_of(&pairs[k][1], i)], byte_of(i));
	}
}

static void copy_row(void *arg, char *to, const char *from, size_t bytes)
{
	memcpy(to, from, bytes);
	*(size_t *)arg += bytes;
}

/* Rows of a part of two values are that part of both. */
static void parts_of_two(void **state)
{
	static unsigned char left[MAX_BYTES], right[MAX_BYTES];
	const struct array apart = {3, 2, {3, 2, 4}, {1, 5, 12}};
	const struct array other = {2, 4, {3, 4}, {1, 5}};
	struct layout from = layout_of(&apart, left), to = layout_of(&other, right);
	size_t all = bytes_of(&apart);

	(void)state;
	assert_int_equal(all, bytes_of(&other));
	for (size_t i = 0; i < all; i++)
		left[place_of(&apart, i)] = byte_of(i);
	for (size_t at = 0; at < all; at++) {
		assert_ptr_equal(layout_address(&from, at), left + place_of(&apart, at));
		for (size_t n = 0; n <= all - at; n++) {
			size_t nseen = 0;

			memset(right, 0, sizeof(right));
			layout_each_row_of(&to, &from, at, n, copy_row, &nseen);
			assert_int_equal(nseen, n);
			for (size_t i = 0; i < all; i++)
				assert_int_equal(right[place_of(&other, i)],
						 i >= at && i < at + n ? byte_of(i) : 0);
		}
	}
}

static void some_ascend(void **state)
{
	const struct array ascends = {3, 2, {3, 2, 4}, {1, 5, 12}};
	const struct array turned = {2, 2, {4, 3}, {5, 1}};
	const struct array meets = {2, 2, {3, 2}, {2, 4}};
	struct layout layout;

	(void)state;
	layout = layout_of(&ascends, NULL);
	assert_true(layout_ascends(&layout));
	layout = layout_of(&turned, NULL);
	assert_false(layout_ascends(&layout));
	layout = layout_of(&meets, NULL); /* The last of one is the first of the next. */
	assert_false(layout_ascends(&layout));
	layout_flat(&layout, NULL, 7);
	assert_true(layout_ascends(&layout));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_0_to_5_dimensions),
		cmocka_unit_test(every_range_is_cut),
		cmocka_unit_test(what_is_contiguous_is_one_block),
		cmocka_unit_test(too_many_dimensions_are_refused),
		cmocka_unit_test(what_does_not_exist_is_not_copied),
		cmocka_unit_test(random_arrays),
		cmocka_unit_test(layouts_may_differ),
		cmocka_unit_test(parts_of_two),
		cmocka_unit_test(some_ascend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
