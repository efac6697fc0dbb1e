/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/chunks.h"

#include <sys/mman.h>

#include "base/check.h"

/* MADV_COLLAPSE, which older headers do not have; Linux before 6.1 refuses it, and
 * nothing hangs on it. */
enum { ADVICE_COLLAPSE = 25 };

/* A region begins with the words of its lines; those of the words themselves are free,
 * and the first is the link to the next region.  Without words a chunk has the link. */
enum {
	POPULATED_BYTES = 1 << 20,
	WORDS_BYTES =
		CHUNK_STORE_REGION_BYTES / CHUNK_STORE_LINE_BYTES * (int)sizeof(uint16_t),
	CHUNKS_OF_WORDS = WORDS_BYTES / CHUNK_STORE_CHUNK_BYTES,
	CHUNKS = CHUNK_STORE_REGION_BYTES / CHUNK_STORE_CHUNK_BYTES
};

_Static_assert(WORDS_BYTES % CHUNK_STORE_CHUNK_BYTES == 0, "chunks begin behind them");

/* A region is reserved with room to align it; only what is touched costs memory. */
static void new_region(struct chunk_store *store)
{
	size_t bytes = 2 * (size_t)CHUNK_STORE_REGION_BYTES;
	size_t nlost = store->is_wordless ? 1 : CHUNKS_OF_WORDS;
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t skip;

	if (base == MAP_FAILED)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	skip = (CHUNK_STORE_REGION_BYTES - (size_t)base % CHUNK_STORE_REGION_BYTES) %
	       CHUNK_STORE_REGION_BYTES;
	/* A program of one node fits in the first region: it is better off without
	 * waiting for huge pages to be cleared. */
	if (store->is_huge && store->regions)
		(void)madvise(base + skip, CHUNK_STORE_REGION_BYTES, MADV_HUGEPAGE);
	*(void **)(void *)(base + skip) = store->regions;
	store->regions = base + skip;
	store->fresh = base + skip + nlost * CHUNK_STORE_CHUNK_BYTES;
	store->nfresh = CHUNKS - nlost;
	if (skip)
		munmap(base, skip);
	munmap(base + skip + CHUNK_STORE_REGION_BYTES, CHUNK_STORE_REGION_BYTES - skip);
}

/* Of a store that has grown beyond its first region, small pages come many at a time,
 * which takes half as long as when each is touched for the first time. */
static void populate(const struct chunk_store *store)
{
	void *const *newest = store->regions;

	if (!store->is_huge && *newest && (uintptr_t)store->fresh % POPULATED_BYTES == 0)
		(void)madvise(store->fresh, POPULATED_BYTES, MADV_POPULATE_WRITE);
}

void *chunk_store_get(struct chunk_store *store)
{
	void **chunk = store->free_list;

	if (chunk) {
		store->free_list = *chunk;
		return chunk;
	}
	if (store->nfresh == 0)
		new_region(store);
	populate(store);
	store->nfresh--;
	store->fresh += CHUNK_STORE_CHUNK_BYTES;
	return store->fresh - CHUNK_STORE_CHUNK_BYTES;
}

void chunk_store_put(struct chunk_store *store, void *chunk)
{
	*(void **)chunk = store->free_list;
	store->free_list = chunk;
}

static void **pieces_of(struct chunk_store *store, size_t bytes)
{
	ORR_ASSERT(bytes && bytes % CHUNK_STORE_LINE_BYTES == 0 &&
		   bytes < CHUNK_STORE_CHUNK_BYTES);
	return &store->pieces[bytes / CHUNK_STORE_LINE_BYTES];
}

void *chunk_store_get_piece(struct chunk_store *store, size_t bytes)
{
	void **list = pieces_of(store, bytes), **piece = *list;

	if (piece) {
		*list = *piece;
		return piece;
	}
	if (store->rest_bytes < bytes) {
		if (store->rest_bytes)
			chunk_store_put_piece(store, store->rest, store->rest_bytes);
		store->rest = chunk_store_get(store);
		store->rest_bytes = CHUNK_STORE_CHUNK_BYTES;
	}
	store->rest += bytes;
	store->rest_bytes -= bytes;
	return store->rest - bytes;
}

void chunk_store_put_piece(struct chunk_store *store, void *piece, size_t bytes)
{
	void **list = pieces_of(store, bytes);

	*(void **)piece = *list;
	*list = piece;
}

void orr_collapse(void *pages, size_t bytes)
{
	(void)madvise(pages, bytes, MADV_HUGEPAGE);
	(void)madvise(pages, bytes, ADVICE_COLLAPSE);
}

void chunk_store_collapse(struct chunk_store *store)
{
	for (void **region = store->regions; region; region = *region)
		orr_collapse(region, CHUNK_STORE_REGION_BYTES);
}

void chunk_store_free(struct chunk_store *store)
{
	void **region = store->regions;

	while (region) {
		void **next = *region;

		munmap(region, CHUNK_STORE_REGION_BYTES);
		region = next;
	}
	*store = (struct chunk_store){.is_wordless = store->is_wordless,
				      .is_huge = store->is_huge};
}
