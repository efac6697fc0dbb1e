/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The public header declares these functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <errno.h>
#include <string.h>

#include <simgrid/semaphore.h>
#include <starpu_thread.h>

#include "core/wait.h"
#include "sim.h"

/*
 * threads.c - mutexes and conditions for applications, in simulated time.
 *
 * The types are those of POSIX, as storage.  Mains block; callbacks, which run in
 * kernel context, may lock a free mutex and signal, but never block.
 */
struct waiter {
	struct waiter *next;
	struct plat_gate gate; /* of a thread with a node */
	sg_sem_t sem;          /* of one without */
	int woken;
};

struct waiters {
	struct waiter *first, *last;
};

struct mutex {
	int held;
	struct waiters waiters;
};

struct cond {
	struct waiters waiters;
};

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "a mutex must fit");
_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t), "a condition must fit");

static struct mutex *mutex_of(pthread_mutex_t *mutex)
{
	return (struct mutex *)(void *)mutex;
}

static struct cond *cond_of(pthread_cond_t *cond)
{
	return (struct cond *)(void *)cond;
}

static void append(struct waiters *waiters, struct waiter *waiter)
{
	waiter->next = NULL;
	*(waiters->last ? &waiters->last->next : &waiters->first) = waiter;
	waiters->last = waiter;
}

/* The waiter is on its thread's stack: it is gone when its semaphore is released. */
static int wake_first(struct waiters *waiters)
{
	struct waiter *waiter = waiters->first;

	if (!waiter)
		return 0;
	waiters->first = waiter->next;
	if (!waiters->first)
		waiters->last = NULL;
	waiter->woken = 1;
	if (waiter->sem)
		sg_sem_release(waiter->sem);
	else
		plat_gate_open(NULL, &waiter->gate);
	return 1;
}

/* Block the calling main until somebody takes it off the list. */
static void block_on(struct waiters *waiters, const char *who)
{
	struct waiter waiter = {0};
	struct node *node = plat_self();

	if (sim_get()->in_kernel)
		orr_die(ORR_NO_RANK,
			"%s: a callback would block for ever: in simulation callbacks "
			"may signal, and lock a mutex that is free, but not wait",
			who);
	if (node) {
		plat_gate_init(&waiter.gate);
		append(waiters, &waiter);
		wait_at(node, &waiter.gate, WAIT_THREAD, who);
		return;
	}
	waiter.sem = sg_sem_init(0);
	append(waiters, &waiter);
	while (!waiter.woken)
		sg_sem_acquire(waiter.sem);
	sg_sem_destroy(waiter.sem);
}

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
			      const starpu_pthread_mutexattr_t *attr)
{
	(void)attr;
	memset(mutex, 0, sizeof(*mutex));
	return 0;
}

int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex)
{
	return mutex_of(mutex)->held ? EBUSY : 0;
}

int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = mutex_of(mutex);

	if (m->held)
		block_on(&m->waiters,
			 "starpu_pthread_mutex_lock"); /* It is handed over. */
	m->held = 1;
	return 0;
}

int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = mutex_of(mutex);

	if (!m->held)
		return EPERM;
	if (!wake_first(&m->waiters))
		m->held = 0;
	return 0;
}

int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = mutex_of(mutex);

	if (m->held)
		return EBUSY;
	m->held = 1;
	return 0;
}

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
			     const starpu_pthread_condattr_t *attr)
{
	(void)attr;
	memset(cond, 0, sizeof(*cond));
	return 0;
}

int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond)
{
	return cond_of(cond)->waiters.first ? EBUSY : 0;
}

int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex)
{
	int status = starpu_pthread_mutex_unlock(mutex);

	if (status != 0)
		return status;
	block_on(&cond_of(cond)->waiters, "starpu_pthread_cond_wait");
	return starpu_pthread_mutex_lock(mutex);
}

int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
	wake_first(&cond_of(cond)->waiters);
	return 0;
}

int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
	while (wake_first(&cond_of(cond)->waiters))
		;
	return 0;
}
