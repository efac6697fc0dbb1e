/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_PLAT_INLINE_H
#define ORR_SIM_PLAT_INLINE_H

/*
 * plat_inline.h - the simulated world is sequential: locks only check that nobody
 * blocks while holding one, atomics are plain.  See plat/plat.h.
 */
#include "base/check.h"
#include "base/signals.h"
#include "plat/lone.h"

struct orr_lock {
	unsigned char held;
};

static inline void orr_lock_init(struct orr_lock *lock)
{
	lock->held = 0;
}

static inline void orr_lock(struct orr_lock *lock)
{
	if (lock->held)
		signals_refuse_handler();
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

struct sim;

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

	if (*debt->in_kernel)
		sim_charge_worker(plat, seconds);
	else if ((debt->debt_s += seconds) >= debt->quantum_s)
		sim_pay(plat);
}

/* The same where that is all, and no time passes now. */
static inline int plat_charge_lightly(struct plat *plat, double seconds)
{
	struct plat_debt *debt = (struct plat_debt *)(void *)plat;

	if (*debt->in_kernel || debt->debt_s + seconds >= debt->quantum_s)
		return 0;
	debt->debt_s += seconds;
	return 1;
}

/*
 * The head of struct sim: the thread that asked last who it is, and the page of its stack
 * it was in: no other thread is there while this one has not ended.
 */
struct sim_asked {
	int in_kernel;
	uintptr_t page;
	struct node **node; /* the first of its struct sim_rank */
};

/* The one pointer of the backend. */
extern struct sim *the_sim __attribute__((visibility("hidden")));

enum { SIM_STACK_PAGE_BITS = 12 };

/* The page of the stack that the caller is in; SimGrid's stacks begin with a page. */
static inline uintptr_t sim_stack_page(void)
{
	return (uintptr_t)__builtin_frame_address(0) >> SIM_STACK_PAGE_BITS;
}

/*
 * Who asks by this stands one page or none above where he stood when he asked
 * plat_self(). The next page is of the same stack, or the far end of another one, where
 * nobody comes.
 */
static inline struct node *plat_self_at_once(void)
{
	const struct sim_asked *asked = (const struct sim_asked *)(const void *)the_sim;

	return asked && !asked->in_kernel && sim_stack_page() - asked->page <= 1
		       ? *asked->node
		       : NULL;
}

#endif
