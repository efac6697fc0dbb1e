/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

/*
 * pages.c - what malloc() has, in huge pages, where many nodes are simulated.
 *
 * An event is of another node than the one before it, as a rule, and what it reads
 * besides objects of pools (tables, queues, workers, what the platform says) lies in the
 * heap: with 4 KiB pages nearly each of these is a miss in the TLB.  The heap grows in
 * large steps, so that huge pages are asked for before what they are to hold is touched.
 * Nothing hangs on it: a system without huge pages, or another malloc(), goes on as ever.
 */
enum {
	MANY_NODES = 64, /* who has fewer gains nothing */
	STEP_BYTES = 32 << 20,
	/* Who sets one of malloc()'s limits must set this, too: it stays as it is then.
	 */
	MAPPED_BYTES = 4 << 20,
	HUGE_BYTES = 2 << 20
};

static uintptr_t heap_end(void)
{
	return (uintptr_t)sbrk(0);
}

static int has_many_nodes(const struct sim *sim)
{
	return sim->nplats >= MANY_NODES || sim->world_size >= MANY_NODES;
}

/* 0: nobody says. */
static uintptr_t heap_begin(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	uintptr_t begin = 0;

	while (maps && !begin && fgets(line, sizeof(line), maps))
		if (strstr(line, " [heap]"))
			begin = strtoull(line, NULL, 16);
	if (maps)
		fclose(maps);
	return begin;
}

/* What was there before is copied into huge pages: the hosts and links of a large
 * platform, which each new route asks for, and the objects of the first nodes. */
static void move_old(struct sim *sim)
{
	uintptr_t from = heap_begin() & ~(uintptr_t)(HUGE_BYTES - 1);
	uintptr_t end = sim->heap_end & ~(uintptr_t)(HUGE_BYTES - 1);

	sim->has_moved_old = 1;
	chunk_store_collapse(&sim->world->store);
	chunk_store_collapse(&sim->world->pools.store);
	if (from && sim->heap_end < UINTPTR_MAX && from + HUGE_BYTES < end)
		orr_collapse((void *)(from + HUGE_BYTES), end - from - HUGE_BYTES);
}

static void begin(struct sim *sim)
{
	sim->heap_end = heap_end();
	if (!mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES) || !mallopt(M_TOP_PAD, STEP_BYTES))
		sim->heap_end = UINTPTR_MAX;
}

void pages_look(struct sim *sim)
{
	uintptr_t end, from;

	if (sim->heap_end == 0) {
		if (!has_many_nodes(sim))
			return;
		begin(sim);
	}
	if (!sim->has_moved_old && sim->nplats >= MANY_NODES)
		move_old(sim);
	end = heap_end();
	if (end <= sim->heap_end)
		return;
	from = sim->heap_end & ~(uintptr_t)(HUGE_BYTES - 1);
	(void)madvise((void *)from, end - from, MADV_HUGEPAGE);
	sim->heap_end = end;
}

/* With room to begin at a huge page. */
static size_t mapped_bytes(size_t bytes)
{
	return bytes + HUGE_BYTES;
}

void *pages_get(const struct sim *sim, size_t bytes, void **mapped)
{
	uintptr_t at;

	*mapped = mmap(NULL, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (*mapped == MAP_FAILED)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	at = ((uintptr_t)*mapped + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
	if (has_many_nodes(sim))
		(void)madvise((void *)at, bytes, MADV_HUGEPAGE);
	return (void *)at;
}

void pages_put(void *mapped, size_t bytes)
{
	if (mapped)
		munmap(mapped, mapped_bytes(bytes));
}
