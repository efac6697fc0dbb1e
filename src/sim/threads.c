/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* The public header declares these functions for programs of this flavour. */
#define STARPU_SIMGRID 1

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <starpu_thread.h>

#include "core/outside.h"
#include "core/wait.h"
#include "sim.h"
#include "sim/pthreads.h"

/*
 * threads.c - threads of the application: the mains of the ranks, and actors beside them.
 *
 * A thread finds the node of its rank as main does, and may call the library and MPI.
 * It is a daemon of the simulation: what is left when all mains have returned ends, as
 * threads do when their process exits.
 */
struct attributes {
	int detached;
	unsigned stack_bytes; /* 0: SimGrid's default */
};

/* Of a stack, on which the simulation runs, too; SimGrid keeps its bytes as an int. */
enum { LEAST_STACK_KIB = 256, MOST_STACK_KIB = 2047 << 10 };

_Static_assert(sizeof(struct attributes) <= sizeof(pthread_attr_t), "they must fit");
_Static_assert(sizeof(void *) <= sizeof(pthread_t), "a thread's name is its address");

/* Another thread may have its stack from now on: plat_self(). */
static void leave_stack(const struct sim_thread *thread)
{
	if (sim_get()->asking == thread)
		sim_get()->asking_page = 0;
}

void sim_thread_free(struct sim_thread *thread)
{
	if (--thread->rank->nthreads == 0) {
		free(thread->rank->libc);
		free(thread->rank->keys);
		posix_forget(thread->rank);
		births_free(&thread->rank->births);
		free(thread->rank);
	}
	if (thread->posix)
		pthreads_free(thread);
	sg_sem_destroy(thread->sem);
	free(thread);
}

static struct sim_thread *thread_new(struct sim_rank *rank)
{
	struct sim_thread *thread = orr_alloc(sizeof(*thread));

	thread->rank = rank;
	thread->sem = sg_sem_init(0);
	rank->nthreads++;
	return thread;
}

static void link_main(struct sim *sim, struct sim_thread *thread)
{
	thread->prev = sim->last_main;
	*(sim->last_main ? &sim->last_main->next : &sim->first_main) = thread;
	sim->last_main = thread;
}

static void unlink_main(struct sim *sim, struct sim_thread *thread)
{
	*(thread->prev ? &thread->prev->next : &sim->first_main) = thread->next;
	*(thread->next ? &thread->next->prev : &sim->last_main) = thread->prev;
}

/* The node that the thread has opened is that of its main from now on, if that is left:
 * there is none in programs that shut down. */
static void leave_node(const struct sim_thread *thread)
{
	const struct node *node = thread->rank->node;
	struct sim_thread *heir = NULL;

	if (!node || node->plat->opener != thread)
		return;
	/* A rank has one main. */
	if (!thread->is_main)
		heir = sim_get()->first_main;
	while (heir && heir->rank != thread->rank)
		heir = heir->next;
	node->plat->opener = heir;
}

static void on_main_exit(int failed, void *arg)
{
	struct sim_thread *thread = arg;

	stack_check(sim_get());
	if (sim_is_child()) {
		fflush(NULL);
		sim_leave(failed);
	}
	leave_stack(thread);
	posix_values_drop(&thread->specifics.posix);
	specifics_clear(thread->rank, &thread->specifics);
	if (thread->rank->posix)
		thread->rank->posix->main = NULL;
	unlink_main(sim_get(), thread);
	leave_node(thread);
	/* Signals come behind this, too. */
	sg_actor_self_set_data(NULL);
	statics_main_ends(thread->rank);
	sim_thread_free(thread);
}

struct sim_thread *sim_thread_self(void)
{
	struct sim_thread *thread;

	ORR_ASSERT(!sim_get()->in_kernel);
	thread = sg_actor_self_get_data();
	if (thread)
		return thread;
	thread = thread_new(orr_alloc(sizeof(struct sim_rank)));
	thread->is_main = 1;
	thread->actor = sg_actor_self();
	stack_begin(sim_get(), thread);
	link_main(sim_get(), thread);
	sg_actor_self_set_data(thread);
	sg_actor_on_exit(on_main_exit, thread);
	return thread;
}

