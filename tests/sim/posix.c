/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * posix.c - in simulation the C library's locks do between threads of the application
 * what POSIX says, and who waits does so in simulated time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include <starpu.h>

#include "../api/claim.h"
#include "now.h"

/* Main has a lock so long; threads wait so long at first, then for longer than that. */
#define HELD_S  0.5F
#define TRIED_S 0.002F
#define SHORT_S 0.125
#define LONG_S  4.0

#define NEAR(a, b) (fabs((a) - (b)) < 1e-9)

int claim_failures;

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static sem_t sem;
static starpu_pthread_mutex_t starpu_mutex;
static starpu_pthread_rwlock_t starpu_rwlock;
static starpu_pthread_spinlock_t starpu_spin;
static starpu_sem_t starpu_sem;
static int word, is_held, ninits;

static void open_library(void)
{
	if (starpu_init(NULL) != 0)
		exit(77);
	since_s = 1e-6 * starpu_timing_now();
	is_held = 1;
}

/* Another thread runs while main, which has the lock, sleeps. */
static starpu_pthread_t beside(void *(*routine)(void *))
{
	starpu_pthread_t thread;

	STARPU_PTHREAD_CREATE(&thread, NULL, routine, NULL);
	starpu_sleep(HELD_S);
	is_held = 0;
	return thread;
}

static void join_and_close(starpu_pthread_t thread)
{
	STARPU_PTHREAD_JOIN(thread, NULL);
	starpu_shutdown();
}

static void begin_mutex(int type)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutex_init(&mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* ---- whose a mutex is ------------------------------------------------ */

static void *lock_after_main(void *arg)
{
	CLAIM_EQ(pthread_mutex_trylock(&mutex), EBUSY);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), EPERM);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM(!is_held);
	CLAIM(NEAR(now_s(), HELD_S));
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	return arg;
}

static void recursive_mutexes_are_their_owners(void)
{
	starpu_pthread_t thread;

	open_library();
	begin_mutex(PTHREAD_MUTEX_RECURSIVE);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	thread = beside(lock_after_main);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), EPERM);
	join_and_close(thread);
	CLAIM_EQ(pthread_mutex_destroy(&mutex), 0);
}

static void mutexes_that_check_know_their_owners(void)
{
	starpu_pthread_t thread;

	open_library();
	begin_mutex(PTHREAD_MUTEX_ERRORCHECK);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_lock(&mutex), EDEADLK);
	thread = beside(lock_after_main);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	join_and_close(thread);
	CLAIM_EQ(pthread_mutex_destroy(&mutex), 0);
}

/* ---- waits with an end ----------------------------------------------- */

static void *lock_in_time(void *arg)
{
	struct timespec date = in(SHORT_S), none = {.tv_nsec = -1};

	CLAIM_EQ(pthread_mutex_timedlock(&mutex, &none), EINVAL);
	CLAIM_EQ(pthread_mutex_timedlock(&mutex, &date), ETIMEDOUT);
	CLAIM(NEAR(now_s(), SHORT_S));
	date = in(SHORT_S);
	CLAIM_EQ(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &date), ETIMEDOUT);
	CLAIM(NEAR(now_s(), 2 * SHORT_S));
	date = in(LONG_S);
	CLAIM_EQ(pthread_mutex_timedlock(&mutex, &date), 0);
	CLAIM(NEAR(now_s(), HELD_S));
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	return arg;
}

static void mutexes_are_waited_for_in_time(void)
{
	starpu_pthread_t thread;

	for (int type = 0; type < 2; type++) {
		open_library();
		begin_mutex(type ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
		CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
		thread = beside(lock_in_time);
		CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
		join_and_close(thread);
	}
}

static void *read_and_write_in_time(void *arg)
{
	struct timespec date = in(SHORT_S);

	CLAIM_EQ(pthread_rwlock_timedrdlock(&rwlock, &date), ETIMEDOUT);
	CLAIM(NEAR(now_s(), SHORT_S));
	date = in(SHORT_S);
	CLAIM_EQ(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &date), ETIMEDOUT);
	CLAIM(NEAR(now_s(), 2 * SHORT_S));
	date = in(LONG_S);
	CLAIM_EQ(pthread_rwlock_timedwrlock(&rwlock, &date), 0);
	CLAIM(NEAR(now_s(), HELD_S));
	CLAIM_EQ(pthread_rwlock_unlock(&rwlock), 0);
	return arg;
}

