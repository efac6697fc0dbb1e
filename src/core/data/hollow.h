/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_HOLLOW_H
#define ORR_CORE_DATA_HOLLOW_H

/*
 * hollow.h - buffers of main memory whose content means nothing, so that a simulation may
 * touch more of them than the machine has memory.
 *
 * STARPU_MALLOC_SIMULATION_UNIQUE: all buffers of one size are the same one.
 * STARPU_MALLOC_SIMULATION_FOLDED: a large buffer is a few pages, again and again.  Where
 * kernels really run both flags mean nothing.
 */
#include "core/node.h"

/* Is a buffer with these flags hollow? */
int hollow_is_wanted(const struct node *node, int flags);
/* One, or NULL; counted by nobody. */
void *hollow_get(struct node *node, size_t bytes, int flags);
/* What hollow_get() gave; bytes and flags as then. */
void hollow_put(struct node *node, void *ptr, size_t bytes, int flags);
/* The node closes: what was not given back is forgotten. */
void hollow_close(struct node *node);

#endif
