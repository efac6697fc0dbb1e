/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "mpi/mpi.h"

enum { REGISTRY_FIRST_SLOTS = 64, REGISTRY_PRINT_BITS = 16, PREFETCH_AHEAD = 16 };

/* A place that was given back, and that searches go on behind; no address of a handle. */
static const uint64_t LEFT = 1;

static const uint64_t ADDRESS_MASK = ((uint64_t)1 << (64 - REGISTRY_PRINT_BITS)) - 1;

static starpu_data_handle_t handle_of(uint64_t slot)
{
	return (starpu_data_handle_t)(uintptr_t)(slot & ADDRESS_MASK);
}

static uint64_t hash_of(int64_t tag)
{
	return table_mix((uint64_t)tag >> 3);
}

static size_t home_of(const struct registry *registry, int64_t tag)
{
	return ((hash_of(tag) << 3) | ((uint64_t)tag & 7)) & registry->mask;
}

/* What tells apart tags of the same home; the low bits chose that already. */
static uint64_t print_of(int64_t tag)
{
	return (hash_of(tag) ^ (uint64_t)tag << 61) & ~ADDRESS_MASK;
}

void registry_init(struct registry *registry)
{
	memset(registry, 0, sizeof(*registry));
	orr_lock_init(&registry->lock);
}

void registry_free(struct registry *registry)
{
	for (size_t i = 0; registry->slots && i <= registry->mask; i++)
		if (registry->slots[i] > LEFT)
			handle_of(registry->slots[i])->flags &= ~(unsigned)DATUM_TAGGED;
	free(registry->slots);
	registry->slots = NULL;
	registry->count = registry->nleft = registry->mask = 0;
}

/* The tag is not there; there are free places. */
static void place(struct registry *registry, uint64_t slot, int64_t tag)
{
	size_t i = home_of(registry, tag);

	while (registry->slots[i] > LEFT)
		i = (i + 1) & registry->mask;
	registry->nleft -= registry->slots[i] == LEFT;
	registry->slots[i] = slot;
}

/* Room for one more: a larger table, or the same size without places that were left. */
static void grow(struct registry *registry)
{
	size_t old_count = registry->slots ? registry->mask + 1 : 0;
	size_t count = old_count ? old_count : REGISTRY_FIRST_SLOTS;
	uint64_t *old = registry->slots;

	if (3 * (registry->count + 1) > count)
		count *= 2;
	registry->slots = orr_alloc(count * sizeof(*old));
	registry->mask = count - 1;
	registry->nleft = 0;
	for (size_t i = 0; i < old_count; i++) {
		if (i + PREFETCH_AHEAD < old_count)
			orr_bring(handle_of(old[i + PREFETCH_AHEAD]));
		if (old[i] > LEFT)
			place(registry, old[i], handle_of(old[i])->tag);
	}
	free(old);
}

/* The place of a tag: that of its handle, or a free one.  There are places. */
static uint64_t *slot_of(const struct registry *registry, int64_t tag)
{
	uint64_t print = print_of(tag);
	size_t i;

	for (i = home_of(registry, tag); registry->slots[i];
	     i = (i + 1) & registry->mask) {
		uint64_t slot = registry->slots[i];

		if ((slot & ~ADDRESS_MASK) == print && slot != LEFT &&
		    handle_of(slot)->tag == tag)
			break;
	}
	return &registry->slots[i];
}

starpu_data_handle_t registry_find(struct mpi *mpi, int64_t tag)
{
	struct registry *registry = &mpi->registry;
	starpu_data_handle_t handle = NULL;

	orr_lock(&registry->lock);
	if (registry->slots)
		handle = handle_of(*slot_of(registry, tag));
	orr_unlock(&registry->lock);
	return handle;
}

/* Add; returns the handle that has the tag already, or NULL when it was added. */
static starpu_data_handle_t bind_tag(struct registry *registry,
				     starpu_data_handle_t handle, int64_t tag)
{
	uint64_t *slot;

	if (!registry->slots ||
	    3 * (registry->count + registry->nleft + 1) > 2 * (registry->mask + 1))
		grow(registry);
	slot = slot_of(registry, tag);
	if (*slot)
		return handle_of(*slot);
	place(registry, (uintptr_t)handle | print_of(tag), tag);
	registry->count++;
	return NULL;
}

/* Without a look at other handles: programs end all of their data, one by one. */
static void unbind_tag(struct registry *registry, starpu_data_handle_t handle)
{
	size_t i = home_of(registry, handle->tag);

	while (handle_of(registry->slots[i]) != handle) {
		ORR_ASSERT(registry->slots[i]);
		i = (i + 1) & registry->mask;
	}
	registry->count--;
	registry->slots[i] = LEFT;
	registry->nleft++;
	if (registry->slots[(i + 1) & registry->mask])
		return;
	/* Searches end behind it, so they may end here. */
	for (; registry->slots[i] == LEFT; i = (i - 1) & registry->mask) {
		registry->slots[i] = 0;
		registry->nleft--;
	}
}

