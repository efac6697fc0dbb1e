/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_CHUNK_STORE_H
#define ORR_BASE_CHUNK_STORE_H

/*
 * chunks.h - memory for the pools of all nodes, in huge pages, and small words beside it.
 *
 * Insertion asks for thousands of data of thousands of simulated ranks in turn.  With 4
 * KiB pages each of them is a miss in the TLB; and a cache line each is too much, where
 * two bytes tell what is asked.  So each line of a chunk has a word of 16 bits, at the
 * start of the region that the chunk lies in: a shift and an addition away, 32 in a line.
 * A store without words has more room.
 *
 * Not locked: the nodes of a process are simulated in one thread, and a process that runs
 * for real has one node, which locks its pools.
 */
#include <stddef.h>
#include <stdint.h>

enum {
	CHUNK_STORE_CHUNK_BYTES = 65536,
	CHUNK_STORE_REGION_BYTES = 8 << 20,
	CHUNK_STORE_LINE_BYTES = 64
};

struct chunk_store {
	int is_wordless; /* chunk_word() must not be asked for */
	int is_huge;     /* the next regions are to be in huge pages, but for the first */
	void *free_list; /* chunks; the first word points to the next */
	void *regions;   /* the first word of a region points to the next */
	char *fresh;     /* not yet handed out, in the newest region */
	size_t nfresh;   /* chunks */
	/* Pieces that came back, by their lines; and of a chunk, what is left for more.
	 */
	void *pieces[CHUNK_STORE_CHUNK_BYTES / CHUNK_STORE_LINE_BYTES];
	char *rest;
	size_t rest_bytes;
};

/* A zeroed struct chunk_store is an empty store; is_wordless may be set at once, is_huge
 * at any time.  A chunk is aligned to 64 bytes. */
void *chunk_store_get(struct chunk_store *store);
void chunk_store_put(struct chunk_store *store, void *chunk);
/* The same for less than a chunk; bytes is a multiple of 64, and as given when it goes
 * back. */
void *chunk_store_get_piece(struct chunk_store *store, size_t bytes);
void chunk_store_put_piece(struct chunk_store *store, void *piece, size_t bytes);
/* The regions that it has are copied into huge pages, where the system can. */
void chunk_store_collapse(struct chunk_store *store);
void orr_collapse(void *pages, size_t bytes);
/* All chunks have been put back, or will not be used any more. */
void chunk_store_free(struct chunk_store *store);

/* The word of the line that an object of a chunk begins in; 0 until somebody sets it. */
static inline uint16_t *chunk_word(const void *object)
{
	uintptr_t at = (uintptr_t)object, within = CHUNK_STORE_REGION_BYTES - 1;

	return (uint16_t *)(at & ~within) + (at & within) / CHUNK_STORE_LINE_BYTES;
}

#endif
