/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_WAITERS_H
#define ORR_SIM_WAITERS_H

/*
 * waiters.h - threads of the application that wait for each other in simulated time,
 * served in order.
 *
 * A list belongs to one lock; or to many of one rank, then each waiter says for which it
 * waits.
 */
#include "plat/plat.h"

struct waiter {
	struct waiter *next;
	struct plat_gate gate;
	int writes;         /* waits for a rwlock, to write */
	const void *object; /* for which it waits, in a list of many */
};

struct waiters {
	struct waiter *first, *last;
};

/* Block the calling thread as this waiter until somebody takes it off the list, or until
 * a date when it is not negative.  0 or ETIMEDOUT.  In kernel context the program ends:
 * who is the function that would wait. */
int waiters_block(struct waiters *waiters, struct waiter *waiter, double until_s,
		  const char *who);
/* The same in two steps.  In between the thread may let others run, by waking one: who
 * wakes this waiter then is not missed. */
void waiters_join(struct waiters *waiters, struct waiter *waiter, const char *who);
int waiters_await(struct waiters *waiters, struct waiter *waiter, double until_s,
		  const char *who);
/* Or not wait after all. */
void waiters_leave(struct waiters *waiters, struct waiter *waiter);
/* This one, which may be NULL.  All return how many have been woken. */
int waiters_wake(struct waiters *waiters, struct waiter *waiter);
int waiters_wake_first(struct waiters *waiters);
int waiters_wake_all(struct waiters *waiters);
/* The first, or all, that wait for this object. */
int waiters_wake_first_of(struct waiters *waiters, const void *object);
int waiters_wake_all_of(struct waiters *waiters, const void *object);

/* Does one wait for the object, a rwlock, to write? */
int waiters_have_writer(const struct waiters *waiters, const void *object);

/* locks.c: does anybody wait for this starpu_pthread_cond_t? */
int cond_has_waiters(const void *cond);

#endif
