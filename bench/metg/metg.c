/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The smallest task that is worth it, in tasks: with Orrery, for real and simulated, and
 * with StarPU 1.3.  Each rank inserts all tasks, unpruned.  Prints for each length of a
 * task the best time of some repetitions: "length_us,seconds".
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "pattern.h"

#define WORLD MPI_COMM_WORLD

static double length_us; /* the same on all ranks at a time */

static double task_us(struct starpu_task *task, unsigned implementation)
{
	(void)task;
	(void)implementation;
	return length_us;
}

static void work(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
	metg_spin(length_us);
}

static struct starpu_perfmodel model = {.type = STARPU_COMMON, .cost_function = task_us};
static struct starpu_codelet codelet = {.cpu_funcs = {work},
					.nbuffers = STARPU_VARIABLE_NBUFFERS,
					.model = &model,
					.name = "metg"};

struct columns {
	struct metg metg;
	starpu_data_handle_t *handles; /* two for each column, of even and odd steps */
	double *values;
};

static void open_columns(struct columns *c)
{
	int n = 2 * c->metg.width;

	c->handles = calloc((size_t)n, sizeof *c->handles);
	c->values = calloc((size_t)n, sizeof *c->values);
	if (!c->handles || !c->values)
		abort();
	for (int i = 0; i < n; i++) {
		int owner = metg_owner(&c->metg, i / 2), mine = owner == c->metg.rank;

		starpu_variable_data_register(&c->handles[i], mine ? STARPU_MAIN_RAM : -1,
					      mine ? (uintptr_t)&c->values[i] : 0,
					      sizeof(double));
		if (c->metg.size > 1)
			starpu_mpi_data_register(c->handles[i], i, owner);
	}
}

static void insert(struct columns *c, int step, int column)
{
	struct starpu_data_descr descr[MAX_INPUTS + 1];
	int inputs[MAX_INPUTS], n = metg_inputs(&c->metg, step, column, inputs);

	for (int i = 0; i < n; i++)
		descr[i] = (struct starpu_data_descr){
			.handle = c->handles[2 * inputs[i] + !(step & 1)],
			.mode = STARPU_R};
	descr[n++] = (struct starpu_data_descr){
		.handle = c->handles[2 * column + (step & 1)], .mode = STARPU_W};
	if (c->metg.size > 1)
		starpu_mpi_task_insert(WORLD, &codelet, STARPU_DATA_MODE_ARRAY, descr, n,
				       0);
	else
		starpu_task_insert(&codelet, STARPU_DATA_MODE_ARRAY, descr, n, 0);
}

static void wait_all(const struct metg *metg)
{
	if (metg->size == 1) {
		starpu_task_wait_for_all();
		return;
	}
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
}

static double graph_s(struct columns *c)
{
	double start_us;

	wait_all(&c->metg);
	start_us = starpu_timing_now();
	for (int step = 0; step < c->metg.steps; step++)
		for (int column = 0; column < c->metg.width; column++)
			insert(c, step, column);
	wait_all(&c->metg);
	return (starpu_timing_now() - start_us) * 1e-6;
}

static void try_lengths(struct columns *c)
{
	struct metg *metg = &c->metg;

	length_us = metg->from_us;
	graph_s(c);
	for (double us = metg->from_us; us >= metg->to_us * 0.999; us /= metg->factor) {
		double best_s = 1e30;

		for (int i = 0; i < metg->repeats; i++) {
			double time_s;

			length_us = us;
			time_s = graph_s(c);
			best_s = time_s < best_s ? time_s : best_s;
		}
		if (!metg->rank)
			printf("%g,%.9f\n", us, best_s);
	}
}

int main(int argc, char **argv)
{
	struct columns c = {.metg = {.rank = 0}};
	int level, rc;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &c.metg.rank);
	MPI_Comm_size(WORLD, &c.metg.size);
	rc = metg_read(&c.metg, argc, argv);
	if (rc) {
		MPI_Finalize();
		return 2;
	}
	/* One rank needs no messages, and no thread for them. */
	if (c.metg.size > 1 ? starpu_mpi_init_conf(&argc, &argv, 0, WORLD, NULL)
			    : starpu_init(NULL)) {
		MPI_Finalize();
		return 77;
	}
	open_columns(&c);
	try_lengths(&c);
	for (int i = 0; i < 2 * c.metg.width; i++)
		starpu_data_unregister(c.handles[i]);
	free(c.handles);
	free(c.values);
	if (c.metg.size > 1)
		starpu_mpi_shutdown();
	else
		starpu_shutdown();
	MPI_Finalize();
	return 0;
}
