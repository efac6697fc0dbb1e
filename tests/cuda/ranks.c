/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Values that travel between ranks from and to CUDA devices, on the stand-in for CUDA,
 * which is no GPU: a sum that goes round, with a device's kernel on each rank.
 */
#include <starpu_mpi.h>

#include "../api/claim.h"
#include "on_device.h"

int claim_failures;

enum { DATA = 6, N = 3000, ROUNDS = 10 };

/* y += x + 1 */
static void add(const struct launch *launch)
{
	double *y = standin_at(launch->ptr[0]);
	const double *x = standin_at(launch->ptr[1]);

	for (size_t i = 0; i < launch->nx; i++)
		y[i] += x[i] + 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add,
				    .nx = STARPU_VECTOR_GET_NX(buffers[0]),
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0]),
					    (char *)STARPU_VECTOR_GET_PTR(buffers[1])}});
}

static struct starpu_codelet adds = {.cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_R},
				     .name = "adds"};

static void sums_go_round(void)
{
	static double x[DATA][N];
	double expected[DATA] = {0};
	starpu_data_handle_t handles[DATA];
	int rank = starpu_mpi_world_rank(), size = starpu_mpi_world_size();

	for (int i = 0; i < DATA; i++) {
		int mine = i % size == rank;

		starpu_vector_data_register(&handles[i], mine ? STARPU_MAIN_RAM : -1,
					    mine ? (uintptr_t)x[i] : 0, N,
					    sizeof(double));
		starpu_mpi_data_register(handles[i], i + 1, i % size);
	}
	for (int i = 0; i < ROUNDS * DATA; i++) {
		int to = i % DATA, from = (i + 1) % DATA;

		starpu_mpi_task_insert(MPI_COMM_WORLD, &adds, STARPU_RW, handles[to],
				       STARPU_R, handles[from], 0);
		expected[to] += expected[from] + 1;
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < DATA; i++) {
		starpu_data_unregister(handles[i]);
		for (int k = 0; i % size == rank && k < N; k++)
			CLAIM_EQ(x[i][k], expected[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"sums go round by devices of all ranks", sums_go_round}, {NULL, NULL}};
	int ret;

	standin_use();
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	ret = claims_run(claims, starpu_mpi_world_rank() != 0);
	starpu_mpi_shutdown();
	return ret;
}
