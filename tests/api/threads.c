/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * threads.c - threads of the application and what they share, in real and in simulated
 * time: the same program, the same results.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>

#include "claim.h"

enum { NTHREADS = 4, NROUNDS = 50 };

int claim_failures;

static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;
static starpu_pthread_rwlock_t rwlock = STARPU_PTHREAD_RWLOCK_INITIALIZER;
static starpu_pthread_barrier_t barrier;
static starpu_pthread_spinlock_t spin;
static starpu_pthread_key_t key;
static starpu_sem_t items, room;
static sem_t posix_sem;
static int counter, inside, nserial, nreaders, nwriters, ndestroyed;

/* So that others get a turn in the middle. */
static void pause_here(void)
{
	starpu_usleep(20);
}

static void with_threads(void *(*routine)(void *))
{
	starpu_pthread_t threads[NTHREADS];

	counter = inside = 0;
	for (uintptr_t i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, routine, (void *)i);
	for (uintptr_t i = 0; i < NTHREADS; i++) {
		void *result = NULL;

		STARPU_PTHREAD_JOIN(threads[i], &result);
		CLAIM_EQ((uintptr_t)result, 10 * i);
	}
}

static void *ten_times(void *arg)
{
	return (void *)(10 * (uintptr_t)arg);
}

static void open_library(void)
{
	if (starpu_init(NULL) != 0)
		exit(77);
}

/* ---- claims ---------------------------------------------------------- */

static void *leave_early(void *arg)
{
	starpu_pthread_t self = starpu_pthread_self();

	CLAIM(starpu_pthread_equal(self, starpu_pthread_self()));
	starpu_pthread_setname("early");
	starpu_pthread_exit(ten_times(arg));
}

static void results_are_joined(void)
{
	open_library();
	with_threads(ten_times);
	with_threads(leave_early);
	starpu_shutdown();
}

static void *detached(void *arg)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	*(int *)arg = 1;
	STARPU_PTHREAD_COND_SIGNAL(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return NULL;
}

static void detached_threads_run(void)
{
	static int done;
	starpu_pthread_attr_t attr;
	starpu_pthread_t thread;

	open_library();
	starpu_pthread_attr_init(&attr);
	CLAIM_EQ(starpu_pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), 0);
	CLAIM_EQ(starpu_pthread_attr_setstacksize(&attr, 1 << 20), 0);
	STARPU_PTHREAD_CREATE_ON("detached", &thread, &attr, detached, &done, NULL);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	while (!done)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_pthread_attr_destroy(&attr);
	starpu_shutdown();
}

static void *count_alone(void *arg)
{
	for (int i = 0; i < NROUNDS; i++) {
		STARPU_PTHREAD_MUTEX_LOCK(&mutex);
		CLAIM_EQ(inside++, 0);
		if (i % 8 == 0)
			pause_here();
		counter++;
		inside--;
		STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	}
	return ten_times(arg);
}

static void mutexes_exclude(void)
{
	open_library();
	with_threads(count_alone);
	CLAIM_EQ(counter, NTHREADS * NROUNDS);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	CLAIM_EQ(STARPU_PTHREAD_MUTEX_TRYLOCK(&mutex), EBUSY);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_shutdown();
}

static void mutexes_may_be_recursive(void)
{
	starpu_pthread_mutexattr_t attr;
	starpu_pthread_mutex_t recursive;
	int type;

	open_library();
	starpu_pthread_mutexattr_init(&attr);
	starpu_pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	starpu_pthread_mutexattr_gettype(&attr, &type);
	CLAIM_EQ(type, PTHREAD_MUTEX_RECURSIVE);
	STARPU_PTHREAD_MUTEX_INIT(&recursive, &attr);
	for (int i = 0; i < 3; i++)
		STARPU_PTHREAD_MUTEX_LOCK(&recursive);
	for (int i = 0; i < 3; i++)
		STARPU_PTHREAD_MUTEX_UNLOCK(&recursive);
	STARPU_PTHREAD_MUTEX_DESTROY(&recursive);
	starpu_pthread_mutexattr_destroy(&attr);
	starpu_shutdown();
}

