/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>
#include <simgrid/engine.h>

#include "sim/posix_own.h"

/*
 * futex.c - who waits by a futex of C++'s, or in a function of C11, waits in simulated
 * time: see posix.c.
 */

/* ---- futexes ----------------------------------------------------------- */

enum { OPERATION = ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME) };

static int fail(int code)
{
	errno = code;
	return -1;
}

static int futex_wait(const int *word, int expected, double until_s)
{
	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected)
		return fail(EAGAIN);
	if (posix_wait(word, until_s, "a futex, as of std::future or std::atomic") != 0)
		return fail(ETIMEDOUT);
	return 0;
}

/* What the C++ library waits by in atomics, semaphores, latches, barriers, futures and
 * for statics that another thread initialises. */
static int futex(const long *args, long *result)
{
	int operation = (int)args[1] & OPERATION, n = 0;
	const int *word = (const void *)args[0];
	const struct timespec *limit = NULL;
	const struct node *node;
	double until_s = -1;

	if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
		while (n < (int)args[2] && posix_wake(word, 0))
			n++;
		*result = n;
		return n > 0;
	}
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return 0;
	limit = (const void *)args[3];
	if ((limit && !posix_is_date(limit)) || !posix_is_simulated())
		return 0;
	if (limit)
		until_s = posix_date_s(limit);
	/* From the date that the thread would see. */
	node = limit && operation == FUTEX_WAIT ? plat_self() : NULL;
	if (limit && operation == FUTEX_WAIT)
		until_s += node ? plat_now_s(node->plat) : simgrid_get_clock();
	*result = futex_wait(word, (int)args[2], until_s);
	return 1;
}

