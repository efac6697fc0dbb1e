/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mpi/store.h"

enum { NBLOCKS = 200, LARGE = 1 << 20 };

static void get_all(struct store *store, unsigned char **blocks, size_t bytes)
{
	for (int i = 0; i < NBLOCKS; i++) {
		blocks[i] = store_get(store, bytes);
		assert_non_null(blocks[i]);
		memset(blocks[i], i % 251, bytes);
	}
}

static void put_all(struct store *store, unsigned char **blocks, size_t bytes)
{
	for (int i = 0; i < NBLOCKS; i++) {
		assert_int_equal(blocks[i][0], i % 251);
		assert_int_equal(blocks[i][bytes - 1], i % 251);
		store_put(store, blocks[i], bytes);
	}
}

static void blocks_are_distinct_and_come_again(void **state)
{
	unsigned char *blocks[NBLOCKS], *again;
	struct store store = {0};

	(void)state;
	for (size_t bytes = 1; bytes < 100000; bytes = 3 * bytes + 1) {
		get_all(&store, blocks, bytes);
		put_all(&store, blocks, bytes);
	}
	again = store_get(&store, 40);
	store_put(&store, again, 40);
	assert_ptr_equal(store_get(&store, 64), again);
	store_put(&store, again, 64);
	store_free(&store);
}

/* Of another size, spares are of no use: they make room. */
static void all_are_not_more_than_were_in_use(void **state)
{
	unsigned char *blocks[NBLOCKS];
	struct store store = {0};

	(void)state;
	for (size_t bytes = 9000; bytes > 0; bytes -= 500) {
		get_all(&store, blocks, bytes);
		assert_true(store.used_bytes >= NBLOCKS * bytes);
		assert_true(store.used_bytes + store.spare_bytes <= store.most_bytes);
		put_all(&store, blocks, bytes);
		assert_int_equal(store.used_bytes, 0);
		assert_true(store.spare_bytes <= store.most_bytes);
	}
	assert_true(store.most_bytes <= NBLOCKS * (9000 + 64));
	store_free(&store);
	assert_int_equal(store.spare_bytes, 0);
}

static void large_ones_are_not_kept(void **state)
{
	struct store store = {0};
	char *block = store_get(&store, LARGE);

	(void)state;
	assert_non_null(block);
	memset(block, 1, LARGE);
	store_put(&store, block, LARGE);
	assert_int_equal(store.used_bytes + store.spare_bytes, 0);
	assert_null(store_get(&store, SIZE_MAX / 2));
	store_free(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_distinct_and_come_again),
		cmocka_unit_test(all_are_not_more_than_were_in_use),
		cmocka_unit_test(large_ones_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
