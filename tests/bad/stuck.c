/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that can never go on, and some that look so for a while; stuck.py says what
 * must come of each.
 * usage: stuck CASE, on one rank or two.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_mpi.h>

enum {
	TAG = 7,
	ENDLESS_S = 300,
	LONG_US = 700000 /* some limits of the watchdog, as stuck.py sets it */
};

struct scene {
	const char *name;
	void (*play)(void);
};

static int rank, size;
static MPI_Comm all; /* of all ranks, maybe in another order */
static long value, other_value, third_value;

/* ---- tools ----------------------------------------------------------- */

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void nothing_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static void long_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	usleep(LONG_US);
}

static void fault_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	raise(SIGSEGV);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};
static struct starpu_codelet nothing = {
	.cpu_funcs = {nothing_cpu}, .model = &starpu_perfmodel_nop, .name = "nothing"};
static struct starpu_codelet slow = {
	.cpu_funcs = {long_cpu}, .model = &starpu_perfmodel_nop, .name = "slow"};
static struct starpu_codelet fault = {
	.cpu_funcs = {fault_cpu}, .model = &starpu_perfmodel_nop, .name = "fault"};

static starpu_data_handle_t variable(long *at)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				      sizeof *at);
	return handle;
}

static struct starpu_task *task_of(struct starpu_codelet *cl, const char *name)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->name = name;
	return task;
}

/* For stuck.py. */
static void say_pid(void)
{
	printf("rank %d has pid %d\n", rank, (int)getpid());
	fflush(stdout);
}

static void submit(struct starpu_task *task)
{
	if (starpu_task_submit(task) != 0)
		abort();
}

/* ---- one node: nothing can happen ------------------------------------ */

static void unreleased_task(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_set_name(handle, "table");
	starpu_data_acquire(handle, STARPU_RW);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
	starpu_task_wait_for_all();
}

static void unreleased_acquire(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_acquire(handle, STARPU_RW);
	starpu_data_acquire(handle, STARPU_RW);
}

static void unreleased_unregister(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_acquire(handle, STARPU_R);
	starpu_data_unregister(handle);
}

static void tag_never(void)
{
	starpu_tag_wait(42);
}

static void tag_circle(void)
{
	starpu_tag_declare_deps(1, 1, (starpu_tag_t)2);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
	for (starpu_tag_t tag = 1; tag <= 2; tag++) {
		struct starpu_task *task =
			task_of(&nothing, tag == 1 ? "first" : "second");

		task->use_tag = 1;
		task->tag_id = tag;
		submit(task);
	}
	starpu_task_wait_for_all();
}

static void task_circle(void)
{
	struct starpu_task *first = task_of(&nothing, "first");
	struct starpu_task *second = task_of(&nothing, "second");

	starpu_task_declare_deps_array(first, 1, &second);
	starpu_task_declare_deps_array(second, 1, &first);
	submit(first);
	submit(second);
	starpu_task_wait_for_all();
}

static void unsubmitted_predecessor(void)
{
	struct starpu_task *first = task_of(&nothing, "first");
	struct starpu_task *second = task_of(&nothing, "second");

	starpu_task_declare_deps_array(second, 1, &first);
	submit(second);
	starpu_task_wait_for_all();
}

static void wait_unsubmitted(void)
{
	struct starpu_task *task = task_of(&nothing, "first");

	task->detach = 0;
	if (starpu_task_wait(task) != 0)
		abort();
}

static void end_dependency(void)
{
	struct starpu_task *task = task_of(&nothing, "first");

	starpu_task_end_dep_add(task, 1);
	submit(task);
	starpu_task_wait_for_all();
}

static void context_without_workers(void)
{
	struct starpu_task *task = starpu_task_create();
	unsigned context = starpu_sched_ctx_create(
		NULL, 0, "lonely", STARPU_SCHED_CTX_POLICY_NAME, "prio", 0);

	task->cl = &nothing;
	if (starpu_task_submit_to_ctx(task, context) == 0)
		starpu_task_wait_for_all();
}

