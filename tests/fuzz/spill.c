/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* spill.c - main memory with less room than the data need, and disks, some of which
 * refuse values now and then. */

static void *disk_plug(void *parameter, starpu_ssize_t size)
{
	(void)size;
	return parameter;
}

static int refuses(struct spill_disk *disk)
{
	struct rng rng = {__atomic_add_fetch(&disk->nasked, 1, __ATOMIC_RELAXED) *
			  0x9e3779b97f4a7c15u};

	return disk->refusals && rng_below(&rng, disk->refusals) == 0;
}

static void *disk_alloc(void *base, size_t size)
{
	return refuses(base) ? NULL : calloc(1, size);
}

static void disk_free(void *base, void *object, size_t size)
{
	(void)base;
	(void)size;
	free(object);
}

static int disk_read(void *base, void *object, void *to, off_t offset, size_t size)
{
	(void)base;
	memcpy(to, (char *)object + offset, size);
	return 0;
}

static int disk_write(void *base, void *object, const void *from, off_t offset,
		      size_t size)
{
	if (refuses(base))
		return -ENOSPC;
	memcpy((char *)object + offset, from, size);
	return 0;
}

static struct starpu_disk_ops disk_ops = {.plug = disk_plug,
					  .alloc = disk_alloc,
					  .free = disk_free,
					  .read = disk_read,
					  .write = disk_write};

/* All of a main memory but the room that data get is the application's. */
static void take_most(struct run *run, unsigned memory)
{
	starpu_ssize_t total = starpu_memory_get_total(memory);

	if (total <= (starpu_ssize_t)run->program->spill_bytes)
		return;
	run->taken[memory] = (size_t)total - run->program->spill_bytes;
	starpu_memory_allocate(memory, run->taken[memory], (int)STARPU_MEMORY_OVERFLOW);
}

void spill_start(struct run *run)
{
	const struct program *program = run->program;

	if (!program->spill_bytes)
		return;
	for (int i = 0; i < program->ndisks; i++) {
		run->disks[i].refusals = program->spill_refusals;
		if (starpu_disk_register(&disk_ops, &run->disks[i], -1) < 0)
			run_bad(run, NULL, "a disk", 0, 1);
	}
	for (unsigned i = 0; i < SPILL_MAINS && i < starpu_memory_nodes_get_count(); i++)
		if (starpu_node_get_kind(i) == STARPU_CPU_RAM)
			take_most(run, i);
}

void spill_stop(struct run *run)
{
	for (unsigned i = 0; i < SPILL_MAINS; i++)
		if (run->taken[i])
			starpu_memory_deallocate(i, run->taken[i]);
}
