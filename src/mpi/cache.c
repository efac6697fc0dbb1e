/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/data/data_ops.h"
#include "core/task/deps.h"
#include "mpi/kin.h"
#include "mpi/mpi.h"

/* What costs less than it takes to free it and to allocate it again. */
enum { SMALL_BYTES = 256 };

/* ---- sets of ranks --------------------------------------------------- */

static int *set_ranks(struct sent_set *set)
{
	return set->capacity ? set->ranks : set->inline_ranks;
}

static int set_has(struct sent_set *set, int rank)
{
	const int *ranks;

	if (set->count > SENT_LISTED)
		return (int)(set->bits[rank / 64] >> (rank % 64) & 1);
	ranks = set_ranks(set);
	for (int i = 0; i < set->count; i++)
		if (ranks[i] == rank)
			return 1;
	return 0;
}

static void set_to_bits(struct sent_set *set, int size)
{
	int *ranks = set->ranks;
	uint64_t *bits = orr_alloc(((size_t)size + 63) / 64 * sizeof(*bits));

	for (int i = 0; i < set->count; i++)
		bits[ranks[i] / 64] |= (uint64_t)1 << (ranks[i] % 64);
	free(ranks);
	set->bits = bits;
}

/* rank is not in the set; ranks are below size. */
static void set_add(struct sent_set *set, int rank, int size)
{
	if (set->count == SENT_LISTED)
		set_to_bits(set, size);
	if (set->count >= SENT_LISTED) {
		set->bits[rank / 64] |= (uint64_t)1 << (rank % 64);
	} else if (set->count == (set->capacity ? set->capacity : SENT_INLINE)) {
		int capacity = set->capacity ? 2 * set->capacity : 2 * SENT_INLINE;
		int *ranks = orr_alloc((size_t)capacity * sizeof(*ranks));

		memcpy(ranks, set_ranks(set), (size_t)set->count * sizeof(*ranks));
		if (set->capacity)
			free(set->ranks);
		set->ranks = ranks;
		set->capacity = capacity;
		ranks[set->count] = rank;
	} else {
		set_ranks(set)[set->count] = rank;
	}
	set->count++;
}

static void set_empty(struct sent_set *set)
{
	if (set->capacity)
		free(set->ranks);
	set->count = set->capacity = 0;
}

/* ---- sets of data ---------------------------------------------------- */

/* The cache is locked. */
static struct sent_set *set_of(struct cache *cache, starpu_data_handle_t handle)
{
	struct sent_set *set = handle->sent;

	if (!set) {
		set = pool_get(&cache->sets);
		memset(set, 0, sizeof(*set));
		set->handle = handle;
		list_push_back(&cache->cached, &set->link);
		handle->sent = set;
	}
	return set;
}

/* The cache is locked.  A flag of the two is cleared; without both, no set. */
static void drop_set(struct cache *cache, starpu_data_handle_t handle)
{
	struct sent_set *set = handle->sent;

	if (!set || (data_flags(handle) & (DATUM_SENT | DATUM_RECEIVED)))
		return;
	set_empty(set);
	list_remove(&set->link);
	pool_put(&cache->sets, set);
	handle->sent = NULL;
}

static void report(struct mpi *mpi, char sign, starpu_data_handle_t handle, int rank)
{
	if (mpi->cache.reports)
		fprintf(stderr, "[starpu][%d][communication cache] %c %zu %s %d\n",
			mpi->rank, sign, data_bytes(handle), sign == '+' ? "to" : "from",
			rank);
}

static int is_mine(struct mpi *mpi, starpu_data_handle_t handle)
{
	return handle->owner == OWNER_PER_NODE ||
	       handle->owner == comm_at(&mpi->comms, handle->comm)->rank;
}

/* ---- life ------------------------------------------------------------ */

void cache_init(struct mpi *mpi)
{
	struct cache *cache = &mpi->cache;

	orr_lock_init(&cache->lock);
	list_init(&cache->cached);
	pool_init_among(&cache->sets, sizeof(struct sent_set), mpi->node->commons);
}

