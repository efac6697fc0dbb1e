/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_MEMORY_H
#define ORR_CORE_DATA_MEMORY_H

/*
 * memory.h - bytes of a node's memories, for the application and for its data.
 *
 * flags are STARPU_MALLOC_ and STARPU_MEMORY_ ones.  Main memory's bytes are booked when
 * they say so; those of other memories, and of copies in a main memory with a limit, by
 * room.c, with the copies that use them.  Main
 * memory can be had without a node (NULL); nothing is booked then.
 */
#include "core/node.h"

/* NULL when there is no room.  Blocks for nobody: STARPU_MEMORY_WAIT has no effect. */
void *memory_allocate(struct node *node, unsigned memory, size_t bytes, int flags);
/* What memory_allocate() gave; bytes and flags as then. */
void memory_free(struct node *node, unsigned memory, void *ptr, size_t bytes, int flags);
/* In main memory, as starpu_malloc_set_align() says; with STARPU_MEMORY_WAIT the user
 * thread blocks until there is room. */
void *memory_allocate_aligned(struct node *node, size_t bytes, int flags);

#endif
