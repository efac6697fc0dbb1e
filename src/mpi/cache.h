/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MPI_CACHE_H
#define ORR_MPI_CACHE_H

/*
 * cache.h - which rank already holds the current value of which datum.
 *
 * All ranks insert the same tasks, so each can tell, without a message, what the
 * others hold.  A transfer is skipped when the receiver has the value; a write makes
 * every copy but the writer's stale.  Both sides must decide alike: the owner calls
 * cache_note_sent() where the reader calls cache_note_received(), in the same order,
 * and both act on the answer.
 *
 * On the datum: flags DATUM_RECEIVED and DATUM_SENT, and the set of destinations,
 * allocated when one of the flags is first set.  Ranks are those of the transport.
 */
#include "base/list.h"
#include "core/data/data.h"

struct mpi;

enum { SENT_INLINE = 6, SENT_LISTED = 64 };

/* Up to SENT_LISTED ranks are a list, more are a bitmap over all ranks. */
struct sent_set {
	struct list link; /* in cache->cached */
	starpu_data_handle_t handle;
	int count, capacity; /* capacity 0: inline */
	union {
		int inline_ranks[SENT_INLINE];
		int *ranks;
		uint64_t *bits; /* count > SENT_LISTED */
	};
};

struct cache {
	struct orr_lock lock;
	int is_on, reports;
	struct pool sets;
	struct list cached; /* data with one of the flags, in the order they got it */
};

void cache_init(struct mpi *mpi);
/* Handles that still exist are left clean. */
void cache_free(struct mpi *mpi);

int cache_has_sent(struct mpi *mpi, starpu_data_handle_t handle, int rank);
/* Each returns what was the case before; 0 when the cache is off. */
int cache_note_sent(struct mpi *mpi, starpu_data_handle_t handle, int rank);
int cache_note_received(struct mpi *mpi, starpu_data_handle_t handle);
void cache_clear_sent(struct mpi *mpi, starpu_data_handle_t handle);
/* Invalidate this rank's copy, unless it is none or shares bytes with what may be. */
void cache_drop_copy(struct mpi *mpi, starpu_data_handle_t handle);
/* If it was received: clear, and drop the copy. */
void cache_clear_received(struct mpi *mpi, starpu_data_handle_t handle);
/* The datum is written: nobody holds the value any more. */
void cache_clear(struct mpi *mpi, starpu_data_handle_t handle);
/* Forget, and invalidate copies of data that others own. */
void cache_flush(struct mpi *mpi, starpu_data_handle_t handle);
void cache_flush_all(struct mpi *mpi);
void cache_set(struct mpi *mpi, int is_on);
/* The handle goes away. */
void cache_forget(struct mpi *mpi, starpu_data_handle_t handle);

#endif
