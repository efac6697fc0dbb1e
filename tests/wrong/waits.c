/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that wait outside of the library, for callbacks, kernels and threads, or leave
 * without a word, one for each name.  Some are right, and work.  usage: waits CASE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "wrong.h"

static volatile int done;
static sem_t sem;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void submit(struct starpu_codelet *codelet, void (*callback)(void *arg))
{
	if (starpu_task_insert(codelet, STARPU_CALLBACK, callback, 0) != 0)
		exit(77);
}

static void set_done(void *arg)
{
	(void)arg;
	done = 1;
}

/* The callback comes when the task has ended, a while from now. */
static void submit_done(void)
{
	submit(&nothing, set_done);
}

/* ---- mains that look again and again ----------------------------------- */

static void spins(void)
{
	submit_done();
	while (!done)
		;
}

static void spins_on_one(void)
{
	if (rank == 1)
		spins();
}

static void yields(void)
{
	submit_done();
	while (!done)
		sched_yield();
}

static void naps(void)
{
	struct timespec shortly = {.tv_nsec = 1000};

	submit_done();
	while (!done)
		nanosleep(&shortly, NULL);
	done = 0;
	submit_done();
	while (!done)
		usleep(10);
}

static void yields_for_ever(void)
{
	if (rank == 0)
		while (!done)
			sched_yield();
}

/* Processor time, which is nobody's wait. */
static void computes(void)
{
	volatile double sum = 0;
	clock_t end;

	if (rank != 0)
		return;
	for (end = clock() + 2 * CLOCKS_PER_SEC; clock() < end;)
		for (int i = 0; i < 100000; i++)
			sum = sum + 1.0 / (i + 1);
}

/* ---- mains that block --------------------------------------------------- */

static void post(void *arg)
{
	(void)arg;
	sem_post(&sem);
}

static void on_semaphore(void)
{
	sem_init(&sem, 0, 0);
	for (int i = 0; i < 3; i++)
		submit(&nothing, post);
	for (int i = 0; i < 3; i++)
		sem_wait(&sem);
	sem_destroy(&sem);
}

static void signal_done(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	done = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

static void on_condition(void)
{
	submit(&nothing, signal_done);
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* Nobody signals: it ends at the date. */
static void until_a_date(void)
{
	struct timespec date;
	int status = 0;

	sem_init(&sem, 0, 0);
	clock_gettime(CLOCK_REALTIME, &date);
	date.tv_sec += 1;
	pthread_mutex_lock(&mutex);
	while (status == 0)
		status = pthread_cond_timedwait(&cond, &mutex, &date);
	pthread_mutex_unlock(&mutex);
	if (status != ETIMEDOUT || sem_timedwait(&sem, &date) == 0 || errno != ETIMEDOUT)
		exit(1);
}

static void arrive(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
}

/* The callback comes last. */
static void at_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	submit(&nothing, arrive);
	pthread_barrier_wait(&barrier);
	pthread_barrier_destroy(&barrier);
}

/* Threads of the library's making, and locks of the C library's. */
static void *counts(void *arg)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		starpu_usleep(10);
		++*(int *)arg;
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_wrlock(&rwlock);
		starpu_usleep(10);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void threads_take_turns(void)
{
	starpu_pthread_t threads[3];
	int n = 0;

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		starpu_pthread_create(&threads[i], NULL, counts, &n);
	for (int i = 0; i < 10; i++) {
		pthread_rwlock_rdlock(&rwlock);
		starpu_usleep(10);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		starpu_pthread_join(threads[i], NULL);
	if (n != 30)
		exit(1);
}

/* One of its own posts, in real time: nobody in the simulation would. */
static void *posts(void *arg)
{
	(void)arg;
	sem_post(&sem);
	return NULL;
}

static void for_own_thread(void)
{
	pthread_t thread;

	sem_init(&sem, 0, 0);
	pthread_create(&thread, NULL, posts, NULL);
	sem_wait(&sem);
	pthread_join(thread, NULL);
}

static void never_signalled(void)
{
	if (rank != 0)
		return;
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
}

static void never_posted(void)
{
	sem_init(&sem, 0, 0);
	if (rank == 1)
		sem_wait(&sem);
}

static pthread_t left;

static void *waits_for_post(void *arg)
{
	sem_wait(&sem);
	return arg;
}

static void join_left(void)
{
	pthread_join(left, NULL);
}

/* As the destructor of a static object of C++ may. */
static void joined_at_exit(void)
{
	sem_init(&sem, 0, 0);
	pthread_create(&left, NULL, waits_for_post, NULL);
	atexit(join_left);
}

/* A pipe that nobody writes to, as a terminal may be. */
static void reads_for_long(void)
{
	int ends[2];
	char byte;

	if (rank != 1)
		return;
	if (pipe(ends) != 0)
		exit(1);
	alarm(3);
	(void)!read(ends[0], &byte, 1);
}

/* ---- kernels that wait for others --------------------------------------- */

static void waits_on_semaphore_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	sem_wait(&sem);
}

static void posts_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	done = 1;
	sem_post(&sem);
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
}