static void rwlocks_are_waited_for_in_time(void)
{
	starpu_pthread_t thread;

	open_library();
	CLAIM_EQ(pthread_rwlock_wrlock(&rwlock), 0);
	thread = beside(read_and_write_in_time);
	CLAIM_EQ(pthread_rwlock_unlock(&rwlock), 0);
	join_and_close(thread);
}

/* ---- spinlocks, C11, what is done once, futexes ----------------------- */

static void *spin_after_main(void *arg)
{
	CLAIM_EQ(pthread_spin_lock(&spin), 0);
	CLAIM(NEAR(now_s(), HELD_S));
	CLAIM_EQ(pthread_spin_unlock(&spin), 0);
	return arg;
}

static void spinlocks_let_others_run(void)
{
	starpu_pthread_t thread;

	open_library();
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	CLAIM_EQ(pthread_spin_lock(&spin), 0);
	thread = beside(spin_after_main);
	CLAIM_EQ(pthread_spin_unlock(&spin), 0);
	join_and_close(thread);
}

static void *wait_by_c11(void *arg)
{
	const struct timespec rest = {.tv_nsec = 125000000};
	struct timespec date = in(SHORT_S);

	CLAIM_EQ(mtx_timedlock(&c11_mutex, &date), thrd_timedout);
	CLAIM(NEAR(now_s(), SHORT_S));
	CLAIM_EQ(thrd_sleep(&rest, NULL), 0);
	CLAIM(NEAR(now_s(), 2 * SHORT_S));
	CLAIM_EQ(mtx_trylock(&c11_mutex), thrd_busy);
	CLAIM_EQ(mtx_lock(&c11_mutex), thrd_success);
	CLAIM(NEAR(now_s(), HELD_S));
	date = in(SHORT_S);
	CLAIM_EQ(cnd_timedwait(&c11_cond, &c11_mutex, &date), thrd_timedout);
	CLAIM(NEAR(now_s(), HELD_S + SHORT_S));
	while (is_held >= 0)
		CLAIM_EQ(cnd_wait(&c11_cond, &c11_mutex), thrd_success);
	CLAIM(NEAR(now_s(), 2 * HELD_S));
	CLAIM_EQ(mtx_unlock(&c11_mutex), thrd_success);
	return arg;
}

static void locks_of_c11_take_simulated_time(void)
{
	starpu_pthread_t thread;

	open_library();
	mtx_init(&c11_mutex, mtx_timed);
	cnd_init(&c11_cond);
	CLAIM_EQ(mtx_lock(&c11_mutex), thrd_success);
	thread = beside(wait_by_c11);
	CLAIM_EQ(mtx_unlock(&c11_mutex), thrd_success);
	starpu_sleep(HELD_S);
	CLAIM_EQ(mtx_lock(&c11_mutex), thrd_success);
	is_held = -1;
	CLAIM_EQ(cnd_signal(&c11_cond), thrd_success);
	CLAIM_EQ(mtx_unlock(&c11_mutex), thrd_success);
	join_and_close(thread);
}

static void init_slowly(void)
{
	starpu_sleep(HELD_S);
	ninits++;
}

static void *init_once(void *arg)
{
	CLAIM_EQ(pthread_once(&once, init_slowly), 0);
	CLAIM_EQ(ninits, 1);
	CLAIM(NEAR(now_s(), HELD_S));
	return arg;
}

static void what_is_done_once_is_waited_for(void)
{
	starpu_pthread_t thread;

	open_library();
	STARPU_PTHREAD_CREATE(&thread, NULL, init_once, NULL);
	starpu_sleep((float)SHORT_S);
	init_once(NULL);
	join_and_close(thread);
}

static long futex(int operation, int value, const struct timespec *limit)
{
	return syscall(SYS_futex, &word, operation, value, limit, NULL,
		       FUTEX_BITSET_MATCH_ANY);
}