sg_actor_t sim_main_of(const struct sim_rank *rank)
{
	const struct sim_thread *thread = sim_get()->first_main;

	if (rank->posix->main)
		return rank->posix->main;
	while (thread && thread->rank != rank)
		thread = thread->next;
	if (thread)
		rank->posix->main = thread->actor;
	return rank->posix->main;
}

struct sim_rank *sim_rank_self(void)
{
	struct sim *sim = sim_get();

	if (sim_is_stranger())
		return NULL;
	if (sim->in_kernel)
		return sim->current && sim->current->opener ? sim->current->opener->rank
							    : NULL;
	return sim_thread_self()->rank;
}

int sim_is_main(void)
{
	return !sim_get()->in_kernel && (!sg_actor_self() || sim_thread_self()->is_main);
}

int sim_is_plain_main(void)
{
	return sim_is_main() && !plat_self();
}

uintptr_t sim_this_thread(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

int sim_is_stranger(void)
{
	const struct sim *sim = sim_get();

	return sim->in_kernel ? sim->kernel_thread != sim_this_thread()
			      : !sg_actor_self();
}

const void *plat_thread(void)
{
	return sim_get()->in_kernel ? NULL : sim_thread_self();
}

/* ---- taking turns ---------------------------------------------------- */

void sim_enter_modes(locale_t locale, int rounding)
{
	if (uselocale((locale_t)0) != locale)
		uselocale(locale);
	if (fegetround() != rounding)
		fesetround(rounding);
}

struct sim_yield sim_yield(void)
{
	struct sim_exceptions *now = __cxa_get_globals();
	struct sim_yield yield = {.exceptions = *now, .code = errno};

	stack_check(sim_get());
	yield.jumps = outside_put_aside();
	yield.locale = uselocale((locale_t)0);
	yield.rounding = fegetround();
	if (yield.locale != LC_GLOBAL_LOCALE || yield.rounding != FE_TONEAREST)
		sim_enter_modes(LC_GLOBAL_LOCALE, FE_TONEAREST);
	if (sim_get()->nlocals > 0)
		yield.locals = sim_leave_locals();
	*now = (struct sim_exceptions){0};
	return yield;
}

/* An application's threads go with the process, and clear nothing away. */
static void be_killed(void)
{
	struct sim_thread *thread =
		sim_get()->in_kernel ? NULL : sg_actor_self_get_data();

	if (thread)
		outside_forget(&thread->caller);
	if (!thread || !thread->posix)
		return;
	sim_leave_mpi(thread);
	longjmp(thread->posix->bottom, 1);
}

void sim_come_back(struct sim_yield *yield)
{
	if (!yield->is_back) {
		be_killed();
		return;
	}
	outside_put_back(yield->jumps);
	*__cxa_get_globals() = yield->exceptions;
	if (yield->locals)
		sim_enter_locals(yield->locals);
	/* Who has run since has left the defaults. */
	if (yield->locale != LC_GLOBAL_LOCALE || yield->rounding != FE_TONEAREST)
		sim_enter_modes(yield->locale, yield->rounding);
	errno = yield->code;
}

/* ---- life ------------------------------------------------------------ */

int starpu_pthread_attr_init(starpu_pthread_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr)
{
	(void)attr;
	return 0;
}

int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr, int detachstate)
{
	if (detachstate != PTHREAD_CREATE_DETACHED &&
	    detachstate != PTHREAD_CREATE_JOINABLE)
		return EINVAL;
	((struct attributes *)(void *)attr)->detached =
		detachstate == PTHREAD_CREATE_DETACHED;
	return 0;
}

int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr, size_t stacksize)
{
	if (stacksize < PTHREAD_STACK_MIN || stacksize > UINT32_MAX)
		return EINVAL;
	((struct attributes *)(void *)attr)->stack_bytes = (unsigned)stacksize;
	return 0;
}