static void conditions_have_time_limits(void)
{
	struct timespec date;
	double start_us;

	open_library();
	start_us = starpu_timing_now();
	clock_gettime(CLOCK_REALTIME, &date);
	date.tv_nsec += 2000000;
	date.tv_sec += date.tv_nsec / 1000000000;
	date.tv_nsec %= 1000000000;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	CLAIM_EQ(STARPU_PTHREAD_COND_TIMEDWAIT(&cond, &mutex, &date), ETIMEDOUT);
	CLAIM_EQ(STARPU_PTHREAD_MUTEX_TRYLOCK(&mutex), EBUSY);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	CLAIM(starpu_timing_now() - start_us > 1900);
	starpu_shutdown();
}

static void *read_and_write(void *arg)
{
	for (int i = 0; i < NROUNDS; i++) {
		if (((uintptr_t)arg + (uintptr_t)i) % 3 == 0) {
			STARPU_PTHREAD_RWLOCK_WRLOCK(&rwlock);
			CLAIM_EQ(STARPU_ATOMIC_ADD(&nwriters, 1), 1);
			CLAIM_EQ(nreaders, 0);
			pause_here();
			STARPU_ATOMIC_ADD(&nwriters, -1);
		} else {
			STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
			STARPU_ATOMIC_ADD(&nreaders, 1);
			CLAIM_EQ(nwriters, 0);
			pause_here();
			STARPU_ATOMIC_ADD(&nreaders, -1);
		}
		STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	}
	return ten_times(arg);
}

static void rwlocks_let_readers_share(void)
{
	open_library();
	with_threads(read_and_write);
	STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
	CLAIM_EQ(STARPU_PTHREAD_RWLOCK_TRYRDLOCK(&rwlock), 0);
	CLAIM_EQ(STARPU_PTHREAD_RWLOCK_TRYWRLOCK(&rwlock), EBUSY);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	CLAIM_EQ(STARPU_PTHREAD_RWLOCK_TRYWRLOCK(&rwlock), 0);
	CLAIM_EQ(STARPU_PTHREAD_RWLOCK_TRYRDLOCK(&rwlock), EBUSY);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	starpu_shutdown();
}

static void *write_once(void *arg)
{
	STARPU_ATOMIC_ADD(&counter, 1);
	STARPU_PTHREAD_RWLOCK_WRLOCK(&rwlock);
	CLAIM_EQ(nreaders, 0);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	return arg;
}

/* Functions that read call others that do. */
static void readers_read_again_while_a_writer_waits(void)
{
	starpu_pthread_t writer;

	open_library();
	counter = 0;
	STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
	nreaders = 1;
	STARPU_PTHREAD_CREATE(&writer, NULL, write_once, NULL);
	while (STARPU_ATOMIC_ADD(&counter, 0) == 0)
		pause_here();
	starpu_usleep(1000);
	STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	nreaders = 0;
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	STARPU_PTHREAD_JOIN(writer, NULL);
	starpu_shutdown();
}

static void *meet(void *arg)
{
	for (int i = 1; i <= NROUNDS; i++) {
		if ((uintptr_t)arg == 1)
			pause_here();
		STARPU_ATOMIC_ADD(&counter, 1);
		if (starpu_pthread_barrier_wait(&barrier) ==
		    STARPU_PTHREAD_BARRIER_SERIAL_THREAD)
			STARPU_ATOMIC_ADD(&nserial, 1);
		CLAIM_EQ(counter, i * NTHREADS);
		STARPU_PTHREAD_BARRIER_WAIT(&barrier);
	}
	return ten_times(arg);
}

static void barriers_hold_everybody(void)
{
	open_library();
	STARPU_PTHREAD_BARRIER_INIT(&barrier, NULL, NTHREADS);
	nserial = 0;
	with_threads(meet);
	CLAIM_EQ(nserial, NROUNDS);
	STARPU_PTHREAD_BARRIER_DESTROY(&barrier);
	starpu_shutdown();
}