static void *wait_by_futex(void *arg)
{
	const struct timespec rest = {.tv_nsec = 125000000};
	struct timespec date;

	CLAIM_EQ(futex(FUTEX_WAIT_PRIVATE, 1, NULL), -1);
	CLAIM_EQ(errno, EAGAIN);
	CLAIM_EQ(futex(FUTEX_WAIT_PRIVATE, 0, &rest), -1);
	CLAIM_EQ(errno, ETIMEDOUT);
	CLAIM(NEAR(now_s(), SHORT_S));
	date = in(SHORT_S);
	CLAIM_EQ(futex(FUTEX_WAIT_BITSET, 0, &date), -1);
	CLAIM_EQ(errno, ETIMEDOUT);
	CLAIM(NEAR(now_s(), 2 * SHORT_S));
	CLAIM_EQ(futex(FUTEX_WAIT, 0, NULL), 0);
	CLAIM(NEAR(now_s(), HELD_S));
	return arg;
}

static void futexes_take_simulated_time(void)
{
	starpu_pthread_t thread;

	open_library();
	thread = beside(wait_by_futex);
	word = 1;
	CLAIM_EQ(futex(FUTEX_WAKE_PRIVATE, INT_MAX, NULL), 1);
	CLAIM_EQ(futex(FUTEX_WAKE_PRIVATE, INT_MAX, NULL), 0);
	join_and_close(thread);
}

static struct starpu_codelet empty = {.cpu_funcs = {(starpu_cpu_func_t)1},
				      .name = "empty",
				      .model = &starpu_perfmodel_nop};

/* Inserting tasks takes time that main owes yet. */
static void waits_begin_at_the_date_that_is_seen(void)
{
	const struct timespec rest = {.tv_nsec = 125000000};
	double began_s;

	open_library();
	for (int i = 0; i < 1000; i++)
		starpu_task_insert(&empty, 0);
	began_s = now_s();
	CLAIM_EQ(futex(FUTEX_WAIT, word, &rest), -1);
	CLAIM_EQ(errno, ETIMEDOUT);
	CLAIM(NEAR(now_s(), began_s + SHORT_S));
	starpu_shutdown();
}

/* ---- threads ---------------------------------------------------------- */

static void *nothing(void *arg)
{
	return arg;
}

static void post(void *arg)
{
	(void)arg;
	sem_post(&sem);
}

/* While the process has a thread in real time, waits are not simulated. */
static void waits_are_simulated_again_when_threads_are_gone(void)
{
	pthread_t thread;

	sem_init(&sem, 0, 0);
	for (int i = 0; i < 20; i++) {
		open_library();
		setenv("ORRERY_REAL_THREADS", "1", 1);
		CLAIM_EQ(pthread_create(&thread, NULL, nothing, NULL), 0);
		unsetenv("ORRERY_REAL_THREADS");
		CLAIM_EQ(pthread_join(thread, NULL), 0);
		starpu_task_insert(&empty, STARPU_CALLBACK, post, 0);
		CLAIM_EQ(sem_wait(&sem), 0);
		starpu_shutdown();
	}
}

static int strangers_turn;

/* A mutex is held by a thread that the simulation does not know, and which took it while
 * a callback ran. */
static void *take_during_callback(void *arg)
{
	const struct timespec rest = {.tv_nsec = 20000000};

	while (__atomic_load_n(&strangers_turn, __ATOMIC_SEQ_CST) != 1)
		continue;
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	__atomic_store_n(&strangers_turn, 2, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&strangers_turn, __ATOMIC_SEQ_CST) != 3)
		continue;
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &rest, NULL);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	return arg;
}

static void let_stranger_take(void *arg)
{
	(void)arg;
	__atomic_store_n(&strangers_turn, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&strangers_turn, __ATOMIC_SEQ_CST) != 2)
		continue;
}

