/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * pthreads.c - in simulation threads of pthread_create() and thrd_create() call the
 * library, wait in simulated time, and have what POSIX says that threads have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <starpu.h>

#include "../api/claim.h"
#include "now.h"

#define SHORT_S 0.125
#define LONG_S  4.0

#define NEAR(a, b) (fabs((a) - (b)) < 1e-6)

int claim_failures;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static pthread_key_t key;
static int trail[32], nsteps, done;
static _Thread_local int local = 7, other_local;

static void step(int what)
{
	trail[nsteps++ % 32] = what;
}

static void pause_s(double seconds)
{
	struct timespec rest = {.tv_sec = (time_t)seconds};

	rest.tv_nsec = lround((seconds - (double)rest.tv_sec) * 1e9);
	nanosleep(&rest, NULL);
}

static void begin(void)
{
	claim_start(2);
	since_s = 1e-6 * starpu_timing_now();
	sem_init(&sem, 0, 0);
	nsteps = done = 0;
}

static pthread_t make(void *(*routine)(void *), void *arg)
{
	pthread_t thread = 0;

	CLAIM_EQ(pthread_create(&thread, NULL, routine, arg), 0);
	return thread;
}

static void *result_of(pthread_t thread)
{
	void *result = NULL;

	CLAIM_EQ(pthread_join(thread, &result), 0);
	return result;
}

/* ---- they call the library --------------------------------------------- */

static void add(void *buffers[], void *arg)
{
	(void)arg;
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static struct starpu_codelet adding = {.cpu_funcs = {add},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "adding",
				       .model = &starpu_perfmodel_nop,
				       .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void *insert_some(void *handle)
{
	for (int i = 0; i < 5; i++) {
		starpu_task_insert(&adding, STARPU_RW, handle, 0);
		pause_s(SHORT_S);
	}
	starpu_task_wait_for_all();
	return handle;
}

static void threads_insert_tasks(void)
{
	int value = 0;
	starpu_data_handle_t handle;
	pthread_t threads[3];

	begin();
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < 3; i++)
		threads[i] = make(insert_some, handle);
	for (int i = 0; i < 3; i++)
		CLAIM(result_of(threads[i]) == handle);
	/* They sleep at the same time. */
	CLAIM(now_s() >= 5 * SHORT_S && now_s() < 6 * SHORT_S);
	starpu_data_unregister(handle);
	CLAIM_EQ(value, 15);
	starpu_shutdown();
}

static void *open_and_close(void *arg)
{
	CLAIM_EQ(starpu_init(NULL), 0);
	starpu_shutdown();
	return arg;
}

static void threads_open_the_library(void)
{
	CLAIM(result_of(make(open_and_close, &done)) == &done);
}

static struct starpu_codelet empty = {
	.cpu_funcs = {add}, .name = "empty", .model = &starpu_perfmodel_nop};

static void *release_end(void *task)
{
	pause_s(SHORT_S);
	starpu_task_end_dep_release(task);
	return NULL;
}

/* Main goes on when the thread has let go of what the library guards. */
static void threads_end_tasks_that_main_waits_for(void)
{
	struct starpu_task *task;
	pthread_t thread;

	begin();
	task = starpu_task_create();
	task->cl = &empty;
	starpu_task_end_dep_add(task, 1);
	CLAIM_EQ(starpu_task_submit(task), 0);
	thread = make(release_end, task);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	CLAIM(now_s() >= SHORT_S);
	starpu_task_insert(&empty, 0);
	CLAIM_EQ(starpu_task_wait_for_all(), 0);
	result_of(thread);
	starpu_shutdown();
}

/* ---- joined, detached ---------------------------------------------------- */

static void *sleep_short(void *arg)
{
	pause_s(SHORT_S);
	done++;
	return arg;
}

static void *join_itself(void *arg)
{
	CLAIM_EQ(pthread_join(pthread_self(), NULL), EDEADLK);
	return arg;
}

static void joins_take_simulated_time(void)
{
	struct timespec date;
	pthread_t thread;

	begin();
	thread = make(sleep_short, &done);
	CLAIM_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
	date = in(SHORT_S / 2);
	CLAIM_EQ(pthread_timedjoin_np(thread, NULL, &date), ETIMEDOUT);
	CLAIM(NEAR(now_s(), SHORT_S / 2));
	date.tv_nsec = 1000000000;
	CLAIM_EQ(pthread_timedjoin_np(thread, NULL, &date), EINVAL);
	date = in(LONG_S);
	CLAIM_EQ(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &date), 0);
	CLAIM(NEAR(now_s(), SHORT_S));
	thread = make(sleep_short, &done);
	pause_s(LONG_S);
	CLAIM_EQ(pthread_kill(thread, 0), ESRCH);
	CLAIM_EQ(pthread_tryjoin_np(thread, NULL), 0);
	result_of(make(join_itself, NULL));
	starpu_shutdown();
}

