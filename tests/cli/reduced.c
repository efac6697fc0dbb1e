/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A program for tests/cli/report.py: simulated ranks add up contributions, which take 1
 * ms each to make and 10 ms to add; the value is used for 1 ms, and all of it again.
 *
 * usage: reduced workers|ranks ARITY
 * workers: each worker contributes (STARPU_REDUX); ranks: each rank (STARPU_MPI_REDUX)
 */
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { NROUNDS = 2, NWORKERS = 4 };

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static double short_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static double long_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 10000;
}

static struct starpu_perfmodel is_short = {.type = STARPU_COMMON,
					   .cost_function = short_us};
static struct starpu_perfmodel is_long = {.type = STARPU_COMMON,
					  .cost_function = long_us};
static struct starpu_codelet zeroes = {.cpu_funcs = {nothing},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .model = &is_short,
				       .name = "zero"};
static struct starpu_codelet adds = {.cpu_funcs = {nothing},
				     .nbuffers = 2,
				     .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
				     .model = &is_long,
				     .name = "add"};
static struct starpu_codelet contributes = {
	.cpu_funcs = {nothing}, .nbuffers = 1, .model = &is_short, .name = "contribute"};
static struct starpu_codelet uses = {.cpu_funcs = {nothing},
				     .nbuffers = 1,
				     .modes = {STARPU_RW},
				     .model = &is_short,
				     .name = "use"};

static void insert_round(starpu_data_handle_t sum, int arity)
{
	int size = starpu_mpi_world_size();

	for (int i = 0; i < NWORKERS * size; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &contributes, contributes.modes[0],
				       sum, STARPU_EXECUTE_ON_NODE, i % size, 0);
	if (arity > 0)
		starpu_mpi_redux_data_tree(MPI_COMM_WORLD, sum, arity);
	starpu_mpi_task_insert(MPI_COMM_WORLD, &uses, STARPU_RW, sum, 0);
}

int main(int argc, char **argv)
{
	int by_worker = argc < 2 || !strcmp(argv[1], "workers");
	int arity = argc > 2 ? atoi(argv[2]) : 0;
	double value = 0;
	starpu_data_handle_t sum;

	contributes.modes[0] = by_worker ? STARPU_REDUX : STARPU_MPI_REDUX;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_variable_data_register(&sum,
				      starpu_mpi_world_rank() == 0 ? STARPU_MAIN_RAM : -1,
				      (uintptr_t)&value, sizeof(value));
	starpu_mpi_data_register(sum, 1, 0);
	starpu_data_set_reduction_methods(sum, &adds, &zeroes);
	for (int i = 0; i < NROUNDS; i++)
		insert_round(sum, arity);
	starpu_task_wait_for_all();
	starpu_data_unregister(sum);
	starpu_mpi_shutdown();
	return 0;
}
