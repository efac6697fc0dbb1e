/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "sim/posix_own.h"

/*
 * posix_locks.c - the C library's mutexes, rwlocks and spinlocks: see posix.c.
 *
 * To the C library all threads of the simulation are one, which may take again the mutex
 * that it has.  So whose those are that ask for their owner is noted here.
 */

/* ---- whose a mutex is ------------------------------------------------- */

static int kind_of(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & 3;
}

static int has_owner(const pthread_mutex_t *mutex)
{
	return kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE ||
	       kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}

/* Where the pointer to it is, or to the end of the list. */
static struct posix_held **find_held(struct posix_rank *mine,
				     const pthread_mutex_t *mutex)
{
	struct posix_held **at = &mine->held;

	while (*at && (*at)->mutex != mutex)
		at = &(*at)->next;
	return at;
}

static void let_go(struct sim_posix *own, struct posix_held **at)
{
	struct posix_held *held = *at;

	*at = held->next;
	free(held);
	own->nheld--;
}

/* Which thread of the simulation has it; NULL: none. */
static struct posix_held *holder(struct sim_posix *own, const pthread_mutex_t *mutex)
{
	struct posix_rank *mine =
		own->nheld > 0 && has_owner(mutex) ? posix_rank(0) : NULL;
	struct posix_held **at;

	if (!mine)
		return NULL;
	at = find_held(mine, mutex);
	/* Its memory may have been used anew, for another one. */
	if (*at && mutex->__data.__owner == 0)
		let_go(own, at);
	return *at && (*at)->mutex == mutex ? *at : NULL;
}

static int is_mine(const struct posix_held *held)
{
	return held->owner == starpu_pthread_self();
}

static void note_owner(struct sim_posix *own, const pthread_mutex_t *mutex)
{
	struct posix_rank *mine = has_owner(mutex) ? posix_rank(1) : NULL;
	struct posix_held *held;

	if (!mine || holder(own, mutex))
		return;
	held = orr_alloc(sizeof(*held));
	*held = (struct posix_held){mine->held, mutex, starpu_pthread_self()};
	mine->held = held;
	own->nheld++;
}

/* ---- mutexes ---------------------------------------------------------- */

/* 0, EBUSY, or what else is wrong. */
static int take(struct sim_posix *own, pthread_mutex_t *mutex)
{
	const struct posix_held *held = holder(own, mutex);
	int status;

	if (held && !is_mine(held))
		return EBUSY;
	if (held && kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK)
		return EDEADLK;
	status = own->mutex_trylock(mutex);
	if (status == 0)
		note_owner(own, mutex);
	return status;
}

static int lock_until(struct sim_posix *own, pthread_mutex_t *mutex, double until_s,
		      const char *who)
{
	int status, is_late = 0;

	while ((status = take(own, mutex)) == EBUSY && !is_late)
		is_late = posix_wait(mutex, until_s, who) != 0;
	return status == EBUSY ? ETIMEDOUT : status;
}

/* As the C library notes it: by the system's number of a thread. */
static int is_strangers(struct sim_posix *own, const pthread_mutex_t *mutex)
{
	int owner = mutex->__data.__owner;

	return owner != 0 && posix_shares_thread() && posix_has_strangers() &&
	       owner != (int)own->syscall(SYS_gettid);
}