static void strangers_are_no_callbacks(void)
{
	pthread_t thread;

	open_library();
	begin_mutex(PTHREAD_MUTEX_RECURSIVE);
	setenv("ORRERY_REAL_THREADS", "1", 1);
	CLAIM_EQ(pthread_create(&thread, NULL, take_during_callback, NULL), 0);
	unsetenv("ORRERY_REAL_THREADS");
	starpu_task_insert(&empty, STARPU_CALLBACK, let_stranger_take, 0);
	starpu_task_wait_for_all();
	__atomic_store_n(&strangers_turn, 3, __ATOMIC_SEQ_CST);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	CLAIM_EQ(pthread_join(thread, NULL), 0);
	starpu_shutdown();
}

static void *leave(void *arg)
{
	(void)arg;
	pthread_exit(&sem);
}

static void threads_end_by_pthread_exit(void)
{
	starpu_pthread_t thread;
	void *result = NULL;

	open_library();
	STARPU_PTHREAD_CREATE(&thread, NULL, leave, NULL);
	STARPU_PTHREAD_JOIN(thread, &result);
	CLAIM(result == &sem);
	starpu_shutdown();
}

static void *open_for_main(void *arg)
{
	open_library();
	return arg;
}

static void draw(void *arg)
{
	*(int *)arg = rand();
}

/* As main does for others: whose callbacks they are is asked when it has ended. */
static void a_thread_opens_the_library_and_ends(void)
{
	enum { NBLOCKS = 64, BLOCK_BYTES = 16 };
	int drawn[2] = {-1, -1};
	void *blocks[NBLOCKS];
	starpu_pthread_t thread;

	STARPU_PTHREAD_CREATE(&thread, NULL, open_for_main, NULL);
	STARPU_PTHREAD_JOIN(thread, NULL);
	/* One is where that thread was. */
	for (int i = 0; i < NBLOCKS; i++) {
		blocks[i] = malloc((size_t)(i + 1) * BLOCK_BYTES);
		memset(blocks[i], -1, (size_t)(i + 1) * BLOCK_BYTES);
	}
	for (int i = 0; i < 2; i++) {
		srand(1);
		starpu_task_insert(&empty, STARPU_CALLBACK, draw,
				   STARPU_CALLBACK_ARG_NFREE, &drawn[i], 0);
		starpu_task_wait_for_all();
	}
	CLAIM(drawn[0] >= 0);
	CLAIM_EQ(drawn[1], drawn[0]);
	starpu_shutdown();
	for (int i = 0; i < NBLOCKS; i++)
		free(blocks[i]);
}

/* ---- clocks ----------------------------------------------------------- */

/* In nanoseconds. */
static long long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void nobody_comes_back_too_early(void)
{
	int nearly = 0;

	open_library();
	sem_init(&sem, 0, 0);
	for (int i = 1; i <= 2000; i++) {
		struct timespec date = in(1e-6 * i);
		long long until_ns = date.tv_sec * 1000000000LL + date.tv_nsec;

		if (i % 2)
			clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &date, NULL);
		else
			sem_timedwait(&sem, &date);
		nearly += clock_ns() < until_ns;
	}
	CLAIM_EQ(nearly, 0);
	starpu_shutdown();
}

/* ---- waits that last longer than the library ----------------------------- */

static void *wait_by_sem(void *arg)
{
	while (sem_wait(&sem) != 0)
		continue;
	CLAIM(!is_held);
	return arg;
}

static void *wait_by_starpu_sem(void *arg)
{
	starpu_sem_wait(&starpu_sem);
	CLAIM(!is_held);
	return arg;
}

static void *join_another(void *arg)
{
	STARPU_PTHREAD_JOIN(*(starpu_pthread_t *)arg, NULL);
	CLAIM(!is_held);
	return arg;
}

static void fill_memory(void)
{
	enum { NBLOCKS = 200, BLOCK_BYTES = 128 };
	void *blocks[NBLOCKS];

	for (int i = 0; i < NBLOCKS; i++) {
		blocks[i] = malloc((size_t)(i + 1) * BLOCK_BYTES);
		memset(blocks[i], -1, (size_t)(i + 1) * BLOCK_BYTES);
	}
	for (int i = 0; i < NBLOCKS; i++)
		free(blocks[i]);
}

