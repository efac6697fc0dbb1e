/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_BASE_ARENA_H
#define ORR_BASE_ARENA_H

/*
 * arena.h - a reservation of addresses, and blocks of it.
 *
 * A block costs nothing until it is touched, which the reservation may forbid.  Freed
 * blocks are kept by size class, in arrays apart, because a list through the blocks
 * would touch them.  Four classes per power of two, from 64 bytes; blocks of a page or
 * more are whole pages.  Who has an arena locks it.
 */
#include <stddef.h>

struct arena;

/* Reserve up to bytes, as many as the limits of the process allow; protection as mmap()
 * takes it.  Ends the program when there are not even 4 GiB. */
struct arena *arena_new(size_t bytes, int protection);
/* The same addresses, none of them taken: for what never looks at them. */
struct arena *arena_same(const struct arena *arena);
/* Addresses that are somebody else's, from base on: none is looked at here. */
struct arena *arena_at(void *base, size_t bytes);
/* Forget the blocks; the addresses stay reserved. */
void arena_free(struct arena *arena);
/* Its addresses, too, which nobody shares. */
void arena_end(struct arena *arena);
/* A block, or NULL when no addresses are left. */
void *arena_get(struct arena *arena, size_t bytes);
/* touched: give the pages of a large one back. */
void arena_put(struct arena *arena, void *block, size_t bytes, int touched);
/* Is it an address of the reservation? */
int arena_has(const struct arena *arena, const void *address);

#endif
