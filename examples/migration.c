/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A stencil whose data change their owners while it runs: the blocks of a rod that cools
 * down begin in a row on each node, and are dealt out in turn after half of the steps.
 * Tasks follow the blocks that they write.
 */
#include <math.h>
#include <stdio.h>

#include <orrery.h>
#include <starpu_mpi.h>

enum { BLOCKS = 12, LENGTH = 50, STEPS = 10 };

/* Two values of the rod: a step reads one and writes the other. */
static double rod[2][BLOCKS][LENGTH];

static void diffuse_cpu(void *buffers[], void *arg)
{
	double *to = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	const double *here = (double *)STARPU_VECTOR_GET_PTR(buffers[1]);
	const double *left = (double *)STARPU_VECTOR_GET_PTR(buffers[2]);
	const double *right = (double *)STARPU_VECTOR_GET_PTR(buffers[3]);

	(void)arg;
	for (int i = 0; i < LENGTH; i++)
		to[i] = (here[i] + (i > 0 ? here[i - 1] : left[LENGTH - 1]) +
			 (i < LENGTH - 1 ? here[i + 1] : right[0])) /
			3;
}

static struct starpu_codelet diffuse = {
	.cpu_funcs = {diffuse_cpu},
	.nbuffers = 4,
	.modes = {STARPU_W, STARPU_R, STARPU_R, STARPU_R},
	.model = &starpu_perfmodel_nop,
	.name = "diffuse",
};

static double initial(int i)
{
	return i % 17 + (i < BLOCKS * LENGTH / 2 ? 100 : 0);
}

/* The rod is a ring. */
static int count_wrong(int step, int rank, int size)
{
	static double alone[2][BLOCKS * LENGTH];
	const int n = BLOCKS * LENGTH;
	int nwrong = 0;

	for (int i = 0; i < n; i++)
		alone[0][i] = initial(i);
	for (int s = 0; s < step; s++)
		for (int i = 0; i < n; i++)
			alone[(s + 1) % 2][i] =
				(alone[s % 2][i] + alone[s % 2][(i + n - 1) % n] +
				 alone[s % 2][(i + 1) % n]) /
				3;
	for (int i = 0; i < n; i++)
		if (i / LENGTH % size == rank)
			nwrong += !(fabs(rod[step % 2][i / LENGTH][i % LENGTH] -
					 alone[step % 2][i]) < 1e-9);
	return nwrong;
}

static void insert_steps(starpu_data_handle_t handles[2][BLOCKS], int first, int end)
{
	for (int s = first; s < end; s++) {
		starpu_data_handle_t *from = handles[s % 2], *to = handles[(s + 1) % 2];

		for (int b = 0; b < BLOCKS; b++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &diffuse, STARPU_W, to[b],
					       STARPU_R, from[b], STARPU_R,
					       from[(b + BLOCKS - 1) % BLOCKS], STARPU_R,
					       from[(b + 1) % BLOCKS], 0);
	}
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[2][BLOCKS];
	int rank, size, nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < BLOCKS * LENGTH; i++)
		rod[0][i / LENGTH][i % LENGTH] = initial(i);
	/* Each node has memory for all blocks here: any of them may come to it. */
	for (int value = 0; value < 2; value++)
		for (int b = 0; b < BLOCKS; b++) {
			starpu_vector_data_register(&handles[value][b], STARPU_MAIN_RAM,
						    (uintptr_t)rod[value][b], LENGTH,
						    sizeof(double));
			starpu_mpi_data_register(handles[value][b], value * BLOCKS + b,
						 b * size / BLOCKS);
		}

	insert_steps(handles, 0, STEPS / 2);
	/* Nobody waits: the values follow when the tasks before have written them. */
	for (int value = 0; value < 2; value++)
		for (int b = 0; b < BLOCKS; b++)
			starpu_mpi_data_migrate(MPI_COMM_WORLD, handles[value][b],
						b % size);
	insert_steps(handles, STEPS / 2, STEPS);

	for (int value = 0; value < 2; value++)
		for (int b = 0; b < BLOCKS; b++)
			starpu_data_unregister(handles[value][b]);
	if (!orrery_is_simulated() || starpu_getenv_number_default("ORRERY_EXECUTE", 0))
		nwrong = count_wrong(STEPS, rank, size);
	if (rank == 0 || nwrong)
		printf("migration: node %d of %d: %d wrong numbers\n", rank, size,
		       nwrong);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