static void waits_on_condition_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	pthread_mutex_lock(&mutex);
	while (!done)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void waits_at_barrier_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	pthread_barrier_wait(&barrier);
}

static void spins_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	while (!done)
		;
}

static void exits_at_once_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (rank == 1)
		_exit(0);
}

static void exits_quickly_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	if (rank == 1)
		quick_exit(0);
}

#define CODELET(function)                                                                \
	static struct starpu_codelet function = {.cpu_funcs = {function##_cpu},          \
						 .model = &starpu_perfmodel_nop,         \
						 .flags =                                \
							 STARPU_CODELET_SIMGRID_EXECUTE, \
						 .name = #function};
CODELET(waits_on_semaphore)
CODELET(waits_on_condition)
CODELET(waits_at_barrier)
CODELET(exits_at_once)
CODELET(exits_quickly)

static struct starpu_codelet spinning = {.cpu_funcs = {spins_cpu},
					 .model = &starpu_perfmodel_nop,
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "spinning"};

static struct starpu_codelet posting = {.cpu_funcs = {posts_cpu},
					.model = &starpu_perfmodel_nop,
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "posting"};

static void both(struct starpu_codelet *codelet)
{
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	if (rank == 1) {
		submit(codelet, NULL);
		submit(&posting, NULL);
		starpu_task_wait_for_all();
	}
}

static void kernel_on_semaphore(void)
{
	both(&waits_on_semaphore);
}

static void kernel_on_condition(void)
{
	both(&waits_on_condition);
}

static void kernel_at_barrier(void)
{
	both(&waits_at_barrier);
}

static void kernel_spins(void)
{
	both(&spinning);
}

/* ---- who leaves ---------------------------------------------------------- */

static void kernel_exits_at_once(void)
{
	submit(&exits_at_once, NULL);
	starpu_task_wait_for_all();
	starpu_mpi_barrier(WORLD);
}

static void kernel_exits_quickly(void)
{
	submit(&exits_quickly, NULL);
	starpu_task_wait_for_all();
	starpu_mpi_barrier(WORLD);
}

static void main_exits_at_once(void)
{
	if (rank == 1)
		_exit(0);
}

static void main_ends_its_thread(void)
{
	if (rank == 1)
		pthread_exit(NULL);
}

/* ---- who forgets ---------------------------------------------------------- */

static void requests_forgotten(void)
{
	starpu_data_handle_t handle = variable(&value), large = many_bytes();
	starpu_mpi_req request, other;

	if (rank == 0) {
		starpu_mpi_isend(handle, &request, 1, TAG, WORLD);
		starpu_mpi_isend(large, &other, 1, TAG + 1, WORLD);
	} else {
		starpu_mpi_irecv(handle, &request, 0, TAG, WORLD);
		starpu_mpi_irecv(large, &other, 0, TAG + 1, WORLD);
		starpu_mpi_wait(&other, MPI_STATUS_IGNORE);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
	starpu_data_unregister(large);
}

/* A child of fork() may leave as it likes. */
static void child_exits_at_once(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
}

static const struct scene scenes[] = {
	SCENE(spins),
	SCENE(spins_on_one),
	SCENE(yields),
	SCENE(naps),
	SCENE(yields_for_ever),
	SCENE(computes),
	SCENE(on_semaphore),
	SCENE(on_condition),
	SCENE(until_a_date),
	SCENE(at_barrier),
	SCENE(threads_take_turns),
	SCENE(for_own_thread),
	SCENE(never_signalled),
	SCENE(never_posted),
	SCENE(joined_at_exit),
	SCENE(reads_for_long),
	SCENE(kernel_on_semaphore),
	SCENE(kernel_on_condition),
	SCENE(kernel_at_barrier),
	SCENE(kernel_spins),
	SCENE(kernel_exits_at_once),
	SCENE(kernel_exits_quickly),
	SCENE(main_exits_at_once),
	SCENE(main_ends_its_thread),
	SCENE(child_exits_at_once),
	SCENE(requests_forgotten),
};

int main(int argc, char **argv)
{
	return wrong_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));
}
