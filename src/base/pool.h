/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_POOL_H
#define ORR_BASE_POOL_H

/*
 * pool.h - objects of one size, carved from chunks, reused through a free list.
 *
 * Objects are not zeroed.  Large ones start a cache line.  Chunks grow up to 64 KiB,
 * so a node that needs few objects pays little; they go back only in pool_free().  Not
 * locked, and neither is a store: pools of several locks have none in common.
 */
#include <stddef.h>

#include "base/check.h"
#include "base/chunks.h"

struct pool {
	struct pool *common; /* that has its objects, or NULL */
	size_t object_bytes;
	void *free_list; /* first word of a free object points to the next */
	void *chunks;
	char *fresh; /* not yet handed out, in the newest chunk */
	size_t nfresh, nlast;
	size_t align;
	struct chunk_store *store; /* source of chunks, or NULL: malloc */
	void *borrowed;            /* full-sized chunks of the store */
};

/*
 * Pools of many owners, in turns.  An object that one of them gives back is the next that
 * another one of its size gets, while it is in the cache.
 */
enum { POOL_COMMON_LINES = 16 }; /* larger objects are each pool's own */

struct pool_commons {
	struct chunk_store store;
	struct pool pools[POOL_COMMON_LINES + 1]; /* by the lines of an object */
};

/* A zeroed struct pool_commons has none.  The pools have been freed: what they had not
 * got back goes, too. */
void pool_commons_free(struct pool_commons *commons);

void pool_init(struct pool *pool, size_t object_bytes);
/* An object that is zeroed, for who has no pool; malloc()'s where commons is NULL. */
void *pool_commons_get(struct pool_commons *commons, size_t bytes);
/* bytes: as asked for. */
void pool_commons_put(struct pool_commons *commons, void *object, size_t bytes);

/* Among the others of commons, unless that is NULL; never walk over one. */
void pool_init_among(struct pool *pool, size_t object_bytes,
		     struct pool_commons *commons);
/* The same with chunks of a store, which outlives the pool, where there is one. */
void pool_init_in(struct pool *pool, size_t object_bytes, struct chunk_store *store);
/* The same where small objects start lines, too, for their words. */
void pool_init_stored(struct pool *pool, size_t object_bytes, struct chunk_store *store);
void pool_free(struct pool *pool);
void *pool_refill(struct pool *pool);

/*
 * Walk over all objects that were ever handed out, free ones too: start with a zeroed
 * cursor; NULL at the end.  Only the owner can tell which of them live.
 */
struct pool_cursor {
	int borrowed; /* in the second list of chunks */
	char *chunk;
	size_t next; /* in the chunk */
};

void *pool_next(const struct pool *pool, struct pool_cursor *cursor);
/* Was an object at this address ever handed out?  Looks at each chunk. */
int pool_has(const struct pool *pool, const void *object);

static inline void *pool_get(struct pool *pool)
{
	void **object;

	if (pool->common)
		pool = pool->common;
	object = pool->free_list;
	if (!object)
		return pool_refill(pool);
	pool->free_list = *object;
	orr_bring(pool->free_list); /* the next one's first word */
	return object;
}

static inline void pool_put(struct pool *pool, void *object)
{
	if (pool->common)
		pool = pool->common;
	*(void **)object = pool->free_list;
	pool->free_list = object;
}

#endif
