/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Memory of the application's, and the account of it. */
#include <errno.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/budget.h"
#include "core/data/kept.h"
#include "core/data/memory.h"
#include "core/data/room.h"
#include "core/lasting.h"

static struct memory *memory_at(const char *func, unsigned memory);

static void drop_kept(struct node *node)
{
	for (int i = 0; node && i < node_nmemories(node); i++)
		kept_drop(node, (unsigned)i);
}

void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook, starpu_free_hook free_hook)
{
	struct lasting *lasting = lasting_get();

	if (!malloc_hook != !free_hook)
		orr_die(api_rank(),
			"%s: one of the two hooks is NULL; give both, or NULL twice",
			__func__);
	/* Who gave the buffers that are kept gets them back. */
	drop_kept(plat_self());
	lasting->malloc_hook = malloc_hook;
	lasting->free_hook = free_hook;
}

/* What pinning it for GPUs costs the caller, in simulation. */
static void charge_pinning(struct node *node, size_t bytes)
{
	const struct knobs *knobs = node_knobs(node);

	if (knobs->cuda_malloc_cost && node->machine->devices[STARPU_CUDA_WORKER].count)
		plat_charge(node->plat, knobs->pin_s * ((double)bytes / (1 << 20)));
}

int starpu_malloc_flags(void **A, size_t dim, int flags)
{
	struct node *node = plat_self();

	*A = NULL;
	if (node && (flags & (int)STARPU_MALLOC_COUNT) &&
	    (flags & (int)STARPU_MEMORY_WAIT))
		api_blocking_node(__func__);
	*A = memory_allocate_aligned(node, dim, flags);
	if (*A && node && (flags & (int)STARPU_MALLOC_PINNED))
		charge_pinning(node, dim);
	return *A ? 0 : -ENOMEM;
}

int starpu_free_flags(void *A, size_t dim, int flags)
{
	memory_free(plat_self(), STARPU_MAIN_RAM, A, dim, flags);
	return 0;
}

void starpu_malloc_set_align(size_t align)
{
	struct lasting *lasting = lasting_get();

	if (align == 0 || (align & (align - 1)))
		orr_die(api_rank(), "%s: alignment %zu; expected a power of two",
			__func__, align);
	if (align > orr_count(&lasting->malloc_align))
		orr_note(&lasting->malloc_align, align);
}

int starpu_malloc(void **A, size_t dim)
{
	return starpu_malloc_flags(A, dim, STARPU_MALLOC_PINNED);
}

int starpu_free(void *A)
{
	return starpu_free_flags(A, 0, STARPU_MALLOC_PINNED);
}

int starpu_free_noflag(void *A, size_t dim)
{
	return starpu_free_flags(A, dim, STARPU_MALLOC_PINNED);
}

/* Without a node there is no GPU that copies from it. */
int starpu_memory_pin(void *addr, size_t size)
{
	struct node *node = plat_self();

	return node ? plat_pin(node->plat, addr, size) : 0;
}

int starpu_memory_unpin(void *addr, size_t size)
{
	struct node *node = plat_self();

	(void)size;
	return node ? plat_unpin(node->plat, addr) : 0;
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
	struct node *node = api_node(__func__);

	memory_at(__func__, dst_node);
	return (uintptr_t)memory_allocate(node, dst_node, size, flags);
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags)
{
	struct node *node = api_node(__func__);

	memory_at(__func__, dst_node);
	memory_free(node, dst_node, (void *)addr, size, flags);
}

/* GPUs' memory is accounted by who puts data there: these flags matter for memory 0. */
static int default_flags(unsigned memory)
{
	return memory_at("starpu_malloc_on_node", memory)->default_flags;
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
	return starpu_malloc_on_node_flags(dst_node, size, default_flags(dst_node));
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
	starpu_free_on_node_flags(dst_node, addr, size, default_flags(dst_node));
}

void starpu_malloc_on_node_set_default_flags(unsigned node, int flags)
{
	struct memory *memory = memory_at(__func__, node);

	/* Buffers are freed with the flags with which they were allocated. */
	kept_drop(api_node(__func__), node);
	memory->default_flags = flags;
}

/* ---- the account ----------------------------------------------------- */

/* NULL while there is no node: then nothing is known, and nothing used. */
static struct memory *memory_at(const char *func, unsigned memory)
{
	struct node *node = plat_self();

	if (!node)
		return NULL;
	if (memory >= (unsigned)node_nmemories(node))
		orr_die(node->rank, "%s: there is no memory node %u; expected 0 to %d",
			func, memory, node_nmemories(node) - 1);
	return &node->memories[memory];
}

starpu_ssize_t starpu_memory_get_total(unsigned memory)
{
	const struct memory *of = memory_at(__func__, memory);

	return of && room_capacity(of) ? (starpu_ssize_t)room_capacity(of) : -1;
}

/* Buffers kept in main memory are counted until they are freed; who asks gets them. */
static size_t used_bytes(struct memory *memory)
{
	size_t used, kept;

	orr_lock(&memory->lock);
	used = memory->used_bytes;
	kept = memory->is_booked ? kept_bytes(memory) : 0;
	orr_unlock(&memory->lock);
	return used > kept ? used - kept : 0;
}

starpu_ssize_t starpu_memory_get_available(unsigned memory)
{
	struct memory *of = memory_at(__func__, memory);
	size_t capacity = of ? room_capacity(of) : 0;

	if (!capacity)
		return -1;
	return (starpu_ssize_t)(capacity - used_bytes(of));
}

size_t starpu_memory_get_used(unsigned memory)
{
	struct memory *of = memory_at(__func__, memory);

	return of ? used_bytes(of) : 0;
}

int starpu_memory_allocate(unsigned node, size_t size, int flags)
{
	if (!memory_at(__func__, node))
		return 0;
	if (flags & (int)STARPU_MEMORY_WAIT)
		api_blocking_node(__func__);
	return budget_take(plat_self(), node, size, flags);
}

void starpu_memory_deallocate(unsigned node, size_t size)
{
	if (memory_at(__func__, node))
		budget_give(plat_self(), node, size);
}

void starpu_memory_wait_available(unsigned node, size_t size)
{
	memory_at(__func__, node);
	budget_wait(api_blocking_node(__func__), node, size);
}

starpu_ssize_t starpu_memory_get_total_all_nodes(void)
{
	starpu_ssize_t total = 0, one;

	for (unsigned i = 0; plat_self() && i < starpu_memory_nodes_get_count(); i++) {
		one = starpu_memory_get_total(i);
		if (one < 0)
			return -1;
		total += one;
	}
	return plat_self() ? total : -1;
}

starpu_ssize_t starpu_memory_get_available_all_nodes(void)
{
	starpu_ssize_t total = starpu_memory_get_total_all_nodes();

	return total < 0 ? -1
			 : total - (starpu_ssize_t)starpu_memory_get_used_all_nodes();
}

size_t starpu_memory_get_used_all_nodes(void)
{
	size_t used = 0;

	for (unsigned i = 0; plat_self() && i < starpu_memory_nodes_get_count(); i++)
		used += starpu_memory_get_used(i);
	return used;
}
