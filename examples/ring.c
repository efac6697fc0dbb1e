/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A token goes round the nodes; each adds one to it. */
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>
#include <starpu_mpi.h>

enum { ROUNDS = 10, TAG = 42 };

static void increment_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(unsigned *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet increment = {
	.cpu_funcs = {increment_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
	.name = "increment",
};

int main(int argc, char **argv)
{
	unsigned token = 0, expected;
	int rank, size, executes;
	starpu_data_handle_t handle;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size < 2) {
		fprintf(stderr, "ring: needs two nodes or more\n");
		starpu_mpi_shutdown();
		return 77;
	}
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&token,
				      sizeof token);
	for (int round = 0; round < ROUNDS; round++) {
		int is_first = round == 0 && rank == 0;
		int is_last = round == ROUNDS - 1 && rank == size - 1;

		if (!is_first)
			starpu_mpi_recv(handle, (rank + size - 1) % size, TAG,
					MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		starpu_task_insert(&increment, STARPU_RW, handle, 0);
		/* Sends what the task wrote: the runtime knows the order. */
		if (!is_last)
			starpu_mpi_send(handle, (rank + 1) % size, TAG, MPI_COMM_WORLD);
	}
	starpu_data_unregister(handle);
	expected = (ROUNDS - 1) * size + rank + 1;
	if (rank == size - 1)
		printf("ring: token %u after %d rounds of %d nodes, %.6f s\n", token,
		       ROUNDS, size, orrery_virtual_time());
	starpu_mpi_shutdown();
	if (executes && token != expected) {
		fprintf(stderr, "ring: node %d has token %u, expected %u\n", rank, token,
			expected);
		return 1;
	}
	return 0;
}
