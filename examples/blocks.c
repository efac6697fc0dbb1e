/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* Node 0 scatters blocks of a vector and broadcasts a factor; each node scales its
 * blocks; node 0 gathers them. */
#include <stdio.h>

#include <orrery.h>
#include <orrery_mpi.h>

enum { BLOCKS = 12, LENGTH = 1000, FACTOR_TAG = BLOCKS };

static double vector[BLOCKS][LENGTH];

static void scale_cpu(void *buffers[], void *arg)
{
	double *x = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);
	double factor = *(double *)STARPU_VARIABLE_GET_PTR(buffers[1]);

	(void)arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] *= factor;
}

static struct starpu_codelet scale = {
	.cpu_funcs = {scale_cpu},
	.nbuffers = 2,
	.modes = {STARPU_RW, STARPU_R},
	.model = &starpu_perfmodel_nop,
	.name = "scale",
};

static int count_wrong(void)
{
	int nwrong = 0;

	for (int i = 0; i < BLOCKS * LENGTH; i++)
		nwrong += vector[i / LENGTH][i % LENGTH] != 3.0 * i;
	return nwrong;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t blocks[BLOCKS], factor;
	double factor_value = 0;
	int rank, size, executes, nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	for (int i = 0; rank == 0 && i < BLOCKS * LENGTH; i++)
		vector[i / LENGTH][i % LENGTH] = i;
	if (rank == 0)
		factor_value = 3;
	for (int i = 0; i < BLOCKS; i++) {
		/* Where a node has no memory of its own, the library finds some. */
		starpu_vector_data_register(&blocks[i], rank == 0 ? STARPU_MAIN_RAM : -1,
					    rank == 0 ? (uintptr_t)vector[i] : 0, LENGTH,
					    sizeof(double));
		starpu_mpi_data_register(blocks[i], i, i % size);
	}
	starpu_variable_data_register(&factor, STARPU_MAIN_RAM, (uintptr_t)&factor_value,
				      sizeof(factor_value));
	starpu_mpi_data_register(factor, FACTOR_TAG, 0);

	starpu_mpi_scatter_detached(blocks, BLOCKS, 0, MPI_COMM_WORLD, NULL, NULL, NULL,
				    NULL);
	orrery_mpi_broadcast_detached(factor, MPI_COMM_WORLD, 1, NULL, NULL);
	for (int i = 0; i < BLOCKS; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &scale, STARPU_RW, blocks[i],
				       STARPU_R, factor, 0);
	starpu_mpi_gather_detached(blocks, BLOCKS, 0, MPI_COMM_WORLD, NULL, NULL, NULL,
				   NULL);

	for (int i = 0; i < BLOCKS; i++)
		starpu_data_unregister(blocks[i]);
	starpu_data_unregister(factor);
	if (rank == 0 && executes)
		nwrong = count_wrong();
	if (rank == 0)
		printf("blocks: %d blocks on %d nodes, %d wrong numbers\n", BLOCKS, size,
		       nwrong);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
