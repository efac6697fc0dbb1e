/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_SHAPES_H
#define ORR_TESTS_SHAPES_H

/*
 * shapes.h - programs that are slow for a known reason: what amiss.c and ailing.c share.
 * Data that the ranks own, and a function for each reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

enum { NDATA = 64, NROUNDS = 20, LARGE = 1 << 20 };

static starpu_data_handle_t data[NDATA], extra[NDATA];
static int rank, size;
static const char *why = "";

struct shape {
	const char *why;
	void (*run)(void);
	int is_large; /* so many times LARGE values in each of the data; 0: one value */
};

/* About so many microseconds of computing. */
static void compute(double us)
{
	volatile double x = 1;

	for (long i = 0; i < (long)(us * 400); i++)
		x = x * 0.999 + 1;
}

static void shape_open_data(float *values, int n, int (*owner)(int i))
{
	for (int i = 0; i < NDATA; i++) {
		int home = owner(i) == rank ? STARPU_MAIN_RAM : -1;
		uintptr_t at = home < 0 ? 0 : (uintptr_t)values;

		starpu_vector_data_register(&data[i], home, at, (uint32_t)n,
					    sizeof(*values));
		starpu_mpi_data_register(data[i], i, owner(i));
		starpu_vector_data_register(&extra[i], home, at, (uint32_t)n,
					    sizeof(*values));
		starpu_mpi_data_register(extra[i], NDATA + i, owner(i));
	}
}

/* The shape that the first argument names; main's status. */
static int shape_run(int argc, char **argv, const struct shape *shapes, size_t nshapes,
		     int (*owner)(int i))
{
	const struct shape *shape = NULL;
	float *values;
	int n;

	why = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < nshapes; i++)
		if (strcmp(shapes[i].why, why) == 0)
			shape = &shapes[i];
	if (!shape)
		return 1;
	n = shape->is_large ? shape->is_large * LARGE : 1;
	values = malloc(sizeof(*values) * (size_t)n);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	shape_open_data(values, n, owner);
	shape->run();
	starpu_task_wait_for_all();
	for (int i = 0; i < NDATA; i++) {
		starpu_data_unregister(data[i]);
		starpu_data_unregister(extra[i]);
	}
	starpu_mpi_shutdown();
	free(values);
	return 0;
}

#endif
