/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "base/knobs.h"
#include "sim/pthreads.h"

/*
 * pthreads.c - threads that the program makes by pthread_create(), std::thread or
 * thrd_create() are threads of the simulation, as those of starpu_pthread_create() are;
 * and what all of these may do as threads of the C library.
 *
 * Whose thread it is depends on who makes it: an object that is linked with this library,
 * as a program or a library that calls it is.  Runtimes of OpenMP and threaded BLAS are
 * not; their threads work in real time, and belong to no rank.  So do those that a kernel
 * or callback makes, which could not wait for others.
 *
 * The C library does not know of ours: a pthread_t is the address of a struct sim_thread,
 * and all functions that take one are here.
 */

static pthread_t id_of(const struct sim_thread *thread)
{
	return (pthread_t)(uintptr_t)thread;
}

/* NULL: it is none of ours, or none at all. */
static struct sim_thread *find(pthread_t id)
{
	struct sim_posix *own = posix_get();

	return own->threads.count > 0 && (!sim_is_stranger() || own->is_over)
		       ? table_get(&own->threads, (uint64_t)id)
		       : NULL;
}

struct sim_thread *pthreads_self(void)
{
	struct sim *sim = the_sim;
	struct sim_thread *thread;

	if (!sim || !sim->posix || sim->posix->threads.count == 0 || sim->in_kernel ||
	    !sg_actor_self())
		return NULL;
	thread = sg_actor_self_get_data();
	return thread && thread->posix ? thread : NULL;
}

/* ---- who makes threads -------------------------------------------------- */

/* Without making what is not there yet: SimGrid's own threads wait here as well, where
 * each actor has one. */
int pthreads_are_here(void)
{
	struct sim_posix *own = posix_get();
	const struct sim_thread *thread;
	const struct sim_rank *rank;

	if (own->threads.count == 0 || !posix_shares_thread() || sim_is_stranger())
		return 0;
	if (sim_get()->in_kernel) {
		rank = sim_rank_self();
	} else {
		thread = sg_actor_self_get_data();
		rank = thread ? thread->rank : NULL;
	}
	return rank && rank->posix && rank->posix->nthreads > 0;
}

static int wants_real_ones(void)
{
	const char *text = knobs_raw("ORRERY_REAL_THREADS");

	return text && *text && strcmp(text, "0") != 0;
}

/* With a sanitizer SimGrid makes threads by these functions, and all waits are real. */
static int is_to_be_simulated(const void *caller)
{
	return (posix_shares_thread() || !posix_get()->has_created) &&
	       kernel_is_there() && !sim_get()->has_ended && !sim_is_child() &&
	       !sim_get()->in_kernel && !sim_is_stranger() && !wants_real_ones() &&
	       object_calls_us(caller);
}

/* Whose stacks may be left at one date. */
enum { MOST_ENDED = 256 };

/* ---- life ---------------------------------------------------------------- */

/* Without code of who makes it, its thread-local variables are those of main. */
static struct sim_thread *make_posix(struct sim_thread *thread, const void *caller)
{
	struct posix_thread *posix = orr_alloc(sizeof(*posix));

	posix->rank = posix_rank(1);
	posix->locals = caller ? locals_new(caller) : NULL;
	posix->rounding = sim_get()->in_kernel ? FE_TONEAREST : fegetround();
	thread->posix = posix;
	return thread;
}

struct sim_thread *pthreads_make(const char *name, void *(*routine)(void *), void *arg,
				 starpu_sg_host_t host, const void *caller)
{
	struct sim_thread *thread;

	if (!sim_rank_self())
		return NULL;
	if (!sim_get()->in_kernel && posix_get()->nended >= MOST_ENDED) {
		posix_get()->nended = 0;
		sim_let_run();
	}
	statics_watch(caller);
	thread = make_posix(sim_thread_make(name, routine, arg, host), caller);
	thread->posix->rank->nthreads++;
	table_put(&posix_get()->threads, (uint64_t)id_of(thread), thread);
	return thread;
}

struct sim_thread *pthreads_make_closer(void *(*routine)(void *))
{
	struct sim_thread *thread =
		make_posix(sim_thread_make("closer", routine, NULL, NULL), NULL);

	thread->posix->is_closer = 1;
	thread->detached = 1;
	return thread;
}

