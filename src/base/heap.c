/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/*
 * An entry that is moved to a later date keeps its place: its key tells a date before its
 * own, and the two are made one when the key comes to the top.  Who is put off often, as
 * transfers are by each message that passes their links, costs little so.  The first key
 * is always its entry's.
 */
enum { HEAP_ARITY = 4, HEAP_FIRST_CAPACITY = 64 };

void heap_free(struct heap *heap)
{
	free(heap->keys);
	*heap = (struct heap){0};
}

__extension__ typedef unsigned __int128 rank_type;

/* In the order of dates, which are numbers; the two zeros are one. */
static uint64_t rank_of(double date_s)
{
	const uint64_t sign = UINT64_C(1) << 63;
	double number = date_s + 0.0;
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits & sign ? ~bits : bits | sign;
}

static struct heap_key key_of(struct heap_entry *entry)
{
	return (struct heap_key){rank_of(entry->date_s), entry->order, entry};
}

static int is_before(const struct heap_key *a, const struct heap_key *b)
{
	return ((rank_type)a->date_rank << 64 | a->order) <
	       ((rank_type)b->date_rank << 64 | b->order);
}

static void put(struct heap *heap, size_t i, struct heap_key key)
{
	heap->keys[i] = key;
	key.entry->place = i + 1;
}

static void sift_up(struct heap *heap, size_t i, struct heap_key key)
{
	while (i > 0) {
		size_t parent = (i - 1) / HEAP_ARITY;

		if (!is_before(&key, &heap->keys[parent]))
			break;
		put(heap, i, heap->keys[parent]);
		i = parent;
	}
	put(heap, i, key);
}

/* Sums instead of branches, which nobody could foretell. */
static size_t earlier(const struct heap_key *keys, size_t a, size_t b)
{
	return a + (b - a) * (size_t)is_before(&keys[b], &keys[a]);
}

/* Of the children from first on, of which there is one. */
static size_t earliest_child(const struct heap *heap, size_t first)
{
	const struct heap_key *keys = heap->keys;
	size_t best = first;

	if (first + HEAP_ARITY <= heap->count)
		return earlier(keys, earlier(keys, first, first + 1),
			       earlier(keys, first + 2, first + 3));
	for (size_t c = first + 1; c < heap->count; c++)
		best = earlier(keys, best, c);
	return best;
}

static void sift_down(struct heap *heap, size_t i, struct heap_key key)
{
	for (;;) {
		size_t first = HEAP_ARITY * i + 1, best;

		if (first >= heap->count)
			break;
		best = earliest_child(heap, first);
		if (!is_before(&heap->keys[best], &key))
			break;
		put(heap, i, heap->keys[best]);
		i = best;
	}
	put(heap, i, key);
}

void heap_push(struct heap *heap, struct heap_entry *entry, double date_s)
{
	heap_push_ordered(heap, entry, date_s, heap->next_order++);
}

void heap_push_ordered(struct heap *heap, struct heap_entry *entry, double date_s,
		       uint64_t order)
{
	ORR_ASSERT(entry->place == 0);
	if (heap->count == heap->capacity) {
		heap->capacity =
			heap->capacity ? 2 * heap->capacity : HEAP_FIRST_CAPACITY;
		heap->keys =
			orr_realloc(heap->keys, heap->capacity * sizeof(*heap->keys));
	}
	entry->date_s = date_s;
	entry->order = order;
	sift_up(heap, heap->count++, key_of(entry));
}

/* A key goes to where it belongs, as seen from i. */
static void settle(struct heap *heap, size_t i, struct heap_key key)
{
	if (i > 0 && is_before(&key, &heap->keys[(i - 1) / HEAP_ARITY]))
		sift_up(heap, i, key);
	else
		sift_down(heap, i, key);
}

/* Who was put off comes down to its place when it comes to the top. */
static void settle_top(struct heap *heap)
{
	while (heap->count > 0) {
		struct heap_entry *entry = heap->keys[0].entry;
		struct heap_key key = key_of(entry);

		if (!is_before(&heap->keys[0], &key))
			return;
		sift_down(heap, 0, key);
	}
}

void heap_move(struct heap *heap, struct heap_entry *entry, double date_s)
{
	heap_move_ordered(heap, entry, date_s, heap->next_order++);
}

void heap_move_ordered(struct heap *heap, struct heap_entry *entry, double date_s,
		       uint64_t order)
{
	size_t i = entry->place;
	struct heap_key key;

	if (i-- == 0) {
		heap_push_ordered(heap, entry, date_s, order);
		return;
	}
	ORR_ASSERT(heap->keys[i].entry == entry);
	entry->date_s = date_s;
	entry->order = order;
	key = key_of(entry);
	if (i == 0)
		settle_top(heap);
	if (is_before(&key, &heap->keys[i]))
		sift_up(heap, i, key);
}

void heap_replace(struct heap *heap, struct heap_entry *entry, struct heap_entry *other)
{
	size_t i = entry->place;
	struct heap_key key = key_of(other);

	ORR_ASSERT(i > 0 && heap->keys[i - 1].entry == entry && other->place == 0);
	entry->place = 0;
	heap->keys[--i].entry = other;
	other->place = i + 1;
	if (is_before(&key, &heap->keys[i]))
		sift_up(heap, i, key);
	else if (i == 0)
		settle_top(heap);
}

void heap_remove(struct heap *heap, struct heap_entry *entry)
{
	size_t i = entry->place;
	struct heap_key last;

	if (i-- == 0)
		return;
	ORR_ASSERT(i < heap->count && heap->keys[i].entry == entry);
	entry->place = 0;
	last = heap->keys[--heap->count];
	if (last.entry == entry)
		return;
	settle(heap, i, last);
	if (i == 0)
		settle_top(heap);
}

struct heap_entry *heap_pop(struct heap *heap)
{
	struct heap_entry *entry;

	if (heap->count == 0)
		return NULL;
	entry = heap->keys[0].entry;
	heap_remove(heap, entry);
	return entry;
}
