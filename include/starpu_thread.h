/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Threads for applications.  In the real flavour every name is that of POSIX
 * threads.  In simulation the types stay those of POSIX, as storage, and the
 * operations are functions of the library: they block in virtual time.
 */

#ifndef STARPU_THREAD_H
#define STARPU_THREAD_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
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
#define starpu_sem_t                 sem_t

/* All zero in both flavours, so that static objects need no call. */
#define STARPU_PTHREAD_MUTEX_INITIALIZER  PTHREAD_MUTEX_INITIALIZER
#define STARPU_PTHREAD_COND_INITIALIZER   PTHREAD_COND_INITIALIZER
#define STARPU_PTHREAD_RWLOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER

#define STARPU_PTHREAD_BARRIER_SERIAL_THREAD PTHREAD_BARRIER_SERIAL_THREAD

#ifdef STARPU_SIMGRID

/*
 * Whatever blocks does so in virtual time.  Callbacks and executed kernels may take what
 * is free, signal, and create threads; a call that would block there ends the program
 * with a message.  Unless said otherwise the functions return 0 or a positive error
 * number, as those of POSIX do, and any thread of the node may call them.
 */

/** A host of SimGrid (sg_host_t). */
typedef void *starpu_sg_host_t;

/** Do t1 and t2 name the same thread? */
int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2);

/** The calling thread; in callbacks and kernels, their worker. */
starpu_pthread_t starpu_pthread_self(void);

/**
 * Make a thread of the calling rank: it may call the library and MPI.  It ends
 * with routine, with starpu_pthread_exit(), or when all mains have returned.
 */
int starpu_pthread_create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
			  void *(*routine)(void *), void *arg);

/** The same, with a name for SimGrid, on a host; NULL: that of the rank. */
int starpu_pthread_create_on(const char *name, starpu_pthread_t *thread,
			     const starpu_pthread_attr_t *attr, void *(*routine)(void *),
			     void *arg, starpu_sg_host_t host);

/** Wait for the end of a thread.  EDEADLK for oneself; EINVAL when it is a main, is
 * detached or is waited for already. */
int starpu_pthread_join(starpu_pthread_t thread, void **retval);

/** Nobody will wait for the thread. */
int starpu_pthread_detach(starpu_pthread_t thread);

/** End the calling thread; does not return. */
void starpu_pthread_exit(void *retval) STARPU_ATTRIBUTE_NORETURN;

int starpu_pthread_attr_init(starpu_pthread_attr_t *attr);
int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr);
int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr, int detachstate);
/** In bytes; EINVAL below PTHREAD_STACK_MIN. */
int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr, size_t stacksize);

/** Without effect: SimGrid names an actor when it is made. */
int starpu_pthread_setname(const char *name);

/** A key for values of each thread, worker and node; keys are the same on all ranks. */
int starpu_pthread_key_create(starpu_pthread_key_t *key, void (*destructor)(void *));
int starpu_pthread_key_delete(starpu_pthread_key_t key);
int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *pointer);
void *starpu_pthread_getspecific(starpu_pthread_key_t key);

int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr);
int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr);
/** PTHREAD_MUTEX_NORMAL, _ERRORCHECK, _RECURSIVE or _DEFAULT. */
int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr, int type);
int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr, int *type);

/** Make a mutex; of attr, the type counts.  NULL: a normal one. */
int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
			      const starpu_pthread_mutexattr_t *attr);

/** End the use of a mutex that nobody holds; EBUSY if held. */
int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex);

/** Wait until the mutex is free, and take it. */
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex);

/** Give the mutex to the thread that has waited longest, if any.  EPERM: not held. */
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex);

/** Take the mutex if it is free; EBUSY otherwise. */
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex);

/** Make a condition; attr is ignored. */
int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
			     const starpu_pthread_condattr_t *attr);

/** End the use of a condition that nobody waits for; EBUSY otherwise. */
int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond);

/** Release the mutex, wait for a signal, take the mutex again. */
int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex);

/** The same, until a date of clock_gettime() at most: ETIMEDOUT then. */
int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond,
				  starpu_pthread_mutex_t *mutex,
				  const struct timespec *abstime);

/** Wake the thread that has waited longest, if any. */
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);

/** Wake every thread that waits. */
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);

/* POSIX hides these types in strict ISO mode. */
#ifdef PTHREAD_RWLOCK_INITIALIZER
/** One writer or many readers, in order of arrival. */
int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
			       const starpu_pthread_rwlockattr_t *attr);
int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock);
#endif

#ifdef PTHREAD_BARRIER_SERIAL_THREAD
/** For count threads; EINVAL when it is 0. */
int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
				const starpu_pthread_barrierattr_t *attr, unsigned count);
int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier);
/** Wait for the others; STARPU_PTHREAD_BARRIER_SERIAL_THREAD for one of them. */
int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier);

