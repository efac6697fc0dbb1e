/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_HEAP_H
#define ORR_BASE_HEAP_H

/*
 * heap.h - calendar: a 4-ary heap of dated entries.
 *
 * Equal dates leave in the order of insertion, so that a run is reproducible.
 * An entry knows its place, so it can be removed or moved in O(log n).
 */
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
	double date_s;
	uint64_t order;
	size_t place; /* index in the heap + 1; 0: not in a heap */
};

/* Numbers that compare as date and order do, without a branch. */
struct heap_key {
	uint64_t date_rank, order;
	struct heap_entry *entry;
};

struct heap {
	struct heap_key *keys;
	size_t count, capacity;
	uint64_t next_order;
};

/* A zeroed struct heap is an empty heap. */
void heap_free(struct heap *heap);
/* entry must not be in a heap. */
void heap_push(struct heap *heap, struct heap_entry *entry, double date_s);
/* The same; among equal dates the lower order leaves first. */
void heap_push_ordered(struct heap *heap, struct heap_entry *entry, double date_s,
		       uint64_t order);
/* The same as heap_remove() and heap_push(), for much less when the date is later. */
void heap_move(struct heap *heap, struct heap_entry *entry, double date_s);
void heap_move_ordered(struct heap *heap, struct heap_entry *entry, double date_s,
		       uint64_t order);
/* other, which is dated and in no heap, takes the place of entry, which leaves: for less
 * than heap_remove() and heap_push() when it is soon after entry, or before it. */
void heap_replace(struct heap *heap, struct heap_entry *entry, struct heap_entry *other);
/* The earliest entry, taken out, or NULL. */
struct heap_entry *heap_pop(struct heap *heap);
/* Does nothing when entry is in no heap. */
void heap_remove(struct heap *heap, struct heap_entry *entry);

/* The earliest date; only when the heap is not empty. */
static inline double heap_first_date_s(const struct heap *heap)
{
	return heap->keys[0].entry->date_s;
}

/* Does the earliest entry leave before one of that date and order?  Only when the heap is
 * not empty. */
static inline int heap_first_is_before(const struct heap *heap, double date_s,
				       uint64_t order)
{
	const struct heap_entry *first = heap->keys[0].entry;

	return first->date_s < date_s ||
	       (first->date_s == date_s && first->order < order);
}

#endif
