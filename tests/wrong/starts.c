/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Programs that start or end the library wrongly on some rank, one for each name.
 * usage: starts CASE, on two ranks.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "wrong.h"

static void start_mpi(void)
{
	int level;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
}

static void start_in(MPI_Comm comm)
{
	if (starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL) != 0)
		exit(70);
}

/* From rank 0 to rank 1. */
static void copy_one(void)
{
	starpu_data_handle_t from = owned(&value, 1, 0), to = owned(&other_value, 2, 1);

	starpu_mpi_task_insert(WORLD, &copy, STARPU_R, from, STARPU_RW, to, 0);
	starpu_mpi_wait_for_all(WORLD);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
}

static void end(void)
{
	starpu_mpi_shutdown();
	MPI_Finalize();
	if (rank == 0)
		printf("ends well\n");
}

static void comes_late(void)
{
	struct span span = {0, 0};

	start_mpi();
	while (rank == 1 && span_lasts(&span))
		continue;
	start_in(WORLD);
	copy_one();
	end();
}

static void never_comes(void)
{
	start_mpi();
	if (rank == 0) {
		start_in(WORLD);
		copy_one();
	} else {
		MPI_Barrier(WORLD);
	}
	end();
}

static void communicators_differ(void)
{
	MPI_Comm comm;

	start_mpi();
	MPI_Comm_dup(WORLD, &comm);
	start_in(rank == 0 ? WORLD : comm);
	copy_one();
	end();
}

static void comes_again_alone(void)
{
	start_mpi();
	start_in(WORLD);
	copy_one();
	starpu_mpi_shutdown();
	if (rank == 0) {
		start_in(WORLD);
		copy_one();
		starpu_mpi_shutdown();
	}
	MPI_Finalize();
}

/* All data are those of all ranks, but each rank has started alone. */
static void starts_alone(void)
{
	MPI_Comm comm;

	start_mpi();
	MPI_Comm_split(WORLD, rank, rank, &comm);
	start_in(comm);
	copy_one();
	end();
}

static void meets_beyond_its_own(void)
{
	MPI_Comm comm;

	start_mpi();
	MPI_Comm_split(WORLD, rank, rank, &comm);
	start_in(comm);
	starpu_mpi_barrier(WORLD);
	end();
}

/* Rank 0 comes to shutdown. */
static void meets_in_mpi(void)
{
	start_mpi();
	start_in(WORLD);
	if (rank == 1)
		MPI_Barrier(WORLD);
	end();
}

static void ends_without_shutdown(void)
{
	start_mpi();
	start_in(WORLD);
	copy_one();
	exit(0); /* what returns from main does it, too */
}

/* Rank 1 leaves before the library starts, or after its end. */
static void leaves_before(void)
{
	start_mpi();
	if (rank == 1)
		exit(0);
	start_in(WORLD);
	end();
}

static void shuts_down_and_leaves(void)
{
	start_mpi();
	start_in(WORLD);
	copy_one();
	starpu_mpi_shutdown();
	if (rank == 1)
		exit(0);
	MPI_Finalize();
}

static void shuts_down_and_leaves_at_once(void)
{
	start_mpi();
	start_in(WORLD);
	starpu_mpi_shutdown();
	if (rank == 1)
		_exit(0);
	MPI_Finalize();
}

/* The children of ranks may. */
static void children_leave(void)
{
	pid_t child;

	start_mpi();
	for (int i = 0; i < 2; i++) {
		child = fork();
		if (child == 0 && i)
			_exit(0);
		if (child == 0)
			exit(0);
		waitpid(child, NULL, 0);
	}
	start_in(WORLD);
	end();
}

static void shuts_down_on_one(void)
{
	start_mpi();
	start_in(WORLD);
	copy_one();
	if (rank == 0)
		starpu_mpi_shutdown();
	MPI_Finalize();
}

static void starts_after_the_end(void)
{
	start_mpi();
	start_in(WORLD);
	end();
	start_in(WORLD);
}

static void starts_only_below(void)
{
	start_mpi();
	if (rank == 1)
		start_in(WORLD);
	else if (starpu_init(NULL) != 0)
		exit(70);
	copy_one();
	end();
}

static void *start_here(void *arg)
{
	*(int *)arg = starpu_init(NULL);
	return NULL;
}

/* Lives begin one at a time, whoever asks. */
static void starts_in_plain_threads(void)
{
	enum { NTHREADS = 4 };
	pthread_t threads[NTHREADS];
	int status[NTHREADS];

	start_mpi();
	for (int i = 0; i < NTHREADS; i++)
		pthread_create(&threads[i], NULL, start_here, &status[i]);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NTHREADS; i++)
		if (status[i] != status[0])
			exit(71);
	if (status[0] == 0) {
		for (int i = 0; i < NTHREADS; i++)
			starpu_shutdown();
	}
	MPI_Finalize();
	if (rank == 0)
		printf("ends well\n");
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		SCENE(comes_late),           SCENE(never_comes),
		SCENE(communicators_differ), SCENE(comes_again_alone),
		SCENE(starts_alone),         SCENE(meets_beyond_its_own),
		SCENE(meets_in_mpi),         SCENE(ends_without_shutdown),
		SCENE(shuts_down_on_one),    SCENE(starts_after_the_end),
		SCENE(starts_only_below),    SCENE(starts_in_plain_threads),
		SCENE(leaves_before),        SCENE(shuts_down_and_leaves),
		SCENE(children_leave),       SCENE(shuts_down_and_leaves_at_once),
	};

	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		if (argc == 2 && strcmp(scenes[i].name, argv[1]) == 0) {
			scenes[i].play();
			return 0;
		}
	}
	fprintf(stderr, "usage: %s CASE\n", argv[0]);
	return 64;
}
