/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that call the library where StarPU does not expect it: outside of main, and of
 * threads that main has made and waits for.  usage: places CASE, on one rank or two
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <orrery.h>

#include "wrong.h"

static const char *chosen;

static int is_chosen(const char *name)
{
	return chosen && strcmp(chosen, name) == 0;
}

static void add_one(starpu_data_handle_t handle)
{
	int ret = starpu_task_insert(&add, STARPU_RW, handle, 0);

	if (ret != 0) {
		fprintf(stderr, "starpu_task_insert: %d\n", ret);
		exit(77);
	}
}

static void start(void)
{
	if (starpu_init(NULL) != 0)
		exit(70);
}

/* ---- before and after main ------------------------------------------------ */

static const char *argument_of(char **argv)
{
	return argv[0] ? argv[1] : NULL;
}

__attribute__((constructor)) static void before_main(int argc, char **argv, char **env)
{
	(void)env;
	chosen = argc > 1 ? argument_of(argv) : NULL;
	if (getenv("BEFORE_MAIN")) {
		start();
		printf("starts before main\n");
	}
}

__attribute__((destructor)) static void after_main(void)
{
	if (is_chosen("destructor_waits"))
		starpu_task_wait_for_all();
	if (is_chosen("destructor_shuts_down"))
		starpu_shutdown();
	if (is_chosen("destructor_submits"))
		starpu_task_insert(&nothing, 0);
}

static void in_constructor(void)
{
	starpu_task_wait_for_all();
	starpu_shutdown();
}

static void shut_down(void)
{
	starpu_task_wait_for_all();
	starpu_shutdown();
	printf("shut down at exit\n");
}

static void submit_at_exit(void)
{
	starpu_task_insert(&nothing, 0);
}

static void at_exit_shuts_down(void)
{
	atexit(shut_down);
	start();
	starpu_task_insert(&nothing, 0);
}

static void at_exit_registered_after(void)
{
	start();
	atexit(shut_down);
	starpu_task_insert(&nothing, 0);
}

static void at_exit_after_shutdown(void)
{
	atexit(submit_at_exit);
	start();
	starpu_shutdown();
}

static void destructor_waits(void)
{
	start();
	starpu_task_insert(&nothing, 0);
}

static void destructor_shuts_down(void)
{
	start();
	starpu_task_insert(&nothing, 0);
}

static void destructor_submits(void)
{
	start();
	starpu_shutdown();
}

/* ---- handlers of signals ---------------------------------------------------- */

static volatile int nsignals;

static void submit_in_handler(int number)
{
	(void)number;
	starpu_task_insert(&nothing, 0);
	nsignals++;
}

static void wait_in_handler(int number)
{
	(void)number;
	starpu_task_insert(&nothing, 0);
	starpu_task_wait_for_all();
	nsignals++;
}

static void handler_submits(void)
{
	signal(SIGUSR1, submit_in_handler);
	start();
	raise(SIGUSR1);
	starpu_task_wait_for_all();
	starpu_shutdown();
	printf("%d signals\n", nsignals);
}

static void handler_waits(void)
{
	signal(SIGUSR1, wait_in_handler);
	start();
	raise(SIGUSR1);
	starpu_shutdown();
	printf("%d signals\n", nsignals);
}

