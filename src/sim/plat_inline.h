/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_PLAT_INLINE_H
#define ORR_SIM_PLAT_INLINE_H

/*
 * plat_inline.h - the simulated world is sequential: locks only check that nobody
 * blocks while holding one, atomics are plain.  See plat/plat.h.
 */
#include <stdint.h>

#include "base/check.h"

struct orr_lock {
	unsigned char held;
};

static inline void orr_lock_init(struct orr_lock *lock)
{
	lock->held = 0;
}

static inline void orr_lock(struct orr_lock *lock)
{
	ORR_ASSERT(!lock->held);
	lock->held = 1;
}

static inline int orr_trylock(struct orr_lock *lock)
{
	if (lock->held)
		return 0;
	lock->held = 1;
	return 1;
}

static inline void orr_unlock(struct orr_lock *lock)
{
	lock->held = 0;
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

static inline void *orr_load_ptr(void **p)
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

struct sim_thread;

struct plat_gate {
	int open;
	struct sim_thread *waiter; /* who is blocked on the gate */
};

static inline int plat_gate_is_open(const struct plat_gate *gate)
{
	return gate->open;
}

const void *plat_thread(void);

/* The head of struct plat: the time that a main worked and has not yet let pass. */
struct plat_debt {
	double debt_s, quantum_s;
	const int *in_kernel;
};

double plat_now_s(struct plat *plat);
double plat_look_s(struct plat *plat);
double plat_here_s(struct plat *plat);
/* Let the debt of the node's threads pass on the calling one. */
void sim_pay(struct plat *plat);
/* What runs in kernel context works for a time: so does its worker, if it has one. */
void sim_charge_worker(struct plat *plat, double seconds);

double plat_effort_s(struct plat *plat);

static inline void plat_owe(struct plat *plat, double seconds)
{
	struct plat_debt *debt = (struct plat_debt *)(void *)plat;

	if (*debt->in_kernel)
		sim_charge_worker(plat, seconds);
	else
		debt->debt_s += seconds;
}

static inline void plat_charge(struct plat *plat, double seconds)
{
	struct plat_debt *debt = (struct plat_debt *)(void *)plat;

	plat_owe(plat, seconds);
	if (!*debt->in_kernel && debt->debt_s >= debt->quantum_s)
		sim_pay(plat);
}

#endif
