/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The public header declares these functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <errno.h>
#include <string.h>

#include <starpu_thread.h>

#include "core/sched/conditions.h"
#include "core/wait.h"
#include "sim.h"
#include "sim/posix.h"
#include "sim/waiters.h"

/*
 * locks.c - mutexes, conditions, rwlocks, barriers, spinlocks and semaphores for
 * applications, in simulated time.
 *
 * The types are those of POSIX, as storage; zero is what the static initialisers say.
 * Whoever waits is served in order.  Threads block; callbacks, which run in kernel
 * context, may take what is free and signal, but never block.
 */
struct mutex {
	int depth; /* 0: free */
	int type;
	struct waiters waiters;
	void *owner; /* of recursive ones and those that check */
};

struct cond {
	struct waiters waiters;
};

struct rwlock {
	int nreaders, written;
	struct waiters waiters;
};

struct barrier {
	unsigned count, narrived;
	struct waiters waiters;
};

struct semaphore {
	unsigned value;
	struct waiters waiters;
};

#define MUST_FIT(ours, posix)                                                            \
	_Static_assert(sizeof(struct ours) <= sizeof(posix), "it is kept there")
MUST_FIT(mutex, pthread_mutex_t);
MUST_FIT(cond, pthread_cond_t);
MUST_FIT(rwlock, pthread_rwlock_t);
MUST_FIT(barrier, pthread_barrier_t);
MUST_FIT(semaphore, sem_t);
_Static_assert(sizeof(int) <= sizeof(pthread_mutexattr_t), "it is kept there");

#define OURS(kind, object) ((struct kind *)(void *)(object))

static int block_on(struct waiters *waiters, int writes, double until_s, const char *who)
{
	struct waiter waiter = {.writes = writes};

	return waiters_block(waiters, &waiter, until_s, who);
}

/* ---- mutexes --------------------------------------------------------- */

int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr)
{
	*(int *)(void *)attr = PTHREAD_MUTEX_DEFAULT;
	return 0;
}

int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr)
{
	(void)attr;
	return 0;
}

int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr, int type)
{
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ERRORCHECK &&
	    type != PTHREAD_MUTEX_RECURSIVE && type != PTHREAD_MUTEX_DEFAULT)
		return EINVAL;
	*(int *)(void *)attr = type;
	return 0;
}

int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr, int *type)
{
	*type = *(const int *)(const void *)attr;
	return 0;
}

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
			      const starpu_pthread_mutexattr_t *attr)
{
	memset(mutex, 0, sizeof(*mutex));
	if (attr)
		OURS(mutex, mutex)->type = *(const int *)(const void *)attr;
	return 0;
}

int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex)
{
	return OURS(mutex, mutex)->depth ? EBUSY : 0;
}

static void *self(void)
{
	return (void *)(uintptr_t)starpu_pthread_self();
}

static int take_mutex(struct mutex *mutex)
{
	mutex->depth = 1;
	if (mutex->type != PTHREAD_MUTEX_NORMAL)
		mutex->owner = self();
	return 0;
}

static int try_mutex(struct mutex *m)
{
	if (!m->depth)
		return take_mutex(m);
	if (m->type != PTHREAD_MUTEX_RECURSIVE || m->owner != self())
		return EBUSY;
	m->depth++;
	return 0;
}

/* What trying has come to. */
static int tried(int status)
{
	if (status != 0)
		sim_tried();
	return status;
}

int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex)
{
	return tried(try_mutex(OURS(mutex, mutex)));
}

int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = OURS(mutex, mutex);

	if (!try_mutex(m))
		return 0;
	if (m->type == PTHREAD_MUTEX_ERRORCHECK && m->owner == self())
		return EDEADLK;
	block_on(&m->waiters, 0, -1, "starpu_pthread_mutex_lock");
	return take_mutex(m); /* It has been handed over. */
}

int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = OURS(mutex, mutex);

	if (!m->depth || (m->type != PTHREAD_MUTEX_NORMAL && m->owner != self()))
		return EPERM;
	if (m->depth > 1) {
		m->depth--;
		return 0;
	}
	m->owner = NULL;
	if (!waiters_wake_first(&m->waiters))
		m->depth = 0;
	return 0;
}

/* ---- conditions ------------------------------------------------------ */

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
			     const starpu_pthread_condattr_t *attr)
{
	(void)attr;
	memset(cond, 0, sizeof(*cond));
	return 0;
}

int cond_has_waiters(const void *cond)
{
	return ((const struct cond *)cond)->waiters.first != NULL;
}

int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond)
{
	return cond_has_waiters(cond) ? EBUSY : 0;
}

/* Who gets the mutex runs at once, and may signal. */
static int cond_wait(struct cond *cond, starpu_pthread_mutex_t *mutex, double until_s,
		     const char *who)
{
	struct waiter waiter = {0};
	int status;

	waiters_join(&cond->waiters, &waiter, who);
	status = starpu_pthread_mutex_unlock(mutex);
	if (status != 0) {
		waiters_leave(&cond->waiters, &waiter);
		return status;
	}
	status = waiters_await(&cond->waiters, &waiter, until_s, who);
	starpu_pthread_mutex_lock(mutex);
	return status;
}

int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex)
{
	return cond_wait(OURS(cond, cond), mutex, -1, "starpu_pthread_cond_wait");
}