/* Whom it waits for is known, where that is a thread of the simulation. */
static int is_lock_simulated(struct sim_posix *own, const pthread_mutex_t *mutex)
{
	if (sim_is_child() || is_strangers(own, mutex))
		return 0;
	return posix_is_simulated() || holder(own, mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int status = take(posix_get(), mutex);

	if (status == EBUSY)
		posix_tried();
	return status == EDEADLK ? EBUSY : status;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct sim_posix *own = posix_get();
	int status = take(own, mutex);

	if (status != EBUSY)
		return status;
	if (is_lock_simulated(own, mutex))
		return lock_until(own, mutex, -1, "pthread_mutex_lock");
	status = own->mutex_lock(mutex);
	if (status == 0)
		note_owner(own, mutex);
	return status;
}

/* Both clocks show the same; what only the C library can wait for, it waits for. */
static int timedlock(pthread_mutex_t *mutex, const clockid_t *clock,
		     const struct timespec *date, const char *who)
{
	struct sim_posix *own = posix_get();
	int status = take(own, mutex);

	if (status != EBUSY)
		return status;
	if (!posix_is_date(date))
		return EINVAL;
	if (is_lock_simulated(own, mutex))
		return lock_until(own, mutex, posix_date_s(date), who);
	status = clock ? own->mutex_clocklock(mutex, *clock, date)
		       : own->mutex_timedlock(mutex, date);
	if (status == 0)
		note_owner(own, mutex);
	return status;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *date)
{
	return timedlock(mutex, NULL, date, "pthread_mutex_timedlock");
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
			    const struct timespec *date)
{
	return timedlock(mutex, &clock, date, "pthread_mutex_clocklock");
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct sim_posix *own = posix_get();
	struct posix_held *held = holder(own, mutex);
	int status;

	if (held && !is_mine(held))
		return EPERM;
	if (held &&
	    (kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK || mutex->__data.__count <= 1))
		let_go(own, find_held(posix_rank(0), mutex));
	status = own->mutex_unlock(mutex);
	if (status == 0)
		posix_wake(mutex, 0);
	return status;
}

/* ---- readers and writers ---------------------------------------------- */

enum rwlock_use { READ, WRITE };

/* Where writers are preferred, as an attribute says, one who waits keeps readers out: to
 * the C library nobody waits. */
static int is_kept_out(const pthread_rwlock_t *lock, enum rwlock_use use)
{
	struct posix_rank *mine;

	if (use == WRITE ||
	    lock->__data.__flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP ||
	    posix_get()->nwaiting == 0)
		return 0;
	mine = posix_rank(0);
	return mine && waiters_have_writer(&mine->waiters, lock);
}

static int try_rwlock(pthread_rwlock_t *lock, enum rwlock_use use)
{
	struct sim_posix *own = posix_get();

	return is_kept_out(lock, use) ? EBUSY
	       : use == WRITE         ? own->trywrlock(lock)
				      : own->tryrdlock(lock);
}

static int rwlock_until(pthread_rwlock_t *lock, enum rwlock_use use, double until_s,
			const char *who)
{
	int status, is_late = 0;

	while ((status = try_rwlock(lock, use)) == EBUSY && !is_late)
		is_late = posix_wait_to_use(lock, use == WRITE, until_s, who) != 0;
	/* Whom it has kept out, when it gives up, may come in. */
	if (status == EBUSY && use == WRITE)
		posix_wake(lock, 1);
	return status == EBUSY ? ETIMEDOUT : status;
}

/* What trying has come to; in vain it takes time, see sim_tried(). */
static int tried(int status)
{
	if (status == EBUSY)
		posix_tried();
	return status;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	return tried(try_rwlock(lock, READ));
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	return tried(try_rwlock(lock, WRITE));
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int status = try_rwlock(lock, READ);

	if (status == EBUSY && !posix_is_simulated())
		return posix_get()->rdlock(lock);
	return status == EBUSY ? rwlock_until(lock, READ, -1, "pthread_rwlock_rdlock")
			       : status;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int status = try_rwlock(lock, WRITE);

	if (status == EBUSY && !posix_is_simulated())
		return posix_get()->wrlock(lock);
	return status == EBUSY ? rwlock_until(lock, WRITE, -1, "pthread_rwlock_wrlock")
			       : status;
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->timedrdlock(lock, date);
	return rwlock_until(lock, READ, posix_date_s(date), "pthread_rwlock_timedrdlock");
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->timedwrlock(lock, date);
	return rwlock_until(lock, WRITE, posix_date_s(date),
			    "pthread_rwlock_timedwrlock");
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
			       const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->clockrdlock(lock, clock, date);
	return rwlock_until(lock, READ, posix_date_s(date), "pthread_rwlock_clockrdlock");
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
			       const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->clockwrlock(lock, clock, date);
	return rwlock_until(lock, WRITE, posix_date_s(date),
			    "pthread_rwlock_clockwrlock");
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	int status = posix_get()->rwlock_unlock(lock);

	if (status == 0)
		posix_wake(lock, 1);
	return status;
}

/* ---- spinlocks -------------------------------------------------------- */

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	return tried(posix_get()->spin_trylock(lock));
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int status;

	while ((status = posix_get()->spin_trylock(lock)) == EBUSY) {
		if (!posix_is_simulated())
			return posix_get()->spin_lock(lock);
		posix_wait((const void *)(uintptr_t)lock, -1, "pthread_spin_lock");
	}
	return status;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int status = posix_get()->spin_unlock(lock);

	posix_wake((const void *)(uintptr_t)lock, 0);
	return status;
}