static void *join_main(void *thread)
{
	return result_of(*(pthread_t *)thread);
}

static void one_joins_and_no_other(void)
{
	pthread_t first, second;

	begin();
	first = make(sleep_short, &done);
	second = make(join_main, &first);
	pause_s(SHORT_S / 2);
	CLAIM_EQ(pthread_join(first, NULL), EINVAL);
	CLAIM_EQ(pthread_detach(first), EINVAL);
	CLAIM(result_of(second) == &done);
	starpu_shutdown();
}

static void detached_threads_end_alone(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	begin();
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	CLAIM_EQ(pthread_create(&thread, &attr, sleep_short, NULL), 0);
	CLAIM_EQ(pthread_join(thread, NULL), EINVAL);
	pthread_attr_destroy(&attr);
	CLAIM_EQ(pthread_detach(make(sleep_short, NULL)), 0);
	pause_s(LONG_S);
	CLAIM_EQ(done, 2);
	starpu_shutdown();
}

/* ---- what they are called ------------------------------------------------- */

static void *know_itself(void *arg)
{
	pthread_t before = pthread_self();

	pause_s(SHORT_S);
	CLAIM(pthread_equal(before, pthread_self()));
	CLAIM(pthread_equal(before, thrd_current()));
	*(pthread_t *)arg = before;
	return arg;
}

static void threads_know_themselves(void)
{
	pthread_t threads[2], seen[2], mine = pthread_self();
	struct sched_param param;
	char name[16] = "?";
	cpu_set_t cores;
	pthread_attr_t attr;
	clockid_t clock;
	int policy, state = -1;

	begin();
	for (int i = 0; i < 2; i++)
		threads[i] = make(know_itself, &seen[i]);
	CLAIM_EQ(pthread_setname_np(threads[0], "first"), 0);
	CLAIM_EQ(pthread_setname_np(threads[1], "a name that is long"), ERANGE);
	CLAIM_EQ(pthread_getname_np(threads[0], name, 5), ERANGE);
	CLAIM_EQ(pthread_getname_np(threads[0], name, sizeof(name)), 0);
	CLAIM_EQ(strcmp(name, "first"), 0);
	CLAIM_EQ(pthread_getaffinity_np(threads[0], sizeof(cores), &cores), 0);
	CLAIM(CPU_COUNT(&cores) > 0);
	CLAIM_EQ(pthread_setaffinity_np(threads[0], sizeof(cores), &cores), 0);
	CLAIM_EQ(pthread_getschedparam(threads[0], &policy, &param), 0);
	CLAIM_EQ(pthread_setschedparam(threads[0], policy, &param), 0);
	CLAIM_EQ(pthread_setschedprio(threads[0], param.sched_priority), 0);
	CLAIM_EQ(pthread_getcpuclockid(threads[0], &clock), 0);
	CLAIM_EQ(pthread_getattr_np(threads[0], &attr), 0);
	CLAIM_EQ(pthread_attr_getdetachstate(&attr, &state), 0);
	CLAIM_EQ(state, PTHREAD_CREATE_JOINABLE);
	pthread_attr_destroy(&attr);
	CLAIM_EQ(pthread_kill(threads[0], 0), 0);
	for (int i = 0; i < 2; i++)
		CLAIM(result_of(threads[i]) == &seen[i]);
	for (int i = 0; i < 2; i++)
		CLAIM(pthread_equal(threads[i], seen[i]));
	CLAIM(!pthread_equal(seen[0], seen[1]) && !pthread_equal(seen[0], mine));
	CLAIM(pthread_equal(mine, pthread_self()));
	starpu_shutdown();
}

/* ---- how they end ---------------------------------------------------------- */

