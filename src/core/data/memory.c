/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/data/memory.h"

#include <stdlib.h>

#include "core/data/budget.h"
#include "core/data/hollow.h"
#include "core/data/kept.h"
#include "core/lasting.h"

enum { MEMORY_ALIGN = 64, PIN_BYTES = 1 << 16 };

/* Without STARPU_MEMORY_WAIT, NORECLAIM means: rather over the limit than none. */
static int booking_flags(int flags)
{
	if ((flags & (int)STARPU_MALLOC_NORECLAIM) && !(flags & (int)STARPU_MEMORY_WAIT))
		return flags | (int)STARPU_MEMORY_OVERFLOW;
	return flags;
}

static int is_main(const struct node *node, unsigned memory)
{
	return memory == STARPU_MAIN_RAM || memory_is_main(node, memory);
}

static int is_counted(const struct node *node, unsigned memory, int flags)
{
	return node && memory == STARPU_MAIN_RAM && (flags & (int)STARPU_MALLOC_COUNT) &&
	       !plat_caller(node->plat)->has_room;
}

static const struct lasting *lasting_of(const struct node *node)
{
	return node ? node->lasting : lasting_get();
}

/* Small blocks share their pages with others, and are copied fast enough. */
static void *pinned(struct node *node, size_t bytes, int flags, void *ptr)
{
	if (ptr && bytes >= PIN_BYTES && (flags & (int)STARPU_MALLOC_PINNED))
		plat_pin(node->plat, ptr, bytes);
	return ptr;
}

/* align is the application's wish, for memory that is not a datum's; 0: a datum's. */
static void *main_allocate(struct node *node, unsigned memory, size_t bytes, size_t align,
			   int flags)
{
	const struct lasting *lasting = lasting_of(node);
	void *ptr = NULL;

	/* No object is larger, and sums with it do not wrap. */
	if (bytes > PTRDIFF_MAX)
		return NULL;
	if (!lasting->malloc_hook && hollow_is_wanted(node, flags))
		return hollow_get(node, bytes, flags);
	if (lasting->malloc_hook)
		return lasting->malloc_hook(memory, &ptr, bytes, flags) == 0 ? ptr : NULL;
	if (node && align <= MEMORY_ALIGN) {
		if (align && node->nmains > 1)
			memory = PLAT_INTERLEAVED;
		if (!align && plat_main_memory()->is_new)
			plat_main_memory()->is_new(node->plat, bytes);
		return pinned(node, bytes, flags,
			      plat_main_memory()->allocate(node->plat, memory, bytes));
	}
	if (align < MEMORY_ALIGN)
		align = MEMORY_ALIGN;
	return aligned_alloc(align, (bytes + align) & ~(align - 1));
}

static void main_free(struct node *node, unsigned memory, void *ptr, size_t bytes,
		      int flags)
{
	const struct lasting *lasting = lasting_of(node);

	if (lasting->free_hook && ptr)
		lasting->free_hook(memory, ptr, bytes, flags);
	else if (hollow_is_wanted(node, flags))
		hollow_put(node, ptr, bytes, flags);
	else
		plat_main_memory()->release(node ? node->plat : NULL, memory, ptr, bytes);
}

static void *try_allocate(struct node *node, unsigned memory, size_t bytes, int flags)
{
	if (is_main(node, memory))
		return main_allocate(node, memory, bytes, 0, flags);
	return node->memories[memory].driver->allocate(node->plat, memory, bytes);
}

void *memory_allocate(struct node *node, unsigned memory, size_t bytes, int flags)
{
	int counted = is_counted(node, memory, flags);
	int booking = booking_flags(flags) & ~(int)STARPU_MEMORY_WAIT;
	void *ptr;

	if (counted && budget_take(node, memory, bytes, booking) < 0)
		return NULL;
	ptr = try_allocate(node, memory, bytes, flags);
	if (!ptr && node && kept_drop(node, memory))
		ptr = try_allocate(node, memory, bytes, flags);
	if (!ptr && counted)
		budget_give(node, memory, bytes);
	return ptr;
}

void memory_free(struct node *node, unsigned memory, void *ptr, size_t bytes, int flags)
{
	if (ptr && is_counted(node, memory, flags))
		budget_give(node, memory, bytes);
	if (is_main(node, memory))
		main_free(node, memory, ptr, bytes, flags);
	else
		node->memories[memory].driver->release(node->plat, memory, ptr, bytes);
}

void *memory_allocate_aligned(struct node *node, size_t bytes, int flags)
{
	int counted = is_counted(node, STARPU_MAIN_RAM, flags);
	size_t align = orr_count(&lasting_of(node)->malloc_align);
	void *ptr;

	if (counted &&
	    budget_take(node, STARPU_MAIN_RAM, bytes, booking_flags(flags)) < 0)
		return NULL;
	ptr = main_allocate(node, STARPU_MAIN_RAM, bytes, align, flags);
	if (!ptr && counted)
		budget_give(node, STARPU_MAIN_RAM, bytes);
	return ptr;
}
