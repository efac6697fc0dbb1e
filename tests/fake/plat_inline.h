/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_FAKE_PLAT_INLINE_H
#define ORR_FAKE_PLAT_INLINE_H

/*
 * plat_inline.h of the fake: one thread, so locks only check that nobody takes one
 * twice or leaves one that he does not hold, and atomics are plain.  See plat/plat.h.
 */
#include <stdint.h>

#include "base/check.h"

struct orr_lock {
	int held;
};

/* Taken now, or given back: one more that is held, or one less. */
void fake_lock_held(int more);

static inline void orr_lock_init(struct orr_lock *lock)
{
	lock->held = 0;
}

static inline int orr_trylock(struct orr_lock *lock)
{
	if (lock->held)
		return 0;
	lock->held = 1;
	fake_lock_held(1);
	return 1;
}

static inline void orr_lock(struct orr_lock *lock)
{
	ORR_ASSERT(!lock->held);
	lock->held = 1;
	fake_lock_held(1);
}

static inline void orr_unlock(struct orr_lock *lock)
{
	ORR_ASSERT(lock->held);
	lock->held = 0;
	fake_lock_held(-1);
}

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

/* Virtual time. */
double plat_now_s(struct plat *plat);

static inline double plat_look_s(struct plat *plat)
{
	return plat_now_s(plat);
}

static inline double plat_here_s(struct plat *plat)
{
	return plat_now_s(plat);
}

static inline void plat_charge(struct plat *plat, double seconds)
{
	(void)plat;
	(void)seconds;
}

static inline int plat_charge_lightly(struct plat *plat, double seconds)
{
	plat_charge(plat, seconds);
	return 1;
}

static inline void plat_owe(struct plat *plat, double seconds)
{
	(void)plat;
	(void)seconds;
}

static inline double plat_effort_s(struct plat *plat)
{
	(void)plat;
	return 0;
}

struct plat_gate {
	int is_open;
};

static inline int plat_gate_is_open(const struct plat_gate *gate)
{
	return gate->is_open;
}

static inline const void *plat_thread(void)
{
	return (const void *)1;
}

static inline struct node *plat_self_at_once(void)
{
	return plat_self();
}

#endif
