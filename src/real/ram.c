/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/check.h"
#include "core/interface/methods.h"
#include "core/wait.h"
#include "real/cuda.h"
#include "real/real.h"

/*
 * ram.c - main memories: one, which is malloc()'s, or one for each NUMA node.
 *
 * Of several, what is large gets pages of its own, placed on the node; small blocks lie
 * where they are first touched, which is by the worker or the thread that copies there.
 * The pages are known by their address, since whoever frees them may not know their size
 * or memory.  Large copies between NUMA nodes are made by a thread near to where they go,
 * so that nobody waits for them with a datum locked.
 */
enum { PLACED_BYTES = 1 << 16, THREAD_BYTES = 1 << 16 };

/* ---- bytes ----------------------------------------------------------- */

static void *map_placed(struct plat *plat, unsigned memory, size_t bytes)
{
	struct real *real = real_get();
	void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (ptr == MAP_FAILED)
		return NULL;
	numas_place(plat, memory, ptr, bytes);
	orr_lock(&real->placed_lock);
	table_put(&real->placed, (uintptr_t)ptr, (void *)bytes);
	orr_unlock(&real->placed_lock);
	orr_store(&real->has_placed, 1);
	return ptr;
}

/* How many bytes of it have pages of their own; 0: none. */
static size_t forget_placed(void *ptr)
{
	struct real *real = real_get();
	void *bytes;

	if (!orr_load(&real->has_placed))
		return 0;
	orr_lock(&real->placed_lock);
	bytes = table_remove(&real->placed, (uintptr_t)ptr);
	orr_unlock(&real->placed_lock);
	return (size_t)bytes;
}

static void *ram_alloc(struct plat *plat, unsigned memory, size_t bytes)
{
	size_t align = SPARE_ALIGN_BYTES;
	void *ptr;

	if (plat->machine.nnumas > 1 && bytes >= PLACED_BYTES)
		return map_placed(plat, memory, bytes);
	ptr = spares_take(&plat->spares, bytes);
	if (ptr)
		return ptr;
	/* What is large begins a page, as disks past the system's cache want it, and what
	 * is pinned shares none. */
	if (bytes >= PLACED_BYTES)
		align = SPARE_PAGE_BYTES;
	bytes = bytes ? (bytes + align - 1) & ~(align - 1) : 1;
	return posix_memalign(&ptr, align, bytes) ? NULL : ptr;
}

static void ram_free(struct plat *plat, unsigned memory, void *ptr, size_t bytes)
{
	size_t placed_bytes = forget_placed(ptr);

	if (plat)
		plat_unpin(plat, ptr);
	(void)memory;
	if (placed_bytes)
		munmap(ptr, placed_bytes);
	else if (!plat || !ptr || !spares_keep(&plat->spares, ptr, bytes))
		free(ptr);
}

/* ---- copies between them --------------------------------------------- */

static struct plat_copy **next_of(struct plat_copy *copy)
{
	return (struct plat_copy **)&copy->backend[0];
}

/* The oldest copy, NULL at the end; blocks until there is one. */
static struct plat_copy *next_copy(struct copier *copier)
{
	struct plat_copy *copy;

	pthread_mutex_lock(&copier->mutex);
	while (!copier->first && !copier->stopping)
		pthread_cond_wait(&copier->changed, &copier->mutex);
	copy = copier->first;
	if (copy)
		copier->first = *next_of(copy);
	pthread_mutex_unlock(&copier->mutex);
	return copy;
}

static void *copier_main(void *arg)
{
	struct copier *copier = arg;
	struct plat *plat = copier->plat;
	struct plat_copy *copy;

	prctl(PR_SET_NAME, "orr-numa", 0, 0, 0);
	plat_caller(plat)->is_runtime = 1;
	numas_bind_thread(plat, copier->memory);
	while ((copy = next_copy(copier))) {
		methods_copy(plat->node, copy);
		copy->done(copy);
		orr_add(&copier->ncopies, -1);
	}
	return NULL;
}

static void give(struct copier *copier, struct plat_copy *copy)
{
	orr_add(&copier->ncopies, 1);
	*next_of(copy) = NULL;
	pthread_mutex_lock(&copier->mutex);
	if (copier->first)
		*next_of(copier->last) = copy;
	else
		copier->first = copy;
	copier->last = copy;
	pthread_cond_signal(&copier->changed);
	pthread_mutex_unlock(&copier->mutex);
}

/* Without those that come after one whose end waits for something. */
int numas_count(struct plat *plat)
{
	int n = 0;

	for (int i = 0; i < plat->numas.ncopiers; i++) {
		const struct copier *copier = &plat->numas.copiers[i];

		if (!wait_blocks(plat->node, (const void *)copier->thread))
			n += orr_load(&copier->ncopies);
	}
	return n;
}

static int ram_copy(struct plat *plat, struct plat_copy *copy)
{
	if (copy->from != copy->to && copy->bytes >= THREAD_BYTES &&
	    (int)copy->to < plat->numas.ncopiers) {
		give(&plat->numas.copiers[copy->to], copy);
		return 0;
	}
	methods_copy(plat->node, copy);
	return 1;
}

static int ram_reaches(struct plat *plat, unsigned from, unsigned to)
{
	unsigned n = (unsigned)plat->machine.nnumas;

	return from < n && to < n;
}

static const struct memory_driver ram = {.allocate = ram_alloc,
					 .release = ram_free,
					 .reaches = ram_reaches,
					 .copy = ram_copy,
					 .expected_s = numas_expected_s};

const struct memory_driver *plat_main_memory(void)
{
	return &ram;
}

/* ---- life ------------------------------------------------------------ */

void copiers_open(struct plat *plat)
{
	struct numas *numas = &plat->numas;

	orr_lock_init(&plat->spares.lock);
	for (int i = 0; plat->machine.nnumas > 1 && i < plat->machine.nnumas; i++) {
		struct copier *copier = &numas->copiers[i];

		copier->plat = plat;
		copier->memory = (unsigned)i;
		pthread_mutex_init(&copier->mutex, NULL);
		pthread_cond_init(&copier->changed, NULL);
		if (pthread_create(&copier->thread, NULL, copier_main, copier) != 0) {
			orr_complain(
				plat->node->rank,
				"STARPU_USE_NUMA: the system refuses a thread for "
				"copies (ulimit -u or -v, cgroup pids.max): who needs "
				"a value copies it");
			return;
		}
		numas->ncopiers++;
	}
}

void copiers_close(struct plat *plat)
{
	struct numas *numas = &plat->numas;

	for (int i = 0; i < numas->ncopiers; i++) {
		struct copier *copier = &numas->copiers[i];

		pthread_mutex_lock(&copier->mutex);
		copier->stopping = 1;
		pthread_cond_signal(&copier->changed);
		pthread_mutex_unlock(&copier->mutex);
		pthread_join(copier->thread, NULL);
		pthread_cond_destroy(&copier->changed);
		pthread_mutex_destroy(&copier->mutex);
	}
	numas->ncopiers = 0;
	spares_free(&plat->spares);
}