static void note(void *what)
{
	step((int)(intptr_t)what);
}

static void leave_from_below(void)
{
	pthread_cleanup_push(note, (void *)2);
	pthread_exit(&sem);
	pthread_cleanup_pop(0);
}

static void *leave(void *arg)
{
	pthread_setspecific(key, (void *)3);
	pthread_cleanup_push(note, (void *)1);
	leave_from_below();
	pthread_cleanup_pop(0);
	return arg;
}

static void what_is_to_be_done_at_the_end_is_done(void)
{
	begin();
	CLAIM_EQ(pthread_key_create(&key, note), 0);
	CLAIM(result_of(make(leave, NULL)) == &sem);
	CLAIM_EQ(nsteps, 3);
	CLAIM(trail[0] == 2 && trail[1] == 1 && trail[2] == 3);
	pthread_key_delete(key);
	starpu_shutdown();
}

/* Each has its own places to clear away, whoever runs between. */
static void *come_and_go(void *arg)
{
	int mine = (int)(intptr_t)arg;

	pthread_cleanup_push(note, (void *)(intptr_t)(10 + mine));
	pause_s(mine * SHORT_S);
	pthread_cleanup_push(note, (void *)(intptr_t)(20 + mine));
	pause_s(2 * SHORT_S);
	pthread_cleanup_pop(mine == 1);
	if (mine == 2)
		pthread_exit(NULL);
	pthread_cleanup_pop(1);
	return arg;
}

static void cleanups_are_each_ones_own(void)
{
	pthread_t threads[2];

	begin();
	for (int i = 0; i < 2; i++)
		threads[i] = make(come_and_go, (void *)(intptr_t)(i + 1));
	for (int i = 0; i < 2; i++)
		result_of(threads[i]);
	CLAIM_EQ(nsteps, 3);
	CLAIM(trail[0] == 21 && trail[1] == 11 && trail[2] == 12);
	starpu_shutdown();
}

/* ---- cancelled --------------------------------------------------------------- */

static void unlock(void *arg)
{
	/* The wait has taken it again. */
	step(pthread_mutex_trylock(&mutex) == EBUSY);
	CLAIM_EQ(pthread_mutex_unlock(arg), 0);
}

static void *wait_for_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void *wait_for_sem(void *arg)
{
	sem_wait(&sem);
	return arg;
}

static void *wait_for_date(void *arg)
{
	struct timespec date = in(LONG_S);

	sem_timedwait(&sem, &date);
	return arg;
}

static void *sleep_long(void *arg)
{
	sleep((unsigned)LONG_S);
	return arg;
}

static void *poll_for_cancel(void *arg)
{
	for (;;) {
		pthread_testcancel();
		sched_yield();
	}
	return arg;
}

static void *(*const waiting[])(void *) = {wait_for_cond, wait_for_sem, wait_for_date,
					   sleep_long, poll_for_cancel};

static void who_waits_is_cancelled(void)
{
	begin();
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		double before_s = now_s();
		pthread_t thread = make(waiting[i], NULL);

		pause_s(SHORT_S);
		CLAIM_EQ(pthread_cancel(thread), 0);
		CLAIM(result_of(thread) == PTHREAD_CANCELED);
		CLAIM(now_s() < before_s + 2 * SHORT_S);
	}
	CLAIM_EQ(nsteps, 1);
	CLAIM_EQ(trail[0], 1);
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	starpu_shutdown();
}

static void *join_sleeper(void *arg)
{
	pthread_t sleeper = make(sleep_short, &done);

	*(pthread_t *)arg = sleeper;
	pthread_join(sleeper, NULL);
	return arg;
}

/* Another one may join, then. */
static void who_joins_is_cancelled(void)
{
	pthread_t sleeper, thread;

	begin();
	thread = make(join_sleeper, &sleeper);
	pause_s(SHORT_S / 2);
	CLAIM_EQ(pthread_cancel(thread), 0);
	CLAIM(result_of(thread) == PTHREAD_CANCELED);
	CLAIM(result_of(sleeper) == &done);
	starpu_shutdown();
}