void cache_free(struct mpi *mpi)
{
	while (!list_is_empty(&mpi->cache.cached))
		cache_forget(mpi,
			     LIST_ENTRY(mpi->cache.cached.next, struct sent_set, link)
				     ->handle);
	pool_free(&mpi->cache.sets);
}

void cache_forget(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (!handle->sent)
		return;
	data_set_flags(handle, 0, DATUM_SENT | DATUM_RECEIVED);
	orr_lock(&mpi->cache.lock);
	drop_set(&mpi->cache, handle);
	orr_unlock(&mpi->cache.lock);
}

/* ---- notes ----------------------------------------------------------- */

int cache_has_sent(struct mpi *mpi, starpu_data_handle_t handle, int rank)
{
	int has;

	if (!mpi->cache.is_on || !(data_flags(handle) & DATUM_SENT))
		return 0;
	orr_lock(&mpi->cache.lock);
	has = handle->sent && set_has(handle->sent, rank);
	orr_unlock(&mpi->cache.lock);
	return has;
}

int cache_note_sent(struct mpi *mpi, starpu_data_handle_t handle, int rank)
{
	struct cache *cache = &mpi->cache;
	struct sent_set *set;
	int had;

	if (!cache->is_on)
		return 0;
	orr_lock(&cache->lock);
	set = set_of(cache, handle);
	had = set_has(set, rank);
	if (!had)
		set_add(set, rank, mpi->size);
	orr_unlock(&cache->lock);
	if (!had) {
		data_set_flags(handle, DATUM_SENT, 0);
		kin_note_copies(handle);
		report(mpi, '+', handle, rank);
	}
	return had;
}

int cache_note_received(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct cache *cache = &mpi->cache;

	if (!cache->is_on)
		return 0;
	if (data_flags(handle) & DATUM_RECEIVED)
		return 1;
	orr_lock(&cache->lock);
	set_of(cache, handle);
	orr_unlock(&cache->lock);
	/* The receive comes next, and overwrites it. */
	data_set_flags(handle, DATUM_RECEIVED, DATUM_OUTDATED);
	kin_note_copies(handle);
	return 0;
}

void cache_clear_sent(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & DATUM_SENT))
		return;
	if (mpi->cache.reports)
		for (int rank = 0; rank < mpi->size; rank++)
			if (cache_has_sent(mpi, handle, rank))
				report(mpi, '-', handle, rank);
	data_set_flags(handle, 0, DATUM_SENT);
	orr_lock(&mpi->cache.lock);
	if (handle->sent) { /* Its end may have been submitted meanwhile. */
		set_empty(handle->sent);
		drop_set(&mpi->cache, handle);
	}
	orr_unlock(&mpi->cache.lock);
}

/*
 * Who became the owner meanwhile may have written: not a copy any more.  And with data
 * that share its bytes there may be some that this rank owns, or that others know to be
 * here: its value stays, as one that nobody asks for.
 */
void cache_drop_copy(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (!is_mine(mpi, handle) && !(data_flags(handle) & DATUM_VIEWS))
		data_invalidate_submit(mpi->node, handle);
}

/* The cache's own note of a copy goes. */
static void forget_received(struct mpi *mpi, starpu_data_handle_t handle, unsigned set)
{
	data_set_flags(handle, set, DATUM_RECEIVED);
	orr_lock(&mpi->cache.lock);
	drop_set(&mpi->cache, handle);
	orr_unlock(&mpi->cache.lock);
}

void cache_clear_received(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & DATUM_RECEIVED))
		return;
	forget_received(mpi, handle, 0);
	cache_drop_copy(mpi, handle);
}

/* The next value may come: the memory of a small one stays for it. */
static void overwrite(struct mpi *mpi, starpu_data_handle_t handle)
{
	long agreed = data_agreed_bytes(handle);
	int keeps = agreed >= 0 && agreed <= SMALL_BYTES && !is_mine(mpi, handle) &&
		    !(data_flags(handle) & DATUM_VIEWS);
	int is_part = (data_flags(handle) & DATUM_PART) != 0;

	forget_received(mpi, handle, keeps && !is_part ? DATUM_OUTDATED : 0);
	if (!keeps)
		cache_drop_copy(mpi, handle);
	else if (is_part)
		data_deinitialize_submit(mpi->node, handle);
}