static void make(pthread_t *id, const pthread_attr_t *attr, void *(*routine)(void *),
		 void *arg, const void *caller)
{
	struct sim_thread *thread = pthreads_make("thread", routine, arg, NULL, caller);
	int state = PTHREAD_CREATE_JOINABLE;
	size_t stack_bytes = 0;

	if (attr) {
		pthread_attr_getdetachstate(attr, &state);
		pthread_attr_getstacksize(attr, &stack_bytes);
	}
	thread->detached = state == PTHREAD_CREATE_DETACHED;
	*id = id_of(thread);
	sim_thread_start(thread, stack_bytes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*routine)(void *), void *arg)
{
	const void *caller = __builtin_return_address(0);

	if (!is_to_be_simulated(caller))
		return posix_create_stranger(thread, attr, routine, arg);
	make(thread, attr, routine, arg, caller);
	return 0;
}

void pthreads_begin(struct sim_thread *thread)
{
	if (!thread->posix->is_closer)
		kernel_thread_begins();
	errno = 0;
	sim_enter_modes(LC_GLOBAL_LOCALE, thread->posix->rounding);
	locals_begin(thread->posix->locals);
}

/* An exception ends it where C++ may have something to clear away; what C has asked for
 * comes before. */
void pthreads_leave(struct sim_thread *thread, void *result)
{
	struct posix_thread *posix = thread->posix;
	struct posix_cleanup *first = posix->cleanups;

	thread->result = result;
	posix->is_leaving = 1;
	if (first) {
		struct __jmp_buf_tag *place = first->place;

		posix->cleanups = first->next;
		free(first);
		longjmp(place, 1);
	}
	kernel_leave();
}

void *pthreads_run(struct sim_thread *thread)
{
	void *result = thread->routine(thread->arg);

	if (thread->posix->is_leaving)
		orr_die(thread->rank->node ? thread->rank->node->rank : ORR_NO_RANK,
			"pthread_exit: an exception handler of the program (catch (...)) "
			"has kept the thread from ending; let it throw again");
	return result;
}

static void call_all(struct posix_exit **exits)
{
	struct posix_exit *first;

	while ((first = *exits)) {
		struct posix_exit was = *first;

		*exits = was.next;
		free(first);
		was.call(was.object);
	}
}

/* As in the C library: thread-local variables of C++ end first. */
void pthreads_end(struct sim_thread *thread)
{
	struct posix_thread *posix = thread->posix;

	posix->is_uncancellable = 1;
	call_all(&posix->exits);
	call_all(&posix->last_exits);
}

void pthreads_ended(struct sim_thread *thread)
{
	locals_end(thread->posix->locals);
	sim_enter_modes(LC_GLOBAL_LOCALE, FE_TONEAREST);
	thread->posix->locals = NULL;
	thread->posix->rank->nthreads -= !thread->posix->is_closer;
	posix_get()->nended++;
}

void pthreads_free(struct sim_thread *thread)
{
	struct posix_cleanup *cleanup;

	table_remove(&posix_get()->threads, (uint64_t)id_of(thread));
	while ((cleanup = thread->posix->cleanups)) {
		thread->posix->cleanups = cleanup->next;
		free(cleanup);
	}
	free(thread->posix);
}

/* Has the caller been cancelled? */
static int is_to_leave(void)
{
	const struct sim_thread *thread = pthreads_self();

	return thread && thread->posix->is_cancelled && !thread->posix->is_uncancellable;
}

/* ---- waiting for them ------------------------------------------------------ */

int pthreads_join(struct sim_thread *other, void **result, double until_s,
		  const char *who)
{
	int status = 0;

	/* Destructors of the program's statics join what has gone with the simulation. */
	if (posix_get()->is_over)
		return 0;
	if (other == pthreads_self())
		return EDEADLK;
	if (!other->posix || other->detached || other->posix->is_joined)
		return EINVAL;
	other->posix->is_joined = 1;
	while (!other->has_ended && status == 0 && !is_to_leave())
		status = posix_wait_to_leave(other, until_s, who);
	other->posix->is_joined = 0;
	pthreads_test_cancel();
	if (!other->has_ended)
		return status;
	if (result)
		*result = other->result;
	sim_thread_free(other);
	return 0;
}

int pthread_join(pthread_t id, void **result)
{
	struct sim_thread *other = find(id);

	return other ? pthreads_join(other, result, -1, "pthread_join")
		     : posix_join_stranger(id, result);
}

int pthread_tryjoin_np(pthread_t id, void **result)
{
	struct sim_thread *other = find(id);

	if (!other)
		return posix_get()->tryjoin(id, result);
	if (!other->has_ended) {
		posix_tried();
		return EBUSY;
	}
	return pthreads_join(other, result, 0, "pthread_tryjoin_np");
}

