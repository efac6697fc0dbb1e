/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Five-point stencil: each cell becomes the mean of itself and its neighbours.
 *
 * Every node inserts all tasks; each runs where the cell that it writes lives, and
 * the neighbours' values travel by themselves.
 */
#include <math.h>
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>

enum { N = 12, STEPS = 4 };

static void mean_cpu(void *buffers[], void *arg)
{
	float *cell = (float *)STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void)arg;
	for (int b = 1; b < 5; b++)
		*cell += *(float *)STARPU_VARIABLE_GET_PTR(buffers[b]);
	*cell /= 5;
}

static struct starpu_codelet mean = {
	.cpu_funcs = {mean_cpu},
	.nbuffers = 5,
	.modes = {STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R},
	.model = &starpu_perfmodel_nop,
	.name = "mean",
};

/* Cells of a column live together: blocks of columns over the nodes. */
static int owner(int column, int size)
{
	return (long)column * size / N;
}

/* One step in place, in the order in which the tasks are inserted. */
static void step_in_sequence(float cells[N][N])
{
	for (int x = 1; x < N - 1; x++)
		for (int y = 1; y < N - 1; y++)
			cells[x][y] = (cells[x][y] + cells[x - 1][y] + cells[x + 1][y] +
				       cells[x][y - 1] + cells[x][y + 1]) /
				      5;
}

static void insert_step(starpu_data_handle_t h[N][N])
{
	for (int x = 1; x < N - 1; x++)
		for (int y = 1; y < N - 1; y++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &mean, STARPU_RW, h[x][y],
					       STARPU_R, h[x - 1][y], STARPU_R,
					       h[x + 1][y], STARPU_R, h[x][y - 1],
					       STARPU_R, h[x][y + 1], 0);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[N][N];
	float cells[N][N], expected[N][N];
	int rank, size, executes, wrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	for (int x = 0; x < N; x++)
		for (int y = 0; y < N; y++) {
			int mine = owner(y, size) == rank;

			cells[x][y] = expected[x][y] = (x * 7 + y * 5) % 11;
			starpu_variable_data_register(
				&handles[x][y], mine ? STARPU_MAIN_RAM : -1,
				mine ? (uintptr_t)&cells[x][y] : 0, sizeof cells[x][y]);
			starpu_mpi_data_register(handles[x][y], x * N + y,
						 owner(y, size));
		}
	for (int step = 0; step < STEPS; step++)
		insert_step(handles);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int step = 0; step < STEPS; step++)
		step_in_sequence(expected);
	for (int x = 0; x < N; x++)
		for (int y = 0; y < N; y++) {
			starpu_data_unregister(handles[x][y]);
			if (executes && owner(y, size) == rank)
				wrong += fabsf(cells[x][y] - expected[x][y]) > 1e-5f;
		}
	if (wrong || !rank)
		printf("stencil5: node %d: %d wrong cells after %d steps\n", rank, wrong,
		       STEPS);
	starpu_mpi_shutdown();
	return wrong != 0;
}
