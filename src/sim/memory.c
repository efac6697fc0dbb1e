/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/*
 * Memory of before the first node, or of an executing run, is the C library's.  Without a
 * node nobody knows whether others have the block, or its pages (core/data/hollow.h): it
 * gives back its pages, and keeps its addresses, which cost nothing.
 */
static void main_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	struct arena *arena = sim_get()->arena;
	uintptr_t first = ((uintptr_t)ptr + 4095) & ~(uintptr_t)4095;
	uintptr_t end = ((uintptr_t)ptr + bytes) & ~(uintptr_t)4095;

	(void)memory;
	if (!arena || !arena_has(arena, ptr))
		free(ptr);
	else if (bytes > 0 && plat)
		arena_put(arena, ptr, bytes, 1);
	else if (end > first)
		madvise((void *)first, end - first, MADV_DONTNEED);
}

/* The file that all folded blocks of all ranks are, or -1. */
static int fold_file(struct plat *plat)
{
	struct sim *sim = plat->sim;
	off_t bytes = (off_t)node_knobs(plat->node)->fold_mib << 20;
	int file;

	if (sim->fold)
		return sim->fold - 1;
	file = memfd_create("orrery-fold", MFD_CLOEXEC);
	if (file >= 0 && ftruncate(file, bytes) != 0) {
		close(file);
		file = -1;
	}
	if (file < 0)
		orr_complain(
			plat->node->rank,
			"no file of %lld bytes for buffers with "
			"STARPU_MALLOC_SIMULATION_FOLDED: they use memory where they "
			"are touched",
			(long long)bytes);
	sim->fold = file + 1;
	return file;
}

/*
 * Pages of a file, again and again; with memory of its own again before others get the
 * block.  What the system refuses, for want of mappings, stays memory.
 */
static void main_fold(struct plat *plat, void *ptr, size_t bytes, int folded)
{
	size_t step = (size_t)node_knobs(plat->node)->fold_mib << 20;
	char *at = (char *)(((uintptr_t)ptr + 4095) & ~(uintptr_t)4095);
	char *end = (char *)(((uintptr_t)ptr + bytes) & ~(uintptr_t)4095);
	int file;

	/* Not from before the node. */
	if (!plat->sim->arena || !arena_has(plat->sim->arena, ptr))
		return;
	file = folded ? fold_file(plat) : -1;
	if (bytes <= step || (folded && file < 0))
		return;
	if (!folded) {
		if (mmap(at, (size_t)(end - at), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			orr_die(plat->node->rank,
				"the system refuses to unfold %zu bytes", bytes);
		return;
	}
	for (; at < end; at += step) {
		size_t part = (size_t)(end - at) < step ? (size_t)(end - at) : step;

		if (mmap(at, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			 0) == MAP_FAILED)
			return;
	}
}

static void *gpu_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	pcie_book(plat, memory, (double)bytes);
	return arena_get(gpu_arena(plat), bytes);
}

static void gpu_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	pcie_book(plat, memory, -(double)bytes);
	if (bytes > 0)
		arena_put(plat->gpu_arena, ptr, bytes, 0);
}

const struct memory_driver main_memory_driver = {.allocate = main_alloc,
						 .release = main_free,
						 .is_new = costs_new_memory,
						 .fold = main_fold,
						 .reaches = pcie_reaches,
						 .copy = pcie_copy,
						 .expected_s = pcie_expected_s,
						 .is_steady = 1};
const struct memory_driver gpu_memory_driver = {.allocate = gpu_alloc,
						.release = gpu_free,
						.reaches = pcie_reaches,
						.copy = pcie_copy,
						.expected_s = pcie_expected_s,
						.is_steady = 1};

const struct memory_driver *plat_main_memory(void)
{
	return &main_memory_driver;
}
