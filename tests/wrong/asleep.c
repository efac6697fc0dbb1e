/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Kernels, callbacks and mains that sleep in the program's own locks, conditions and
 * semaphores, or in calls of the system, one for each name, on real machines.  Some are
 * woken in the end, and work.  usage: asleep CASE
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <orrery_mpi.h>

#include "wrong.h"

static sem_t never, other;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both_locked;
static volatile int done;

enum { LONG_MS = 1500, MOST_MS = 120000, TURNS = 20000 };

/* Not in a lock: the system wakes it. */
static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* ---- kernels --------------------------------------------------------------- */

static void awaits_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	sem_wait(&never);
}

/* With a name that the program exports: messages have it. */
void kernel_with_a_name(void *buffers[], void *arg);
void kernel_with_a_name(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	pthread_mutex_lock(&first);
	while (!done)
		pthread_cond_wait(&cond, &first);
	pthread_mutex_unlock(&first);
}

static void locks_cpu(void *buffers[], void *arg)
{
	pthread_mutex_t *own = arg == NULL ? &first : &second;

	(void)buffers;
	pthread_mutex_lock(own);
	pthread_barrier_wait(&both_locked);
	pthread_mutex_lock(own == &first ? &second : &first);
}

static void naps_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	pause_ms((int)(intptr_t)arg);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* For so many milliseconds. */
static void spins_cpu(void *buffers[], void *arg)
{
	double end_ms = now_ms() + (double)(intptr_t)arg;

	(void)buffers;
	while (now_ms() < end_ms)
		;
}

/* Two of them wake each other. */
static void takes_turns_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	for (int i = 0; i < TURNS; i++) {
		sem_wait(arg ? &never : &other);
		sem_post(arg ? &other : &never);
	}
}

#define CODELET(word)                                                                    \
	static struct starpu_codelet word = {.cpu_funcs = {word##_cpu},                  \
					     .model = &starpu_perfmodel_nop,             \
					     .name = #word};
CODELET(awaits)
CODELET(locks)
CODELET(naps)
CODELET(spins)
CODELET(takes_turns)
static struct starpu_codelet signalled = {.cpu_funcs = {kernel_with_a_name},
					  .model = &starpu_perfmodel_nop,
					  .name = "signalled"};

static void submit(struct starpu_codelet *codelet, void *arg)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = codelet;
	task->cl_arg = arg;
	if (starpu_task_submit(task) != 0)
		exit(77);
}

/* ---- for ever ---------------------------------------------------------------- */

/* Messages can change nothing for rank 1: it ends the run. */
static void kernel_is_never_posted(void)
{
	if (rank == 1) {
		submit(&awaits, NULL);
		starpu_task_wait_for_all();
	}
}

/* Both ranks wait for each other, too: they find out together. */
static void kernel_is_never_signalled(void)
{
	starpu_data_handle_t handle = variable(rank ? &other_value : &value);

	if (rank == 1)
		submit(&signalled, NULL);
	starpu_mpi_recv(handle, 1 - rank, TAG, WORLD, MPI_STATUS_IGNORE);
}

static void kernels_lock_crosswise(void)
{
	if (rank != 1)
		return;
	pthread_barrier_init(&both_locked, NULL, 2);
	submit(&locks, NULL);
	submit(&locks, &second);
	starpu_task_wait_for_all();
}

static void waits(void *arg)
{
	sem_wait(arg);
}

static void callback_is_never_posted(void)
{
	if (rank == 1) {
		starpu_task_insert(&nothing, STARPU_CALLBACK, waits,
				   STARPU_CALLBACK_ARG_NFREE, &never, 0);
		starpu_task_wait_for_all();
	}
}

/* The thread that the main joins waits for nobody; so do threads of a pool. */
static void *waits_in_thread(void *arg)
{
	waits(arg);
	return NULL;
}

static void main_and_threads_sleep(void)
{
	pthread_t threads[2];

	if (rank != 1)
		return;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, waits_in_thread, &other);
	submit(&awaits, NULL);
	sem_wait(&never);
	starpu_task_wait_for_all();
}

/* ---- woken in the end ----------------------------------------------------------- */

static void post(void *arg)
{
	sem_post(arg);
}

/* Rank 0 sends late what wakes a kernel of rank 1. */
static void message_wakes_a_kernel(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 1) {
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, post, &never);
		submit(&awaits, NULL);
		starpu_task_wait_for_all();
	} else {
		pause_ms(LONG_MS);
		starpu_mpi_send(handle, 1, TAG, WORLD);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
}

static void *posts_late(void *arg)
{
	pause_ms(LONG_MS);
	post(arg);
	return NULL;
}

