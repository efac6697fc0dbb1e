/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "sim.h"

/*
 * memory.c - addresses without memory.
 *
 * One reservation of address space for all ranks: see base/arena.h.
 *
 * What lies in a GPU is no value, so that the GPUs of all ranks have the same
 * addresses: a second reservation, in which each rank takes blocks of its own.  A
 * thousand nodes have more memory than a process has addresses.
 */
#define MAIN_BYTES ((size_t)1 << 46)
#define GPU_BYTES  ((size_t)1 << 44) /* of the GPUs of one rank */

static struct arena *main_arena(struct sim *sim)
{
	if (!sim->arena)
		sim->arena = arena_new(MAIN_BYTES, PROT_READ | PROT_WRITE);
	return sim->arena;
}

static struct arena *gpu_arena(struct plat *plat)
{
	struct sim *sim = plat->sim;

	if (!sim->gpu_arena)
		sim->gpu_arena = arena_new(GPU_BYTES, PROT_READ | PROT_WRITE);
	if (!plat->gpu_arena)
		plat->gpu_arena = arena_same(sim->gpu_arena);
	return plat->gpu_arena;
}

void memory_close(struct plat *plat)
{
	arena_free(plat->gpu_arena);
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

	(void)plat;
	(void)memory;
	if (!arena || !arena_has(arena, ptr))
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