static void *spin_alone(void *arg)
{
	for (int i = 0; i < NROUNDS; i++) {
		starpu_pthread_spin_lock(&spin);
		CLAIM_EQ(inside++, 0);
		if (i % 16 == 0)
			pause_here();
		counter++;
		inside--;
		starpu_pthread_spin_unlock(&spin);
	}
	return ten_times(arg);
}

static void spinlocks_exclude(void)
{
	open_library();
	starpu_pthread_spin_init(&spin, 0);
	with_threads(spin_alone);
	CLAIM_EQ(counter, NTHREADS * NROUNDS);
	CLAIM_EQ(starpu_pthread_spin_trylock(&spin), 0);
	CLAIM_EQ(starpu_pthread_spin_trylock(&spin), EBUSY);
	starpu_pthread_spin_unlock(&spin);
	starpu_pthread_spin_destroy(&spin);
	starpu_shutdown();
}

/* The even threads produce what the odd ones consume, in a buffer of two. */
static void *pass_on(void *arg)
{
	for (int i = 0; i < NROUNDS; i++)
		if ((uintptr_t)arg % 2 == 0) {
			CLAIM_EQ(starpu_sem_wait(&room), 0);
			CLAIM(STARPU_ATOMIC_ADD(&counter, 1) <= 2);
			CLAIM_EQ(starpu_sem_post(&items), 0);
		} else {
			CLAIM_EQ(starpu_sem_wait(&items), 0);
			STARPU_ATOMIC_ADD(&counter, -1);
			CLAIM_EQ(starpu_sem_post(&room), 0);
		}
	return ten_times(arg);
}

static void semaphores_count(void)
{
	int value = -1;

	open_library();
	starpu_sem_init(&items, 0, 0);
	starpu_sem_init(&room, 0, 2);
	with_threads(pass_on);
	CLAIM_EQ(starpu_sem_trywait(&items), -1);
	CLAIM_EQ(errno, EAGAIN);
	CLAIM_EQ(starpu_sem_trywait(&room), 0);
	starpu_sem_getvalue(&room, &value);
	CLAIM_EQ(value, 1);
	starpu_sem_destroy(&items);
	starpu_sem_destroy(&room);
	starpu_shutdown();
}

static void destroy(void *value)
{
	STARPU_ATOMIC_ADD(&ndestroyed, (int)(uintptr_t)value);
}

static void *keep(void *arg)
{
	CLAIM(STARPU_PTHREAD_GETSPECIFIC(key) == NULL);
	STARPU_PTHREAD_SETSPECIFIC(key, (void *)((uintptr_t)arg + 1));
	pause_here();
	CLAIM_EQ((uintptr_t)STARPU_PTHREAD_GETSPECIFIC(key), (uintptr_t)arg + 1);
	return ten_times(arg);
}

static void threads_have_values_of_their_own(void)
{
	open_library();
	ndestroyed = 0;
	STARPU_PTHREAD_KEY_CREATE(&key, destroy);
	with_threads(keep);
	CLAIM_EQ(ndestroyed, NTHREADS * (NTHREADS + 1) / 2);
	STARPU_PTHREAD_KEY_DELETE(key);
	starpu_shutdown();
}

/* ---- the library in threads ------------------------------------------ */

