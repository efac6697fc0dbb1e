/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A sum that goes round the GPUs of all ranks, which may share one, for
 * scripts/check-gpu: each value becomes the sum of itself, the next one's owner's and 1.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu_mpi.h>

enum { DATA = 6, N = 1 << 20, ROUNDS = 10 };

static __global__ void add(double *y, const double *x, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += x[i] + 1;
}

static void add_cuda(void *buffers[], void *)
{
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

	add<<<(n + 255) / 256, 256, 0, starpu_cuda_get_local_stream()>>>(
		(double *)STARPU_VECTOR_GET_PTR(buffers[0]),
		(const double *)STARPU_VECTOR_GET_PTR(buffers[1]), n);
	if (cudaGetLastError() != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(cudaErrorLaunchFailure);
}

static double *values[DATA];
static double expected[DATA];

static void insert_all(starpu_data_handle_t handles[])
{
	static struct starpu_codelet adds;

	starpu_codelet_init(&adds);
	adds.cuda_funcs[0] = add_cuda;
	adds.cuda_flags[0] = STARPU_CUDA_ASYNC;
	adds.nbuffers = 2;
	adds.modes[0] = STARPU_RW;
	adds.modes[1] = STARPU_R;
	adds.name = "adds";
	for (int i = 0; i < ROUNDS * DATA; i++) {
		int to = i % DATA, from = (i + 1) % DATA;

		starpu_mpi_task_insert(MPI_COMM_WORLD, &adds, STARPU_RW, handles[to],
				       STARPU_R, handles[from], 0);
		expected[to] += expected[from] + 1;
	}
	starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[DATA];
	int rank, size, nwrong = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0 ||
	    starpu_cuda_worker_get_count() == 0) {
		puts("skipped: no device");
		return 77;
	}
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	for (int i = 0; i < DATA; i++) {
		int mine = i % size == rank;

		if (mine) {
			starpu_malloc((void **)&values[i], N * sizeof(double));
			for (int k = 0; k < N; k++)
				values[i][k] = 0;
		}
		starpu_vector_data_register(&handles[i], mine ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)values[i], N, sizeof(double));
		starpu_mpi_data_register(handles[i], i + 1, i % size);
	}
	insert_all(handles);
	for (int i = 0; i < DATA; i++) {
		starpu_data_unregister(handles[i]);
		for (int k = 0; values[i] && k < N; k++)
			nwrong += values[i][k] != expected[i];
		if (values[i])
			starpu_free_noflag(values[i], N * sizeof(double));
	}
	printf("%s sums go round the GPUs of %d ranks: %d of rank %d's are wrong\n",
	       nwrong ? "FAIL" : "PASS", size, nwrong, rank);
	starpu_mpi_shutdown();
	return nwrong != 0;
}
