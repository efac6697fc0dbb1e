/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { POOL_FIRST_OBJECTS = 4 };
enum { POOL_ALIGN = 16, POOL_LINE = 64, POOL_LARGE = 128 };

void pool_init_in(struct pool *pool, size_t object_bytes, struct chunk_store *store)
{
	size_t align = object_bytes >= POOL_LARGE ? POOL_LINE : POOL_ALIGN;
	size_t bytes = (object_bytes + align - 1) & ~(align - 1);

	*pool = (struct pool){.object_bytes = bytes, .align = align, .store = store};
}

/* NULL: the object is not in common. */
static struct pool *common_of(struct pool_commons *commons, size_t bytes)
{
	size_t lines = (bytes + POOL_LINE - 1) / POOL_LINE;
	struct pool *common;

	if (!commons || lines > POOL_COMMON_LINES)
		return NULL;
	common = &commons->pools[lines];
	if (!common->object_bytes)
		pool_init_stored(common, bytes, &commons->store);
	return common;
}

void pool_init_among(struct pool *pool, size_t object_bytes, struct pool_commons *commons)
{
	pool_init_in(pool, object_bytes, commons ? &commons->store : NULL);
	pool->common = common_of(commons, object_bytes);
}

void *pool_commons_get(struct pool_commons *commons, size_t bytes)
{
	struct pool *common = common_of(commons, bytes);

	return common ? memset(pool_get(common), 0, bytes) : orr_alloc(bytes);
}

void pool_commons_put(struct pool_commons *commons, void *object, size_t bytes)
{
	struct pool *common = common_of(commons, bytes);

	if (!object)
		return;
	if (common)
		pool_put(common, object);
	else
		free(object);
}

void pool_commons_free(struct pool_commons *commons)
{
	memset(commons->pools, 0, sizeof(commons->pools));
	chunk_store_free(&commons->store);
}

void pool_init(struct pool *pool, size_t object_bytes)
{
	pool_init_in(pool, object_bytes, NULL);
}

void pool_init_stored(struct pool *pool, size_t object_bytes, struct chunk_store *store)
{
	size_t bytes = (object_bytes + POOL_LINE - 1) & ~((size_t)POOL_LINE - 1);

	*pool = (struct pool){.object_bytes = bytes, .align = POOL_LINE, .store = store};
}

/* What a chunk begins with; POOL_ALIGN bytes are enough for it. */
struct chunk_head {
	void *next;
	size_t nobjects;
};

_Static_assert(sizeof(struct chunk_head) <= POOL_ALIGN, "objects lie behind the head");
_Static_assert((int)POOL_LINE == (int)CHUNK_STORE_LINE_BYTES, "each has a word");

/* Whole lines, as pieces of a store are. */
static size_t chunk_bytes(const struct pool *pool, size_t nobjects)
{
	size_t bytes = pool->align + nobjects * pool->object_bytes;

	return (bytes + POOL_LINE - 1) & ~((size_t)POOL_LINE - 1);
}

/* In a chunk of the store. */
static size_t most_objects(const struct pool *pool)
{
	return (CHUNK_STORE_CHUNK_BYTES - pool->align) / pool->object_bytes;
}

/* Objects larger than such a chunk come from malloc(), as without a store. */
static int uses_pieces(const struct pool *pool)
{
	return pool->store && most_objects(pool) > 0;
}

void pool_free(struct pool *pool)
{
	struct chunk_head *chunk = pool->chunks, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		if (uses_pieces(pool))
			chunk_store_put_piece(pool->store, chunk,
					      chunk_bytes(pool, chunk->nobjects));
		else
			free(chunk);
	}
	for (chunk = pool->borrowed; chunk; chunk = next) {
		next = chunk->next;
		chunk_store_put(pool->store, chunk);
	}
	*pool = (struct pool){.common = pool->common,
			      .object_bytes = pool->object_bytes,
			      .align = pool->align,
			      .store = pool->store};
}

