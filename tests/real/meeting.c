/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A rank is killed at a moment at which the others wait for it in calls of MPI, one for
 * each name, where the launcher lets the others live.
 * usage: meeting CASE, on three ranks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_mpi.h>

static const char *moment = "";
static int rank;

static int is_killed(const char *at)
{
	return rank == 1 && strcmp(moment, at) == 0;
}

/* What the library calls between the calls of MPI in which the ranks meet. */
int memfd_create(const char *name, unsigned flags)
{
	if (is_killed("while_all_meet"))
		raise(SIGKILL);
	return (int)syscall(SYS_memfd_create, name, flags);
}

void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int) =
		(void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	if (name && strstr(name, "libucp") && is_killed("while_all_meet"))
		raise(SIGKILL);
	return next(name, flags);
}

static void *end(void *arg)
{
	if (rank == 1 && arg)
		sleep(3); /* others look meanwhile */
	MPI_Barrier(MPI_COMM_WORLD);
	starpu_mpi_shutdown();
	MPI_Finalize();
	if (rank == 0)
		printf("ends well\n");
	exit(0);
}

/* As some programs do that show what they are at in the list of processes. */
static void write_over_environment(void)
{
	for (char **entry = environ; *entry; entry++) {
		char *first = *entry;

		*entry = strdup(first);
		memset(first, 'x', strlen(first));
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int level;

	if (argc != 2)
		return 64;
	moment = argv[1];
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (is_killed("before_it_comes"))
		raise(SIGKILL);
	if (is_killed("not_but_unknown")) {
		write_over_environment();
		sleep(4); /* others look meanwhile */
	}
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	if (is_killed("while_others_wait_in_mpi"))
		raise(SIGKILL);
	if (!is_killed("by_another_thread"))
		end(NULL);
	/* The process has not ended with its first thread. */
	pthread_create(&thread, NULL, end, &rank);
	pthread_exit(NULL);
}
