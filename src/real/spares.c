/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "real/real.h"

/*
 * spares.c - freed blocks of main memory wait for the next that wants as many bytes: data
 * that come by messages are allocated and freed each time.
 *
 * For small blocks, malloc() takes long to find what begins a line of the cache.  Large
 * ones it gives back to the system, which clears each page again when it is touched; that
 * takes longer than the message.  Not where an address sanitizer shall see who uses them
 * afterwards.
 */
#ifdef __SANITIZE_ADDRESS__
enum { MOST_SMALL = 0, MOST_LARGE_BYTES = 0 };
#else
enum { MOST_SMALL = 64, MOST_LARGE_BYTES = 64 << 20 };
#endif

/* Where small ones of so many bytes are kept, or SPARE_LINES. */
static size_t lines_of(size_t bytes)
{
	return bytes ? (bytes - 1) / SPARE_ALIGN_BYTES : SPARE_LINES;
}

static int is_large(size_t bytes)
{
	return bytes >= SPARE_LARGE_BYTES && bytes <= MOST_LARGE_BYTES;
}

static void *take_small(struct spares *spares, size_t lines)
{
	void *ptr = spares->first[lines];

	if (ptr) {
		spares->first[lines] = *(void **)ptr;
		spares->n[lines]--;
	}
	return ptr;
}

static int keep_small(struct spares *spares, size_t lines, void *ptr)
{
	if (spares->n[lines] >= MOST_SMALL)
		return 0;
	*(void **)ptr = spares->first[lines];
	spares->first[lines] = ptr;
	spares->n[lines]++;
	return 1;
}

static void *remove_large(struct spares *spares, int at)
{
	struct large_spare *large = &spares->large[at];
	void *ptr = large->ptr;

	spares->large_bytes -= large->bytes;
	spares->nlarge--;
	memmove(large, large + 1, (size_t)(spares->nlarge - at) * sizeof(*large));
	return ptr;
}

/* What was freed last may still be in the cache. */
static void *take_large(struct spares *spares, size_t bytes)
{
	for (int i = spares->nlarge - 1; i >= 0; i--)
		if (spares->large[i].bytes == bytes)
			return remove_large(spares, i);
	return NULL;
}

void *spares_take(struct spares *spares, size_t bytes)
{
	size_t lines = lines_of(bytes);
	void *ptr = NULL;

	if (lines >= SPARE_LINES && !is_large(bytes))
		return NULL;
	orr_lock(&spares->lock);
	ptr = lines < SPARE_LINES ? take_small(spares, lines) : take_large(spares, bytes);
	orr_unlock(&spares->lock);
	return ptr;
}

/* The oldest go until there is room. */
static void keep_large(struct spares *spares, void *ptr, size_t bytes)
{
	void *old[SPARES_LARGE];
	int nold = 0;

	orr_lock(&spares->lock);
	while (spares->nlarge == SPARES_LARGE ||
	       spares->large_bytes + bytes > MOST_LARGE_BYTES)
		old[nold++] = remove_large(spares, 0);
	spares->large[spares->nlarge++] = (struct large_spare){ptr, bytes};
	spares->large_bytes += bytes;
	orr_unlock(&spares->lock);
	while (nold > 0)
		free(old[--nold]);
}

int spares_keep(struct spares *spares, void *ptr, size_t bytes)
{
	size_t lines = lines_of(bytes);
	size_t align = lines < SPARE_LINES ? SPARE_ALIGN_BYTES : SPARE_PAGE_BYTES;
	int is_kept;

	if (lines < SPARE_LINES)
		bytes = (lines + 1) * SPARE_ALIGN_BYTES;
	else if (!is_large(bytes))
		return 0;
	/* Whoever frees may be wrong about its size. */
	if ((uintptr_t)ptr % align || malloc_usable_size(ptr) < bytes)
		return 0;
	if (lines >= SPARE_LINES) {
		keep_large(spares, ptr, bytes);
		return 1;
	}
	orr_lock(&spares->lock);
	is_kept = keep_small(spares, lines, ptr);
	orr_unlock(&spares->lock);
	return is_kept;
}

void spares_free(struct spares *spares)
{
	for (size_t i = 0; i < SPARE_LINES; i++) {
		void *ptr;

		while ((ptr = take_small(spares, i)))
			free(ptr);
	}
	while (spares->nlarge > 0)
		free(remove_large(spares, spares->nlarge - 1));
}
