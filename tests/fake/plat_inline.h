/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_FAKE_PLAT_INLINE_H
#define ORR_FAKE_PLAT_INLINE_H

/*
 * plat_inline.h of the fake: one thread, so locks only check that nobody takes one
 * twice or leaves one that he does not hold, and atomics are plain.  See plat/plat.h.
 */
#include "base/check.h"
#include "plat/lone.h"

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

/* Virtual time. */
double plat_now_s(struct plat *plat);

#include "plat/unpaid.h"

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
