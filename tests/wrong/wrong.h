/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_WRONG_H
#define ORR_TESTS_WRONG_H

/*
 * wrong.h - what the programs of this directory share: cases by name, two values, handles
 * on them, and codelets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

enum { TAG = 7, MANY = 20000 /* bytes: more than travel with their header */ };
#define WORLD MPI_COMM_WORLD

struct scene {
	const char *name;
	void (*play)(void);
};

#define SCENE(function)                                                                  \
	{                                                                                \
		.name = #function, .play = function                                      \
	}

static int rank, size;
static long value = 1, other_value = 2;

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void nothing_cpu(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static __attribute__((unused)) struct starpu_codelet add = {
	.cpu_funcs = {add_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
	.flags = STARPU_CODELET_SIMGRID_EXECUTE,
	.name = "add"};
static __attribute__((unused)) struct starpu_codelet nothing = {
	.cpu_funcs = {nothing_cpu}, .model = &starpu_perfmodel_nop, .name = "nothing"};
static __attribute__((unused)) struct starpu_codelet copy = {
	.cpu_funcs = {nothing_cpu},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_RW},
	.model = &starpu_perfmodel_nop,
	.name = "copy"};

static inline starpu_data_handle_t variable(long *at)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)at,
				      sizeof *at);
	return handle;
}

/* A variable that lives on one rank. */
static inline starpu_data_handle_t owned(long *at, starpu_mpi_tag_t tag, int owner)
{
	starpu_data_handle_t handle;

	starpu_variable_data_register(&handle, rank == owner ? STARPU_MAIN_RAM : -1,
				      rank == owner ? (uintptr_t)at : 0, sizeof *at);
	starpu_mpi_data_register(handle, tag, owner);
	return handle;
}

/* Four seconds, of which a pause of the whole machine takes a tenth of one at most: what
 * ranks say of each other comes while they run. */
struct span {
	double last_us, spent_us; /* 0 at first */
};

static inline int span_lasts(struct span *span)
{
	double now_us = starpu_timing_now();
	double step_us = span->last_us > 0 ? now_us - span->last_us : 0;

	span->spent_us += step_us < 1e5 ? step_us : 1e5;
	span->last_us = now_us;
	return span->spent_us < 4e6;
}

/* On each rank. */
static inline starpu_data_handle_t many_bytes(void)
{
	static char bytes[MANY];
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes, MANY, 1);
	return handle;
}

/* Starts everything, plays the scene that argv names, and ends everything.  Where
 * LIBRARY_STARTS_MPI is set, MPI is left to the library. */
static inline int wrong_main(int argc, char **argv, const struct scene *scenes, size_t n)
{
	const struct scene *scene = NULL;
	int level, leaves_mpi = getenv("LIBRARY_STARTS_MPI") != NULL;

	for (size_t i = 0; i < n; i++)
		if (argc == 2 && strcmp(scenes[i].name, argv[1]) == 0)
			scene = &scenes[i];
	if (!scene) {
		fprintf(stderr, "usage: %s CASE\n", argv[0]);
		return 64;
	}
	if (!leaves_mpi)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (starpu_mpi_init_conf(NULL, NULL, leaves_mpi, WORLD, NULL) != 0)
		return 70;
	starpu_mpi_comm_rank(WORLD, &rank);
	starpu_mpi_comm_size(WORLD, &size);
	scene->play();
	starpu_mpi_shutdown();
	if (!leaves_mpi)
		MPI_Finalize();
	if (rank == 0)
		printf("ends well\n");
	return 0;
}

#endif
