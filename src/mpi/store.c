/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/store.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"

enum { STEP_BYTES = 64, LARGE_BYTES = 65536, NSIZES = LARGE_BYTES / STEP_BYTES };

static int is_large(size_t bytes)
{
	return bytes > LARGE_BYTES - STEP_BYTES;
}

/* Small blocks of one size are a multiple of STEP_BYTES long. */
static int size_of(size_t bytes)
{
	return (int)((bytes + STEP_BYTES - 1) / STEP_BYTES);
}

static void *take_spare(struct store *store, int size)
{
	void **block = store->spares ? store->spares[size] : NULL;

	if (!block)
		return NULL;
	store->spares[size] = *block;
	store->spare_bytes -= (size_t)size * STEP_BYTES;
	return block;
}

static void free_spares(struct store *store, size_t wanted_bytes)
{
	while (store->spare_bytes > wanted_bytes) {
		void *block = take_spare(store, store->at);

		free(block);
		if (!block)
			store->at = (store->at + 1) % NSIZES;
	}
}

void store_free(struct store *store)
{
	free_spares(store, 0);
	free(store->spares);
	*store = (struct store){0};
}

static void *get_large(size_t bytes)
{
	void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return block == MAP_FAILED ? NULL : block;
}

void *store_get(struct store *store, size_t bytes)
{
	size_t block_bytes;
	void *block;

	if (is_large(bytes))
		return get_large(bytes);
	block_bytes = (size_t)size_of(bytes) * STEP_BYTES;
	block = take_spare(store, size_of(bytes));
	if (store->most_bytes < store->used_bytes + block_bytes)
		store->most_bytes = store->used_bytes + block_bytes;
	if (!block) {
		free_spares(store, store->most_bytes - store->used_bytes - block_bytes);
		block = malloc(block_bytes);
	}
	if (block)
		store->used_bytes += block_bytes;
	return block;
}

void store_put(struct store *store, void *block, size_t bytes)
{
	int size;

	if (is_large(bytes)) {
		munmap(block, bytes);
		return;
	}
	size = size_of(bytes);
	if (!store->spares)
		store->spares = orr_alloc(NSIZES * sizeof(*store->spares));
	*(void **)block = store->spares[size];
	store->spares[size] = block;
	store->used_bytes -= (size_t)size * STEP_BYTES;
	store->spare_bytes += (size_t)size * STEP_BYTES;
}