/* They began in one life and end after it, or in the next one. */
static void waits_outlive_the_library(void)
{
	starpu_pthread_t threads[3];

	for (int again = 0; again < 2; again++) {
		open_library();
		sem_init(&sem, 0, 0);
		starpu_sem_init(&starpu_sem, 0, 0);
		STARPU_PTHREAD_CREATE(&threads[0], NULL, wait_by_sem, NULL);
		STARPU_PTHREAD_CREATE(&threads[1], NULL, wait_by_starpu_sem, NULL);
		STARPU_PTHREAD_CREATE(&threads[2], NULL, join_another, &threads[0]);
		starpu_sleep(1e-3F);
		starpu_shutdown();
		fill_memory();
		if (again)
			open_library();
		is_held = 0;
		sem_post(&sem);
		starpu_sem_post(&starpu_sem);
		STARPU_PTHREAD_JOIN(threads[1], NULL);
		STARPU_PTHREAD_JOIN(threads[2], NULL);
		if (again)
			starpu_shutdown();
	}
}

/* ---- loops that sleep for no time -------------------------------------- */

static double a_millisecond_us(struct starpu_task *task, unsigned nimpl)
{
	(void)task;
	(void)nimpl;
	return 1000;
}

static struct starpu_perfmodel millisecond = {.type = STARPU_COMMON,
					      .cost_function = a_millisecond_us};
static struct starpu_codelet lasting = {
	.cpu_funcs = {(starpu_cpu_func_t)1}, .name = "lasting", .model = &millisecond};

static void set(void *arg)
{
	*(int *)arg = 1;
}

static void rest_usleep(void)
{
	usleep(0);
}

static void rest_sleep(void)
{
	sleep(0);
}

static void rest_nanosleep(void)
{
	const struct timespec none = {0};

	nanosleep(&none, NULL);
}

static void rest_poll(void)
{
	poll(NULL, 0, 0);
}

static void rest_select(void)
{
	struct timeval none = {0};

	select(0, NULL, NULL, NULL, &none);
}

static void *set_later(void *arg)
{
	starpu_sleep(0.001F);
	set(arg);
	return arg;
}

static void who_sleeps_for_no_time_lets_others_run(void)
{
	static void (*const rests[])(void) = {rest_usleep, rest_sleep, rest_nanosleep,
					      rest_poll, rest_select};
	starpu_pthread_t thread;

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		int done = 0;

		/* Without the library, and with it. */
		STARPU_PTHREAD_CREATE(&thread, NULL, set_later, &done);
		while (!STARPU_ATOMIC_ADD(&done, 0))
			rests[i]();
		STARPU_PTHREAD_JOIN(thread, NULL);
		done = 0;
		open_library();
		starpu_task_insert(&lasting, STARPU_CALLBACK, set,
				   STARPU_CALLBACK_ARG_NFREE, &done, 0);
		while (!STARPU_ATOMIC_ADD(&done, 0))
			rests[i]();
		CLAIM(now_s() >= 0.001 && now_s() < 0.0011);
		starpu_shutdown();
	}
}

/* ---- loops that try ---------------------------------------------------- */

static int try_mutex(void)
{
	return pthread_mutex_trylock(&mutex);
}

static int try_rwlock(void)
{
	return pthread_rwlock_tryrdlock(&rwlock) && pthread_rwlock_trywrlock(&rwlock);
}

static int try_spin(void)
{
	return pthread_spin_trylock(&spin);
}

static int try_sem(void)
{
	return sem_trywait(&sem);
}

static int try_starpu_mutex(void)
{
	return starpu_pthread_mutex_trylock(&starpu_mutex);
}

static int try_starpu_rwlock(void)
{
	return starpu_pthread_rwlock_tryrdlock(&starpu_rwlock) &&
	       starpu_pthread_rwlock_trywrlock(&starpu_rwlock);
}

static int try_starpu_spin(void)
{
	return starpu_pthread_spin_trylock(&starpu_spin);
}

static int try_starpu_sem(void)
{
	return starpu_sem_trywait(&starpu_sem);
}

