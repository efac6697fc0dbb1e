/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_TABLE_H
#define ORR_BASE_TABLE_H

/*
 * table.h - hash table from 64-bit keys to pointers.
 *
 * Open addressing with linear probing and backward-shift deletion, at most
 * three quarters full.  Keys are mixed here, so that consecutive tags are fine.
 * Values are borrowed and never NULL.  Not locked: the owner locks.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

struct table_slot {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct table {
	struct table_slot *slots;
	size_t mask;  /* slots - 1, a power of two minus one */
	size_t count; /* slots in use */
};

/* A zeroed struct table is an empty table. */
void table_free(struct table *table);
/* The value of key, or NULL. */
void *table_get(const struct table *table, uint64_t key);
/* Set the value of key; returns the previous value or NULL. */
void *table_put(struct table *table, uint64_t key, void *value);
/* Forget key; returns its value or NULL. */
void *table_remove(struct table *table, uint64_t key);
/* Walk: start with *cursor = 0; NULL at the end.  No change while walking. */
void *table_next(const struct table *table, size_t *cursor);

static inline uint64_t table_mix(uint64_t key)
{
	/* The finaliser of MurmurHash3 (public domain). */
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	key ^= key >> 33;
	return key;
}

/* The key will be asked for soon: bring what is looked at near. */
static inline void table_expect(const struct table *table, uint64_t key)
{
	if (table->slots)
		orr_bring(&table->slots[table_mix(key) & table->mask]);
}

#endif