long syscall(long number, ...)
{
	long args[6], result;
	long (*own)(long number, ...);
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && the_sim && !sim_is_stranger() && futex(args, &result))
		return result;
	/* Also of handlers of signals, before anything of this is needed. */
	own = the_sim && the_sim->posix
		      ? the_sim->posix->syscall
		      : (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return own(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* The waits of futures are in the C++ library, which does not look here. */
#define FUTURE "_ZNSt28__atomic_futex_unsigned_base"
#define LIMIT                                                                            \
	"EPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE"
_Bool cpp_wait(void *futex, unsigned *word, unsigned expected, _Bool has_limit,
	       long seconds, long ns) __asm__(FUTURE "19_M_futex_wait_until" LIMIT);
_Bool cpp_wait_steady(void *futex, unsigned *word, unsigned expected, _Bool has_limit,
		      long seconds,
		      long ns) __asm__(FUTURE "26_M_futex_wait_until_steady" LIMIT);
void cpp_notify(unsigned *word) __asm__(FUTURE "19_M_futex_notify_allEPj");

/* 0: the date has come.  Those before the first one are no dates to a futex. */
static int wait_until(const unsigned *word, unsigned expected, int clock,
		      const struct timespec *limit)
{
	if (limit && (limit->tv_sec < 0 || limit->tv_nsec < 0))
		return 0;
	return syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE | clock, expected,
		       limit, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ||
	       errno != ETIMEDOUT;
}

_Bool cpp_wait(void *futex, unsigned *word, unsigned expected, _Bool has_limit,
	       long seconds, long ns)
{
	const struct timespec limit = {seconds, ns};

	(void)futex;
	return wait_until(word, expected, FUTEX_CLOCK_REALTIME,
			  has_limit ? &limit : NULL);
}

_Bool cpp_wait_steady(void *futex, unsigned *word, unsigned expected, _Bool has_limit,
		      long seconds, long ns)
{
	const struct timespec limit = {seconds, ns};

	(void)futex;
	return wait_until(word, expected, 0, has_limit ? &limit : NULL);
}

void cpp_notify(unsigned *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- what is done once -------------------------------------------------- */

/* Another thread of the simulation is at it, as the mark says. */
static void wait_while(const int *word, int mask, int mark, const char *who)
{
	while ((__atomic_load_n(word, __ATOMIC_ACQUIRE) & mask) == mark &&
	       posix_is_simulated())
		posix_wait(word, -1, who);
}

struct once {
	pthread_once_t *control;
	void (*routine)(void);
	int status;
};

static void call_once(void *arg)
{
	struct once *once = arg;

	once->status = posix_get()->once(once->control, once->routine);
}

static void end_once(void *arg)
{
	posix_wake(((struct once *)arg)->control, 1);
}

/* What std::call_once() is to call: thread-local variables of the C++ library's. */
extern _Thread_local void *once_callable __asm__("_ZSt15__once_callable");
extern _Thread_local void (*once_call)(void) __asm__("_ZSt11__once_call");

/* Where an exception leaves the routine the next one calls it.  Others who call it set
 * those variables while this one waits. */
int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	struct once once = {.control = control, .routine = routine};
	void *callable = once_callable;
	void (*call)(void) = once_call;

	wait_while(control, 3, 1, "pthread_once");
	once_callable = callable;
	once_call = call;
	kernel_call(call_once, end_once, &once);
	return once.status;
}

/* Statics of C++'s functions: who initialises one sets the second byte of its guard. */
int __cxa_guard_acquire(int *guard);
void __cxa_guard_release(int *guard);
void __cxa_guard_abort(int *guard);

int __cxa_guard_acquire(int *guard)
{
	wait_while(guard, 0x101, 0x100, "a static variable, for who initialises it");
	return posix_get()->guard_acquire(guard);
}

void __cxa_guard_release(int *guard)
{
	posix_get()->guard_release(guard);
	posix_wake(guard, 1);
}

/* An exception has left it. */
void __cxa_guard_abort(int *guard)
{
	posix_get()->guard_abort(guard);
	posix_wake(guard, 1);
}

/* ---- the locks of C11 --------------------------------------------------- */

/* The C library's are those of POSIX below, but do not look here. */
#define C11(name, ...) int c11_##name(__VA_ARGS__) __asm__(#name)
C11(mtx_lock, pthread_mutex_t *mutex);
C11(mtx_timedlock, pthread_mutex_t *mutex, const struct timespec *date);
C11(mtx_trylock, pthread_mutex_t *mutex);
C11(mtx_unlock, pthread_mutex_t *mutex);
C11(cnd_wait, pthread_cond_t *cond, pthread_mutex_t *mutex);
C11(cnd_timedwait, pthread_cond_t *cond, pthread_mutex_t *mutex,
    const struct timespec *date);
C11(cnd_signal, pthread_cond_t *cond);
C11(cnd_broadcast, pthread_cond_t *cond);

int c11_status(int status)
{
	switch (status) {
	case 0:
		return C11_SUCCESS;
	case EBUSY:
		return C11_BUSY;
	case ETIMEDOUT:
		return C11_TIMED_OUT;
	case ENOMEM:
		return C11_NO_MEMORY;
	default:
		return C11_ERROR;
	}
}

int c11_mtx_lock(pthread_mutex_t *mutex)
{
	return c11_status(pthread_mutex_lock(mutex));
}

int c11_mtx_timedlock(pthread_mutex_t *mutex, const struct timespec *date)
{
	return c11_status(pthread_mutex_timedlock(mutex, date));
}

int c11_mtx_trylock(pthread_mutex_t *mutex)
{
	return c11_status(pthread_mutex_trylock(mutex));
}

int c11_mtx_unlock(pthread_mutex_t *mutex)
{
	return c11_status(pthread_mutex_unlock(mutex));
}

int c11_cnd_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return c11_status(pthread_cond_wait(cond, mutex));
}

int c11_cnd_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
		      const struct timespec *date)
{
	return c11_status(pthread_cond_timedwait(cond, mutex, date));
}

int c11_cnd_signal(pthread_cond_t *cond)
{
	return c11_status(pthread_cond_signal(cond));
}

int c11_cnd_broadcast(pthread_cond_t *cond)
{
	return c11_status(pthread_cond_broadcast(cond));
}