/* Main has all of them. */
static void *try_all(void *arg)
{
	static int (*const tries[])(void) = {
		try_mutex,        try_rwlock,        try_spin,        try_sem,
		try_starpu_mutex, try_starpu_rwlock, try_starpu_spin, try_starpu_sem};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		while (tries[i]() != 0)
			continue;
		CLAIM(!is_held && now_s() < 2 * TRIED_S);
	}
	return arg;
}

static void who_tries_in_vain_lets_others_run(void)
{
	starpu_pthread_t thread;

	open_library();
	begin_mutex(PTHREAD_MUTEX_NORMAL);
	pthread_rwlock_init(&rwlock, NULL);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 0);
	starpu_pthread_mutex_init(&starpu_mutex, NULL);
	starpu_pthread_rwlock_init(&starpu_rwlock, NULL);
	starpu_pthread_spin_init(&starpu_spin, 0);
	starpu_sem_init(&starpu_sem, 0, 0);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_spin_lock(&spin);
	starpu_pthread_mutex_lock(&starpu_mutex);
	starpu_pthread_rwlock_wrlock(&starpu_rwlock);
	starpu_pthread_spin_lock(&starpu_spin);
	STARPU_PTHREAD_CREATE(&thread, NULL, try_all, NULL);
	starpu_sleep(TRIED_S);
	is_held = 0;
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_unlock(&spin);
	sem_post(&sem);
	starpu_pthread_mutex_unlock(&starpu_mutex);
	starpu_pthread_rwlock_unlock(&starpu_rwlock);
	starpu_pthread_spin_unlock(&starpu_spin);
	starpu_sem_post(&starpu_sem);
	join_and_close(thread);
}

static void c11_and_pauses_know_simulated_time(void)
{
	const struct timespec rest = {.tv_nsec = 125000000};
	struct timespec date;

	open_library();
	pselect(0, NULL, NULL, NULL, &rest, NULL);
	CLAIM(NEAR(now_s(), SHORT_S));
	ppoll(NULL, 0, &rest, NULL);
	CLAIM(NEAR(now_s(), 2 * SHORT_S));
	CLAIM_EQ(timespec_get(&date, TIME_UTC), TIME_UTC);
	CLAIM_EQ(date.tv_sec * 1000000000LL + date.tv_nsec, clock_ns());
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"recursive_mutexes_are_their_owners", recursive_mutexes_are_their_owners},
	{"mutexes_that_check_know_their_owners", mutexes_that_check_know_their_owners},
	{"mutexes_are_waited_for_in_time", mutexes_are_waited_for_in_time},
	{"rwlocks_are_waited_for_in_time", rwlocks_are_waited_for_in_time},
	{"spinlocks_let_others_run", spinlocks_let_others_run},
	{"locks_of_c11_take_simulated_time", locks_of_c11_take_simulated_time},
	{"what_is_done_once_is_waited_for", what_is_done_once_is_waited_for},
	{"futexes_take_simulated_time", futexes_take_simulated_time},
	{"waits_begin_at_the_date_that_is_seen", waits_begin_at_the_date_that_is_seen},
	{"strangers_are_no_callbacks", strangers_are_no_callbacks},
	{"waits_are_simulated_again_when_threads_are_gone",
	 waits_are_simulated_again_when_threads_are_gone},
	{"threads_end_by_pthread_exit", threads_end_by_pthread_exit},
	{"a_thread_opens_the_library_and_ends", a_thread_opens_the_library_and_ends},
	{"nobody_comes_back_too_early", nobody_comes_back_too_early},
	{"who_sleeps_for_no_time_lets_others_run",
	 who_sleeps_for_no_time_lets_others_run},
	{"waits_outlive_the_library", waits_outlive_the_library},
	{"who_tries_in_vain_lets_others_run", who_tries_in_vain_lets_others_run},
	{"c11_and_pauses_know_simulated_time", c11_and_pauses_know_simulated_time},
	{NULL, NULL},
};

/* With a sanitizer each rank is a thread of the process, which is not what is tested. */
int main(void)
{
	struct stat tasks;

	if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3)
		return 77;
	return claims_run(claims, 0);
}