/** Who waits sleeps and looks again, in virtual time. */
int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared);
int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock);
#endif

/** Semaphores return 0, or -1 with the reason in errno. */
int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value);
int starpu_sem_destroy(starpu_sem_t *sem);
int starpu_sem_getvalue(starpu_sem_t *sem, int *value);
int starpu_sem_post(starpu_sem_t *sem);
int starpu_sem_wait(starpu_sem_t *sem);
int starpu_sem_trywait(starpu_sem_t *sem);

/** What one thread waits at: a signal of any queue that it is registered with. */
typedef struct {
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
	unsigned block;
} starpu_pthread_wait_t;

typedef struct {
	starpu_pthread_wait_t **queue;
	unsigned nqueue, allocqueue;
} starpu_pthread_queue_t;

int starpu_pthread_queue_init(starpu_pthread_queue_t *q);
/** Wake the first of those registered that is not yet awake, or all. */
int starpu_pthread_queue_signal(starpu_pthread_queue_t *q);
int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q);
int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q);
void starpu_pthread_queue_register(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q);
void starpu_pthread_queue_unregister(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q);

int starpu_pthread_wait_init(starpu_pthread_wait_t *w);
/** Signals from here on count for the next wait. */
void starpu_pthread_wait_reset(starpu_pthread_wait_t *w);
int starpu_pthread_wait_wait(starpu_pthread_wait_t *w);
/** Until a date of clock_gettime() at most: ETIMEDOUT then. */
int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w, const struct timespec *date);
int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w);

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

/* As pthread's; the condition of a worker (starpu_worker_get_sched_condition()) wakes it.
 */
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);

#define starpu_pthread_cond_init      pthread_cond_init
#define starpu_pthread_cond_wait      pthread_cond_wait
#define starpu_pthread_cond_timedwait pthread_cond_timedwait
#define starpu_pthread_cond_destroy   pthread_cond_destroy

#define starpu_pthread_key_create  pthread_key_create
#define starpu_pthread_key_delete  pthread_key_delete
#define starpu_pthread_setspecific pthread_setspecific
#define starpu_pthread_getspecific pthread_getspecific

#define starpu_pthread_rwlock_init      pthread_rwlock_init
#define starpu_pthread_rwlock_destroy   pthread_rwlock_destroy
#define starpu_pthread_rwlock_rdlock    pthread_rwlock_rdlock
#define starpu_pthread_rwlock_tryrdlock pthread_rwlock_tryrdlock
#define starpu_pthread_rwlock_wrlock    pthread_rwlock_wrlock
#define starpu_pthread_rwlock_trywrlock pthread_rwlock_trywrlock
#define starpu_pthread_rwlock_unlock    pthread_rwlock_unlock

#define starpu_pthread_barrier_init    pthread_barrier_init
#define starpu_pthread_barrier_destroy pthread_barrier_destroy
#define starpu_pthread_barrier_wait    pthread_barrier_wait

#define starpu_pthread_spin_init    pthread_spin_init
#define starpu_pthread_spin_destroy pthread_spin_destroy
#define starpu_pthread_spin_lock    pthread_spin_lock
#define starpu_pthread_spin_trylock pthread_spin_trylock
#define starpu_pthread_spin_unlock  pthread_spin_unlock

/** Name the calling thread, by 15 characters at most. */
static __starpu_inline int starpu_pthread_setname(const char *name)
{
	return prctl(PR_SET_NAME, name, 0, 0, 0) < 0 ? errno : 0;
}

#define starpu_sem_init     sem_init
#define starpu_sem_destroy  sem_destroy
#define starpu_sem_getvalue sem_getvalue
#define starpu_sem_post     sem_post

/** As sem_wait(), and a signal in between does not end it. */
static __starpu_inline int starpu_sem_wait(starpu_sem_t *sem)
{
	int status;

	do
		status = sem_wait(sem);
	while (status < 0 && errno == EINTR);
	return status;
}

/** As sem_trywait(), and a signal in between does not end it. */
static __starpu_inline int starpu_sem_trywait(starpu_sem_t *sem)
{
	int status;

	do
		status = sem_trywait(sem);
	while (status < 0 && errno == EINTR);
	return status;
}

#endif /* STARPU_SIMGRID */

/* The locks of workers are the library's own: these are ordinary mutexes. */
#define starpu_pthread_mutex_lock_sched    starpu_pthread_mutex_lock
#define starpu_pthread_mutex_unlock_sched  starpu_pthread_mutex_unlock
#define starpu_pthread_mutex_trylock_sched starpu_pthread_mutex_trylock
#define starpu_pthread_mutex_check_sched(mutex, file, line)                              \
	((void)(mutex), (void)(file), (void)(line))

#ifdef __cplusplus
}
#endif

#endif /* STARPU_THREAD_H */