int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond,
				  starpu_pthread_mutex_t *mutex,
				  const struct timespec *abstime)
{
	double until_s = (double)abstime->tv_sec + 1e-9 * (double)abstime->tv_nsec;

	if (abstime->tv_nsec < 0 || abstime->tv_nsec > 999999999)
		return EINVAL;
	return cond_wait(OURS(cond, cond), mutex, until_s < 0 ? 0 : until_s,
			 "starpu_pthread_cond_timedwait");
}

int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
	conditions_signalled(plat_self(), cond);
	waiters_wake_first(&OURS(cond, cond)->waiters);
	return 0;
}

int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
	conditions_signalled(plat_self(), cond);
	waiters_wake_all(&OURS(cond, cond)->waiters);
	return 0;
}

/* ---- readers and writers --------------------------------------------- */

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
			       const starpu_pthread_rwlockattr_t *attr)
{
	(void)attr;
	memset(rwlock, 0, sizeof(*rwlock));
	return 0;
}

int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *lock = OURS(rwlock, rwlock);

	return lock->nreaders || lock->written ? EBUSY : 0;
}

static int try_to_read(struct rwlock *lock)
{
	/* Writers wait behind all readers, as in the C library: one may come again. */
	if (lock->written)
		return EBUSY;
	lock->nreaders++;
	return 0;
}

static int try_to_write(struct rwlock *lock)
{
	if (lock->written || lock->nreaders)
		return EBUSY;
	lock->written = 1;
	return 0;
}

int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock)
{
	return tried(try_to_read(OURS(rwlock, rwlock)));
}

int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock)
{
	return tried(try_to_write(OURS(rwlock, rwlock)));
}

int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock)
{
	if (!try_to_read(OURS(rwlock, rwlock)))
		return 0;
	return block_on(&OURS(rwlock, rwlock)->waiters, 0, -1,
			"starpu_pthread_rwlock_rdlock");
}

int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock)
{
	if (!try_to_write(OURS(rwlock, rwlock)))
		return 0;
	return block_on(&OURS(rwlock, rwlock)->waiters, 1, -1,
			"starpu_pthread_rwlock_wrlock");
}

/* The lock is handed to the first writer, or to the readers before it. */
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *lock = OURS(rwlock, rwlock);
	struct waiter *first;

	if (!lock->written && !lock->nreaders)
		return EPERM;
	if (lock->written)
		lock->written = 0;
	else
		lock->nreaders--;
	while ((first = lock->waiters.first) && !lock->written) {
		if (first->writes && lock->nreaders)
			break;
		lock->written = first->writes;
		lock->nreaders += !first->writes;
		waiters_wake_first(&lock->waiters);
	}
	return 0;
}

/* ---- barriers -------------------------------------------------------- */

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
				const starpu_pthread_barrierattr_t *attr, unsigned count)
{
	(void)attr;
	if (count == 0)
		return EINVAL;
	memset(barrier, 0, sizeof(*barrier));
	OURS(barrier, barrier)->count = count;
	return 0;
}

int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier)
{
	return OURS(barrier, barrier)->narrived ? EBUSY : 0;
}

int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier)
{
	struct barrier *b = OURS(barrier, barrier);

	if (++b->narrived < b->count)
		return block_on(&b->waiters, 0, -1, "starpu_pthread_barrier_wait");
	b->narrived = 0;
	waiters_wake_all(&b->waiters);
	return STARPU_PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- spinlocks ------------------------------------------------------- */

int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared)
{
	(void)pshared;
	*lock = 0;
	return 0;
}

int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock)
{
	return *lock ? EBUSY : 0;
}

static int try_to_spin(starpu_pthread_spinlock_t *lock)
{
	if (*lock)
		return EBUSY;
	*lock = 1;
	return 0;
}

int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock)
{
	return tried(try_to_spin(lock));
}

/* Too small for a list of those who wait: they are in that of POSIX's locks. */
static const void *place_of(starpu_pthread_spinlock_t *lock)
{
	return (const void *)(uintptr_t)lock;
}

int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock)
{
	while (try_to_spin(lock))
		posix_wait(place_of(lock), -1, "starpu_pthread_spin_lock");
	return 0;
}

int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock)
{
	*lock = 0;
	posix_wake(place_of(lock), 0);
	return 0;
}

/* ---- semaphores ------------------------------------------------------ */

int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value)
{
	(void)pshared;
	memset(sem, 0, sizeof(*sem));
	OURS(semaphore, sem)->value = value;
	return 0;
}

/* As POSIX's semaphores do, these return -1 and leave the reason in errno. */
static int fail(int code)
{
	errno = code;
	return -1;
}

int starpu_sem_destroy(starpu_sem_t *sem)
{
	return OURS(semaphore, sem)->waiters.first ? fail(EBUSY) : 0;
}

int starpu_sem_getvalue(starpu_sem_t *sem, int *value)
{
	*value = (int)OURS(semaphore, sem)->value;
	return 0;
}

int starpu_sem_post(starpu_sem_t *sem)
{
	if (!waiters_wake_first(&OURS(semaphore, sem)->waiters))
		OURS(semaphore, sem)->value++;
	return 0;
}

int starpu_sem_trywait(starpu_sem_t *sem)
{
	if (OURS(semaphore, sem)->value == 0) {
		sim_tried();
		return fail(EAGAIN);
	}
	OURS(semaphore, sem)->value--;
	return 0;
}

int starpu_sem_wait(starpu_sem_t *sem)
{
	if (OURS(semaphore, sem)->value == 0)
		return block_on(&OURS(semaphore, sem)->waiters, 0, -1, "starpu_sem_wait");
	OURS(semaphore, sem)->value--;
	return 0;
}
