/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Threads for applications.  In the real flavour every name is that of POSIX
 * threads.  In simulation the types stay those of POSIX, as storage, and the
 * operations are functions of the library: they block in virtual time.
 */

#ifndef STARPU_THREAD_H
#define STARPU_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Macros rather than type names: POSIX hides some of the types from a program
 * compiled in strict ISO mode, which may still include this file.
 */
#define starpu_pthread_t             pthread_t
#define starpu_pthread_attr_t        pthread_attr_t
#define starpu_pthread_mutex_t       pthread_mutex_t
#define starpu_pthread_mutexattr_t   pthread_mutexattr_t
#define starpu_pthread_key_t         pthread_key_t
#define starpu_pthread_cond_t        pthread_cond_t
#define starpu_pthread_condattr_t    pthread_condattr_t
#define starpu_pthread_rwlock_t      pthread_rwlock_t
#define starpu_pthread_rwlockattr_t  pthread_rwlockattr_t
#define starpu_pthread_barrier_t     pthread_barrier_t
#define starpu_pthread_barrierattr_t pthread_barrierattr_t
#define starpu_pthread_spinlock_t    pthread_spinlock_t

/* All zero in both flavours, so that static objects need no call. */
#define STARPU_PTHREAD_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define STARPU_PTHREAD_COND_INITIALIZER  PTHREAD_COND_INITIALIZER

#ifdef STARPU_SIMGRID

/**
 * Make a mutex; attr is ignored.  All mutex functions return 0 or a positive
 * error number, as POSIX does, and may be called by any thread of the node.
 */
int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
			      const starpu_pthread_mutexattr_t *attr);

/** Free what the library attached to a mutex that nobody holds; EBUSY if held. */
int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex);

/** Wait, in virtual time, until the mutex is free, and take it. */
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex);

/** Give the mutex to the thread that has waited longest, if any. */
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex);

/** Take the mutex if it is free; EBUSY otherwise. */
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex);

/** Make a condition; attr is ignored. */
int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
			     const starpu_pthread_condattr_t *attr);

/** Free what the library attached to a condition that nobody waits for. */
int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond);

/** Release the mutex, wait for a signal in virtual time, take the mutex again. */
int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex);

/** Wake the thread that has waited longest, if any. */
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);

/** Wake every thread that waits. */
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);

#else /* !STARPU_SIMGRID */

#define starpu_pthread_equal               pthread_equal
#define starpu_pthread_self                pthread_self
#define starpu_pthread_create              pthread_create
#define starpu_pthread_join                pthread_join
#define starpu_pthread_detach              pthread_detach
#define starpu_pthread_exit                pthread_exit
#define starpu_pthread_attr_init           pthread_attr_init
#define starpu_pthread_attr_destroy        pthread_attr_destroy
#define starpu_pthread_attr_setdetachstate pthread_attr_setdetachstate
#define starpu_pthread_attr_setstacksize   pthread_attr_setstacksize
#define starpu_pthread_setname(name)       pthread_setname_np(pthread_self(), (name))

/** The host, where, only has a meaning in simulation. */
#define starpu_pthread_create_on(name, thread, attr, routine, arg, where)                \
	pthread_create((thread), (attr), (routine), (arg))

#define starpu_pthread_mutex_init        pthread_mutex_init
#define starpu_pthread_mutex_destroy     pthread_mutex_destroy
#define starpu_pthread_mutex_lock        pthread_mutex_lock
#define starpu_pthread_mutex_unlock      pthread_mutex_unlock
#define starpu_pthread_mutex_trylock     pthread_mutex_trylock
#define starpu_pthread_mutexattr_gettype pthread_mutexattr_gettype
#define starpu_pthread_mutexattr_settype pthread_mutexattr_settype
#define starpu_pthread_mutexattr_destroy pthread_mutexattr_destroy
#define starpu_pthread_mutexattr_init    pthread_mutexattr_init

#define starpu_pthread_cond_init      pthread_cond_init
#define starpu_pthread_cond_signal    pthread_cond_signal
#define starpu_pthread_cond_broadcast pthread_cond_broadcast
#define starpu_pthread_cond_wait      pthread_cond_wait
#define starpu_pthread_cond_timedwait pthread_cond_timedwait
#define starpu_pthread_cond_destroy   pthread_cond_destroy

#define starpu_pthread_key_create  pthread_key_create
#define starpu_pthread_key_delete  pthread_key_delete
#define starpu_pthread_setspecific pthread_setspecific
#define starpu_pthread_getspecific pthread_getspecific

#define STARPU_PTHREAD_RWLOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#define starpu_pthread_rwlock_init        pthread_rwlock_init
#define starpu_pthread_rwlock_destroy     pthread_rwlock_destroy
#define starpu_pthread_rwlock_rdlock      pthread_rwlock_rdlock
#define starpu_pthread_rwlock_tryrdlock   pthread_rwlock_tryrdlock
#define starpu_pthread_rwlock_wrlock      pthread_rwlock_wrlock
#define starpu_pthread_rwlock_trywrlock   pthread_rwlock_trywrlock
#define starpu_pthread_rwlock_unlock      pthread_rwlock_unlock

#define STARPU_PTHREAD_BARRIER_SERIAL_THREAD PTHREAD_BARRIER_SERIAL_THREAD
#define starpu_pthread_barrier_init          pthread_barrier_init
#define starpu_pthread_barrier_destroy       pthread_barrier_destroy
#define starpu_pthread_barrier_wait          pthread_barrier_wait

#define starpu_pthread_spin_init    pthread_spin_init
#define starpu_pthread_spin_destroy pthread_spin_destroy
#define starpu_pthread_spin_lock    pthread_spin_lock
#define starpu_pthread_spin_trylock pthread_spin_trylock
#define starpu_pthread_spin_unlock  pthread_spin_unlock

#endif /* STARPU_SIMGRID */

#ifdef __cplusplus
}
#endif

#endif /* STARPU_THREAD_H */