int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *date)
{
	struct sim_thread *other = find(id);

	if (!other)
		return posix_get()->timedjoin(id, result, date);
	return !date ? pthreads_join(other, result, -1, "pthread_timedjoin_np")
	       : posix_is_date(date) ? pthreads_join(other, result, posix_date_s(date),
						     "pthread_timedjoin_np")
				     : EINVAL;
}

int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock,
			 const struct timespec *date)
{
	return find(id) ? pthread_timedjoin_np(id, result, date)
			: posix_get()->clockjoin(id, result, clock, date);
}

int pthreads_detach(struct sim_thread *other)
{
	if (!other->posix || other->detached || other->posix->is_joined)
		return EINVAL;
	other->detached = 1;
	if (other->has_ended)
		sim_thread_free(other);
	return 0;
}

int pthread_detach(pthread_t id)
{
	struct sim_thread *other = find(id);

	return other ? pthreads_detach(other) : posix_get()->detach(id);
}

pthread_t pthread_self(void)
{
	const struct sim_thread *thread = pthreads_self();

	return thread ? id_of(thread) : posix_get()->self();
}

/* ---- cancelling ------------------------------------------------------------ */

void pthreads_waits(struct waiters *waiters, struct waiter *waiter)
{
	struct sim_thread *thread = pthreads_self();

	if (!thread)
		return;
	thread->posix->waiters = waiters;
	thread->posix->waiter = waiter;
}

void pthreads_test_cancel(void)
{
	struct sim_thread *thread = pthreads_self();

	if (!is_to_leave())
		return;
	thread->posix->is_uncancellable = 1;
	pthreads_leave(thread, PTHREAD_CANCELED);
}

int pthreads_nap(double seconds)
{
	const struct sim_thread *thread = pthreads_self();
	const struct node *node = plat_self();

	if (!thread)
		return 0;
	if (!is_to_leave() && seconds > 0)
		posix_wait_to_leave(
			&thread->posix->name,
			seconds + (node ? plat_now_s(node->plat) : simgrid_get_clock()),
			"sleeping");
	pthreads_test_cancel();
	return 1;
}

void pthread_testcancel(void)
{
	if (pthreads_self())
		pthreads_test_cancel();
	else
		posix_get()->testcancel();
}

/* Always deferred: a thread ends in a function that waits, or that asks. */
int pthread_cancel(pthread_t id)
{
	struct sim_thread *other = find(id);
	struct posix_thread *posix = other ? other->posix : NULL;
	struct waiter *waiter;

	if (!other)
		return posix_get()->cancel(id);
	posix->is_cancelled = 1;
	waiter = posix->waiter;
	posix->waiter = NULL;
	/* Somebody else may have woken it, and it has not run since. */
	if (waiter && !waiter->gate.open && !posix->is_uncancellable)
		waiters_wake(posix->waiters, waiter);
	return 0;
}

int pthread_setcancelstate(int state, int *before)
{
	struct sim_thread *thread = pthreads_self();

	if (!thread)
		return posix_get()->setcancelstate(state, before);
	if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
		return EINVAL;
	if (before)
		*before = thread->posix->is_uncancellable ? PTHREAD_CANCEL_DISABLE
							  : PTHREAD_CANCEL_ENABLE;
	thread->posix->is_uncancellable = state == PTHREAD_CANCEL_DISABLE;
	return 0;
}

int pthread_setcanceltype(int type, int *before)
{
	if (!pthreads_self())
		return posix_get()->setcanceltype(type, before);
	if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
		return EINVAL;
	if (before)
		*before = PTHREAD_CANCEL_DEFERRED;
	return 0;
}

/* ---- what pthread_cleanup_push() and pthread_cleanup_pop() call in C ---------- */

/* <pthread.h> declares them where C knows no exceptions. */
void __pthread_register_cancel(__pthread_unwind_buf_t *place);
void __pthread_unregister_cancel(__pthread_unwind_buf_t *place);
void __pthread_unwind_next(__pthread_unwind_buf_t *place);

void __pthread_register_cancel(__pthread_unwind_buf_t *place)
{
	struct sim_thread *thread = pthreads_self();
	struct posix_cleanup *cleanup;

	if (!thread) {
		posix_get()->register_cancel(place);
		return;
	}
	cleanup = orr_alloc(sizeof(*cleanup));
	cleanup->place = (struct __jmp_buf_tag *)(void *)place->__cancel_jmp_buf;
	cleanup->next = thread->posix->cleanups;
	thread->posix->cleanups = cleanup;
}

void __pthread_unregister_cancel(__pthread_unwind_buf_t *place)
{
	struct sim_thread *thread = pthreads_self();
	struct posix_cleanup *cleanup = thread ? thread->posix->cleanups : NULL;

	if (!thread)
		posix_get()->unregister_cancel(place);
	if (!cleanup)
		return;
	thread->posix->cleanups = cleanup->next;
	free(cleanup);
}

