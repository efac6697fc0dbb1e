/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/table.h"

enum {
	MATCH_FIRST_BUCKETS = 64,
	MATCH_AHEAD = 4,
	MATCH_LINE = ORR_LINE_BYTES / sizeof(void *), /* buckets */
	MATCH_ROW = 64 /* buckets, those of as many consecutive tags: a page at most */
};

/*
 * Tags are mostly taken in turn: with a bucket anywhere for each, floods would wait for
 * memory most of the time.  Each row begins at another place, so that tags a row apart
 * have all buckets, too.
 */
static size_t bucket_of(const struct match *match, uint64_t comm, int source, int64_t tag)
{
	uint64_t row = (uint64_t)tag / MATCH_ROW;
	uint64_t key = row + 0x9e3779b97f4a7c15ULL * (uint64_t)(source + 1);
	uint64_t mixed = table_mix(key ^ comm);

	return (mixed * MATCH_ROW + ((uint64_t)tag + (mixed >> 32)) % MATCH_ROW) &
	       match->mask;
}

static int has_key(const struct match_entry *entry, uint64_t comm, int source,
		   int64_t tag)
{
	return entry->tag == tag && entry->source == source && entry->comm == comm;
}

void match_free(struct match *match)
{
	free(match->buckets);
	memset(match, 0, sizeof(*match));
}

static void grow(struct match *match)
{
	size_t old_count = match->buckets ? match->mask + 1 : 0;
	size_t count = old_count ? 2 * old_count : MATCH_FIRST_BUCKETS;
	struct match_entry **old = match->buckets;

	match->buckets = orr_alloc(count * sizeof(*match->buckets));
	match->mask = count - 1;
	for (size_t i = 0; i < old_count; i++) {
		while (old[i]) {
			struct match_entry *entry = old[i], **bucket;

			old[i] = entry->chain;
			bucket = &match->buckets[bucket_of(match, entry->comm,
							   entry->source, entry->tag)];
			entry->chain = *bucket;
			*bucket = entry;
		}
	}
	free(old);
}

/* Where tags come in turn, the buckets of those to come are asked for, a line at a time.
 */
static inline void bring_buckets(const struct match *match, uint64_t comm, int source,
				 int64_t tag)
{
	int64_t later = (int64_t)((uint64_t)tag + 2 * MATCH_LINE);

	if (later % MATCH_LINE == 0)
		orr_bring(&match->buckets[bucket_of(match, comm, source, later)]);
}

void match_add(struct match *match, struct match_entry *entry)
{
	struct match_entry *first, **bucket;

	/* At most a quarter full: who shares a bucket has to be looked at, far away. */
	if (!match->buckets || 4 * match->nkeys > match->mask)
		grow(match);
	bucket =
		&match->buckets[bucket_of(match, entry->comm, entry->source, entry->tag)];
	bring_buckets(match, entry->comm, entry->source, entry->tag);
	entry->next = NULL;
	match->nentries++;
	for (first = *bucket; first; first = first->chain) {
		if (has_key(first, entry->comm, entry->source, entry->tag)) {
			first->last->next = entry;
			first->last = entry;
			return;
		}
	}
	entry->last = entry;
	entry->chain = *bucket;
	*bucket = entry;
	match->nkeys++;
}

/* All of what it lies in. */
static inline void bring_around(const struct match *match, const char *entry)
{
	for (int line = -match->nlines_before; line <= match->nlines_behind; line++)
		orr_bring(entry + line * ORR_LINE_BYTES);
}

/* The next tags are likely to be asked for next. */
static inline void bring_near(struct match *match, uint64_t comm, int source, int64_t tag)
{
	int64_t next = (int64_t)((uint64_t)tag + MATCH_AHEAD);
	const char *entry =
		(const char *)match->buckets[bucket_of(match, comm, source, next)];
	int is_in_turn = tag == (int64_t)((uint64_t)match->recent + 1);

	match->recent = tag;
	bring_buckets(match, comm, source, tag);
	if (!entry)
		return;
	orr_bring(&((const struct match_entry *)entry)->tag);
	if (!is_in_turn)
		return;
	bring_around(match, entry);
}

void match_expect(const struct match *match, uint64_t comm, int source, int64_t tag,
		  int step)
{
	struct match_entry *const *bucket;

	if (match->nentries == 0)
		return;
	bucket = &match->buckets[bucket_of(match, comm, source, tag)];
	if (step == 0)
		orr_bring(bucket);
	else if (*bucket)
		bring_around(match, (const char *)*bucket);
}

struct match_entry *match_take(struct match *match, uint64_t comm, int source,
			       int64_t tag)
{
	struct match_entry **link, *first, *second;

	if (match->nentries == 0)
		return NULL;
	link = &match->buckets[bucket_of(match, comm, source, tag)];
	bring_near(match, comm, source, tag);
	while (*link && !has_key(*link, comm, source, tag))
		link = &(*link)->chain;
	first = *link;
	if (!first)
		return NULL;
	second = first->next;
	if (second) {
		second->last = first->last;
		second->chain = first->chain;
		*link = second;
	} else {
		*link = first->chain;
		match->nkeys--;
	}
	match->nentries--;
	first->chain = first->next = first->last = NULL;
	return first;
}

int match_is_next(const struct match *match, const struct match_entry *entry)
{
	const struct match_entry *first =
		match->buckets[bucket_of(match, entry->comm, entry->source, entry->tag)];

	while (first && first != entry)
		first = first->chain;
	return first == entry;
}

int match_next(const struct match *match, size_t *cursor, struct match_entry **entry)
{
	/* *cursor is the bucket after that of *entry, whose key's first entry is
	 * found again: only the first one knows the next key. */
	if (*entry && (*entry)->next) {
		*entry = (*entry)->next;
		return 1;
	}
	if (*entry) {
		struct match_entry *first = match->buckets[*cursor - 1];

		while (!has_key(first, (*entry)->comm, (*entry)->source, (*entry)->tag))
			first = first->chain;
		*entry = first->chain;
		if (*entry)
			return 1;
	}
	*entry = NULL;
	for (; match->buckets && *cursor <= match->mask; ++*cursor) {
		if (match->buckets[*cursor]) {
			*entry = match->buckets[*cursor];
			++*cursor;
			return 1;
		}
	}
	return 0;
}
