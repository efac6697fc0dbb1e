/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"

enum {
	CLASS_SHIFT = 6, /* of the smallest class */
	NCLASSES = 4 * (48 - CLASS_SHIFT),
	LARGE_BYTES = 1 << 20, /* freed blocks of this size give their pages back */
};

struct class_list {
	char **blocks;
	size_t count, capacity;
};

struct arena {
	char *base, *fresh, *end;
	struct class_list free[NCLASSES];
};

struct arena *arena_new(size_t bytes, int protection)
{
	struct arena *arena = orr_alloc(sizeof(*arena));

	/* How much address space there is depends on the machine's limits. */
	for (; bytes >= (size_t)1 << 32; bytes /= 2) {
		void *base = mmap(NULL, bytes, protection,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base != MAP_FAILED) {
			arena->base = arena->fresh = base;
			arena->end = arena->base + bytes;
			return arena;
		}
	}
	orr_die(ORR_NO_RANK, "no 4 GiB of address space for simulated memory, or for "
			     "disks: raise the limit (ulimit -v unlimited)");
}

struct arena *arena_same(const struct arena *arena)
{
	struct arena *same = orr_alloc(sizeof(*same));

	same->base = same->fresh = arena->base;
	same->end = arena->end;
	return same;
}

struct arena *arena_at(void *base, size_t bytes)
{
	struct arena *arena = orr_alloc(sizeof(*arena));

	arena->base = arena->fresh = base;
	arena->end = arena->base + bytes;
	return arena;
}

void arena_free(struct arena *arena)
{
	for (int i = 0; arena && i < NCLASSES; i++)
		free(arena->free[i].blocks);
	free(arena);
}

void arena_end(struct arena *arena)
{
	if (arena)
		munmap(arena->base, (size_t)(arena->end - arena->base));
	arena_free(arena);
}

/* The class of a block, and the size of the class. */
static int size_class(size_t bytes, size_t *class_bytes)
{
	int shift = CLASS_SHIFT;
	size_t quarter, steps;

	while (((size_t)2 << shift) <= bytes)
		shift++;
	quarter = ((size_t)1 << shift) / 4;
	if (bytes <= (size_t)1 << shift)
		steps = 0;
	else
		steps = (bytes - ((size_t)1 << shift) + quarter - 1) / quarter;
	*class_bytes = ((size_t)1 << shift) + steps * quarter;
	return 4 * (shift - CLASS_SHIFT) + (int)steps;
}

void *arena_get(struct arena *arena, size_t bytes)
{
	size_t class_bytes;
	int class = size_class(bytes, &class_bytes);
	struct class_list *list;
	char *block;

	if (class >= NCLASSES)
		return NULL;
	list = &arena->free[class];
	if (list->count > 0)
		return list->blocks[--list->count];
	if (class_bytes >= 4096)
		class_bytes = (class_bytes + 4095) & ~(size_t)4095;
	else
		class_bytes = (class_bytes + 63) & ~(size_t)63;
	if ((size_t)(arena->end - arena->fresh) < class_bytes)
		return NULL;
	block = arena->fresh;
	arena->fresh += class_bytes;
	return block;
}

void arena_put(struct arena *arena, void *block, size_t bytes, int touched)
{
	size_t class_bytes;
	struct class_list *list = &arena->free[size_class(bytes, &class_bytes)];

	if (touched && bytes >= LARGE_BYTES) {
		uintptr_t first = ((uintptr_t)block + 4095) & ~(uintptr_t)4095;

		madvise((void *)first, ((uintptr_t)block + bytes - first) & ~(size_t)4095,
			MADV_DONTNEED);
	}
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 16;
		list->blocks =
			orr_realloc(list->blocks, list->capacity * sizeof(*list->blocks));
	}
	list->blocks[list->count++] = block;
}

int arena_has(const struct arena *arena, const void *address)
{
	return (const char *)address >= arena->base && (const char *)address < arena->end;
}