void cache_clear(struct mpi *mpi, starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & (DATUM_SENT | DATUM_RECEIVED)))
		return;
	cache_clear_sent(mpi, handle);
	if (data_flags(handle) & DATUM_RECEIVED)
		overwrite(mpi, handle);
}

/* ---- flushing -------------------------------------------------------- */

/* Nothing to invalidate: never written here, and no access is on its way but that of
 * npinned callers. */
static int is_empty(starpu_data_handle_t handle, int npinned)
{
	const struct data_body *body = orr_load_ptr((void **)&handle->body);
	int unused = 1;

	if (body) {
		orr_lock(&handle->lock);
		unused = body->npending == npinned && !body->has_value &&
			 !body->main.allocated;
		orr_unlock(&handle->lock);
	}
	return unused;
}

static void flush(struct mpi *mpi, starpu_data_handle_t handle, int npinned)
{
	if (data_flags(handle) & DATUM_RECEIVED)
		cache_clear_received(mpi, handle);
	else if (handle->owner != OWNER_UNSET && !is_empty(handle, npinned))
		cache_drop_copy(mpi, handle);
	cache_clear_sent(mpi, handle);
}

void cache_flush(struct mpi *mpi, starpu_data_handle_t handle)
{
	/* What waits to be reduced is no copy. */
	if (!mpi->cache.is_on || (data_flags(handle) & DATUM_CONTRIBUTED))
		return;
	flush(mpi, handle, 0);
	/* It says that the application has written it, or is going to. */
	kin_clear(mpi, handle);
}

/* Of the first of left, which is back among all, or NULL: its datum is locked and so are
 * others that want the cache, so that is not waited for. */
static starpu_data_handle_t pin_first(struct cache *cache, struct list *left)
{
	struct list *link = left->next;
	starpu_data_handle_t handle = LIST_ENTRY(link, struct sent_set, link)->handle;

	list_remove(link);
	if (!orr_trylock(&handle->lock)) {
		list_push_back(left, link);
		return NULL;
	}
	data_body(handle)->npending++;
	orr_unlock(&handle->lock);
	list_push_back(&cache->cached, link);
	return handle;
}

/*
 * The next of what is left to flush, or NULL.  Until deps_unpend() it has a user more:
 * another thread that ends it takes its set off before it waits for users to go.
 */
static starpu_data_handle_t next_to_flush(struct mpi *mpi, struct list *left)
{
	struct cache *cache = &mpi->cache;

	for (;;) {
		starpu_data_handle_t handle = NULL;
		int is_over;

		orr_lock(&cache->lock);
		is_over = list_is_empty(left);
		if (!is_over)
			handle = pin_first(cache, left);
		orr_unlock(&cache->lock);
		if (handle || is_over)
			return handle;
		plat_yield(mpi->node->plat);
	}
}

void cache_flush_all(struct mpi *mpi)
{
	struct cache *cache = &mpi->cache;
	starpu_data_handle_t handle;
	struct list left, *link;

	/* Other threads add and drop sets meanwhile. */
	list_init(&left);
	orr_lock(&cache->lock);
	while (!list_is_empty(&cache->cached)) {
		link = cache->cached.next;
		list_remove(link);
		list_push_back(&left, link);
	}
	orr_unlock(&cache->lock);
	while ((handle = next_to_flush(mpi, &left))) {
		if (!(data_flags(handle) & DATUM_CONTRIBUTED))
			flush(mpi, handle, 1);
		deps_unpend(handle);
	}
}

void cache_set(struct mpi *mpi, int is_on)
{
	if (!is_on && mpi->cache.is_on) {
		cache_flush_all(mpi);
		cache_free(mpi);
		pool_init_among(&mpi->cache.sets, sizeof(struct sent_set),
				mpi->node->commons);
	}
	mpi->cache.is_on = is_on;
}
