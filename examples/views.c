/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * One matrix, cut into rows and into columns: tasks use the matrix, the rows and the
 * columns by turns, and the library hands the value over between them.
 */
#include <stdio.h>

#include <orrery.h>
#include <starpu.h>

enum { N = 8, ROUNDS = 3 };

static void add_one(void *buffers[], void *arg)
{
	double *x = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
	unsigned ld = STARPU_MATRIX_GET_LD(buffers[0]);

	(void)arg;
	for (unsigned j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (unsigned i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			x[j * ld + i] += 1;
}

static struct starpu_codelet add = {.cpu_funcs = {add_one},
				    .nbuffers = 1,
				    .modes = {STARPU_RW},
				    .model = &starpu_perfmodel_nop,
				    .name = "add"};

int main(void)
{
	struct starpu_data_filter by_rows = {.filter_func = starpu_matrix_filter_block,
					     .nchildren = N};
	struct starpu_data_filter by_columns = {
		.filter_func = starpu_matrix_filter_vertical_block, .nchildren = N / 2};
	starpu_data_handle_t matrix, rows[N], columns[N / 2];
	double x[N][N] = {{0}};
	int executes, wrong = 0;

	if (starpu_init(NULL))
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)x, N, N, N,
				    sizeof x[0][0]);
	starpu_data_partition_plan(matrix, &by_rows, rows);
	starpu_data_partition_plan(matrix, &by_columns, columns);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			starpu_task_insert(&add, STARPU_RW, rows[i], 0);
		for (int i = 0; i < N / 2; i++)
			starpu_task_insert(&add, STARPU_RW, columns[i], 0);
		starpu_task_insert(&add, STARPU_RW, matrix, 0);
	}
	starpu_data_partition_clean(matrix, N, rows);
	starpu_data_partition_clean(matrix, N / 2, columns);
	starpu_data_unregister(matrix); /* waits for the tasks */
	for (int j = 0; executes && j < N; j++)
		for (int i = 0; i < N; i++)
			wrong += x[j][i] != 3 * ROUNDS;
	printf("views: %d of %d values are wrong\n", wrong, N * N);
	starpu_shutdown();
	return wrong != 0;
}
