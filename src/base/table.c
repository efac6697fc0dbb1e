/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/table.h"

#include <stdlib.h>

#include "base/check.h"

enum { TABLE_FIRST_SLOTS = 16 };

void table_free(struct table *table)
{
	free(table->slots);
	*table = (struct table){0};
}

static struct table_slot *find(const struct table *table, uint64_t key)
{
	size_t i = table_mix(key) & table->mask;

	while (table->slots[i].value && table->slots[i].key != key)
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

void *table_get(const struct table *table, uint64_t key)
{
	return table->slots ? find(table, key)->value : NULL;
}

static void grow(struct table *table)
{
	struct table old = *table;
	size_t slots = old.slots ? 2 * (old.mask + 1) : TABLE_FIRST_SLOTS;

	table->slots = orr_alloc(slots * sizeof(*table->slots));
	table->mask = slots - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value)
			*find(table, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void *table_put(struct table *table, uint64_t key, void *value)
{
	struct table_slot *slot;
	void *previous;

	ORR_ASSERT(value);
	if (!table->slots || 4 * (table->count + 1) > 3 * (table->mask + 1))
		grow(table);
	slot = find(table, key);
	previous = slot->value;
	if (!previous)
		table->count++;
	slot->key = key;
	slot->value = value;
	return previous;
}

void *table_remove(struct table *table, uint64_t key)
{
	struct table_slot *hole;
	void *value;
	size_t i, home;

	if (!table->slots)
		return NULL;
	hole = find(table, key);
	value = hole->value;
	if (!value)
		return NULL;
	hole->value = NULL;
	table->count--;
	/* Close the gap, so that probing never meets a tombstone. */
	for (i = (size_t)(hole - table->slots);;) {
		i = (i + 1) & table->mask;
		if (!table->slots[i].value)
			return value;
		home = table_mix(table->slots[i].key) & table->mask;
		if (((i - home) & table->mask) <
		    ((i - (size_t)(hole - table->slots)) & table->mask))
			continue;
		*hole = table->slots[i];
		hole = &table->slots[i];
		hole->value = NULL;
	}
}

void *table_next(const struct table *table, size_t *cursor)
{
	while (table->slots && *cursor <= table->mask) {
		struct table_slot *slot = &table->slots[(*cursor)++];

		if (slot->value)
			return slot->value;
	}
	return NULL;
}
