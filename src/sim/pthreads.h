/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_PTHREADS_H
#define ORR_SIM_PTHREADS_H

/*
 * pthreads.h - threads that the program makes by pthread_create() and its like.
 */
#include <setjmp.h>

#include "sim/posix_own.h"

enum { POSIX_NAME_BYTES = 16 };

/* A place that pthread_cleanup_push() of C made: the C library's is one for all threads
 * of the process. */
struct posix_cleanup {
	struct posix_cleanup *next;
	struct __jmp_buf_tag *place;
};

/* What a thread-local variable of C++ has asked for. */
struct posix_exit {
	struct posix_exit *next;
	void (*call)(void *object);
	void *object;
};

/* Of a thread of the application that is no main. */
struct posix_thread {
	struct posix_rank *rank;
	struct locals *locals;     /* or NULL */
	jmp_buf bottom;            /* of its stack: where it is killed */
	struct kernel_guise guise; /* while it calls MPI for its main */
	int is_in_guise;
	struct posix_cleanup *cleanups;
	struct posix_exit *exits, *last_exits;
	struct waiters *waiters; /* among which it may be cancelled now, */
	struct waiter *waiter;   /* as this one; or NULL */
	int rounding;            /* with which it begins */
	int is_closer;           /* and not the application's, after all */
	int is_joined, is_cancelled, is_uncancellable, is_leaving;
	char name[POSIX_NAME_BYTES];
};

/* ---- pthreads.c: those that are simulated, and no mains ------------------- */

/* One of the caller's rank, which sim_thread_start() starts, or NULL: it is of none.
 * caller: code of who makes it. */
struct sim_thread *pthreads_make(const char *name, void *(*routine)(void *), void *arg,
				 starpu_sg_host_t host, const void *caller);
/* Until a date, or for ever when it is negative. */
int pthreads_join(struct sim_thread *other, void **result, double until_s,
		  const char *who);
int pthreads_detach(struct sim_thread *other);
/* The same for one that is main's own at its end: the simulation goes on until it ends.
 */
struct sim_thread *pthreads_make_closer(void *(*routine)(void *));

/* The caller, or NULL: it is none of these. */
struct sim_thread *pthreads_self(void);
/* Its routine is about to be called. */
void pthreads_begin(struct sim_thread *thread);
/* It is called, and returns its result. */
void *pthreads_run(struct sim_thread *thread);
/* What its thread-local variables have asked for is called. */
void pthreads_end(struct sim_thread *thread);
/* And nothing of the program's runs in it any more. */
void pthreads_ended(struct sim_thread *thread);
void pthreads_free(struct sim_thread *thread);
/* The caller ends. */
void pthreads_leave(struct sim_thread *thread, void *result) __attribute__((noreturn));

/* Has the caller's rank any? */
int pthreads_are_here(void);
/* From now on the caller may be woken by pthread_cancel(); waiter: NULL, no longer. */
void pthreads_waits(struct waiters *waiters, struct waiter *waiter);
/* The caller ends here where it has been cancelled. */
void pthreads_test_cancel(void);
/* 0: the caller is none of them, and sleeps otherwise. */
int pthreads_nap(double seconds);

/* ---- locals.c ------------------------------------------------------------- */

/* Is the code that an address is in linked with this library, so that it may call it? */
int object_calls_us(const void *code);
/* Are both addresses in one object? */
int object_is_same(const void *address, const void *other);
/* Is it a library, which ranks share? */
int object_has_name(const void *code);

/*
 * Thread-local variables of the program have one place for all threads of a rank, as
 * these are one thread to the system.  What a thread has there is taken out whenever
 * others run.  Of the object that the code is in, and of libraries that call us.
 */
struct locals;

/* NULL: there are no such variables. */
struct locals *locals_new(const void *code);
/* The calling thread begins, and has ended. */
void locals_begin(struct locals *locals);
void locals_end(struct locals *locals);

/* ---- posix.c: those that the simulation does not know --------------------- */

int posix_create_stranger(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*routine)(void *), void *arg);
int posix_join_stranger(pthread_t thread, void **result);

#endif
