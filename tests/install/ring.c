/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A client as others write them, in the common part of C and C++: a number goes round
 * and each rank's task adds one.  Prints "ring: N of N".
 */
#include <stdint.h>
#include <stdio.h>

#include <starpu.h>
#include <starpu_mpi.h>

static int counted; /* a global of the program: one for each simulated rank */

static void add(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	counted++;
}

static struct starpu_perfmodel model;
static struct starpu_codelet codelet;

int main(int argc, char **argv)
{
	starpu_data_handle_t handle;
	int rank, size, token = 0, ret;

	starpu_codelet_init(&codelet);
	codelet.cpu_funcs[0] = add;
	codelet.nbuffers = 1;
	codelet.modes[0] = STARPU_RW;
	codelet.flags = STARPU_CODELET_SIMGRID_EXECUTE;
	model.type = STARPU_HISTORY_BASED;
	model.symbol = "orrery_test_ring";
	codelet.model = &model;
	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&token,
				      sizeof(token));
	if (rank > 0)
		starpu_mpi_recv(handle, rank - 1, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	ret = starpu_task_insert(&codelet, STARPU_RW, handle, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	if (rank < size - 1)
		starpu_mpi_send(handle, rank + 1, 42, MPI_COMM_WORLD);
	starpu_data_unregister(handle);
	if (rank == size - 1)
		printf("ring: %d of %d\n", token, size);
	starpu_mpi_shutdown();
	return counted == 1 ? 0 : 1;
}
