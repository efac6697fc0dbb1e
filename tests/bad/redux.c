/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Mistakes with reductions, one for each name; run.py says what must come of it.
 * usage: redux CASE, on two ranks.
 */
#include <stdio.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

static long value;

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet init = {.cpu_funcs = {nothing},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "init"};
static struct starpu_codelet combine = {.cpu_funcs = {nothing},
					.nbuffers = 2,
					.modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
					.model = &starpu_perfmodel_nop,
					.name = "combine"};
static struct starpu_codelet contributes = {.cpu_funcs = {nothing},
					    .nbuffers = 1,
					    .modes = {STARPU_REDUX},
					    .model = &starpu_perfmodel_nop,
					    .name = "contributes"};
static struct starpu_codelet both = {.cpu_funcs = {nothing},
				     .nbuffers = 2,
				     .modes = {STARPU_REDUX, STARPU_R},
				     .model = &starpu_perfmodel_nop,
				     .name = "contributes"};

static starpu_data_handle_t variable(void)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	return handle;
}

static void make(const char *name)
{
	starpu_data_handle_t handle = variable();

	if (!strcmp(name, "without_methods"))
		starpu_task_insert(&contributes, STARPU_REDUX, handle, 0);
	if (!strcmp(name, "methods_swapped"))
		starpu_data_set_reduction_methods(handle, &init, &combine);
	if (!strcmp(name, "without_tag"))
		starpu_mpi_redux_data(MPI_COMM_WORLD, handle);
	if (!strcmp(name, "acquired"))
		starpu_data_acquire(handle, STARPU_REDUX);
	if (!strcmp(name, "beside_reading")) {
		starpu_data_set_reduction_methods(handle, &combine, &init);
		starpu_task_insert(&both, STARPU_REDUX, handle, STARPU_R, handle, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: redux CASE\n");
		return 64;
	}
	MPI_Init(&argc, &argv);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL) != 0)
		return 70;
	make(argv[1]);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
