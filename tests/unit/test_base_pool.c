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
#include "base/pool.h"

/* Objects that overlap would spoil each other's mark. */
static void objects_are_distinct(void **state)
{
	enum { N = 3000 };
	static const size_t sizes[] = {8, 24, 100, 5000, 100000};

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		int n = sizes[s] > 1000 ? 50 : N;
		unsigned char **objects = orr_alloc((size_t)n * sizeof(*objects));
		struct pool pool;

		pool_init(&pool, sizes[s]);
		for (int i = 0; i < n; i++) {
			objects[i] = pool_get(&pool);
			assert_int_equal((uintptr_t)objects[i] % 16, 0);
			memset(objects[i], i % 251, sizes[s]);
		}
		for (int i = 0; i < n; i++) {
			assert_int_equal(objects[i][0], i % 251);
			assert_int_equal(objects[i][sizes[s] - 1], i % 251);
		}
		pool_free(&pool);
		free(objects);
	}
}

static void the_last_given_back_comes_first(void **state)
{
	struct pool pool;
	void *a, *b;

	(void)state;
	pool_init(&pool, 40);
	a = pool_get(&pool);
	b = pool_get(&pool);
	pool_put(&pool, a);
	pool_put(&pool, b);
	assert_ptr_equal(pool_get(&pool), b);
	assert_ptr_equal(pool_get(&pool), a);
	pool_free(&pool);
}

/* A pool in use does not grow when as much is given back as is taken. */
static void reuse_needs_no_memory(void **state)
{
	struct pool pool;
	void *chunks;

	(void)state;
	pool_init(&pool, 64);
	for (int i = 0; i < 100; i++)
		pool_put(&pool, pool_get(&pool));
	chunks = pool.chunks;
	for (int i = 0; i < 10000; i++)
		pool_put(&pool, pool_get(&pool));
	assert_ptr_equal(pool.chunks, chunks);
	pool_free(&pool);
}

static void a_freed_pool_can_be_used_again(void **state)
{
	struct pool pool;

	(void)state;
	pool_init(&pool, 10);
	assert_non_null(pool_get(&pool));
	pool_free(&pool);
	assert_non_null(pool_get(&pool));
	pool_free(&pool);
	pool_free(&pool);
}

/* Each object of a store's chunks has a word of its own, and memory comes back. */
static void objects_of_a_store_have_words(void **state)
{
	enum { N = 5000 };
	static const size_t sizes[] = {64, 96, 192, 40000};
	static struct chunk_store store;

	(void)state;
	for (size_t s = 0; s < 8; s++) {
		size_t bytes = sizes[s % 4];
		unsigned n = bytes > 1000 ? 50 : N;
		unsigned char **objects = orr_alloc(n * sizeof(*objects));
		struct pool pool;

		pool_init_stored(&pool, bytes, &store);
		for (unsigned i = 0; i < n; i++) {
			objects[i] = pool_get(&pool);
			assert_int_equal((uintptr_t)objects[i] % 64, 0);
			*chunk_word(objects[i]) = (uint16_t)i;
			memset(objects[i], i % 251, bytes);
		}
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(*chunk_word(objects[i]), i);
			assert_int_equal(objects[i][0], i % 251);
			assert_int_equal(objects[i][bytes - 1], i % 251);
		}
		pool_free(&pool);
		free(objects);
	}
	assert_null(*(void **)store.regions); /* One was enough for all eight. */
	chunk_store_free(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_distinct),
		cmocka_unit_test(the_last_given_back_comes_first),
		cmocka_unit_test(reuse_needs_no_memory),
		cmocka_unit_test(a_freed_pool_can_be_used_again),
		cmocka_unit_test(objects_of_a_store_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
