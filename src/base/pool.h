/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_POOL_H
#define ORR_BASE_POOL_H

/*
 * pool.h - objects of one size, carved from chunks, reused through a free list.
 *
 * Objects are not zeroed.  Large ones start a cache line.  Chunks double up to 64 KiB,
 * so a node that needs few objects pays little; they go back only in pool_free().  Not
 * locked.
 */
#include <stddef.h>

#include "base/chunks.h"

struct pool {
	size_t object_bytes;
	void *free_list; /* first word of a free object points to the next */
	void *chunks;
	char *fresh; /* not yet handed out, in the newest chunk */
	size_t nfresh, nlast;
	size_t align;
	struct chunk_store *store; /* source of chunks, or NULL: malloc */
	void *borrowed;            /* full-sized chunks of the store */
};

void pool_init(struct pool *pool, size_t object_bytes);
/* The same with chunks of a store, which outlives the pool; each object starts a line. */
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

static inline void *pool_get(struct pool *pool)
{
	void **object = pool->free_list;

	if (!object)
		return pool_refill(pool);
	pool->free_list = *object;
	__builtin_prefetch(pool->free_list, 1); /* the next one's first word */
	return object;
}

static inline void pool_put(struct pool *pool, void *object)
{
	*(void **)object = pool->free_list;
	pool->free_list = object;
}

#endif
