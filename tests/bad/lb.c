/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with the load balancer, and why it moves nothing, one for each name; run.py
 * says what must come of it.
 * usage: lb CASE, on two ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>
#include <starpu_mpi_lb.h>

enum { NDATA = 4, TAG = 7 };

static const char *name;
static int rank;
static long values[NDATA];
static starpu_data_handle_t data[NDATA];

static int is(const char *other)
{
	return strcmp(name, other) == 0;
}

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	if (rank == 0 && strncmp(name, "unit", 4) == 0)
		starpu_sleep(0.02F); /* so that it is rank 0 that gives, on a busy
					machine, too */
}

static double cost(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return 1000;
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = cost};
static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &model,
				    .name = "add"};

static void neighbours(int **ids, int *n)
{
	*ids = malloc(sizeof(**ids));
	**ids = is("neighbour_beyond") ? 2 : is("neighbour_itself") ? rank : 1 - rank;
	*n = is("neighbours_nowhere") ? 3 : !is("stays_alone");
	if (*n == 3)
		*ids = NULL;
}

static void unit(starpu_data_handle_t **handles, int *n, int dst)
{
	(void)dst;
	*handles = malloc(NDATA * sizeof(**handles));
	memcpy(*handles, data, sizeof(data));
	if (is("unit_of_another"))
		**handles = data[NDATA - 1];
	if (is("unit_null"))
		**handles = NULL;
	*n = is("unit_nowhere")   ? -1
	     : is("unit_of_none") ? 0
	     : is("unit_of_all")  ? NDATA - 1
				  : 1;
}

/* As many iterations on both ranks, unless the case says something else. */
static void insert(int iteration)
{
	if (is("iteration_skipped") && rank == 1 && iteration == 2)
		return;
	for (int i = 0; i < NDATA; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, data[i],
				       STARPU_TAG_ONLY, (starpu_tag_t)iteration, 0);
}

static void make(void)
{
	struct starpu_mpi_lb_conf conf = {.get_neighbors = neighbours,
					  .get_data_unit_to_migrate = unit};
	int last = is("stops_early") && rank == 1 ? 2 : 8;

	for (int i = 0; i < NDATA; i++) {
		int owner = i == NDATA - 1;

		starpu_variable_data_register(
			&data[i], owner == rank ? STARPU_MAIN_RAM : -1,
			owner == rank ? (uintptr_t)&values[i] : 0, sizeof(values[i]));
		starpu_mpi_data_register(data[i], TAG + i, owner);
	}
	starpu_mpi_lb_init(is("policy_unknown") ? "cold" : "heat",
			   is("on_one_rank") && rank == 1 ? NULL : &conf);
	for (int iteration = 0; iteration < last; iteration++)
		insert(iteration);
	starpu_mpi_lb_shutdown();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(data[i]);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: lb CASE\n");
		return 64;
	}
	name = argv[1];
	setenv("LB_HEAT_SLEEP_THRESHOLD", is("too_few_iterations") ? "100" : "2", 1);
	setenv("LB_HEAT_TIME_THRESHOLD", is("stays_even") ? "10000000" : "0", 1);
	MPI_Init(&argc, &argv);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		return 70;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	make();
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
