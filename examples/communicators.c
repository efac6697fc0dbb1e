/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Nodes of even and of odd rank add their numbers, each half in a communicator of its
 * own: ranks and owners count from 0 in both. */
#include <stdio.h>

#include <orrery.h>
#include <starpu_mpi.h>

enum { SUM_TAG = 1 };

static void add_cpu(void *buffers[], void *arg)
{
	int number;

	starpu_codelet_unpack_args(arg, &number);
	*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += number;
}

static struct starpu_codelet add = {
	.cpu_funcs = {add_cpu},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
	.name = "add",
};

int main(int argc, char **argv)
{
	int world_rank, rank, size, level, sum = 0, expected = 0;
	starpu_data_handle_t handle;
	MPI_Comm half;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL)) {
		MPI_Finalize();
		return 77;
	}
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
	starpu_mpi_comm_register(half);
	starpu_mpi_comm_rank(half, &rank);
	starpu_mpi_comm_size(half, &size);

	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
				      sizeof(sum));
	starpu_mpi_data_register_comm(handle, SUM_TAG, 0, half);
	for (int i = 0; i < size; i++) {
		int number = 2 * i + world_rank % 2; /* that node's rank in the world */

		starpu_mpi_task_insert(half, &add, STARPU_RW, handle, STARPU_VALUE,
				       &number, sizeof(number), STARPU_EXECUTE_ON_NODE, i,
				       0);
		expected += number;
	}
	starpu_data_unregister(handle);
	if (rank == 0)
		printf("communicators: the %s ranks add up to %d\n",
		       world_rank % 2 ? "odd" : "even", sum);
	starpu_mpi_shutdown();
	MPI_Comm_free(&half);
	MPI_Finalize();
	if (rank != 0 ||
	    (orrery_is_simulated() && !starpu_getenv_number_default("ORRERY_EXECUTE", 0)))
		return 0;
	return sum != expected;
}