static void die_bound(struct mpi *mpi, const char *func, int64_t tag,
		      starpu_data_handle_t handle, starpu_data_handle_t other)
	__attribute__((noreturn));

/* Transfers match by tag: what the one still has to send and what the other sends could
 * be taken for each other. */
static void die_bound(struct mpi *mpi, const char *func, int64_t tag,
		      starpu_data_handle_t handle, starpu_data_handle_t other)
{
	char text[128], other_text[128];
	int is_dying = (data_flags(other) & DATUM_DYING) != 0;

	orr_die(mpi->rank, "%s: tag %lld for handle %p (%s) belongs to handle %p (%s) %s",
		func, (long long)tag, (void *)handle,
		data_describe(handle, text, sizeof(text)), (void *)other,
		data_describe(other, other_text, sizeof(other_text)),
		is_dying ? "still: it was given to starpu_data_unregister_submit(), but "
			   "tasks or transfers that use it have not ended; take another "
			   "tag, or call starpu_mpi_wait_for_all() before "
			   "(starpu_data_unregister() waits by itself)"
			 : "already; give each handle a tag of its own, or unregister "
			   "the other one first");
}

static void set_tag(struct mpi *mpi, starpu_data_handle_t handle, int64_t tag,
		    const char *func)
{
	struct registry *registry = &mpi->registry;
	starpu_data_handle_t other;

	if (tag < 0)
		orr_die(mpi->rank,
			"%s: tag %lld: expected 0 to INT64_MAX, or -1 for none", func,
			(long long)tag);
	if ((data_flags(handle) & DATUM_TAGGED) && handle->tag == tag)
		return;
	orr_lock(&registry->lock);
	if (data_flags(handle) & DATUM_TAGGED)
		unbind_tag(registry, handle);
	handle->tag = tag;
	other = bind_tag(registry, handle, tag);
	if (other) /* which lives as long as the lock is held */
		die_bound(mpi, func, tag, handle, other);
	orr_unlock(&registry->lock);
}

static void set_owner(struct mpi *mpi, starpu_data_handle_t handle, int rank, int comm,
		      const char *func)
{
	int size = comm_at(&mpi->comms, comm)->size;

	if (rank >= size || (rank < 0 && rank != OWNER_PER_NODE))
		orr_die(mpi->rank,
			"%s: rank %d does not exist: expected 0 to %d, the ranks of the "
			"communicator, STARPU_MPI_PER_NODE, or -1 to leave the owner "
			"unset",
			func, rank, size - 1);
	handle->comm = (short)comm;
	data_set_owner(handle, rank);
}

/* 0: the datum is not counted. */
static uint64_t weight_of(starpu_data_handle_t handle)
{
	if (!(data_flags(handle) & DATUM_TAGGED) || handle->owner < 0 ||
	    handle->comm != 0)
		return 0;
	return table_mix((uint64_t)handle->tag + 1);
}

static uint64_t own_weight_of(const struct mpi *mpi, starpu_data_handle_t handle)
{
	return handle->owner == mpi->rank ? weight_of(handle) : 0;
}

static void recount(struct mpi *mpi, starpu_data_handle_t handle, uint64_t known,
		    uint64_t owned)
{
	struct registry *registry = &mpi->registry;
	uint64_t known_now = weight_of(handle), owned_now = own_weight_of(mpi, handle);

	if (known_now == known && owned_now == owned)
		return;
	orr_lock(&registry->lock);
	registry->known += known_now - known;
	registry->owned += owned_now - owned;
	if (known)
		registry->owners_moved = 1;
	orr_unlock(&registry->lock);
}

void registry_register(struct mpi *mpi, starpu_data_handle_t handle, int64_t tag,
		       int rank, int comm, const char *func)
{
	unsigned flags = DATUM_MPI;
	uint64_t known, owned;

	if (!handle)
		orr_die(mpi->rank,
			"%s: the handle is NULL; register the data first, with home "
			"node -1 on the ranks that do not own it",
			func);
	known = weight_of(handle);
	owned = own_weight_of(mpi, handle);
	if (tag != TAG_UNSET) {
		set_tag(mpi, handle, tag, func);
		flags |= DATUM_TAGGED;
	}
	if (rank != OWNER_UNSET)
		set_owner(mpi, handle, rank, comm, func);
	if ((data_flags(handle) & flags) != flags)
		data_set_flags(handle, flags, 0);
	recount(mpi, handle, known, owned);
}

void registry_on_unregister(struct node *node, starpu_data_handle_t handle, int is_over)
{
	struct mpi *mpi = node->mpi;

	if (is_over)
		coop_forget(mpi, handle);
	if (!(data_flags(handle) & DATUM_MPI))
		return;
	cache_forget(mpi, handle);
	reduce_forget(mpi, handle);
	if (!is_over)
		return;
	if (data_flags(handle) & DATUM_TAGGED) {
		orr_lock(&mpi->registry.lock);
		unbind_tag(&mpi->registry, handle);
		orr_unlock(&mpi->registry.lock);
	}
	sources_forget(mpi, handle);
	data_set_flags(handle, 0, DATUM_MPI | DATUM_TAGGED);
}
