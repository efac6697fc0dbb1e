/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A program for tests/cli/variables.py: 10 tasks on each rank, of 30 ms in real runs.
 * With an argument the library starts before its part between nodes. */
#include <unistd.h>

#include <starpu_mpi.h>

enum { NTASKS = 10, TASK_US = 30000 };

static void rest(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	usleep(TASK_US);
}

static double microseconds(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return TASK_US;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON,
					.cost_function = microseconds};
static struct starpu_codelet resting = {
	.cpu_funcs = {rest}, .model = &model, .name = "resting"};

int main(int argc, char **argv)
{
	int is_apart = argc > 1;

	if (is_apart && (starpu_init(NULL) != 0 || starpu_mpi_init(&argc, &argv, 1) != 0))
		return 77;
	if (!is_apart && starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	for (int i = 0; i < NTASKS; i++)
		starpu_task_insert(&resting, 0);
	starpu_task_wait_for_all();
	starpu_mpi_shutdown();
	if (is_apart)
		starpu_shutdown();
	return 0;
}
