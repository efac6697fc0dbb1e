/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Does what its first argument says in the place that its second one says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

static const char *what, *where;
static starpu_pthread_mutex_t held = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_spinlock_t spin;
static starpu_pthread_t waiting, made;

static void act(const char *place)
{
	int value = 0, size = 0, bytes = 0;

	if (strcmp(place, where) != 0)
		return;
	if (!strcmp(what, "send"))
		MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	if (!strcmp(what, "receive"))
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(what, "finalize"))
		MPI_Finalize();
	if (!strcmp(what, "barrier"))
		MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(what, "exit"))
		exit(5);
	if (!strcmp(what, "lock"))
		starpu_pthread_mutex_lock(&held);
	if (!strcmp(what, "spin")) {
		starpu_pthread_spin_lock(&spin);
		starpu_pthread_spin_lock(&spin);
	}
	if (!strcmp(what, "join"))
		starpu_pthread_join(waiting, NULL);
	if (!strcmp(what, "rank")) {
		MPI_Comm_rank(MPI_COMM_WORLD, &value);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		MPI_Type_size(MPI_INT, &bytes);
		printf("rank %d of %d, type of %d bytes\n", value, size, bytes);
	}
}

static void *of_system(void *arg)
{
	act("system");
	return arg;
}

/* The simulation does not know threads that it makes. */
static void kernel(void *buffers[], void *arg)
{
	pthread_t own;

	(void)buffers;
	(void)arg;
	act("kernel");
	if (!strcmp(where, "system") && pthread_create(&own, NULL, of_system, NULL) == 0)
		pthread_join(own, NULL);
}

static void *of_callback(void *arg)
{
	act("made");
	return arg;
}

static void callback(void *arg)
{
	(void)arg;
	act("callback");
	STARPU_PTHREAD_CREATE(&made, NULL, of_callback, NULL);
}

static void *thread(void *arg)
{
	starpu_wait_initialized();
	act("thread");
	return arg;
}

static void *wait_long(void *arg)
{
	starpu_sleep(1);
	return arg;
}

static void *meet(void *arg)
{
	MPI_Barrier(MPI_COMM_WORLD);
	return arg;
}

static struct starpu_codelet codelet = {
	.cpu_funcs = {kernel}, .name = "acting", .flags = STARPU_CODELET_SIMGRID_EXECUTE};

int main(int argc, char **argv)
{
	starpu_pthread_t acting;

	what = argc > 2 ? argv[1] : "";
	where = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "early")) {
		STARPU_PTHREAD_CREATE(&acting, NULL, meet, NULL);
		STARPU_PTHREAD_JOIN(acting, NULL);
	}
	MPI_Init(&argc, &argv);
	/* It waits until the library is there. */
	STARPU_PTHREAD_CREATE(&acting, NULL, thread, NULL);
	starpu_pthread_mutex_lock(&held);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	STARPU_PTHREAD_CREATE(&waiting, NULL, wait_long, NULL);
	starpu_task_insert(&codelet, STARPU_CALLBACK, callback, 0);
	starpu_task_wait_for_all();
	STARPU_PTHREAD_JOIN(acting, NULL);
	STARPU_PTHREAD_JOIN(made, NULL);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
