/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim.h"

/*
 * memory.c - addresses without memory.
 *
 * One reservation of address space for all ranks: a block costs nothing until it is
 * touched.  Freed blocks are kept by size class, in arrays apart, because a list
 * through the blocks would touch them.  Four classes per power of two, from 64 bytes.
 *
 * What lies in a GPU is no value, so that the GPUs of all ranks have the same
 * addresses: a second reservation, in which each rank takes blocks of its own.  A
 * thousand nodes have more memory than a process has addresses.
 */
enum {
	CLASS_SHIFT = 6, /* of the smallest class */
	NCLASSES = 4 * (48 - CLASS_SHIFT),
	LARGE_BYTES = 1 << 20, /* freed blocks of this size give their pages back */
};

#define MAIN_BYTES ((size_t)1 << 46)
#define GPU_BYTES  ((size_t)1 << 44) /* of the GPUs of one rank */

struct class_list {
	char **blocks;
	size_t count, capacity;
};

struct arena {
	char *base, *fresh, *end;
	struct class_list free[NCLASSES];
};

/* How much address space there is depends on the machine's limits. */
static void reserve(struct arena *arena, size_t bytes)
{
	for (; bytes >= (size_t)1 << 32; bytes /= 2) {
		void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base != MAP_FAILED) {
			arena->base = arena->fresh = base;
			arena->end = arena->base + bytes;
			return;
		}
	}
	orr_die(ORR_NO_RANK, "no 4 GiB of address space for simulated memory: "
			     "raise the limit (ulimit -v unlimited)");
}

static struct arena *main_arena(struct sim *sim)
{
	if (!sim->arena) {
		sim->arena = orr_alloc(sizeof(*sim->arena));
		reserve(sim->arena, MAIN_BYTES);
	}
	return sim->arena;
}

static struct arena *gpu_arena(struct plat *plat)
{
	struct sim *sim = plat->sim;

	if (!sim->gpu_arena) {
		sim->gpu_arena = orr_alloc(sizeof(*sim->gpu_arena));
		reserve(sim->gpu_arena, GPU_BYTES);
	}
	if (!plat->gpu_arena) {
		plat->gpu_arena = orr_alloc(sizeof(*plat->gpu_arena));
		plat->gpu_arena->base = plat->gpu_arena->fresh = sim->gpu_arena->base;
		plat->gpu_arena->end = sim->gpu_arena->end;
	}
	return plat->gpu_arena;
}

void memory_close(struct plat *plat)
{
	for (int i = 0; plat->gpu_arena && i < NCLASSES; i++)
		free(plat->gpu_arena->free[i].blocks);
	free(plat->gpu_arena);
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

static void *arena_get(struct arena *arena, size_t bytes)
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

static void arena_put(struct arena *arena, void *block, size_t bytes, int touched)
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

static void *main_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	void *block;

	(void)memory;
	if (!plat->machine.executes)
		return arena_get(main_arena(plat->sim), bytes);
	return posix_memalign(&block, 64, bytes ? bytes : 1) ? NULL : block;
}

/* Memory of before the first node, or of an executing run, is the C library's. */
static void main_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct arena *arena = sim_get()->arena;
	char *block = ptr;

	(void)plat;
	(void)memory;
	if (!arena || block < arena->base || block >= arena->end)
		free(ptr);
	else if (bytes > 0)
		arena_put(arena, ptr, bytes, 1);
}

static void *gpu_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	(void)memory;
	return arena_get(gpu_arena(plat), bytes);
}

static void gpu_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	(void)memory;
	if (bytes > 0)
		arena_put(plat->gpu_arena, ptr, bytes, 0);
}

const struct memory_driver main_memory_driver = {.allocate = main_alloc,
						 .release = main_free,
						 .reaches = pcie_reaches,
						 .copy = pcie_copy,
						 .expected_s = pcie_expected_s};
const struct memory_driver gpu_memory_driver = {.allocate = gpu_alloc,
						.release = gpu_free,
						.reaches = pcie_reaches,
						.copy = pcie_copy,
						.expected_s = pcie_expected_s};

const struct memory_driver *plat_main_memory(void)
{
	return &main_memory_driver;
}
