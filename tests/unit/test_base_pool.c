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

/* Many pools share the chunks of a store, and none has much more than it needs. */
static void pools_of_a_store_grow_slowly(void **state)
{
	enum { POOLS = 100, N = 300, BYTES = 200, ROOM = 256 };
	static struct chunk_store store = {.is_wordless = 1};
	struct pool *pools = orr_alloc(POOLS * sizeof(*pools));
	size_t nregions = 0, nchunks;

	(void)state;
	for (int p = 0; p < POOLS; p++)
		pool_init_in(&pools[p], p % 2 ? BYTES : 24, &store);
	for (int i = 0; i < N; i++)
		for (int p = 0; p < POOLS; p++) {
			unsigned char *object = pool_get(&pools[p]);

			assert_int_equal((uintptr_t)object % (p % 2 ? 64 : 8), 0);
			memset(object, p, p % 2 ? BYTES : 24);
		}
	for (int p = 0; p < POOLS; p++) {
		struct pool_cursor cursor = {0};
		const unsigned char *object;
		int n = 0;

		for (; (object = pool_next(&pools[p], &cursor)); n++) {
			for (int at = 0; at < 24; at++)
				assert_int_equal(object[at], p);
			assert_true(pool_has(&pools[p], object));
			assert_false(pool_has(&pools[(p + 2) % POOLS], object));
			assert_false(pool_has(&pools[p], object + 8));
		}
		assert_int_equal(n, N);
		assert_false(pool_has(&pools[p], pools[p].fresh));
	}
	for (void **at = store.regions; at; at = *at)
		nregions++;
	assert_int_equal(nregions, 1);
	nchunks = CHUNK_STORE_REGION_BYTES / CHUNK_STORE_CHUNK_BYTES - store.nfresh;
	assert_in_range(nchunks * CHUNK_STORE_CHUNK_BYTES, 0,
			POOLS / 2 * N * (ROOM + 32) * 13 / 10);
	for (int p = 0; p < POOLS; p++)
		pool_free(&pools[p]);
	chunk_store_free(&store);
	assert_int_equal(store.is_wordless, 1);
	free(pools);
}

/* What one pool gives back another one gets at once; what is large stays its own. */
static void pools_have_objects_in_common(void **state)
{
	static struct pool_commons commons = {.store.is_wordless = 1};
	struct pool one, other, larger, own;
	void *object, *large;

	(void)state;
	for (int round = 0; round < 2; round++) {
		pool_init_among(&one, 200, &commons);
		pool_init_among(&other, 250, &commons);
		pool_init_among(&larger, 2000, &commons);
		pool_init_among(&own, 200, NULL);
		object = pool_get(&one);
		assert_int_equal((uintptr_t)object % 64, 0);
		memset(object, 1, 256);
		pool_put(&one, object);
		assert_ptr_not_equal(pool_get(&own), object);
		assert_ptr_equal(pool_get(&other), object);
		large = pool_get(&larger);
		pool_put(&larger, large);
		assert_ptr_equal(pool_get(&larger), large);
		pool_put(&other, object);
		pool_free(&one);
		assert_ptr_equal(pool_get(&other), object);
		pool_free(&other);
		pool_free(&larger);
		pool_free(&own);
		pool_commons_free(&commons); /* with what is out */
		assert_null(commons.store.regions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_distinct),
		cmocka_unit_test(pools_of_a_store_grow_slowly),
		cmocka_unit_test(pools_have_objects_in_common),
		cmocka_unit_test(the_last_given_back_comes_first),
		cmocka_unit_test(reuse_needs_no_memory),
		cmocka_unit_test(a_freed_pool_can_be_used_again),
		cmocka_unit_test(objects_of_a_store_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