static void thread_end(struct sim_thread *thread, void *result)
{
	struct posix_rank *mine = thread->posix->rank;

	pthreads_end(thread);
	specifics_clear(thread->rank, &thread->specifics);
	pthreads_ended(thread);
	leave_node(thread);
	thread->result = result;
	sg_actor_self_set_data(NULL);
	leave_stack(thread);
	if (thread->detached) {
		sim_thread_free(thread);
		return;
	}
	thread->has_ended = 1;
	waiters_wake_first_of(&mine->waiters, thread);
}

static void run(void *arg)
{
	struct sim_thread *thread = arg;

	thread->result = pthreads_run(thread);
}

static void thread_main(int argc, char **argv)
{
	struct sim_thread *thread = sg_actor_self_get_data();

	(void)argc;
	(void)argv;
	/* Not before it runs: SimGrid 3.32 would not forget it at its end. */
	if (!thread->posix->is_closer)
		sg_actor_daemonize(sg_actor_self());
	stack_begin(sim_get(), thread);
	pthreads_begin(thread);
	if (setjmp(thread->posix->bottom) != 0)
		return;
	kernel_catch(run, thread);
	thread_end(thread, thread->result);
}

static void start(void *arg)
{
	struct sim_thread *thread = arg;

	SIM_YIELDS(sg_actor_start_(thread->actor, thread_main, 0, NULL));
}

struct sim_thread *sim_thread_make(const char *name, void *(*routine)(void *), void *arg,
				   sg_host_t host)
{
	struct sim_thread *made = thread_new(sim_rank_self());

	posix_not_alone();
	if (!host)
		host = sim_get()->in_kernel ? sim_get()->current->host : sg_host_self();
	made->routine = routine;
	made->arg = arg;
	SIM_YIELDS(made->actor = sg_actor_init(name, host));
	sg_actor_set_data(made->actor, made);
	return made;
}

void sim_thread_start(struct sim_thread *thread, size_t stack_bytes)
{
	size_t kib = stack_bytes < LEAST_STACK_KIB << 10          ? LEAST_STACK_KIB
		     : stack_bytes > (size_t)MOST_STACK_KIB << 10 ? MOST_STACK_KIB
								  : stack_bytes >> 10;

	if (stack_bytes)
		sg_actor_set_stacksize(thread->actor, (unsigned)kib);
	calendar_reach(sim_get(), start, thread);
}

static int create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
		  struct sim_thread *made)
{
	const struct attributes *attributes = (const void *)attr;

	if (!made)
		return EAGAIN;
	made->detached = attributes && attributes->detached;
	*thread = (starpu_pthread_t)(uintptr_t)made;
	sim_thread_start(made, attributes ? attributes->stack_bytes : 0);
	return 0;
}

int starpu_pthread_create_on(const char *name, starpu_pthread_t *thread,
			     const starpu_pthread_attr_t *attr, void *(*routine)(void *),
			     void *arg, starpu_sg_host_t host)
{
	return create(
		thread, attr,
		pthreads_make(name, routine, arg, host, __builtin_return_address(0)));
}

int starpu_pthread_create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
			  void *(*routine)(void *), void *arg)
{
	return create(
		thread, attr,
		pthreads_make("thread", routine, arg, NULL, __builtin_return_address(0)));
}

int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2)
{
	return t1 == t2;
}

starpu_pthread_t starpu_pthread_self(void)
{
	struct sim *sim = sim_get();

	if (!sim->in_kernel)
		return (starpu_pthread_t)(uintptr_t)sim_thread_self();
	/* A worker is a thread of its own on a real machine. */
	return (starpu_pthread_t)(uintptr_t)(sim->worker ? (void *)sim->worker
							 : (void *)sim->current);
}

int starpu_pthread_join(starpu_pthread_t thread, void **retval)
{
	return pthreads_join((void *)(uintptr_t)thread, retval, -1,
			     "starpu_pthread_join");
}

