/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with a master and slaves, one for each name; run.py says what must come of it.
 * usage: slaves CASE, with STARPU_NMPI_MS.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static void die(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	raise(SIGKILL);
}

static struct starpu_codelet works = {.cpu_funcs = {nothing},
				      .cpu_funcs_name = {"nothing"},
				      .where = STARPU_MPI_MS,
				      .model = &starpu_perfmodel_nop};
static struct starpu_codelet dies = {.cpu_funcs = {die},
				     .cpu_funcs_name = {"die"},
				     .where = STARPU_MPI_MS,
				     .model = &starpu_perfmodel_nop};
/* As of a library that slaves have not loaded. */
static struct starpu_codelet unknown = {.cpu_funcs = {(starpu_cpu_func_t)16},
					.cpu_funcs_name = {"nowhere"},
					.where = STARPU_MPI_MS,
					.model = &starpu_perfmodel_nop};
static long number = 5;

static void pass_pointer(void)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &works;
	task->cl_arg = &number;
	if (starpu_task_submit(task) != 0)
		puts("the task is refused");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (starpu_initialize(NULL, &argc, &argv) != 0) {
		puts("starpu_init has failed");
		return 1;
	}
	printf("%u workers of slaves\n", starpu_mpi_ms_worker_get_count());
	if (strcmp(name, "unknown_kernel") == 0)
		starpu_task_insert(&unknown, 0);
	if (strcmp(name, "dying_slave") == 0)
		starpu_task_insert(&dies, 0);
	if (strcmp(name, "mpi_beside_slaves") == 0)
		starpu_mpi_init(NULL, NULL, 1);
	if (strcmp(name, "pointer_for_slave") == 0)
		pass_pointer();
	starpu_task_wait_for_all();
	starpu_shutdown();
	puts("the end");
	return 0;
}
