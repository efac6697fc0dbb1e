/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_STORE_H
#define ORR_MPI_STORE_H

/*
 * store.h - blocks of memory that one thread takes and another uses again.
 *
 * malloc() keeps what is freed for the threads that share an arena with who took it, so
 * payloads that now one thread takes in and now another need their memory once for each.
 * Here small blocks that come back wait for whoever wants as many bytes, as long as all
 * together are not more than were once in use; large ones go back to the system.  Who has
 * a store locks it.
 */
#include <stddef.h>

struct store {
	void **spares; /* by size: the first, which points to the next; NULL at first */
	int at;        /* a size that may have some */
	size_t used_bytes, spare_bytes, most_bytes; /* of small ones; most ever used */
};

/* A zeroed struct store is an empty one; all blocks are back. */
void store_free(struct store *store);
/* A block for that many bytes, more than none; or NULL: the system refuses it. */
void *store_get(struct store *store, size_t bytes);
/* bytes: as when it was taken. */
void store_put(struct store *store, void *block, size_t bytes);

#endif
