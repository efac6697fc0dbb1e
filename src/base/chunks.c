/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/chunks.h"

#include <sys/mman.h>

#include "base/check.h"

enum { CHUNK_STORE_HUGE_BYTES = 2 << 20, CHUNK_STORE_REGION_BYTES = 8 << 20 };

/* A region is reserved with room to align it; only what is touched costs memory. */
static void new_region(struct chunk_store *store)
{
	size_t bytes = CHUNK_STORE_REGION_BYTES + CHUNK_STORE_HUGE_BYTES;
	char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t skip;

	if (base == MAP_FAILED)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	skip = (CHUNK_STORE_HUGE_BYTES - (size_t)base % CHUNK_STORE_HUGE_BYTES) %
	       CHUNK_STORE_HUGE_BYTES;
	/* A program of one node fits in the first region: it is better off without
	 * waiting for huge pages to be cleared. */
	if (store->regions)
		(void)madvise(base + skip, CHUNK_STORE_REGION_BYTES, MADV_HUGEPAGE);
	*(void **)(void *)(base + skip) = store->regions;
	store->regions = base + skip;
	store->fresh = base + skip + CHUNK_STORE_CHUNK_BYTES;
	store->nfresh = CHUNK_STORE_REGION_BYTES / CHUNK_STORE_CHUNK_BYTES - 1;
	if (skip)
		munmap(base, skip);
	if (skip < CHUNK_STORE_HUGE_BYTES)
		munmap(base + skip + CHUNK_STORE_REGION_BYTES,
		       CHUNK_STORE_HUGE_BYTES - skip);
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
	store->nfresh--;
	store->fresh += CHUNK_STORE_CHUNK_BYTES;
	return store->fresh - CHUNK_STORE_CHUNK_BYTES;
}

void chunk_store_put(struct chunk_store *store, void *chunk)
{
	*(void **)chunk = store->free_list;
	store->free_list = chunk;
}

void chunk_store_free(struct chunk_store *store)
{
	void **region = store->regions;

	while (region) {
		void **next = *region;

		munmap(region, CHUNK_STORE_REGION_BYTES);
		region = next;
	}
	*store = (struct chunk_store){0};
}