int starpu_pthread_detach(starpu_pthread_t thread)
{
	return pthreads_detach((void *)(uintptr_t)thread);
}

void starpu_pthread_exit(void *retval)
{
	struct sim_thread *thread;

	if (sim_get()->in_kernel)
		orr_die(ORR_NO_RANK, "starpu_pthread_exit: a callback or kernel is no "
				     "thread of the application: return from it instead");
	thread = sim_thread_self();
	if (!thread->is_main)
		pthreads_leave(thread, retval);
	sg_actor_exit();
	abort(); /* It does not return. */
}

/* SimGrid names an actor when it is made. */
int starpu_pthread_setname(const char *name)
{
	(void)name;
	return 0;
}

/* ---- values of threads ----------------------------------------------- */

struct specific_keys {
	unsigned n;
	struct key {
		void (*destructor)(void *value);
		int taken;
	} keys[];
};

static struct key *key_of(starpu_pthread_key_t key)
{
	const struct sim_rank *rank = sim_rank_self();
	struct specific_keys *keys = rank ? rank->keys : NULL;

	return keys && key < keys->n && keys->keys[key].taken ? &keys->keys[key] : NULL;
}

int starpu_pthread_key_create(starpu_pthread_key_t *key, void (*destructor)(void *))
{
	struct sim_rank *rank = sim_rank_self();
	struct specific_keys *keys = rank ? rank->keys : NULL;
	unsigned n = keys ? keys->n : 0;

	if (!rank)
		return EAGAIN;
	keys = orr_realloc(keys, sizeof(*keys) + (n + 1) * sizeof(keys->keys[0]));
	keys->n = n + 1;
	keys->keys[n] = (struct key){destructor, 1};
	rank->keys = keys;
	*key = n;
	return 0;
}

/* The number is not used again, so values of it that threads still have do not matter. */
int starpu_pthread_key_delete(starpu_pthread_key_t key)
{
	struct key *deleted = key_of(key);

	if (!deleted)
		return EINVAL;
	deleted->taken = 0;
	return 0;
}

struct specifics *specifics_self(void)
{
	struct sim *sim = sim_get();

	if (!sim->in_kernel)
		return &sim_thread_self()->specifics;
	if (sim->worker)
		return sim_worker_specifics(sim->worker);
	return sim->current ? &sim->current->specifics : NULL;
}

static unsigned nkeyed(const struct specifics *specifics)
{
	return specifics->keyed ? specifics->keyed->n : 0;
}

int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *pointer)
{
	struct specifics *specifics = specifics_self();
	unsigned n = nkeyed(specifics);

	if (!key_of(key))
		return EINVAL;
	if (key >= n) {
		specifics->keyed = orr_realloc(
			specifics->keyed,
			sizeof(*specifics->keyed) +
				(key + 1) * sizeof(*specifics->keyed->values));
		while (n <= key)
			specifics->keyed->values[n++] = NULL;
		specifics->keyed->n = n;
	}
	specifics->keyed->values[key] = (void *)(uintptr_t)pointer;
	return 0;
}

void *starpu_pthread_getspecific(starpu_pthread_key_t key)
{
	struct specifics *specifics = specifics_self();

	return key_of(key) && key < nkeyed(specifics) ? specifics->keyed->values[key]
						      : NULL;
}

void specifics_clear(const struct sim_rank *rank, struct specifics *specifics)
{
	/* A destructor may set values again: a bounded number of times, as POSIX says. */
	for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++)
		for (unsigned i = 0; i < nkeyed(specifics); i++) {
			void *value = specifics->keyed->values[i];
			struct key *key = &rank->keys->keys[i];

			specifics->keyed->values[i] = NULL;
			if (value && key->taken && key->destructor)
				key->destructor(value);
		}
	posix_values_end(&specifics->posix);
	free(specifics->keyed);
	*specifics = (struct specifics){0};
}
