/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Thread operations that must not fail: they print the place and the reason
 * and end the process.
 */

#ifndef STARPU_THREAD_UTIL_H
#define STARPU_THREAD_UTIL_H

#include <starpu_thread.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/** STARPU_ASSERT in the simulated flavour, nothing in the other. */
#ifdef STARPU_SIMGRID
#define STARPU_SIMGRID_ASSERT(x) STARPU_ASSERT(x)
#else
#define STARPU_SIMGRID_ASSERT(x)                                                         \
	do {                                                                             \
	} while (0)
#endif

/** Return err when it is 0 or allowed; end the process otherwise. */
static __starpu_inline int starpu_pthread_check_(int err, int allowed, const char *what,
						 const char *file, int line)
{
	if (STARPU_UNLIKELY(err != 0 && err != allowed)) {
		fprintf(stderr, "%s:%d %s: %s\n", file, line, what, strerror(err));
		fflush(stderr);
		abort();
	}
	return err;
}

#define STARPU_PTHREAD_CHECK_(name, call)                                                \
	((void)starpu_pthread_check_((call), 0, #name, __FILE__, __LINE__))
#define STARPU_PTHREAD_CHECK_OR_(name, call, allowed)                                    \
	(starpu_pthread_check_((call), (allowed), #name, __FILE__, __LINE__))

#define STARPU_PTHREAD_MUTEX_INIT(mutex, attr)                                           \
	STARPU_PTHREAD_CHECK_(starpu_pthread_mutex_init,                                 \
			      starpu_pthread_mutex_init((mutex), (attr)))
/** For a mutex in memory that is already zero. */
#define STARPU_PTHREAD_MUTEX_INIT0(mutex, attr) STARPU_PTHREAD_MUTEX_INIT(mutex, attr)
#define STARPU_PTHREAD_MUTEX_DESTROY(mutex)                                              \
	STARPU_PTHREAD_CHECK_(starpu_pthread_mutex_destroy,                              \
			      starpu_pthread_mutex_destroy(mutex))
#define STARPU_PTHREAD_MUTEX_LOCK(mutex)                                                 \
	STARPU_PTHREAD_CHECK_(starpu_pthread_mutex_lock, starpu_pthread_mutex_lock(mutex))
#define STARPU_PTHREAD_MUTEX_UNLOCK(mutex)                                               \
	STARPU_PTHREAD_CHECK_(starpu_pthread_mutex_unlock,                               \
			      starpu_pthread_mutex_unlock(mutex))
/** 0 when the mutex was taken, EBUSY when somebody holds it. */
#define STARPU_PTHREAD_MUTEX_TRYLOCK(mutex)                                              \
	STARPU_PTHREAD_CHECK_OR_(starpu_pthread_mutex_trylock,                           \
				 starpu_pthread_mutex_trylock(mutex), EBUSY)

#define STARPU_PTHREAD_COND_INIT(cond, attr)                                             \
	STARPU_PTHREAD_CHECK_(starpu_pthread_cond_init,                                  \
			      starpu_pthread_cond_init((cond), (attr)))
/** For a condition in memory that is already zero. */
#define STARPU_PTHREAD_COND_INIT0(cond, attr) STARPU_PTHREAD_COND_INIT(cond, attr)
#define STARPU_PTHREAD_COND_DESTROY(cond)                                                \
	STARPU_PTHREAD_CHECK_(starpu_pthread_cond_destroy,                               \
			      starpu_pthread_cond_destroy(cond))
#define STARPU_PTHREAD_COND_SIGNAL(cond)                                                 \
	STARPU_PTHREAD_CHECK_(starpu_pthread_cond_signal,                                \
			      starpu_pthread_cond_signal(cond))
#define STARPU_PTHREAD_COND_BROADCAST(cond)                                              \
	STARPU_PTHREAD_CHECK_(starpu_pthread_cond_broadcast,                             \
			      starpu_pthread_cond_broadcast(cond))
#define STARPU_PTHREAD_COND_WAIT(cond, mutex)                                            \
	STARPU_PTHREAD_CHECK_(starpu_pthread_cond_wait,                                  \
			      starpu_pthread_cond_wait((cond), (mutex)))

#define STARPU_PTHREAD_CREATE(thread, attr, routine, arg)                                \
	STARPU_PTHREAD_CHECK_(starpu_pthread_create,                                     \
			      starpu_pthread_create((thread), (attr), (routine), (arg)))
#define STARPU_PTHREAD_CREATE_ON(name, thread, attr, routine, arg, where)                \
	STARPU_PTHREAD_CHECK_(starpu_pthread_create_on,                                  \
			      starpu_pthread_create_on((name), (thread), (attr),         \
						       (routine), (arg), (where)))
#define STARPU_PTHREAD_JOIN(thread, retval)                                              \
	STARPU_PTHREAD_CHECK_(starpu_pthread_join,                                       \
			      starpu_pthread_join((thread), (retval)))

#define STARPU_PTHREAD_KEY_CREATE(key, destr)                                            \
	STARPU_PTHREAD_CHECK_(starpu_pthread_key_create,                                 \
			      starpu_pthread_key_create((key), (destr)))
#define STARPU_PTHREAD_KEY_DELETE(key)                                                   \
	STARPU_PTHREAD_CHECK_(starpu_pthread_key_delete, starpu_pthread_key_delete(key))
#define STARPU_PTHREAD_SETSPECIFIC(key, ptr)                                             \
	STARPU_PTHREAD_CHECK_(starpu_pthread_setspecific,                                \
			      starpu_pthread_setspecific((key), (ptr)))
#define STARPU_PTHREAD_GETSPECIFIC(key) starpu_pthread_getspecific(key)

#define STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)                                         \
	STARPU_PTHREAD_CHECK_(starpu_pthread_rwlock_init,                                \
			      starpu_pthread_rwlock_init((rwlock), (attr)))
#define STARPU_PTHREAD_RWLOCK_INIT0(rwlock, attr) STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)
#define STARPU_PTHREAD_RWLOCK_RDLOCK(rwlock)                                             \
	STARPU_PTHREAD_CHECK_(starpu_pthread_rwlock_rdlock,                              \
			      starpu_pthread_rwlock_rdlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_TRYRDLOCK(rwlock)                                          \
	STARPU_PTHREAD_CHECK_OR_(starpu_pthread_rwlock_tryrdlock,                        \
				 starpu_pthread_rwlock_tryrdlock(rwlock), EBUSY)
#define STARPU_PTHREAD_RWLOCK_WRLOCK(rwlock)                                             \
	STARPU_PTHREAD_CHECK_(starpu_pthread_rwlock_wrlock,                              \
			      starpu_pthread_rwlock_wrlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_TRYWRLOCK(rwlock)                                          \
	STARPU_PTHREAD_CHECK_OR_(starpu_pthread_rwlock_trywrlock,                        \
				 starpu_pthread_rwlock_trywrlock(rwlock), EBUSY)
#define STARPU_PTHREAD_RWLOCK_UNLOCK(rwlock)                                             \
	STARPU_PTHREAD_CHECK_(starpu_pthread_rwlock_unlock,                              \
			      starpu_pthread_rwlock_unlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_DESTROY(rwlock)                                            \
	STARPU_PTHREAD_CHECK_(starpu_pthread_rwlock_destroy,                             \
			      starpu_pthread_rwlock_destroy(rwlock))

#define STARPU_PTHREAD_BARRIER_INIT(barrier, attr, count)                                \
	STARPU_PTHREAD_CHECK_(starpu_pthread_barrier_init,                               \
			      starpu_pthread_barrier_init((barrier), (attr), (count)))
#define STARPU_PTHREAD_BARRIER_DESTROY(barrier)                                          \
	STARPU_PTHREAD_CHECK_(starpu_pthread_barrier_destroy,                            \
			      starpu_pthread_barrier_destroy(barrier))
#define STARPU_PTHREAD_BARRIER_WAIT(barrier)                                             \
	((void)STARPU_PTHREAD_CHECK_OR_(starpu_pthread_barrier_wait,                     \
					starpu_pthread_barrier_wait(barrier),            \
					STARPU_PTHREAD_BARRIER_SERIAL_THREAD))

#define STARPU_PTHREAD_MUTEX_LOCK_SCHED(mutex)    STARPU_PTHREAD_MUTEX_LOCK(mutex)
#define STARPU_PTHREAD_MUTEX_TRYLOCK_SCHED(mutex) STARPU_PTHREAD_MUTEX_TRYLOCK(mutex)
#define STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(mutex)  STARPU_PTHREAD_MUTEX_UNLOCK(mutex)
/** 0, or ETIMEDOUT when the date, of clock_gettime(CLOCK_REALTIME), came first. */
#define STARPU_PTHREAD_COND_TIMEDWAIT(cond, mutex, abstime)                              \
	STARPU_PTHREAD_CHECK_OR_(                                                        \
		starpu_pthread_cond_timedwait,                                           \
		starpu_pthread_cond_timedwait((cond), (mutex), (abstime)), ETIMEDOUT)

#ifdef __cplusplus
}
#endif

#endif /* STARPU_THREAD_UTIL_H */
