/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "mpi/sources.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "mpi/mpi.h"

struct source {
	int rank, by;
};

/* Of a handle; few. */
struct source_list {
	starpu_data_handle_t handle;
	int n, room;
	struct source *items;
};

static uint64_t key_of(starpu_data_handle_t handle)
{
	return (uint64_t)(uintptr_t)handle;
}

void sources_init(struct mpi *mpi)
{
	orr_lock_init(&mpi->sources.lock);
}

static void free_list(struct source_list *list)
{
	data_set_flags(list->handle, 0, DATUM_SOURCED);
	free(list->items);
	free(list);
}

void sources_free(struct mpi *mpi)
{
	struct source_list *list;
	size_t cursor = 0;

	while ((list = table_next(&mpi->sources.lists, &cursor)))
		free_list(list);
	table_free(&mpi->sources.lists);
}

void sources_forget(struct mpi *mpi, starpu_data_handle_t handle)
{
	struct source_list *list;

	if (!(data_flags(handle) & DATUM_SOURCED))
		return;
	orr_lock(&mpi->sources.lock);
	list = table_remove(&mpi->sources.lists, key_of(handle));
	orr_unlock(&mpi->sources.lock);
	free_list(list);
}

static int index_of(const struct source_list *list, int rank)
{
	for (int i = 0; list && i < list->n; i++)
		if (list->items[i].rank == rank)
			return i;
	return -1;
}

/* Locked. */
static int source_of(const struct source_list *list, int rank)
{
	int i = index_of(list, rank);

	return i < 0 ? OWNER_UNSET : list->items[i].by;
}

int sources_find(struct mpi *mpi, starpu_data_handle_t handle, int rank)
{
	int source;

	orr_lock(&mpi->sources.lock);
	source = source_of(table_get(&mpi->sources.lists, key_of(handle)), rank);
	orr_unlock(&mpi->sources.lock);
	return source == OWNER_UNSET ? handle->owner : source;
}

int sources_lead_by(struct mpi *mpi, starpu_data_handle_t handle, int rank, int by)
{
	while (rank != handle->owner) {
		rank = sources_get(mpi, handle, rank);
		if (rank == by)
			return 1;
	}
	return 0;
}

/* Locked. */
static int leads_back(const struct source_list *list, int rank, int source)
{
	while (source != OWNER_UNSET && source != rank)
		source = source_of(list, source);
	return source == rank;
}

static void put(struct source_list *list, int rank, int source)
{
	int at = index_of(list, rank);

	if (source == OWNER_UNSET) {
		if (at >= 0)
			list->items[at] = list->items[--list->n];
		return;
	}
	if (at < 0) {
		at = list->n++;
		if (list->n > list->room) {
			list->room = 2 * list->n;
			list->items = orr_realloc(
				list->items, (size_t)list->room * sizeof(*list->items));
		}
	}
	list->items[at] = (struct source){rank, source};
}

int sources_set(struct mpi *mpi, starpu_data_handle_t handle, int rank, int source)
{
	struct sources *sources = &mpi->sources;
	struct source_list *list;
	int ret = 0, is_empty = 0;

	/* Other ranks will have to keep account of what each holds. */
	cache_flush(mpi, handle);
	orr_lock(&sources->lock);
	list = table_get(&sources->lists, key_of(handle));
	if (leads_back(list, rank, source)) {
		ret = -ELOOP;
	} else if (list || source != OWNER_UNSET) {
		if (!list) {
			list = orr_alloc(sizeof(*list));
			list->handle = handle;
			table_put(&sources->lists, key_of(handle), list);
		}
		put(list, rank, source);
		is_empty = list->n == 0;
	}
	orr_unlock(&sources->lock);
	if (is_empty)
		sources_forget(mpi, handle);
	else if (ret == 0 && list)
		data_set_flags(handle, DATUM_SOURCED, 0);
	return ret;
}