void __pthread_unwind_next(__pthread_unwind_buf_t *place)
{
	struct sim_thread *thread = pthreads_self();

	if (thread)
		pthreads_leave(thread, thread->result);
	posix_get()->unwind_next(place);
	abort(); /* It does not return. */
}

/* ---- ends of thread-local variables ------------------------------------------ */

int __cxa_thread_atexit(void (*call)(void *object), void *object, void *where);

static void add_exit(struct posix_exit **exits, void (*call)(void *object), void *object)
{
	struct posix_exit *exit = orr_alloc(sizeof(*exit));

	*exit = (struct posix_exit){*exits, call, object};
	*exits = exit;
}

int __cxa_thread_atexit(void (*call)(void *object), void *object, void *where)
{
	struct sim_thread *thread = pthreads_self();

	if (!thread)
		return posix_get()->thread_atexit(call, object, where);
	add_exit(&thread->posix->exits, call, object);
	return 0;
}

/* What C++ does when all of these have ended is noted by a key of the C library's, which
 * knows no threads of ours: promises, and notify_all_at_thread_exit(). */
struct cpp_exit {
	struct cpp_exit *next;
	void (*call)(void *object);
	struct { /* of a promise */
		void *table, *result;
		unsigned status; /* a futex */
	} * state;
	void *count;
};

struct cpp_lock {
	pthread_mutex_t *mutex;
	_Bool is_held;
};

struct notice {
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
};

