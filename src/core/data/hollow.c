/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/hollow.h"

#include <stdlib.h>

#include "base/check.h"

/* All buffers of one size. */
struct unique {
	void *ptr;
	size_t bytes;
	int nusers;
};

int hollow_is_wanted(const struct node *node, int flags)
{
	return node && !node->machine->executes &&
	       (flags &
		(int)(STARPU_MALLOC_SIMULATION_FOLDED | STARPU_MALLOC_SIMULATION_UNIQUE));
}

static void *allocate(struct node *node, size_t bytes)
{
	return plat_main_memory()->allocate(node->plat, STARPU_MAIN_RAM, bytes);
}

static void release(struct node *node, void *ptr, size_t bytes)
{
	plat_main_memory()->release(node->plat, STARPU_MAIN_RAM, ptr, bytes);
}

static struct unique *unique_new(struct node *node, size_t bytes)
{
	void *ptr = allocate(node, bytes);
	struct unique *unique;

	if (!ptr)
		return NULL;
	unique = orr_alloc(sizeof(*unique));
	unique->ptr = ptr;
	unique->bytes = bytes;
	table_put(&node->uniques, bytes, unique);
	return unique;
}

static void *unique_get(struct node *node, size_t bytes)
{
	struct unique *unique;
	void *ptr = NULL;

	orr_lock(&node->uniques_lock);
	unique = table_get(&node->uniques, bytes);
	if (!unique)
		unique = unique_new(node, bytes);
	if (unique) {
		unique->nusers++;
		ptr = unique->ptr;
	}
	orr_unlock(&node->uniques_lock);
	return ptr;
}

static void unique_put(struct node *node, void *ptr, size_t bytes)
{
	struct unique *unique;

	orr_lock(&node->uniques_lock);
	unique = table_get(&node->uniques, bytes);
	if (!unique || unique->ptr != ptr) {
		release(node, ptr, bytes); /* From before the node. */
	} else if (--unique->nusers == 0) {
		table_remove(&node->uniques, bytes);
		release(node, ptr, bytes);
		free(unique);
	}
	orr_unlock(&node->uniques_lock);
}

void *hollow_get(struct node *node, size_t bytes, int flags)
{
	void *ptr;

	if (flags & (int)STARPU_MALLOC_SIMULATION_UNIQUE)
		return unique_get(node, bytes);
	ptr = allocate(node, bytes);
	if (ptr && plat_main_memory()->fold)
		plat_main_memory()->fold(node->plat, ptr, bytes, 1);
	return ptr;
}

void hollow_put(struct node *node, void *ptr, size_t bytes, int flags)
{
	if (!ptr)
		return;
	if (flags & (int)STARPU_MALLOC_SIMULATION_UNIQUE) {
		unique_put(node, ptr, bytes);
		return;
	}
	if (plat_main_memory()->fold)
		plat_main_memory()->fold(node->plat, ptr, bytes, 0);
	release(node, ptr, bytes);
}

void hollow_close(struct node *node)
{
	struct unique *unique;
	size_t cursor = 0;

	while ((unique = table_next(&node->uniques, &cursor)))
		free(unique);
	table_free(&node->uniques);
}
