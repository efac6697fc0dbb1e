/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_CHUNK_STORE_H
#define ORR_BASE_CHUNK_STORE_H

/*
 * chunks.h - chunks of one size for the pools of all nodes, in huge pages.
 *
 * Insertion reads the handles of thousands of simulated ranks in turn; with 4 KiB pages
 * each of them is a miss in the TLB.  Not locked: the nodes of a process are simulated in
 * one thread, and a process that runs for real has one node, which locks its pools.
 */
#include <stddef.h>

enum { CHUNK_STORE_CHUNK_BYTES = 65536 };

struct chunk_store {
	void *free_list; /* chunks; the first word points to the next */
	void *regions;   /* the first word of a region points to the next */
	char *fresh;     /* not yet handed out, in the newest region */
	size_t nfresh;   /* chunks */
};

/* A zeroed struct chunk_store is an empty store.  A chunk is aligned to 64 bytes. */
void *chunk_store_get(struct chunk_store *store);
void chunk_store_put(struct chunk_store *store, void *chunk);
/* All chunks have been put back, or will not be used any more. */
void chunk_store_free(struct chunk_store *store);

#endif
