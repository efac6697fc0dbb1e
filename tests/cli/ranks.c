/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * ranks.c - what a process has once, and each simulated rank for itself.  Between any two
 * calls the other ranks have their turns.
 * usage: ranks [fork | file]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <starpu_mpi.h>

static int rank, nwrong;

static void expect(const char *what, double found, double expected)
{
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (found > expected + 1e-6 || found < expected - 1e-6) {
		printf("rank %d: %s is %.9g, expected %.9g\n", rank, what, found,
		       expected);
		nwrong++;
	}
}

/* The C library's own values, on any machine with this library. */
static void draw(void)
{
	static char table[64];
	unsigned short seed[3] = {1, 2, 3};
	char *before;

	expect("rand() without a seed", rand(), 1804289383);
	expect("the next", rand(), 846930886);
	srand(42);
	expect("rand()", rand(), 71876166);
	expect("random(), which goes on there", random(), 708592740);
	before = initstate(7, table, sizeof(table));
	expect("random() of a shorter table", random(), 1539280666);
	setstate(before);
	expect("random() after it", random(), 1483128881);
	expect("lrand48() without a seed", lrand48(), 0);
	srand48(7);
	expect("drand48()", drand48(), 0.266444197);
	expect("mrand48()", mrand48(), -1365648288);
	expect("erand48()", erand48(seed), 0.441996323);
	expect("what was the seed before", seed48(seed)[0], 25464);
}

static void cut(void)
{
	char text[] = "a,b,c";
	int n = 0;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		expect("a word", *word, 'a' + n);
		n++;
	}
	expect("words", n, 3);
}

static void rest(void)
{
	struct timeval limit = {2, 500000};
	struct timespec date;
	double start = MPI_Wtime();

	free(memalign(64, 100));
	select(0, NULL, NULL, NULL, &limit);
	expect("seconds after select()", MPI_Wtime() - start, 2.5);
	start = MPI_Wtime();
	date = (struct timespec){1, 250000000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &date, NULL);
	expect("seconds after clock_nanosleep()", MPI_Wtime() - start, 1.25);
	clock_gettime(CLOCK_MONOTONIC, &date);
	start = MPI_Wtime();
	date.tv_sec += 3;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, NULL);
	expect("seconds after clock_nanosleep() to a date", MPI_Wtime() - start, 3);
}

static void divide(void)
{
	int status = 0;
	pid_t own = getpid(), child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		exit(getppid() == own && getpid() != own ? 8 : 9);
	waitpid(child, &status, 0);
	expect("status of a child that knows its parent", WEXITSTATUS(status), 8);
}

static void open_file(void)
{
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, "results.dat", MPI_MODE_CREATE | MPI_MODE_RDWR,
		      MPI_INFO_NULL, &file);
}

int main(int argc, char **argv)
{
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1) {
		(!strcmp(argv[1], "fork") ? divide : open_file)();
	} else {
		draw();
		cut();
		rest();
	}
	starpu_mpi_shutdown();
	if (rank == 0 && nwrong == 0)
		puts("each has its own");
	return nwrong > 0;
}
