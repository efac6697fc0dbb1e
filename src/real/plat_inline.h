/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_PLAT_INLINE_H
#define ORR_REAL_PLAT_INLINE_H

/*
 * plat_inline.h of the real machine: completes plat/plat.h.
 *
 * Locks are test-and-set spin locks: they are held for less than a microsecond, and
 * who spins for longer gives its core away, since cores may be fewer than threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

struct orr_lock {
	int taken;
};

/* Wait until the lock looks free; in src/real/wait.c. */
void real_lock_wait(const struct orr_lock *lock);

static inline void orr_lock_init(struct orr_lock *lock)
{
	lock->taken = 0;
}

static inline int orr_trylock(struct orr_lock *lock)
{
	return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
}

static inline void orr_lock(struct orr_lock *lock)
{
	while (!orr_trylock(lock))
		real_lock_wait(lock);
}

static inline void orr_unlock(struct orr_lock *lock)
{
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

static inline int orr_add(int *p, int v)
{
	return __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST);
}

static inline uint64_t orr_next(uint64_t *p)
{
	return __atomic_add_fetch(p, 1, __ATOMIC_RELAXED);
}

static inline uint64_t orr_count(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void orr_note(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline unsigned orr_load_short(const uint16_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void orr_store_short(uint16_t *p, uint16_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* An acquire load may be done before an orr_add() of another word that precedes it; and
 * then two threads that each change a word and look at the other's see both old ones. */
static inline int orr_load(const int *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline void orr_store(int *p, int v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline int orr_cas(int *p, int old, int new)
{
	return __atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static inline void *orr_load_ptr(void *const *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline void *orr_swap_ptr(void **p, void *v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}

static inline int orr_cas_ptr(void **p, void *old, void *new)
{
	return __atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static inline void orr_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* CLOCK_MONOTONIC starts with the machine, so all nodes of a machine share it. */
static inline double plat_now_s(struct plat *plat)
{
	struct timespec now;

	(void)plat;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#include "plat/unpaid.h"

/* Waiters sleep on one word of struct plat, so the gate itself is a flag. */
struct plat_gate {
	int is_open;
};

static inline int plat_gate_is_open(const struct plat_gate *gate)
{
	return orr_load(&gate->is_open);
}

static inline const void *plat_thread(void)
{
	return (const void *)pthread_self();
}

static inline struct node *plat_self_at_once(void)
{
	return plat_self();
}

#endif