static void handler_interrupts(int number)
{
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	long sum = 0;
	starpu_data_handle_t handle;

	start();
	handle = variable(&sum);
	signal(number, submit_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	/* On a slow machine the handler may never find a lock taken. */
	for (int i = 0; i < 300000 && nsignals < 100000; i++)
		add_one(handle);
	setitimer(ITIMER_REAL, &never, NULL);
	starpu_data_unregister(handle);
	starpu_shutdown();
	printf("%ld tasks\n", sum);
}

static void handler_interrupts_submission(void)
{
	handler_interrupts(SIGALRM);
}

/* ---- after fork -------------------------------------------------------------- */

static void say_end(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	printf("child: %s %d\n", WIFEXITED(status) ? "exit" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	starpu_shutdown();
}

static void child_submits(void)
{
	pid_t child;

	start();
	child = fork();
	if (child == 0) {
		starpu_task_insert(&nothing, 0);
		_exit(0);
	}
	say_end(child);
}

static void child_waits(void)
{
	pid_t child;

	start();
	starpu_task_insert(&nothing, 0);
	child = fork();
	if (child == 0) {
		starpu_task_wait_for_all();
		_exit(0);
	}
	say_end(child);
}

static void child_shuts_down(void)
{
	pid_t child;

	start();
	child = fork();
	if (child == 0) {
		starpu_shutdown();
		_exit(0);
	}
	say_end(child);
}

static void child_unregisters(void)
{
	starpu_data_handle_t handle;
	pid_t child;

	start();
	handle = variable(&value);
	child = fork();
	if (child == 0) {
		starpu_data_unregister(handle);
		_exit(0);
	}
	starpu_data_unregister(handle);
	say_end(child);
}

static void child_starts(void)
{
	pid_t child;

	start();
	child = fork();
	if (child == 0) {
		start();
		starpu_task_insert(&nothing, 0);
		starpu_task_wait_for_all();
		starpu_shutdown();
		_exit(0);
	}
	say_end(child);
}

/* ---- threads that outlive the library ------------------------------------------ */

static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;
static int has_shut_down;

static void *submit_late(void *arg)
{
	(void)arg;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	while (!has_shut_down)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_task_insert(&nothing, 0);
	return NULL;
}

static void thread_submits_late(void)
{
	starpu_pthread_t thread;

	start();
	STARPU_PTHREAD_CREATE(&thread, NULL, submit_late, NULL);
	starpu_shutdown();
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	has_shut_down = 1;
	STARPU_PTHREAD_COND_SIGNAL(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	STARPU_PTHREAD_JOIN(thread, NULL);
}

static volatile pid_t waiting;

static void *wait_for_value(void *arg)
{
	waiting = (pid_t)syscall(SYS_gettid);
	starpu_data_acquire(*(starpu_data_handle_t *)arg, STARPU_R);
	return NULL;
}

/* A thread of a simulation waits at its own date, one of the system when that says so. */
static int is_asleep(pid_t thread)
{
	char path[64], text[256] = "";
	const char *end;
	FILE *file;

	if (thread == 0)
		return 0;
	if (orrery_is_simulated())
		return 1;
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
	file = fopen(path, "r");
	if (file) {
		(void)!fgets(text, sizeof text, file);
		fclose(file);
	}
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

static void thread_waits_at_shutdown(void)
{
	starpu_data_handle_t handle;
	starpu_pthread_t thread;

	start();
	handle = variable(&other_value);
	starpu_data_acquire(handle, STARPU_RW);
	STARPU_PTHREAD_CREATE(&thread, NULL, wait_for_value, &handle);
	do
		starpu_usleep(20000);
	while (!is_asleep(waiting));
	starpu_shutdown();
	/* It would wait for ever. */
	starpu_pthread_detach(thread);
}

/* ---- teams of OpenMP -------------------------------------------------------------- */

static void parallel_region_submits(void)
{
	long sums[4] = {0};
	starpu_data_handle_t handles[4];

	start();
	for (int i = 0; i < 4; i++)
		handles[i] = variable(&sums[i]);
#pragma omp parallel for num_threads(4)
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 100; j++)
			add_one(handles[i]);
		starpu_data_acquire(handles[i], STARPU_R);
		starpu_data_release(handles[i]);
	}
	for (int i = 0; i < 4; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	printf("%ld tasks\n", sums[0] + sums[1] + sums[2] + sums[3]);
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		SCENE(in_constructor),
		SCENE(at_exit_shuts_down),
		SCENE(at_exit_registered_after),
		SCENE(at_exit_after_shutdown),
		SCENE(destructor_waits),
		SCENE(destructor_shuts_down),
		SCENE(destructor_submits),
		SCENE(handler_submits),
		SCENE(handler_waits),
		SCENE(handler_interrupts_submission),
		SCENE(child_submits),
		SCENE(child_waits),
		SCENE(child_shuts_down),
		SCENE(child_unregisters),
		SCENE(child_starts),
		SCENE(thread_submits_late),
		SCENE(thread_waits_at_shutdown),
		SCENE(parallel_region_submits),
	};

	chosen = argc > 1 ? argv[1] : NULL;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (is_chosen(scenes[i].name)) {
			scenes[i].play();
			printf("ends well\n");
			return 0;
		}
	return 64;
}
