/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Kernels on GPUs and cores together, for scripts/check-gpu: x -> 2 x + 1 on vectors of
 * pinned memory and on matrices in larger ones, each some times, wherever the scheduler
 * puts it; at the end all values are compared.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { DATA = 32, N = 1 << 17, ROUNDS = 6, LD = 700, ROWS = 500, COLUMNS = 600 };

__global__ static void step(double *x, unsigned nx, unsigned ny, unsigned ld)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < nx * ny)
		x[i / nx * (size_t)ld + i % nx] = 2 * x[i / nx * (size_t)ld + i % nx] + 1;
}

static void launch(double *x, unsigned nx, unsigned ny, unsigned ld)
{
	step<<<(nx * ny + 255) / 256, 256, 0, starpu_cuda_get_local_stream()>>>(x, nx, ny,
										ld);
	cudaError_t status = cudaGetLastError();

	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

static void vector_cuda(void *buffers[], void *)
{
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

	launch((double *)STARPU_VECTOR_GET_PTR(buffers[0]), n, 1, n);
}

static void vector_cpu(void *buffers[], void *)
{
	double *x = (double *)STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = 2 * x[i] + 1;
}

static void matrix_cuda(void *buffers[], void *)
{
	launch((double *)STARPU_MATRIX_GET_PTR(buffers[0]),
	       STARPU_MATRIX_GET_NX(buffers[0]), STARPU_MATRIX_GET_NY(buffers[0]),
	       STARPU_MATRIX_GET_LD(buffers[0]));
}

static struct starpu_perfmodel model;

static struct starpu_codelet codelet(starpu_cpu_func_t cpu, starpu_cuda_func_t cuda,
				     const char *name)
{
	struct starpu_codelet cl;

	starpu_codelet_init(&cl);
	cl.cpu_funcs[0] = cpu;
	cl.cuda_funcs[0] = cuda;
	cl.cuda_flags[0] = STARPU_CUDA_ASYNC;
	cl.nbuffers = 1;
	cl.modes[0] = STARPU_RW;
	cl.name = name;
	return cl;
}

static int count_wrong(const char *what, const double *x, size_t n, double expected)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] != expected) {
			printf("FAIL %s: element %zu is %g, expected %g\n", what, i, x[i],
			       expected);
			return 1;
		}
	return 0;
}

int main(void)
{
	static double matrix[LD * ROWS];
	double *x[DATA], expected = (1 << ROUNDS) - 1;
	starpu_data_handle_t handles[DATA], whole;
	struct starpu_codelet vectors = codelet(vector_cpu, vector_cuda, "vectors");
	struct starpu_codelet matrices = codelet(NULL, matrix_cuda, "matrices");
	int wrong = 0;
	char name[128];

	if (starpu_init(NULL) != 0 || starpu_cuda_worker_get_count() == 0) {
		puts("skipped: no device");
		return 77;
	}
	starpu_worker_get_name(0, name, sizeof(name));
	puts(name);
	model.type = STARPU_HISTORY_BASED;
	model.symbol = "check_gpu";
	vectors.model = &model;
	for (int i = 0; i < DATA; i++) {
		starpu_malloc((void **)&x[i], N * sizeof(double));
		for (int k = 0; k < N; k++)
			x[i][k] = 0;
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)x[i], N, sizeof(double));
	}
	starpu_matrix_data_register(&whole, STARPU_MAIN_RAM, (uintptr_t)matrix, LD,
				    COLUMNS, ROWS, sizeof(double));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < DATA; i++)
			starpu_task_insert(&vectors, STARPU_RW, handles[i], 0);
		starpu_task_insert(&matrices, STARPU_RW, whole, 0);
	}
	for (int i = 0; i < DATA; i++) {
		starpu_data_unregister(handles[i]);
		wrong += count_wrong("vector", x[i], N, expected);
		starpu_free_noflag(x[i], N * sizeof(double));
	}
	starpu_data_unregister(whole);
	for (int j = 0; j < ROWS; j++) {
		wrong += count_wrong("matrix", matrix + j * LD, COLUMNS, expected);
		wrong += count_wrong("around it", matrix + j * LD + COLUMNS, LD - COLUMNS,
				     0);
	}
	starpu_shutdown();
	printf("%s kernels on GPUs\n", wrong ? "FAIL" : "PASS");
	return wrong != 0;
}
