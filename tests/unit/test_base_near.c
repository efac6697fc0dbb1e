/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/near.h"

enum { MOST_BYTES = (NEAR_MOST_LINES + 8) * ORR_LINE_BYTES };

static void starts_a_line_and_is_reused(void **state)
{
	struct near near = {0};
	char *a = near_get(&near, 200), *b = near_get(&near, 64);

	(void)state;
	assert_int_equal((uintptr_t)a % ORR_LINE_BYTES, 0);
	assert_ptr_equal(b, a + 256);
	near_put(&near, a, 200);
	assert_ptr_equal(near_get(&near, 193), a);
	near_put(&near, NULL, 0);
	near_free(&near);
	assert_null(near.blocks);
}

struct object {
	unsigned char *at, value;
	size_t bytes;
};

static void check(const struct object *object)
{
	for (size_t i = 0; i < object->bytes; i++)
		assert_int_equal(object->at[i], object->value);
}

/* Objects of all sizes, to beyond the last block's size: none is written to by another.
 */
static void none_overlaps(void **state)
{
	enum { N = 3000, STEPS = 12000 };
	struct near near = {0};
	struct object *objects = orr_alloc(N * sizeof(*objects));
	unsigned seed = 11;

	(void)state;
	for (int step = 0; step < STEPS + N; step++) {
		struct object *object =
			&objects[step < STEPS ? rand_r(&seed) % N : step - STEPS];

		if (object->at) {
			check(object);
			near_put(&near, object->at, object->bytes);
			object->at = NULL;
		} else if (step < STEPS) {
			object->bytes = 1 + (size_t)rand_r(&seed) % MOST_BYTES;
			object->value = (unsigned char)rand_r(&seed);
			object->at = near_get(&near, object->bytes);
			memset(object->at, object->value, object->bytes);
		}
	}
	near_free(&near);
	free(objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_a_line_and_is_reused),
		cmocka_unit_test(none_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