static void *refuse_to_end(void *arg)
{
	int before = -1;

	CLAIM_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before), 0);
	CLAIM_EQ(before, PTHREAD_CANCEL_ENABLE);
	CLAIM_EQ(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before), 0);
	CLAIM_EQ(pthread_setcancelstate(77, NULL), EINVAL);
	sem_wait(&sem);
	pause_s(SHORT_S);
	step(1);
	CLAIM_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
	CLAIM_EQ(before, PTHREAD_CANCEL_DISABLE);
	pthread_testcancel();
	step(2);
	return arg;
}

static void who_does_not_want_to_is_cancelled_later(void)
{
	pthread_t thread;

	begin();
	thread = make(refuse_to_end, NULL);
	pause_s(SHORT_S);
	CLAIM_EQ(pthread_cancel(thread), 0);
	pause_s(SHORT_S);
	CLAIM_EQ(nsteps, 0);
	sem_post(&sem);
	CLAIM(result_of(thread) == PTHREAD_CANCELED);
	CLAIM_EQ(nsteps, 1);
	starpu_shutdown();
}

static void *meet(void *arg)
{
	pthread_barrier_wait(&barrier);
	done++;
	pthread_testcancel();
	return arg;
}

/* A barrier is no place to end at. */
static void barriers_hold_who_is_cancelled(void)
{
	pthread_t thread;

	begin();
	pthread_barrier_init(&barrier, NULL, 2);
	thread = make(meet, NULL);
	pause_s(SHORT_S);
	CLAIM_EQ(pthread_cancel(thread), 0);
	pause_s(SHORT_S);
	CLAIM_EQ(done, 0);
	pthread_barrier_wait(&barrier);
	CLAIM(result_of(thread) == PTHREAD_CANCELED);
	CLAIM_EQ(done, 1);
	pthread_barrier_destroy(&barrier);
	starpu_shutdown();
}

/* ---- what they have apart ------------------------------------------------------ */

static void *count_locals(void *arg)
{
	CLAIM_EQ(local, 7);
	CLAIM_EQ(other_local, 0);
	for (int i = 0; i < 3; i++) {
		local += (int)(intptr_t)arg;
		other_local--;
		pause_s(SHORT_S);
		CLAIM_EQ(other_local, -i - 1);
	}
	return (void *)(intptr_t)local;
}

static void see_locals(void *arg)
{
	CLAIM_EQ(local, 8);
	step(*(int *)arg);
}

static void locals_are_each_ones_own(void *(*start)(void *))
{
	starpu_pthread_t ours;
	pthread_t threads[2];
	void *result;

	begin();
	local = 8;
	threads[0] = make(start, (void *)10);
	threads[1] = make(start, (void *)100);
	STARPU_PTHREAD_CREATE(&ours, NULL, start, (void *)1000);
	CLAIM_EQ(local, 8);
	starpu_task_insert(&empty, STARPU_CALLBACK_WITH_ARG_NFREE, see_locals, &local, 0);
	starpu_task_wait_for_all();
	pause_s(SHORT_S / 2);
	CLAIM_EQ(local, 8);
	CLAIM_EQ((intptr_t)result_of(threads[0]), 37);
	CLAIM_EQ((intptr_t)result_of(threads[1]), 307);
	STARPU_PTHREAD_JOIN(ours, &result);
	CLAIM_EQ((intptr_t)result, 3007);
	CLAIM_EQ(local, 8);
	CLAIM_EQ(other_local, 0);
	CLAIM_EQ(nsteps, 1);
	starpu_shutdown();
}

static void thread_local_variables_are_each_ones_own(void)
{
	locals_are_each_ones_own(count_locals);
}

/* ---- C11 ------------------------------------------------------------------------ */

static int wait_and_leave(void *arg)
{
	pause_s(SHORT_S);
	if (arg)
		thrd_exit(5);
	return 3;
}

static void threads_of_c11_are_simulated(void)
{
	thrd_t threads[3];
	int result = 0;

	begin();
	for (int i = 0; i < 3; i++)
		CLAIM_EQ(thrd_create(&threads[i], wait_and_leave, i ? &done : NULL),
			 thrd_success);
	CLAIM_EQ(thrd_detach(threads[2]), thrd_success);
	CLAIM_EQ(thrd_join(threads[0], &result), thrd_success);
	CLAIM_EQ(result, 3);
	CLAIM_EQ(thrd_join(threads[1], &result), thrd_success);
	CLAIM_EQ(result, 5);
	CLAIM(NEAR(now_s(), SHORT_S));
	starpu_shutdown();
}

