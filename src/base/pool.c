/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/pool.h"

#include <stdlib.h>

#include "base/check.h"

enum { POOL_FIRST_OBJECTS = 4, POOL_CHUNK_BYTES = 65536, POOL_ALIGN = 16 };

void pool_init(struct pool *pool, size_t object_bytes)
{
	size_t bytes = (object_bytes + POOL_ALIGN - 1) & ~(size_t)(POOL_ALIGN - 1);

	*pool = (struct pool){.object_bytes = bytes};
}

void pool_free(struct pool *pool)
{
	void **chunk = pool->chunks;

	while (chunk) {
		void **next = *chunk;

		free(chunk);
		chunk = next;
	}
	pool_init(pool, pool->object_bytes);
}

void *pool_refill(struct pool *pool)
{
	char *object;

	if (pool->nfresh == 0) {
		size_t n = pool->nlast ? 2 * pool->nlast : POOL_FIRST_OBJECTS;
		void **chunk;

		if (n * pool->object_bytes > POOL_CHUNK_BYTES && pool->nlast)
			n = pool->nlast;
		chunk = orr_alloc(POOL_ALIGN + n * pool->object_bytes);
		*chunk = pool->chunks;
		pool->chunks = chunk;
		pool->fresh = (char *)chunk + POOL_ALIGN;
		pool->nfresh = pool->nlast = n;
	}
	object = pool->fresh;
	pool->fresh += pool->object_bytes;
	pool->nfresh--;
	return object;
}
