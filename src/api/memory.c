/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Memory of the application's, and the account of it. */
#include <errno.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/check.h"
#include "core/data/budget.h"
#include "core/lasting.h"

enum { MALLOC_ALIGN = 64 };

static struct memory *memory_at(const char *func, unsigned memory);

/* Without STARPU_MEMORY_WAIT, NORECLAIM means: rather over the limit than none. */
static int booking_flags(int flags)
{
	if ((flags & (int)STARPU_MALLOC_NORECLAIM) && !(flags & (int)STARPU_MEMORY_WAIT))
		return flags | (int)STARPU_MEMORY_OVERFLOW;
	return flags;
}

static int is_counted(const struct node *node, int flags)
{
	return node && (flags & (int)STARPU_MALLOC_COUNT);
}

/* ---- the bytes themselves -------------------------------------------- */

static const struct lasting *lasting_of(const struct node *node)
{
	return node ? node->lasting : lasting_get();
}

static void *main_alloc(struct node *node, size_t bytes, size_t align, int flags)
{
	const struct lasting *lasting = lasting_of(node);
	void *ptr = NULL;

	if (lasting->malloc_hook)
		return lasting->malloc_hook(STARPU_MAIN_RAM, &ptr, bytes, flags) == 0
			       ? ptr
			       : NULL;
	if (align > MALLOC_ALIGN)
		return aligned_alloc(align, (bytes + align) & ~(align - 1));
	if (node)
		return plat_main_memory()->allocate(node->plat, STARPU_MAIN_RAM, bytes);
	return aligned_alloc(MALLOC_ALIGN,
			     (bytes + MALLOC_ALIGN) & ~(size_t)(MALLOC_ALIGN - 1));
}

static void main_free(struct node *node, void *ptr, size_t bytes, int flags)
{
	const struct lasting *lasting = lasting_of(node);

	if (lasting->free_hook && ptr)
		lasting->free_hook(STARPU_MAIN_RAM, ptr, bytes, flags);
	else
		plat_main_memory()->release(node ? node->plat : NULL, STARPU_MAIN_RAM,
					    ptr, bytes);
}

void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook, starpu_free_hook free_hook)
{
	struct lasting *lasting = lasting_get();

	if (!malloc_hook != !free_hook)
		orr_die(api_rank(),
			"%s: one of the two hooks is NULL; give both, or NULL twice",
			__func__);
	lasting->malloc_hook = malloc_hook;
	lasting->free_hook = free_hook;
}

int starpu_malloc_flags(void **A, size_t dim, int flags)
{
	struct node *node = plat_self();
	int counted = is_counted(node, flags);

	*A = NULL;
	if (counted) {
		if (flags & (int)STARPU_MEMORY_WAIT)
			api_blocking_node(__func__);
		if (budget_take(node, STARPU_MAIN_RAM, dim, booking_flags(flags)) < 0)
			return -ENOMEM;
	}
	*A = main_alloc(node, dim, orr_count(&lasting_of(node)->malloc_align), flags);
	if (!*A && counted)
		budget_give(node, STARPU_MAIN_RAM, dim);
	return *A ? 0 : -ENOMEM;
}

int starpu_free_flags(void *A, size_t dim, int flags)
{
	struct node *node = plat_self();

	if (A && is_counted(node, flags))
		budget_give(node, STARPU_MAIN_RAM, dim);
	main_free(node, A, dim, flags);
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

/* Without a GPU to copy from it, no memory needs pinning. */
int starpu_memory_pin(void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return 0;
}

int starpu_memory_unpin(void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return 0;
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
	struct node *node = api_node(__func__);
	int counted = dst_node == STARPU_MAIN_RAM && is_counted(node, flags);
	void *ptr;

	if (counted && budget_take(node, dst_node, size,
				   booking_flags(flags) & ~(int)STARPU_MEMORY_WAIT) < 0)
		return 0;
	ptr = dst_node == STARPU_MAIN_RAM
		      ? main_alloc(node, size, 0, flags)
		      : memory_at(__func__, dst_node)
				->driver->allocate(node->plat, dst_node, size);
	if (!ptr && counted)
		budget_give(node, dst_node, size);
	return (uintptr_t)ptr;
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags)
{
	struct node *node = api_node(__func__);

	if (addr && dst_node == STARPU_MAIN_RAM && is_counted(node, flags))
		budget_give(node, dst_node, size);
	if (dst_node == STARPU_MAIN_RAM)
		main_free(node, (void *)addr, size, flags);
	else
		memory_at(__func__, dst_node)
			->driver->release(node->plat, dst_node, (void *)addr, size);
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
	api_node(__func__);
	memory_at(__func__, node)->default_flags = flags;
}

/* ---- the account ----------------------------------------------------- */

/* NULL while there is no node: then nothing is known, and nothing used. */
static struct memory *memory_at(const char *func, unsigned memory)
{
	struct node *node = plat_self();

	if (!node)
		return NULL;
	if (memory >= (unsigned)node->nmemories)
		orr_die(node->rank, "%s: there is no memory node %u; expected 0 to %d",
			func, memory, node->nmemories - 1);
	return &node->memories[memory];
}

starpu_ssize_t starpu_memory_get_total(unsigned memory)
{
	const struct memory *of = memory_at(__func__, memory);

	return of && of->capacity_bytes ? (starpu_ssize_t)of->capacity_bytes : -1;
}

starpu_ssize_t starpu_memory_get_available(unsigned memory)
{
	struct memory *of = memory_at(__func__, memory);

	return of && of->capacity_bytes
		       ? (starpu_ssize_t)(of->capacity_bytes - of->used_bytes)
		       : -1;
}

size_t starpu_memory_get_used(unsigned memory)
{
	const struct memory *of = memory_at(__func__, memory);

	return of ? of->used_bytes : 0;
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
