/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * What a task on a GPU costs beside its kernel, which is the shortest that there is:
 * scripts/calibrate-gpu makes of it what a GPU's driver needs for each kernel.
 *
 * usage: gpu_tasks [TASKS]
 *
 * Prints lines "what,us": microseconds for each of TASKS (20000) tasks, the median of
 * five times, where many wait and where each waits for the one before; with and without
 * a performance model.
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_cublas_v2.h>

enum { DATA = 64, TIMES = 5, ELEMENTS = 16 };

static void scale(void *buffers[], void *arg)
{
	const double one = 1;
	cublasStatus_t status =
		cublasDscal(starpu_cublas_get_local_handle(), 1, &one,
			    (double *)STARPU_VECTOR_GET_PTR(buffers[0]), 1);

	(void)arg;
	if (status != CUBLAS_STATUS_SUCCESS)
		STARPU_CUBLAS_REPORT_ERROR(status);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
					.symbol = "orrery_gpu_tasks"};
static struct starpu_codelet scales = {.cuda_funcs = {scale},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = 1,
				       .modes = {STARPU_RW},
				       .name = "scale"};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double task_us(starpu_data_handle_t *handles, int ndata, int ntasks)
{
	double us[TIMES];

	for (int k = -1; k < TIMES; k++) {
		double start_us = starpu_timing_now();

		for (int i = 0; i < ntasks; i++)
			starpu_task_insert(&scales, STARPU_RW, handles[i % ndata], 0);
		starpu_task_wait_for_all();
		if (k >= 0)
			us[k] = (starpu_timing_now() - start_us) / ntasks;
	}
	qsort(us, TIMES, sizeof *us, compare);
	return us[TIMES / 2];
}

int main(int argc, char **argv)
{
	int ntasks = argc > 1 ? atoi(argv[1]) : 20000;
	starpu_data_handle_t handles[DATA];
	static double x[DATA][ELEMENTS];

	if (starpu_init(NULL) != 0 || starpu_cuda_worker_get_count() == 0) {
		puts("skipped: no device");
		return 77;
	}
	starpu_cublas_init();
	for (int i = 0; i < DATA; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)x[i],
					    ELEMENTS, sizeof(double));
	puts("what,us");
	printf("task,%.3f\n", task_us(handles, DATA, ntasks));
	printf("task in a chain,%.3f\n", task_us(handles, 1, ntasks / 4 + 1));
	scales.model = &model;
	printf("task with a model,%.3f\n", task_us(handles, DATA, ntasks));
	printf("task with a model in a chain,%.3f\n",
	       task_us(handles, 1, ntasks / 4 + 1));
	for (int i = 0; i < DATA; i++)
		starpu_data_unregister(handles[i]);
	starpu_cublas_shutdown();
	starpu_shutdown();
	return 0;
}
