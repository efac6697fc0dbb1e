/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Sets of numbers of workers, from 0 to STARPU_NMAXWORKERS - 1.  The caller locks.
 */

#ifndef STARPU_BITMAP_H
#define STARPU_BITMAP_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

#define _STARPU_LONG_BIT    ((int)(sizeof(unsigned long) * CHAR_BIT))
#define _STARPU_BITMAP_SIZE ((STARPU_NMAXWORKERS - 1) / _STARPU_LONG_BIT + 1)

struct starpu_bitmap {
	unsigned long bits[_STARPU_BITMAP_SIZE];
	int cardinal; /* how many are set */
};

/** An empty set on the heap, or end the program; starpu_bitmap_destroy() frees it. */
static __starpu_inline struct starpu_bitmap *starpu_bitmap_create(void)
{
	struct starpu_bitmap *b = (struct starpu_bitmap *)calloc(1, sizeof(*b));

	STARPU_ASSERT(b);
	return b;
}

/** Make a set empty. */
static __starpu_inline void starpu_bitmap_init(struct starpu_bitmap *b)
{
	memset(b, 0, sizeof(*b));
}

/** Free a set of starpu_bitmap_create(). */
static __starpu_inline void starpu_bitmap_destroy(struct starpu_bitmap *b)
{
	free(b);
}

/** Is e in it?  1 or 0. */
static __starpu_inline int starpu_bitmap_get(struct starpu_bitmap *b, int e)
{
	if (e < 0 || e >= _STARPU_BITMAP_SIZE * _STARPU_LONG_BIT)
		return 0;
	return (int)(b->bits[e / _STARPU_LONG_BIT] >> (e % _STARPU_LONG_BIT) & 1);
}

/** Add e. */
static __starpu_inline void starpu_bitmap_set(struct starpu_bitmap *b, int e)
{
	STARPU_ASSERT(e >= 0 && e < _STARPU_BITMAP_SIZE * _STARPU_LONG_BIT);
	b->cardinal += !starpu_bitmap_get(b, e);
	b->bits[e / _STARPU_LONG_BIT] |= 1ul << (e % _STARPU_LONG_BIT);
}

/** Remove e. */
static __starpu_inline void starpu_bitmap_unset(struct starpu_bitmap *b, int e)
{
	if (!starpu_bitmap_get(b, e))
		return;
	b->cardinal--;
	b->bits[e / _STARPU_LONG_BIT] &= ~(1ul << (e % _STARPU_LONG_BIT));
}

/** Remove all. */
static __starpu_inline void starpu_bitmap_unset_all(struct starpu_bitmap *b)
{
	memset(b, 0, sizeof(*b));
}

/* Count again. */
static __starpu_inline void starpu_bitmap_recount_(struct starpu_bitmap *b)
{
	b->cardinal = 0;
	for (int i = 0; i < _STARPU_BITMAP_SIZE; i++)
		b->cardinal += __builtin_popcountl(b->bits[i]);
}

/** a becomes what is in both b and c. */
static __starpu_inline void starpu_bitmap_unset_and(struct starpu_bitmap *a,
						    struct starpu_bitmap *b,
						    struct starpu_bitmap *c)
{
	for (int i = 0; i < _STARPU_BITMAP_SIZE; i++)
		a->bits[i] = b->bits[i] & c->bits[i];
	starpu_bitmap_recount_(a);
}

/** Add to a what is in b. */
static __starpu_inline void starpu_bitmap_or(struct starpu_bitmap *a,
					     struct starpu_bitmap *b)
{
	for (int i = 0; i < _STARPU_BITMAP_SIZE; i++)
		a->bits[i] |= b->bits[i];
	starpu_bitmap_recount_(a);
}

/** Is e in both?  1 or 0. */
static __starpu_inline int starpu_bitmap_and_get(struct starpu_bitmap *b1,
						 struct starpu_bitmap *b2, int e)
{
	return starpu_bitmap_get(b1, e) && starpu_bitmap_get(b2, e);
}

/** How many it has. */
static __starpu_inline int starpu_bitmap_cardinal(struct starpu_bitmap *b)
{
	return b->cardinal;
}

/** The least one above e, or -1. */
static __starpu_inline int starpu_bitmap_next(struct starpu_bitmap *b, int e)
{
	int from = e + 1;
	unsigned long mask = ~0ul << (from % _STARPU_LONG_BIT);

	for (int i = from / _STARPU_LONG_BIT; i < _STARPU_BITMAP_SIZE; i++) {
		if (b->bits[i] & mask)
			return i * _STARPU_LONG_BIT + __builtin_ctzl(b->bits[i] & mask);
		mask = ~0ul;
	}
	return -1;
}

/** The least one, or -1. */
static __starpu_inline int starpu_bitmap_first(struct starpu_bitmap *b)
{
	return starpu_bitmap_next(b, -1);
}

/** The greatest one, or -1. */
static __starpu_inline int starpu_bitmap_last(struct starpu_bitmap *b)
{
	for (int i = _STARPU_BITMAP_SIZE - 1; i >= 0; i--)
		if (b->bits[i])
			return (i + 1) * _STARPU_LONG_BIT - 1 -
			       __builtin_clzl(b->bits[i]);
	return -1;
}

/** Is there one above e (-1: any)?  1 or 0. */
static __starpu_inline int starpu_bitmap_has_next(struct starpu_bitmap *b, int e)
{
	return starpu_bitmap_next(b, e) >= 0;
}

#ifdef __cplusplus
}
#endif

#endif /* STARPU_BITMAP_H */
