/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Cannon's product of two matrices, in tasks.  A rank is a node with a block of each
 * matrix: A in strips of rows, B in strips of columns, and a task for each pair of strips
 * in each step.  A strip goes on to the next rank as soon as it is there, while tasks
 * read it; it comes in the other of two places, when the tasks that read that one have
 * ended.
 *
 * Where kernels are called (--execute) a strip's first number says from which rank it is,
 * and each task looks whether its two strips belong together.
 *
 * usage: cannon-sim --p P --n N --steps S --strips T --gflops G
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "common.h"

#define WORLD MPI_COMM_WORLD

enum { MAX_STRIPS = 64, A = 0, B = 1 };

struct cannon {
	double p, n, steps, strips, gflops;
	int rank, row, column;
	int to[2], from[2];                        /* A goes to the left, B goes up */
	starpu_data_handle_t in[2][2][MAX_STRIPS]; /* matrix, place, strip */
	starpu_data_handle_t out[MAX_STRIPS][MAX_STRIPS];
};

static double product_us; /* of two strips, the same on all ranks */
static int nwrong;

static double task_us(struct starpu_task *task, unsigned worker, unsigned implementation)
{
	(void)task;
	(void)worker;
	(void)implementation;
	return product_us;
}

/* Strips of A and B belong together when A's column is B's row. */
static void product_cpu(void *buffers[], void *arg)
{
	double a = *(double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	double b = *(double *)STARPU_VECTOR_GET_PTR(buffers[1]);
	double expected;

	starpu_codelet_unpack_args(arg, &expected);
	if (a != expected || b != expected)
		__atomic_add_fetch(&nwrong, 1, __ATOMIC_RELAXED);
}

static void fill_cpu(void *buffers[], void *arg)
{
	double value;

	starpu_codelet_unpack_args(arg, &value);
	*(double *)STARPU_VECTOR_GET_PTR(buffers[0]) = value;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
					.worker_cost_function = task_us};
static struct starpu_codelet product = {.cpu_funcs = {product_cpu},
					.nbuffers = 3,
					.modes = {STARPU_R, STARPU_R, STARPU_RW},
					.model = &model,
					.name = "product"};
static struct starpu_codelet fill = {.cpu_funcs = {fill_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "fill"};

static starpu_data_handle_t new_value(double elements, double value)
{
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, -1, 0, (size_t)elements, sizeof(double));
	starpu_task_insert(&fill, STARPU_W, handle, STARPU_VALUE, &value, sizeof value,
			   0);
	return handle;
}

/* Which column of A's blocks, and row of B's, this rank multiplies in a step. */
static double inner_of(const struct cannon *c, int step)
{
	return (c->row + c->column + step) % (int)c->p;
}

static void open_blocks(struct cannon *c)
{
	int p = (int)c->p, nstrips = (int)c->strips;
	double b = c->n / c->p, strip = b * b / c->strips;

	c->row = c->rank / p;
	c->column = c->rank % p;
	c->to[A] = c->row * p + (c->column + p - 1) % p;
	c->from[A] = c->row * p + (c->column + 1) % p;
	c->to[B] = (c->row + p - 1) % p * p + c->column;
	c->from[B] = (c->row + 1) % p * p + c->column;
	product_us = 2 * b * b * b / (c->strips * c->strips) / (c->gflops * 1e3);
	for (int s = 0; s < nstrips; s++) {
		for (int m = A; m <= B; m++)
			for (int place = 0; place < 2; place++)
				c->in[m][place][s] = new_value(strip, inner_of(c, 0));
		for (int t = 0; t < nstrips; t++)
			c->out[s][t] = new_value(strip / c->strips, 0);
	}
}

static void close_blocks(struct cannon *c)
{
	for (int s = 0; s < c->strips; s++) {
		for (int m = A; m <= B; m++)
			for (int place = 0; place < 2; place++)
				starpu_data_unregister_no_coherency(c->in[m][place][s]);
		for (int t = 0; t < c->strips; t++)
			starpu_data_unregister_no_coherency(c->out[s][t]);
	}
}

static void insert_shift(struct cannon *c, int step)
{
	int here = step & 1;

	for (int s = 0; s < c->strips; s++)
		for (int m = A; m <= B; m++) {
			starpu_mpi_tag_t tag = (2 * s + m) * 2 + here;

			starpu_mpi_isend_detached(c->in[m][here][s], c->to[m], tag, WORLD,
						  NULL, NULL);
			starpu_mpi_irecv_detached(c->in[m][!here][s], c->from[m], tag,
						  WORLD, NULL, NULL);
		}
}

static void insert_step(struct cannon *c, int step)
{
	double inner = inner_of(c, step);
	int here = step & 1;

	if (step + 1 < c->steps)
		insert_shift(c, step);
	for (int i = 0; i < c->strips; i++)
		for (int j = 0; j < c->strips; j++)
			starpu_task_insert(&product, STARPU_R, c->in[A][here][i],
					   STARPU_R, c->in[B][here][j], STARPU_RW,
					   c->out[i][j], STARPU_VALUE, &inner,
					   sizeof inner, 0);
}

static int read_all(struct cannon *c, int argc, char **argv, int size)
{
	const struct setting settings[] = {
		{"p", &c->p},           {"n", &c->n},           {"steps", &c->steps},
		{"strips", &c->strips}, {"gflops", &c->gflops},
	};
	int n = sizeof settings / sizeof *settings;

	if (settings_read(settings, n, argc, argv, c->rank == 0))
		return -1;
	if (c->p * c->p == size && c->strips >= 1 && c->strips <= MAX_STRIPS &&
	    c->gflops > 0)
		return 0;
	if (!c->rank)
		fprintf(stderr,
			"cannon: a grid of %g x %g with %d ranks, %g strips, %g GFlop/s: "
			"expected as many ranks as the grid has places, 1 to %d strips, "
			"and a speed\n",
			c->p, c->p, size, c->strips, c->gflops, MAX_STRIPS);
	return -1;
}

static double run(struct cannon *c)
{
	double start_us, time_s;

	open_blocks(c);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	start_us = starpu_timing_now();
	for (int step = 0; step < c->steps; step++)
		insert_step(c, step);
	starpu_mpi_wait_for_all(WORLD);
	starpu_mpi_barrier(WORLD);
	time_s = (starpu_timing_now() - start_us) * 1e-6;
	close_blocks(c);
	return time_s;
}

int main(int argc, char **argv)
{
	struct cannon c = {.p = 1, .n = 1024, .steps = 4, .strips = 1, .gflops = 1};
	double time_s = 0;
	int size, rc;

	if (starpu_mpi_init_conf(&argc, &argv, 1, WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(WORLD, &c.rank);
	starpu_mpi_comm_size(WORLD, &size);
	rc = read_all(&c, argc, argv, size);
	if (!rc)
		time_s = run(&c);
	if (!rc && !c.rank)
		printf("time: %.9f s\nwrong: %d\n", time_s, nwrong);
	starpu_mpi_shutdown();
	return rc ? 2 : 0;
}