static void paused(void)
{
	starpu_pause();
	starpu_task_insert(&nothing, 0);
	starpu_task_wait_for_all();
}

struct crossing {
	pthread_barrier_t *both;
	starpu_data_handle_t first, second;
};

static void *cross(void *arg)
{
	struct crossing *crossing = arg;

	starpu_data_acquire(crossing->first, STARPU_RW);
	pthread_barrier_wait(crossing->both);
	starpu_data_acquire(crossing->second, STARPU_RW);
	return NULL;
}

static void crossed(void)
{
	pthread_barrier_t both;
	starpu_data_handle_t one = variable(&value), two = variable(&other_value);
	struct crossing here = {&both, one, two}, there = {&both, two, one};
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, cross, &there);
	cross(&here);
}

/* ---- one node: somebody goes on after a while ------------------------ */

/* stuck.py says when: once the watchdog has spoken. */
static void *release_when_told(void *arg)
{
	if (getchar() == EOF)
		abort();
	starpu_data_release(arg);
	return NULL;
}

static void released_by_a_thread(void)
{
	starpu_data_handle_t handle = variable(&value);
	pthread_t thread;

	starpu_data_acquire(handle, STARPU_RW);
	pthread_create(&thread, NULL, release_when_told, handle);
	starpu_data_acquire(handle, STARPU_RW);
	starpu_data_release(handle);
	pthread_join(thread, NULL);
	starpu_data_unregister(handle);
}

static void on_alarm(int number)
{
	(void)number;
	starpu_tag_notify_from_apps(TAG);
}

static void notified_by_a_signal(void)
{
	starpu_tag_restart(TAG);
	signal(SIGALRM, on_alarm);
	say_pid();
	starpu_tag_wait(TAG);
}

static void long_kernel(void)
{
	starpu_task_insert(&slow, 0);
	starpu_task_wait_for_all();
}

static void long_callback(void *arg)
{
	(void)arg;
	usleep(LONG_US);
}

static void long_callbacks(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_task_insert(&nothing, STARPU_CALLBACK, long_callback, 0);
	starpu_task_wait_for_all();
	starpu_data_acquire_cb(handle, STARPU_R, long_callback, NULL);
	starpu_data_release(handle);
	starpu_data_unregister(handle);
}

static void long_main(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_data_acquire(handle, STARPU_RW);
	starpu_task_insert(&add, STARPU_RW, handle, 0);
	usleep(LONG_US);
	starpu_data_release(handle);
	starpu_task_wait_for_all();
	starpu_data_unregister(handle);
}

/* ---- between ranks --------------------------------------------------- */

