/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/trace.py: 2 ranks take turns on one value, 20 tasks in all.
 *
 * usage: traced [end|exit|abort|stay|deaf FILE|until FILE|section]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu_mpi.h>

enum { NTASKS = 20, VALUES = 10000 };

static void count(void *buffers[], void *arg)
{
	int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	values[0]++;
}

static struct starpu_codelet counts = {.cpu_funcs = {count},
				       .cpu_funcs_name = {"count"},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "count \"one\"",
				       .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static void insert(starpu_data_handle_t handle, int n)
{
	for (int i = 0; i < n; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &counts, STARPU_RW, handle,
				       STARPU_EXECUTE_ON_NODE,
				       i % starpu_mpi_world_size(), 0);
	starpu_task_wait_for_all();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void leave(const char *how, const char *path)
{
	if (strcmp(how, "exit") == 0)
		exit(3);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "stay") == 0 || strcmp(how, "deaf") == 0)
		for (printf("staying\n"), fflush(stdout);;)
			sleep(1);
	if (strcmp(how, "until") == 0)
		for (printf("staying\n"), fflush(stdout); access(path, F_OK) != 0;)
			usleep(1000);
}

static int heard;

/* Not on stdout: mpirun drops what comes once it has been told to end. */
static void hear(int number)
{
	(void)number;
	if (write(heard, "heard\n", 6) != 6)
		abort();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "end", *path = argc > 2 ? argv[2] : "";
	static int values[VALUES];
	starpu_data_handle_t handle;
	int rank, is_section = strcmp(how, "section") == 0;

	if (strcmp(how, "deaf") == 0) {
		heard = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
		signal(SIGINT, hear);
	}
	if (is_section)
		starpu_fxt_autostart_profiling(0);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	rank = starpu_mpi_world_rank();
	starpu_vector_data_register(&handle, rank == 0 ? STARPU_MAIN_RAM : -1,
				    (uintptr_t)values, VALUES, sizeof(values[0]));
	starpu_mpi_data_register(handle, 7, 0);
	if (is_section)
		insert(handle, NTASKS);
	starpu_fxt_start_profiling();
	starpu_fxt_trace_user_event(42);
	starpu_fxt_trace_user_event_string("half-time, said in a long text");
	starpu_fxt_trace_user_meta_string("a text about the run");
	insert(handle, NTASKS);
	leave(how, path); /* with records that have not been written */
	starpu_fxt_stop_profiling();
	if (is_section)
		insert(handle, NTASKS);
	starpu_data_unregister(handle);
	if (rank == 0)
		printf("date %.12g recorded %d\n",
		       orrery_is_simulated() ? starpu_timing_now() : 0.0,
		       starpu_fxt_is_enabled());
	starpu_mpi_shutdown();
	return 0;
}
