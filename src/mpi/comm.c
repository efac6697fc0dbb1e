/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/comm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { COMM_FIRST_CAPACITY = 16 };

void comm_table_init(struct comm_table *table)
{
	memset(table, 0, sizeof(*table));
	orr_lock_init(&table->lock);
}

void comm_table_free(struct comm_table *table)
{
	struct mpi_comm **array = table->comms;

	for (int i = 0; i < table->count; i++) {
		free(array[i]->to_net);
		free(array[i]);
	}
	for (int capacity = table->capacity; array; capacity /= 2) {
		struct mpi_comm **older = (void *)array[capacity];

		free(array);
		array = older;
	}
	table_free(&table->times);
}

static uint64_t hash_members(int size, const int *to_net)
{
	uint64_t hash = table_mix((uint64_t)size);

	if (!to_net)
		return hash;
	for (int i = 0; i < size; i++)
		hash = table_mix(hash +
				 0x9e3779b97f4a7c15ULL * (uint64_t)(to_net[i] + 2));
	return hash;
}

/* The table is locked. */
static void grow(struct comm_table *table)
{
	int capacity = table->capacity ? 2 * table->capacity : COMM_FIRST_CAPACITY;
	/* The last place links the retired arrays. */
	size_t bytes = ((size_t)capacity + 1) * sizeof(void *);
	struct mpi_comm **comms = orr_alloc(bytes), **old = table->comms;

	if (old) {
		memcpy(comms, old, (size_t)table->count * sizeof(*comms));
		comms[capacity] = (void *)old;
	}
	orr_swap_ptr((void **)(void *)&table->comms, comms);
	table->capacity = capacity;
}

const char *comm_describe(struct comm_table *table, int index, char *text, size_t bytes)
{
	if (index <= 0)
		text[0] = '\0';
	else
		snprintf(text, bytes, " in communicator %d (of %d ranks)", index,
			 comm_at(table, index)->size);
	return text;
}

int comm_with_id(struct comm_table *table, uint64_t id)
{
	int found = -1;

	orr_lock(&table->lock);
	for (int i = 0; i < table->count && found < 0; i++)
		if (table->comms[i]->id == id)
			found = i;
	orr_unlock(&table->lock);
	return found;
}

/* The table is locked, and has room for another index. */
static int append(struct comm_table *table, const struct mpi_comm *wanted)
{
	struct mpi_comm *comm = orr_alloc(sizeof(*comm));
	int index;

	if (table->count == table->capacity)
		grow(table);
	*comm = *wanted;
	index = table->count;
	table->comms[index] = comm;
	table->count++;
	return index;
}

/* The table is locked. */
static uint64_t count_members(struct comm_table *table, uint64_t hash)
{
	uintptr_t times = (uintptr_t)table_get(&table->times, hash);

	table_put(&table->times, hash, (void *)(times + 1));
	return table_mix(hash + times);
}

int comm_add(struct comm_table *table, int rank, int size, int *to_net, uint64_t birth)
{
	struct mpi_comm comm = {.rank = rank, .size = size, .to_net = to_net};
	uint64_t hash = hash_members(size, to_net);
	int index;

	orr_lock(&table->lock);
	if (table->count == COMM_MAX) {
		orr_unlock(&table->lock);
		return -ENOSPC;
	}
	comm.id = birth ? table_mix(hash ^ birth) : count_members(table, hash);
	index = append(table, &comm);
	orr_unlock(&table->lock);
	return index;
}

int comm_inner(struct comm_table *table, enum inner_comm which)
{
	struct mpi_comm comm = *comm_at(table, 0);
	int index;

	orr_lock(&table->lock);
	if (!table->inner[which]) {
		comm.id = table_mix(~comm.id + which);
		table->inner[which] = append(table, &comm);
	}
	index = table->inner[which];
	orr_unlock(&table->lock);
	return index;
}