static void unreleased_receive(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0) {
		starpu_mpi_send(handle, 1, TAG, MPI_COMM_WORLD);
		return;
	}
	starpu_data_acquire(handle, STARPU_RW);
	starpu_mpi_recv(handle, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void synchronous_sends(void)
{
	starpu_data_handle_t handle = variable(&value);
	starpu_mpi_req request;

	starpu_mpi_issend(handle, &request, 1 - rank, TAG, MPI_COMM_WORLD);
	starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
}

static void barrier_and_receive(void)
{
	if (rank == 0)
		starpu_mpi_barrier(MPI_COMM_WORLD);
	else
		starpu_mpi_recv(variable(&value), 0, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

/* The shutdown of the others is no match for it. */
static void barrier_of_one(void)
{
	if (rank == 0)
		starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void shutdown_before_the_barrier(void)
{
	if (rank == 0)
		starpu_mpi_recv(variable(&value), 1, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	else
		starpu_mpi_isend_detached(variable(&value), 0, TAG, MPI_COMM_WORLD, NULL,
					  NULL);
	barrier_of_one();
}

static void receive_in_callback(void *arg)
{
	starpu_mpi_recv(arg, 1 - rank, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void meet_in_callback(void *arg)
{
	(void)arg;
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void acquire_in_callback(void *arg)
{
	starpu_data_acquire(arg, STARPU_R);
}

static void post_in_callbacks(void (*call)(void *arg), void *arg)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 0)
		starpu_mpi_isend_detached(handle, 1, TAG, MPI_COMM_WORLD, call, arg);
	else
		starpu_mpi_irecv_detached(handle, 0, TAG, MPI_COMM_WORLD, call, arg);
}

static void in_callbacks(void (*call)(void *arg), void *arg)
{
	post_in_callbacks(call, arg);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static void callbacks_receive(void)
{
	in_callbacks(receive_in_callback, variable(&other_value));
}

static int begun; /* atomic: a callback that others look for */

static void begin_and_receive(void *arg)
{
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	receive_in_callback(arg);
}

/* No thread of the program polls before: those of the library run the callbacks. */
static void aside_of_callbacks(void)
{
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void callbacks_receive_aside(void)
{
	/* Behind the first callback another one has to wait. */
	post_in_callbacks(begin_and_receive, variable(&other_value));
	post_in_callbacks(begin_and_receive, variable(&other_value));
	aside_of_callbacks();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

/* The end of the first receive calls what the acquisition asked for. */
static void acquisitions_receive(void)
{
	starpu_data_handle_t handle = variable(&value);

	starpu_mpi_irecv_detached(handle, 1 - rank, TAG, MPI_COMM_WORLD, NULL, NULL);
	starpu_data_acquire_cb(handle, STARPU_R, begin_and_receive,
			       variable(&other_value));
	starpu_mpi_isend_detached(variable(&third_value), 1 - rank, TAG, MPI_COMM_WORLD,
				  NULL, NULL);
	aside_of_callbacks();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

static void send_late_to_callback(void)
{
	starpu_data_handle_t other = variable(&other_value);

	post_in_callbacks(rank == 0 ? begin_and_receive : NULL, other);
	if (rank == 1) {
		usleep(LONG_US);
		starpu_mpi_send(other, 0, TAG + 1, MPI_COMM_WORLD);
	} else {
		aside_of_callbacks();
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void compute_and_notify(void *arg)
{
	long_callback(arg);
	starpu_tag_notify_from_apps(TAG);
}

static void *wait_for_tag(void *arg)
{
	starpu_tag_wait(TAG);
	return arg;
}

/* One of two threads that wait runs the callback meanwhile; the other one looks. */
static void long_callback_in_a_wait(void)
{
	pthread_t thread;

	starpu_tag_restart(TAG);
	pthread_create(&thread, NULL, wait_for_tag, NULL);
	in_callbacks(compute_and_notify, NULL);
	pthread_join(thread, NULL);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void callbacks_meet(void)
{
	in_callbacks(meet_in_callback, NULL);
}

static void callbacks_acquire(void)
{
	starpu_data_handle_t other = variable(&other_value);

	starpu_data_acquire(other, STARPU_RW);
	in_callbacks(acquire_in_callback, other);
}

/* The rank of the tag's waiter has no transfer that could help. */
static void local_tag(void)
{
	if (rank == 1)
		starpu_tag_wait(42);
	else
		for (;;)
			pause();
}

static void receive_from_a_busy_rank(void)
{
	starpu_data_handle_t handle = variable(&value);

	if (rank == 1)
		usleep(LONG_US);
	if (rank == 1)
		starpu_mpi_send(handle, 0, TAG, MPI_COMM_WORLD);
	else
		starpu_mpi_recv(handle, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

static void barrier_with_a_busy_rank(void)
{
	if (rank == 1) {
		starpu_task_insert(&slow, 0);
		starpu_task_wait_for_all();
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

/* ---- ranks that go --------------------------------------------------- */

/* Rank 0 waits for the rank that goes. */
static void wait_for_the_other(void)
{
	if (rank == 0)
		starpu_mpi_recv(variable(&value), 1, TAG, all, MPI_STATUS_IGNORE);
}

static void exits_well(void)
{
	wait_for_the_other();
	exit(0);
}

static void exits_badly(void)
{
	wait_for_the_other();
	exit(9);
}

static void aborts(void)
{
	wait_for_the_other();
	abort();
}

static void faults(void)
{
	wait_for_the_other();
	starpu_task_insert(&fault, 0);
	starpu_task_wait_for_all();
}

static void finalizes(void)
{
	wait_for_the_other();
	MPI_Finalize();
}

/* stuck.py does to it what it has to. */
static void waits_for_its_fate(void)
{
	starpu_data_handle_t handle = variable(&value);

	say_pid();
	wait_for_the_other();
	if (rank == 1) {
		sleep(2);
		starpu_mpi_send(handle, 0, TAG, all);
	}
	starpu_data_unregister(handle);
}

static void endless_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	sleep(ENDLESS_S);
}

static struct starpu_codelet endless = {
	.cpu_funcs = {endless_cpu}, .model = &starpu_perfmodel_nop, .name = "endless"};

/* Rank 0 is not stuck, since a kernel runs. */
static void waits_beside_a_kernel(void)
{
	say_pid();
	if (rank == 0)
		starpu_task_insert(&endless, 0);
	wait_for_the_other();
	sleep(ENDLESS_S);
}

static void forks(void)
{
	starpu_data_handle_t handle = variable(&value);
	pid_t child;

	starpu_task_insert(&add, STARPU_RW, handle, 0);
	child = fork();
	if (child == 0)
		exit(starpu_is_initialized());
	waitpid(child, NULL, 0);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_data_unregister(handle);
}

#define SCENE(function)                                                                  \
	{                                                                                \
#function, function                                                      \
	}

static const struct scene scenes[] = {
	SCENE(unreleased_task),
	SCENE(unreleased_acquire),
	SCENE(unreleased_unregister),
	SCENE(tag_never),
	SCENE(tag_circle),
	SCENE(task_circle),
	SCENE(unsubmitted_predecessor),
	SCENE(wait_unsubmitted),
	SCENE(end_dependency),
	SCENE(context_without_workers),
	SCENE(paused),
	SCENE(crossed),
	SCENE(released_by_a_thread),
	SCENE(notified_by_a_signal),
	SCENE(long_kernel),
	SCENE(long_callbacks),
	SCENE(long_main),
	SCENE(unreleased_receive),
	SCENE(synchronous_sends),
	SCENE(barrier_and_receive),
	SCENE(barrier_of_one),
	SCENE(shutdown_before_the_barrier),
	SCENE(callbacks_receive),
	SCENE(callbacks_receive_aside),
	SCENE(acquisitions_receive),
	SCENE(send_late_to_callback),
	SCENE(long_callback_in_a_wait),
	SCENE(callbacks_meet),
	SCENE(callbacks_acquire),
	SCENE(local_tag),
	SCENE(receive_from_a_busy_rank),
	SCENE(barrier_with_a_busy_rank),
	SCENE(exits_well),
	SCENE(exits_badly),
	SCENE(aborts),
	SCENE(faults),
	SCENE(finalizes),
	SCENE(waits_for_its_fate),
	SCENE(waits_beside_a_kernel),
	SCENE(forks),
};

int main(int argc, char **argv)
{
	int level, known = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: stuck CASE\n");
		return 64;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	all = MPI_COMM_WORLD;
	if (getenv("STUCK_REVERSED")) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all);
	}
	if (starpu_mpi_init_conf(NULL, NULL, 0, all, NULL) != 0)
		return 70;
	starpu_mpi_comm_rank(all, &rank);
	starpu_mpi_comm_size(all, &size);
	for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
		if (strcmp(scenes[i].name, argv[1]) == 0) {
			scenes[i].play();
			known = 1;
		}
	}
	starpu_mpi_shutdown();
	MPI_Finalize();
	return known ? 0 : 64;
}
