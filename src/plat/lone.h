/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_PLAT_LONE_H
#define ORR_PLAT_LONE_H

/*
 * lone.h - atomics of plat.h for a plat_inline.h whose world is sequential: plain ones.
 */
#include <stdint.h>

static inline int orr_add(int *p, int v)
{
	return *p += v;
}

static inline uint64_t orr_next(uint64_t *p)
{
	return ++*p;
}

static inline uint64_t orr_count(const uint64_t *p)
{
	return *p;
}

static inline void orr_note(uint64_t *p, uint64_t v)
{
	*p = v;
}

static inline unsigned orr_load_short(const uint16_t *p)
{
	return *p;
}

static inline void orr_store_short(uint16_t *p, uint16_t v)
{
	*p = v;
}

static inline int orr_load(const int *p)
{
	return *p;
}

static inline void orr_store(int *p, int v)
{
	*p = v;
}

static inline int orr_cas(int *p, int old, int new)
{
	if (*p != old)
		return 0;
	*p = new;
	return 1;
}

static inline void *orr_load_ptr(void *const *p)
{
	return *p;
}

static inline void *orr_swap_ptr(void **p, void *v)
{
	void *old = *p;

	*p = v;
	return old;
}

static inline int orr_cas_ptr(void **p, void *old, void *new)
{
	if (*p != old)
		return 0;
	*p = new;
	return 1;
}

static inline void orr_fence(void)
{
}

#endif