/* ---- beside threads in real time -------------------------------------------------- */

static int ends[2];

/* In the system, until main has written. */
static void *hold_mutex(void *arg)
{
	char byte;

	pthread_mutex_lock(&mutex);
	__atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
	CLAIM_EQ(read(ends[0], &byte, 1), 1);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *post_later(void *arg)
{
	pause_s(SHORT_S);
	sem_post(&sem);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* Main waits for a thread of the simulation in simulated time, and for a mutex that one
 * in real time has in real time. */
static void real_ones_may_be_beside(void)
{
	pthread_t stranger, thread;

	begin();
	CLAIM_EQ(pipe(ends), 0);
	setenv("ORRERY_REAL_THREADS", "1", 1);
	stranger = make(hold_mutex, NULL);
	unsetenv("ORRERY_REAL_THREADS");
	while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST))
		continue;
	CLAIM_EQ(write(ends[1], "x", 1), 1);
	thread = make(post_later, &done);
	sem_wait(&sem);
	CLAIM(NEAR(now_s(), SHORT_S));
	CLAIM_EQ(pthread_mutex_lock(&mutex), 0);
	CLAIM_EQ(pthread_mutex_unlock(&mutex), 0);
	CLAIM(result_of(thread) == &done);
	CLAIM_EQ(pthread_join(stranger, NULL), 0);
	starpu_shutdown();
}

static void *add_part(void *part)
{
	int *numbers = part;

	for (int i = 1; i < 1000; i++)
		numbers[0] += numbers[i];
	return part;
}

/* Kernels run to their end: what they wait for works in real time. */
static void add_in_threads(void *buffers[], void *arg)
{
	int *numbers = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
	pthread_t threads[4];

	(void)arg;
	for (int i = 0; i < 4; i++)
		threads[i] = make(add_part, numbers + i * 1000L);
	for (int i = 0; i < 4; i++)
		CLAIM(result_of(threads[i]) == numbers + i * 1000L);
	done++;
}

static struct starpu_codelet threaded = {.cpu_funcs = {add_in_threads},
					 .nbuffers = 1,
					 .modes = {STARPU_RW},
					 .name = "threaded",
					 .model = &starpu_perfmodel_nop,
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void kernels_have_threads_of_their_own(void)
{
	static int numbers[4000];
	starpu_data_handle_t handle;

	begin();
	for (int i = 0; i < 4000; i++)
		numbers[i] = 1;
	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)numbers, 4000,
				    sizeof(numbers[0]));
	starpu_task_insert(&threaded, STARPU_RW, handle, 0);
	starpu_data_unregister(handle);
	CLAIM_EQ(done, 1);
	for (int i = 0; i < 4; i++)
		CLAIM_EQ(numbers[i * 1000], 1000);
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"threads_insert_tasks", threads_insert_tasks},
	{"threads_open_the_library", threads_open_the_library},
	{"threads_end_tasks_that_main_waits_for", threads_end_tasks_that_main_waits_for},
	{"joins_take_simulated_time", joins_take_simulated_time},
	{"one_joins_and_no_other", one_joins_and_no_other},
	{"detached_threads_end_alone", detached_threads_end_alone},
	{"threads_know_themselves", threads_know_themselves},
	{"what_is_to_be_done_at_the_end_is_done", what_is_to_be_done_at_the_end_is_done},
	{"cleanups_are_each_ones_own", cleanups_are_each_ones_own},
	{"who_waits_is_cancelled", who_waits_is_cancelled},
	{"who_joins_is_cancelled", who_joins_is_cancelled},
	{"who_does_not_want_to_is_cancelled_later",
	 who_does_not_want_to_is_cancelled_later},
	{"barriers_hold_who_is_cancelled", barriers_hold_who_is_cancelled},
	{"thread_local_variables_are_each_ones_own",
	 thread_local_variables_are_each_ones_own},
	{"threads_of_c11_are_simulated", threads_of_c11_are_simulated},
	{"real_ones_may_be_beside", real_ones_may_be_beside},
	{"kernels_have_threads_of_their_own", kernels_have_threads_of_their_own},
	{NULL, NULL},
};

/* With a sanitizer threads of pthread_create() are its own. */
int main(void)
{
	struct stat tasks;

	if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3)
		return 77;
	return claims_run(claims, 0);
}