/* Of the program's own, which sleeps in the system until then. */
static void thread_wakes_a_kernel(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, posts_late, &never);
	submit(&awaits, NULL);
	starpu_task_wait_for_all();
	pthread_join(thread, NULL);
}

static void run_for(struct starpu_codelet *codelet, int ms)
{
	submit(codelet, (void *)(intptr_t)ms);
	starpu_task_wait_for_all();
}

/* It is so itself, by the date. */
static void kernel_naps(void)
{
	run_for(&naps, LONG_MS);
}

static void kernel_naps_for_ever(void)
{
	if (rank == 1)
		run_for(&naps, MOST_MS);
}

static void kernel_spins_for_ever(void)
{
	if (rank == 1)
		run_for(&spins, MOST_MS);
}

static void kernels_take_turns(void)
{
	sem_post(&never);
	submit(&takes_turns, &never);
	submit(&takes_turns, NULL);
	starpu_task_wait_for_all();
}

static void kernel_spins(void)
{
	run_for(&spins, LONG_MS);
}

static void kernel_wakes_the_main(void)
{
	starpu_task_insert(&nothing, STARPU_CALLBACK, post, STARPU_CALLBACK_ARG_NFREE,
			   &never, 0);
	sem_wait(&never);
}

static void *polls_late(void *arg)
{
	(void)arg;
	pause_ms(LONG_MS);
	while (!done)
		orrery_mpi_progress();
	return NULL;
}

/* Its callback does: with ORRERY_MPI_EXPLICIT a thread has to take the message in. */
static void wait_for_message(int with_thread)
{
	starpu_data_handle_t handle = variable(&value);
	pthread_t thread;

	if (rank == 1) {
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, post, &never);
		if (with_thread)
			pthread_create(&thread, NULL, polls_late, NULL);
		sem_wait(&never);
		done = 1;
		if (with_thread)
			pthread_join(thread, NULL);
	} else {
		starpu_mpi_send(handle, 1, TAG, WORLD);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
}

static void message_wakes_the_main(void)
{
	wait_for_message(0);
}

static void thread_takes_it_in(void)
{
	wait_for_message(1);
}

/* Whom the message would wake; the kernel is waited for by nobody. */
static void kernel_sleeps_beside_main(void)
{
	if (rank == 1)
		submit(&awaits, NULL);
	wait_for_message(0);
}

static void naps_and_posts_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	pause_ms(LONG_MS);
	post(arg);
}
CODELET(naps_and_posts)

/* It wakes the main, which takes the message in. */
static void kernel_naps_beside_main(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 1) {
		starpu_mpi_irecv_detached(handle, 0, TAG, WORLD, NULL, NULL);
		submit(&naps_and_posts, &never);
		sem_wait(&never);
	} else {
		starpu_mpi_send(handle, 1, TAG, WORLD);
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(handle);
}

static void *receives(void *arg)
{
	starpu_mpi_recv(arg, 1 - rank, TAG, WORLD, NULL);
	return NULL;
}

static void *naps_and_sends(void *arg)
{
	pause_ms(LONG_MS);
	starpu_mpi_send(arg, 1 - rank, TAG, WORLD);
	return NULL;
}

/* What a thread of the program does, whose end the main waits for. */
static void join(void *(*acts)(void *handle))
{
	starpu_data_handle_t handle = variable(&value);
	pthread_t thread;

	pthread_create(&thread, NULL, acts, handle);
	pthread_join(thread, NULL);
	starpu_data_unregister(handle);
}

static void mains_join_receivers(void)
{
	join(receives);
}

static void mains_join_late_ones(void)
{
	join(rank == 0 ? naps_and_sends : receives);
}

static void main_waits_for_nobody(void)
{
	if (rank == 1)
		sem_wait(&never);
}

static const struct scene scenes[] = {
	SCENE(kernel_is_never_posted),    SCENE(kernel_is_never_signalled),
	SCENE(kernels_lock_crosswise),    SCENE(callback_is_never_posted),
	SCENE(main_and_threads_sleep),    SCENE(message_wakes_a_kernel),
	SCENE(thread_wakes_a_kernel),     SCENE(kernel_naps),
	SCENE(kernels_take_turns),        SCENE(kernel_spins),
	SCENE(kernel_wakes_the_main),     SCENE(kernel_naps_for_ever),
	SCENE(kernel_spins_for_ever),     SCENE(message_wakes_the_main),
	SCENE(thread_takes_it_in),        SCENE(main_waits_for_nobody),
	SCENE(kernel_sleeps_beside_main), SCENE(kernel_naps_beside_main),
	SCENE(mains_join_receivers),      SCENE(mains_join_late_ones),
};

int main(int argc, char **argv)
{
	sem_init(&never, 0, 0);
	sem_init(&other, 0, 0);
	return wrong_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));
}
