/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_POSIX_OWN_H
#define ORR_SIM_POSIX_OWN_H

/*
 * posix_own.h - what the files about the C library's locks share.
 */
/* The public header declares its functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <time.h>

#include <starpu_thread.h>

#include "base/table.h"
#include "sim.h"
#include "sim/posix.h"
#include "sim/waiters.h"

struct posix_barrier {
	struct posix_barrier *next;
	const void *object;
	unsigned count, narrived;
};

/* A mutex that asks for its owner, while it has one. */
struct posix_held {
	struct posix_held *next;
	const pthread_mutex_t *mutex;
	starpu_pthread_t owner;
};

/* Of the objects of one rank: ranks may have one address for theirs, and what one has
 * costs the others nothing. */
struct posix_rank {
	struct waiters waiters;
	struct posix_barrier *barriers;
	struct posix_held *held;
	int nthreads;    /* that are no mains and have not ended */
	sg_actor_t main; /* or NULL: it has ended, or nobody has asked */
	/* statics.c: who ends its statics when its main has ended, or NULL, and code of
	 * the program's. */
	struct sim_thread *closer;
	const void *code;
	int main_has_ended;
};

struct cpp_exit;
struct cpp_lock;

struct sim_posix {
	int nended;             /* threads, of whom SimGrid may not have cleared away */
	size_t nwaiting, nheld; /* of all ranks */
	int has_created;        /* a thread that the simulation does not know */
	int nothers_most;       /* of these, those that have not been joined */
	int threads_count; /* the number of threads tells of others; 0: not yet known */
	/* The C library's own. */
	char *is_alone;
	int (*cxa_atexit)(void (*call)(void *object), void *object, void *dso);
	long (*syscall)(long number, ...);
	int (*create)(pthread_t *thread, const pthread_attr_t *attr,
		      void *(*routine)(void *), void *arg);
	int (*join)(pthread_t thread, void **result);
	int (*tryjoin)(pthread_t thread, void **result);
	int (*timedjoin)(pthread_t thread, void **result, const struct timespec *date);
	int (*clockjoin)(pthread_t thread, void **result, clockid_t clock,
			 const struct timespec *date);
	int (*detach)(pthread_t thread);
	pthread_t (*self)(void);
	int (*cancel)(pthread_t thread);
	void (*testcancel)(void);
	int (*setcancelstate)(int state, int *before);
	int (*setcanceltype)(int type, int *before);
	void (*register_cancel)(__pthread_unwind_buf_t *place);
	void (*unregister_cancel)(__pthread_unwind_buf_t *place);
	void (*unwind_next)(__pthread_unwind_buf_t *place);
	int (*thread_atexit)(void (*call)(void *object), void *object, void *where);
	void (*call_ready)(void *exit); /* NULL: not yet known */
	void (*make_ready)(struct cpp_exit *exit);
	void (*notify_at_exit)(pthread_cond_t *cond, struct cpp_lock *lock);
	int (*setname)(pthread_t thread, const char *name);
	int (*getname)(pthread_t thread, char *name, size_t bytes);
	int (*setaffinity)(pthread_t thread, size_t bytes, const cpu_set_t *cores);
	int (*getaffinity)(pthread_t thread, size_t bytes, cpu_set_t *cores);
	int (*setschedparam)(pthread_t thread, int policy,
			     const struct sched_param *param);
	int (*getschedparam)(pthread_t thread, int *policy, struct sched_param *param);
	int (*setschedprio)(pthread_t thread, int priority);
	int (*getcpuclockid)(pthread_t thread, clockid_t *clock);
	int (*getattr)(pthread_t thread, pthread_attr_t *attr);
	int (*kill)(pthread_t thread, int number);
	int (*once)(pthread_once_t *control, void (*routine)(void));
	int (*guard_acquire)(int *guard);
	void (*guard_release)(int *guard), (*guard_abort)(int *guard);
	int (*mutex_lock)(pthread_mutex_t *mutex);
	int (*mutex_trylock)(pthread_mutex_t *mutex);
	int (*mutex_timedlock)(pthread_mutex_t *mutex, const struct timespec *date);
	int (*mutex_clocklock)(pthread_mutex_t *mutex, clockid_t clock,
			       const struct timespec *date);
	int (*mutex_unlock)(pthread_mutex_t *mutex);
	int (*rdlock)(pthread_rwlock_t *lock);
	int (*wrlock)(pthread_rwlock_t *lock);
	int (*timedrdlock)(pthread_rwlock_t *lock, const struct timespec *date);
	int (*timedwrlock)(pthread_rwlock_t *lock, const struct timespec *date);
	int (*clockrdlock)(pthread_rwlock_t *lock, clockid_t clock,
			   const struct timespec *date);
	int (*clockwrlock)(pthread_rwlock_t *lock, clockid_t clock,
			   const struct timespec *date);
	int (*tryrdlock)(pthread_rwlock_t *lock);
	int (*trywrlock)(pthread_rwlock_t *lock);
	int (*rwlock_unlock)(pthread_rwlock_t *lock);
	int (*spin_trylock)(pthread_spinlock_t *lock);
	int (*spin_lock)(pthread_spinlock_t *lock);
	int (*spin_unlock)(pthread_spinlock_t *lock);
	int (*cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex);
	int (*cond_timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
			      const struct timespec *date);
	int (*cond_clockwait)(pthread_cond_t *cond, pthread_mutex_t *mutex,
			      clockid_t clock, const struct timespec *date);
	int (*cond_signal)(pthread_cond_t *cond);
	int (*cond_broadcast)(pthread_cond_t *cond);
	int (*barrier_init)(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
			    unsigned count);
	int (*barrier_destroy)(pthread_barrier_t *barrier);
	int (*barrier_wait)(pthread_barrier_t *barrier);
	int (*sem_trywait)(sem_t *sem);
	int (*sem_wait)(sem_t *sem);
	int (*sem_timedwait)(sem_t *sem, const struct timespec *date);
	int (*sem_clockwait)(sem_t *sem, clockid_t clock, const struct timespec *date);
	int (*sem_post)(sem_t *sem);
	int (*sched_yield)(void);
	int (*key_create)(pthread_key_t *key, void (*destructor)(void *value));
	int (*key_delete)(pthread_key_t key);
	int (*setspecific)(pthread_key_t key, const void *pointer);
	void *(*getspecific)(pthread_key_t key);
	struct table threads;    /* pthreads.c: by their pthread_t */
	struct table known_dsos; /* statics.c: themselves, */
	void **dsos;             /* and in order */
	size_t ndsos;
	int nclosers, nending; /* of these, those that call destructors */
	int first_ending;      /* whose main ended before the others */
	int is_over;           /* all mains have ended, and threads do nothing any more */
	/* keys.c: keys that ranks have made, also of threads that nobody knows. */
	pthread_mutex_t keys_mutex;
	struct table keys; /* struct posix_key by its number */
	unsigned nkeys;    /* ever */
	pthread_key_t strangers_key;
	struct posix_value *nobodys; /* of what runs for no node */
};

struct sim_posix *posix_get(void);
/* Of the caller's rank; NULL: it is of none, or nothing is known that is needed. */
struct posix_rank *posix_rank(int is_needed);

/* May the caller's wait be one in simulated time? */
int posix_is_simulated(void);
/* Are all threads of the simulation one to the system? */
int posix_shares_thread(void);
/* The caller has tried in vain to have something. */
void posix_tried(void);

/* As posix_wait(); pthread_cancel() wakes it, too, and the caller has to look. */
int posix_wait_to_leave(const void *object, double until_s, const char *who);

/* futex.c: what a function of C11 returns. */
enum { C11_SUCCESS, C11_BUSY, C11_ERROR, C11_NO_MEMORY, C11_TIMED_OUT };
int c11_status(int status);

/* As posix_wait(), for a rwlock. */
int posix_wait_to_use(const void *object, int writes, double until_s, const char *who);

static inline double posix_date_s(const struct timespec *date)
{
	double seconds = (double)date->tv_sec + 1e-9 * (double)date->tv_nsec;

	return seconds > 0 ? seconds : 0;
}

static inline int posix_is_date(const struct timespec *date)
{
	return date->tv_nsec >= 0 && date->tv_nsec <= 999999999;
}

#endif
