/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_DATA_KEPT_H
#define ORR_CORE_DATA_KEPT_H

/*
 * kept.h - buffers that no copy has any more, kept for the next copy of the same shape.
 *
 * To allocate in a device's memory stops the device, and in main memory the system clears
 * the pages.  So a buffer is kept, in a struct of its interface, until a copy in the same
 * memory asks for one of the same table of operations, size and footprint that its
 * alloc_compare() takes for the same.  The interface moves it with cache_data_on_node()
 * and reuse_data_on_node(); dontcache declines.
 *
 * Who needs memory goes before who may need it: what is kept never makes an allocation
 * fail, and counts as available.  The oldest goes first.  In main memory, whose pages the
 * system may need, only what is counted against a limit is kept.
 *
 * The table is under the memory's lock; of the operations of interfaces only those that
 * compare are called with it.
 */
#include "core/data/data.h"

/* A buffer of the copy's shape becomes the copy's: 1; 0: there is none. */
int kept_take(struct copy_state *copy);
/* The copy's buffer is kept: 1, and it is the copy's no more; 0: free it. */
int kept_put(struct copy_state *copy);
/*
 * Free kept buffers, the oldest first, until bytes fit beside what is used: in a device's
 * memory what is used counts them already.  1: some were freed.
 */
int kept_make_way(struct node *node, unsigned memory, size_t bytes);
/* Free all.  1: there were some. */
int kept_drop(struct node *node, unsigned memory);
/* The node closes: all of all memories. */
void kept_close(struct node *node);
/* Bytes kept in a memory; it is locked. */
size_t kept_bytes(const struct memory *memory);

#endif