void cpp_make_ready(struct cpp_exit *exit) __asm__(
	"_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
void cpp_notify_at_exit(pthread_cond_t *cond, struct cpp_lock *lock) __asm__(
	"_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11"
	"unique_lockISt5mutexE");

/* The C++ library wakes who waits without looking here. */
static void make_ready(void *arg)
{
	struct cpp_exit *exit = arg;
	const unsigned *status = &exit->state->status;

	exit->call(exit);
	posix_wake(status, 1);
}

/* The C++ library's puts it in a list that is read when the process ends.  What it has to
 * call one tells that is there then, and of no promise. */
void cpp_make_ready(struct cpp_exit *exit)
{
	struct sim_thread *thread = pthreads_self();
	struct sim_posix *own = posix_get();
	struct cpp_exit *nobodys;

	if (!thread) {
		own->make_ready(exit);
		return;
	}
	if (!own->call_ready) {
		nobodys = orr_alloc(sizeof(*nobodys));
		own->make_ready(nobodys);
		own->call_ready = nobodys->call;
	}
	exit->call = own->call_ready;
	add_exit(&thread->posix->last_exits, make_ready, exit);
}

static void give_notice(void *arg)
{
	struct notice notice = *(struct notice *)arg;

	free(arg);
	pthread_mutex_unlock(notice.mutex);
	pthread_cond_broadcast(notice.cond);
}

void cpp_notify_at_exit(pthread_cond_t *cond, struct cpp_lock *lock)
{
	struct sim_thread *thread = pthreads_self();
	struct notice *notice;

	if (!thread) {
		posix_get()->notify_at_exit(cond, lock);
		return;
	}
	notice = orr_alloc(sizeof(*notice));
	*notice = (struct notice){cond, lock->mutex};
	*lock = (struct cpp_lock){NULL, 0};
	add_exit(&thread->posix->last_exits, give_notice, notice);
}

/* ---- what they have ----------------------------------------------------------- */

int pthread_setname_np(pthread_t id, const char *name)
{
	struct sim_thread *thread = find(id);

	if (!thread)
		return posix_get()->setname(id, name);
	if (strlen(name) >= POSIX_NAME_BYTES)
		return ERANGE;
	strcpy(thread->posix->name, name);
	return 0;
}

int pthread_getname_np(pthread_t id, char *name, size_t bytes)
{
	const struct sim_thread *thread = find(id);

	if (!thread)
		return posix_get()->getname(id, name, bytes);
	if (strlen(thread->posix->name) >= bytes)
		return ERANGE;
	strcpy(name, thread->posix->name);
	return 0;
}

/* The cores of a simulated node are not the host's: those of who simulates stay. */
int pthread_setaffinity_np(pthread_t id, size_t bytes, const cpu_set_t *cores)
{
	return find(id) ? 0 : posix_get()->setaffinity(id, bytes, cores);
}

int pthread_getaffinity_np(pthread_t id, size_t bytes, cpu_set_t *cores)
{
	struct sim_posix *own = posix_get();

	return own->getaffinity(find(id) ? own->self() : id, bytes, cores);
}

int pthread_setschedparam(pthread_t id, int policy, const struct sched_param *param)
{
	return find(id) ? 0 : posix_get()->setschedparam(id, policy, param);
}

int pthread_getschedparam(pthread_t id, int *policy, struct sched_param *param)
{
	struct sim_posix *own = posix_get();

	return own->getschedparam(find(id) ? own->self() : id, policy, param);
}

int pthread_setschedprio(pthread_t id, int priority)
{
	return find(id) ? 0 : posix_get()->setschedprio(id, priority);
}

int pthread_getcpuclockid(pthread_t id, clockid_t *clock)
{
	struct sim_posix *own = posix_get();

	return own->getcpuclockid(find(id) ? own->self() : id, clock);
}

/* Where its stack is, SimGrid does not tell. */
int pthread_getattr_np(pthread_t id, pthread_attr_t *attr)
{
	const struct sim_thread *thread = find(id);
	int status;

	if (!thread)
		return posix_get()->getattr(id, attr);
	status = pthread_attr_init(attr);
	if (status == 0 && thread->detached)
		status = pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
	return status;
}

/* A handler runs at once, wherever the thread is. */
int pthread_kill(pthread_t id, int number)
{
	const struct sim_thread *thread = find(id);

	if (!thread)
		return posix_get()->kill(id, number);
	if (number == 0)
		return thread->has_ended ? ESRCH : 0;
	return raise(number) == 0 ? 0 : errno;
}

/* ---- those of std::thread, which do not look here -------------------------------- */

/* A thread begins with its pthread_t, 0 for none, a pointer to a state that owns it is
 * given by its address. */
void cpp_start_thread(pthread_t *thread, void **state, void (*depend)(void)) __asm__(
	"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EE"
	"PFvvE");
void cpp_join(pthread_t *thread) __asm__("_ZNSt6thread4joinEv");
void cpp_detach(pthread_t *thread) __asm__("_ZNSt6thread6detachEv");

void cpp_start_thread(pthread_t *thread, void **state, void (*depend)(void))
{
	const void *caller = __builtin_return_address(0);
	void *taken = *state;
	int status;

	(void)depend;
	*state = NULL; /* Others may run before this returns. */
	if (is_to_be_simulated(caller)) {
		make(thread, NULL, kernel_run_state, taken, caller);
		return;
	}
	status = posix_create_stranger(thread, NULL, kernel_run_state, taken);
	if (status != 0) {
		*state = taken;
		kernel_fail(status);
	}
}

void cpp_join(pthread_t *thread)
{
	int status = *thread ? pthread_join(*thread, NULL) : EINVAL;

	if (status != 0)
		kernel_fail(status);
	*thread = 0;
}

void cpp_detach(pthread_t *thread)
{
	int status = *thread ? pthread_detach(*thread) : EINVAL;

	if (status != 0)
		kernel_fail(status);
	*thread = 0;
}

/* ---- those of C11, which do not look here --------------------------------------- */

struct c11_call {
	int (*routine)(void *arg);
	void *arg;
};

#define C11(type, name, ...) type c11_##name(__VA_ARGS__) __asm__(#name)
C11(int, thrd_create, pthread_t *thread, int (*routine)(void *), void *arg);
C11(int, thrd_join, pthread_t thread, int *result);
C11(int, thrd_detach, pthread_t thread);
C11(pthread_t, thrd_current, void);
C11(void, thrd_exit, int result) __attribute__((noreturn));

static void *run_c11(void *arg)
{
	struct c11_call call = *(struct c11_call *)arg;

	free(arg);
	return (void *)(intptr_t)call.routine(call.arg);
}

int c11_thrd_create(pthread_t *thread, int (*routine)(void *), void *arg)
{
	const void *caller = __builtin_return_address(0);
	struct c11_call *call = orr_alloc(sizeof(*call));

	*call = (struct c11_call){routine, arg};
	if (!is_to_be_simulated(caller))
		return c11_status(posix_create_stranger(thread, NULL, run_c11, call));
	make(thread, NULL, run_c11, call, caller);
	return C11_SUCCESS;
}

int c11_thrd_join(pthread_t thread, int *result)
{
	void *value = NULL;
	int status = pthread_join(thread, &value);

	if (status == 0 && result)
		*result = (int)(intptr_t)value;
	return c11_status(status);
}

int c11_thrd_detach(pthread_t thread)
{
	return c11_status(pthread_detach(thread));
}

pthread_t c11_thrd_current(void)
{
	return pthread_self();
}

void c11_thrd_exit(int result)
{
	pthread_exit((void *)(intptr_t)result);
}
