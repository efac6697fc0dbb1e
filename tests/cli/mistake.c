/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Makes the mistake that its first argument names; "lives" and "fine" are none. */
#undef NDEBUG
#include <assert.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { NLIVES = 2, NTASKS = 5 };

static int rank;

static void none(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet nothing = {
	.cpu_funcs = {none}, .name = "nothing", .model = &starpu_perfmodel_nop};

static int deep(volatile char *above)
{
	volatile char here[4096];

	here[0] = above[0];
	return deep(here) + here[0];
}

/* Each rank runs NTASKS tasks; rank 0 sends 8 bytes to rank 1. */
static void live(void)
{
	double value = 1;
	starpu_data_handle_t data;

	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL))
		exit(77);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_variable_data_register(&data, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&nothing, 0);
	if (rank == 0)
		starpu_mpi_send(data, 1, 7, MPI_COMM_WORLD);
	else if (rank == 1)
		starpu_mpi_recv(data, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(data);
	starpu_mpi_shutdown();
}

static int lives(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < NLIVES; i++)
		live();
	MPI_Finalize();
	return 0;
}

static int is_named(const char *name, const char *mistake)
{
	return strcmp(name, mistake) == 0;
}

/* With MPI alone: the library has not been opened. */
static int plain(int argc, char **argv)
{
	char bytes[2] = "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (is_named(argv[1], "mpi-receive"))
		MPI_Recv(bytes, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (is_named(argv[1], "mpi-rank"))
		MPI_Send(bytes, 1, MPI_CHAR, 77, 7, MPI_COMM_WORLD);
	if (is_named(argv[1], "mpi-long") && rank == 0)
		MPI_Send(bytes, 2, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
	if (is_named(argv[1], "mpi-long") && rank == 1)
		MPI_Recv(bytes, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (is_named(argv[1], "mpi-abort"))
		MPI_Abort(MPI_COMM_WORLD, 4);
	MPI_Finalize();
	return is_named(argv[1], "mpi-status") && rank == 1 ? 5 : 0;
}

static void crash(void *arg)
{
	(void)arg;
	*(volatile int *)NULL = 1;
}

static void crash_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	crash(arg);
}

static void overflow_cpu(void *buffers[], void *arg)
{
	char c = 0;

	(void)buffers;
	(void)arg;
	(void)deep(&c);
}

static struct starpu_codelet crashing = {
	.cpu_funcs = {crash_cpu}, .name = "crashing", .model = &starpu_perfmodel_nop};
static struct starpu_codelet overflowing = {.cpu_funcs = {overflow_cpu},
					    .name = "overflowing",
					    .model = &starpu_perfmodel_nop};

static void recover(int number)
{
	(void)number;
	fprintf(stderr, "handled by the program\n");
	_Exit(7);
}

/* In a task of rank 1's, or its main; the other one waits for it. */
static void fault(const char *name)
{
	if (rank != 1)
		return;
	if (is_named(name, "fault-kernel"))
		starpu_task_insert(&crashing, STARPU_NAME, "the third", 0);
	if (is_named(name, "fault-stack"))
		starpu_task_insert(&overflowing, 0);
	if (is_named(name, "fault-callback"))
		starpu_task_insert(&nothing, STARPU_CALLBACK, crash, 0);
	if (is_named(name, "fault-abort"))
		abort();
	if (is_named(name, "fault-assert"))
		assert(rank == 77);
	if (is_named(name, "fault-raise"))
		raise(SIGFPE);
	starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "fine";
	char c = 0;

	if (strncmp(name, "mpi-", 4) == 0)
		return plain(argc, argv);
	if (is_named(name, "lives"))
		return lives(argc, argv);
	if (is_named(name, "fault-handled"))
		signal(SIGSEGV, recover);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	if (is_named(name, "fault-handled"))
		crash(NULL);
	if (strncmp(name, "fault-", 6) == 0)
		fault(name);
	if (is_named(name, "leave") && rank == 1)
		return 5;
	if (is_named(name, "err") && rank == 1)
		errx(6, "no more");
	if (is_named(name, "pointer"))
		*(volatile int *)NULL = 1;
	if (is_named(name, "stack"))
		return deep(&c);
	if (is_named(name, "receive"))
		MPI_Recv(&c, 1, MPI_CHAR, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (is_named(name, "finalize"))
		MPI_Finalize();
	if (is_named(name, "say"))
		fprintf(stderr, "[not orrery] word\n[0.5] [half/a] line");
	starpu_mpi_shutdown();
	return 0;
}
