/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A rank is killed, or stopped (SIGSTOP), at a moment at which the others wait for it in
 * calls of MPI, one for each name.
 * usage: meeting CASE or CASE:stopped or CASE:continued, on three ranks.
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

static const char *how = "killed";

static int is_killed(const char *at)
{
	return rank == 1 && strcmp(moment, at) == 0;
}

/* Others look while it is stopped. */
static void stop(void)
{
	pid_t pid = getpid();

	if (strcmp(how, "continued") == 0 && fork() == 0) {
		sleep(1);
		kill(pid, SIGCONT);
		_exit(0);
	}
	how = "over";
	raise(SIGSTOP);
}

static void meet_fate(const char *at)
{
	if (!is_killed(at) || strcmp(how, "over") == 0)
		return;
	if (strcmp(how, "killed") == 0)
		raise(SIGKILL);
	stop();
}

/* What the library calls between the calls of MPI in which the ranks meet. */
int memfd_create(const char *name, unsigned flags)
{
	meet_fate("while_all_meet");
	return (int)syscall(SYS_memfd_create, name, flags);
}

void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int) =
		(void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	if (name && strstr(name, "libucp"))
		meet_fate("while_all_meet");
	return next(name, flags);
}

/* As a rank that has another library: it says so where all meet. */
int MPI_Iallgather(const void *sent, int nsent, MPI_Datatype type, void *buffer,
		   int count, MPI_Datatype received, MPI_Comm comm, MPI_Request *request)
{
	static const char other = -1;

	if (is_killed("of_another_version"))
		sent = &other;
	return PMPI_Iallgather(sent, nsent, type, buffer, count, received, comm, request);
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

static void *cancel(void *main)
{
	sleep(1); /* it waits by then, or it is cancelled before */
	pthread_cancel((pthread_t)main);
	pthread_join((pthread_t)main, NULL);
	return end(NULL);
}

/* The last thread of the program, without having ended the library. */
static void *end_after(void *main)
{
	pthread_join((pthread_t)main, NULL);
	return NULL;
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
	moment = strtok(argv[1], ":");
	how = strtok(NULL, ":");
	if (!how)
		how = "killed";
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	meet_fate("before_it_comes");
	if (is_killed("not_but_unknown")) {
		write_over_environment();
		sleep(4); /* others look meanwhile */
	}
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0) {
		/* The first one that ends ends all: all shall have spoken. */
		MPI_Barrier(MPI_COMM_WORLD);
		return 77;
	}
	meet_fate("while_others_wait_in_mpi");
	meet_fate("while_others_are_in_a_barrier");
	if (strcmp(moment, "while_others_are_in_a_barrier") == 0)
		starpu_mpi_barrier(MPI_COMM_WORLD);
	if (is_killed("ends_its_threads")) {
		pthread_create(&thread, NULL, end_after, (void *)pthread_self());
		pthread_exit(NULL);
	}
	if (is_killed("is_cancelled_in_a_wait")) {
		pthread_create(&thread, NULL, cancel, (void *)pthread_self());
		starpu_mpi_barrier(MPI_COMM_WORLD);
		pthread_testcancel();
		return 1;
	}
	if (strcmp(moment, "is_cancelled_in_a_wait") == 0) {
		sleep(2); /* the other waits meanwhile */
		starpu_mpi_barrier(MPI_COMM_WORLD);
	}
	if (strcmp(moment, "between_lives") == 0) {
		starpu_mpi_shutdown();
		meet_fate("between_lives");
		MPI_Barrier(MPI_COMM_WORLD);
		if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
			return 77;
	}
	if (!is_killed("by_another_thread"))
		end(NULL);
	/* The process has not ended with its first thread. */
	pthread_create(&thread, NULL, end, &rank);
	pthread_exit(NULL);
}