/* A chunk for n objects, or for as many as fit in one of the store's. */
static void **new_chunk(struct pool *pool, size_t *n)
{
	size_t most = most_objects(pool);
	void **chunk;

	if (uses_pieces(pool) && chunk_bytes(pool, *n) >= CHUNK_STORE_CHUNK_BYTES) {
		*n = most;
		chunk = chunk_store_get(pool->store);
		*chunk = pool->borrowed;
		pool->borrowed = chunk;
		return chunk;
	}
	if (uses_pieces(pool))
		chunk = chunk_store_get_piece(pool->store, chunk_bytes(pool, *n));
	else
		chunk = aligned_alloc(pool->align, chunk_bytes(pool, *n));
	if (!chunk)
		orr_die(ORR_NO_RANK, "out of memory: %zu objects of %zu bytes refused",
			*n, pool->object_bytes);
	*chunk = pool->chunks;
	pool->chunks = chunk;
	return chunk;
}

/* Pages of malloc()'s that nobody asks for are not there; in a store's huge pages all of
 * a chunk is, so of thousands of pools none may have much more than it needs. */
static size_t next_nobjects(const struct pool *pool)
{
	size_t last = pool->nlast;

	if (last == 0)
		return POOL_FIRST_OBJECTS;
	if (pool->store)
		return last + last / 8 + 1;
	return 2 * last * pool->object_bytes > CHUNK_STORE_CHUNK_BYTES ? last : 2 * last;
}

/* Nobody has seen the next one either. */
static void expect_fresh(const struct pool *pool)
{
	for (size_t at = 0; at < pool->object_bytes; at += POOL_LINE)
		orr_bring(pool->fresh + at);
}

void *pool_refill(struct pool *pool)
{
	char *object;

	if (pool->nfresh == 0) {
		size_t n = next_nobjects(pool);

		pool->fresh = (char *)new_chunk(pool, &n);
		((struct chunk_head *)(void *)pool->fresh)->nobjects = n;
		pool->fresh += pool->align;
		pool->nfresh = pool->nlast = n;
	}
	object = pool->fresh;
	pool->fresh += pool->object_bytes;
	if (--pool->nfresh > 0)
		expect_fresh(pool);
	return object;
}

static char *next_chunk(const struct pool *pool, struct pool_cursor *cursor)
{
	char *chunk = cursor->chunk ? ((struct chunk_head *)(void *)cursor->chunk)->next
				    : pool->chunks;

	if (!chunk && !cursor->borrowed) {
		cursor->borrowed = 1;
		chunk = pool->borrowed;
	}
	return chunk;
}

void *pool_next(const struct pool *pool, struct pool_cursor *cursor)
{
	char *object;

	if (pool->object_bytes == 0)
		return NULL;
	while (!cursor->chunk ||
	       cursor->next >= ((struct chunk_head *)(void *)cursor->chunk)->nobjects) {
		cursor->chunk = next_chunk(pool, cursor);
		cursor->next = 0;
		if (!cursor->chunk)
			return NULL;
	}
	object = cursor->chunk + pool->align + cursor->next++ * pool->object_bytes;
	if (pool->nfresh > 0 && object == pool->fresh) {
		/* The rest of this chunk has never been used. */
		cursor->next = ((struct chunk_head *)(void *)cursor->chunk)->nobjects;
		return pool_next(pool, cursor);
	}
	return object;
}

static int chunk_has(const struct pool *pool, const struct chunk_head *chunk,
		     uintptr_t object)
{
	uintptr_t first = (uintptr_t)chunk + pool->align;
	uintptr_t end = first + chunk->nobjects * pool->object_bytes;

	if (pool->nfresh > 0 && (uintptr_t)pool->fresh > first &&
	    (uintptr_t)pool->fresh < end)
		end = (uintptr_t)pool->fresh;
	return object >= first && object < end &&
	       (object - first) % pool->object_bytes == 0;
}

int pool_has(const struct pool *pool, const void *object)
{
	const struct chunk_head *chunk;

	if ((uintptr_t)object % POOL_ALIGN)
		return 0;
	if (pool->object_bytes >= POOL_LARGE && (uintptr_t)object % POOL_LINE)
		return 0;
	for (chunk = pool->chunks; chunk; chunk = chunk->next)
		if (chunk_has(pool, chunk, (uintptr_t)object))
			return 1;
	for (chunk = pool->borrowed; chunk; chunk = chunk->next)
		if (chunk_has(pool, chunk, (uintptr_t)object))
			return 1;
	return 0;
}