static void add(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet adding = {.cpu_funcs = {add},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "adding",
				       .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void *submit(void *arg)
{
	starpu_data_handle_t handle;
	int value = 0;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NROUNDS; i++)
		CLAIM_EQ(starpu_task_insert(&adding, STARPU_RW, handle, 0), 0);
	starpu_data_acquire(handle, STARPU_R);
	CLAIM_EQ(value, NROUNDS);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
	return ten_times(arg);
}

static void threads_submit_and_wait(void)
{
	open_library();
	with_threads(submit);
	starpu_shutdown();
}

static void signal_main(void *arg)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	*(int *)arg = 1;
	STARPU_PTHREAD_COND_BROADCAST(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

static void callbacks_wake_threads(void)
{
	static int done;
	starpu_data_handle_t handle;
	int value = 0;

	open_library();
	done = 0;
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	starpu_task_insert(&adding, STARPU_RW, handle, STARPU_CALLBACK_WITH_ARG_NFREE,
			   signal_main, &done, 0);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	while (!done)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_data_unregister(handle);
	starpu_shutdown();
}

/* Main has the mutex; who waits for it signals as soon as main waits. */
static void *signal_when_main_waits(void *arg)
{
	signal_main(arg);
	return arg;
}

static void who_gets_the_mutex_may_signal_at_once(void)
{
	starpu_pthread_t thread;
	int done = 0;

	open_library();
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	STARPU_PTHREAD_CREATE(&thread, NULL, signal_when_main_waits, &done);
	starpu_usleep(1000);
	while (!done)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	STARPU_PTHREAD_JOIN(thread, NULL);
	starpu_shutdown();
}

static int stop;

static void *stop_later(void *arg)
{
	starpu_usleep(1000);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	stop = 1;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return arg;
}

static void wait_in_vain(int way)
{
	static pthread_mutex_t posix_mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t posix_cond = PTHREAD_COND_INITIALIZER;
	const struct timespec past = {.tv_nsec = 1};

	switch (way) {
	case 0:
		STARPU_PTHREAD_MUTEX_LOCK(&mutex);
		CLAIM_EQ(starpu_pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
		STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
		break;
	case 1:
		pthread_mutex_lock(&posix_mutex);
		CLAIM_EQ(pthread_cond_timedwait(&posix_cond, &posix_mutex, &past),
			 ETIMEDOUT);
		pthread_mutex_unlock(&posix_mutex);
		break;
	default:
		CLAIM_EQ(sem_timedwait(&posix_sem, &past), -1);
	}
}

static int has_stopped(void)
{
	int stopped;

	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	stopped = stop;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return stopped;
}

/* Again and again, as who looks whether something has come. */
static void limits_that_are_past_let_others_run(void)
{
	starpu_pthread_t thread;

	sem_init(&posix_sem, 0, 0);
	for (int way = 0; way < 3; way++) {
		open_library();
		stop = 0;
		STARPU_PTHREAD_CREATE(&thread, NULL, stop_later, NULL);
		while (!has_stopped())
			wait_in_vain(way);
		STARPU_PTHREAD_JOIN(thread, NULL);
		starpu_shutdown();
	}
}

static void *post_later(void *arg)
{
	starpu_usleep(1000);
	sem_post(&posix_sem);
	return arg;
}

/* What comes just when the limit does is taken once. */
static void semaphores_lose_nothing_at_limits(void)
{
	const struct timespec past = {.tv_nsec = 1};
	starpu_pthread_t thread;

	open_library();
	sem_init(&posix_sem, 0, 0);
	STARPU_PTHREAD_CREATE(&thread, NULL, post_later, NULL);
	while (sem_timedwait(&posix_sem, &past) != 0)
		CLAIM_EQ(errno, ETIMEDOUT);
	STARPU_PTHREAD_JOIN(thread, NULL);
	CLAIM_EQ(sem_trywait(&posix_sem), -1);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"results_are_joined", results_are_joined},
	{"detached_threads_run", detached_threads_run},
	{"mutexes_exclude", mutexes_exclude},
	{"mutexes_may_be_recursive", mutexes_may_be_recursive},
	{"conditions_have_time_limits", conditions_have_time_limits},
	{"rwlocks_let_readers_share", rwlocks_let_readers_share},
	{"readers_read_again_while_a_writer_waits",
	 readers_read_again_while_a_writer_waits},
	{"barriers_hold_everybody", barriers_hold_everybody},
	{"spinlocks_exclude", spinlocks_exclude},
	{"semaphores_count", semaphores_count},
	{"threads_have_values_of_their_own", threads_have_values_of_their_own},
	{"threads_submit_and_wait", threads_submit_and_wait},
	{"callbacks_wake_threads", callbacks_wake_threads},
	{"limits_that_are_past_let_others_run", limits_that_are_past_let_others_run},
	{"semaphores_lose_nothing_at_limits", semaphores_lose_nothing_at_limits},
	{"who_gets_the_mutex_may_signal_at_once", who_gets_the_mutex_may_signal_at_once},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
