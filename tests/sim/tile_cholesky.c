/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * A tiled Cholesky factorisation of one matrix in main memory, as StarPU's example has
 * it, whose simulated makespans starpu_dates.py compares with StarPU's.
 * usage: tile_cholesky TILE NBLOCKS
 */
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>
#include <starpu_scheduler.h>

#define KERNELS(name_, n, model_, ...)                                                   \
	{                                                                                \
		.cpu_funcs = {(starpu_cpu_func_t)1},                                     \
		.cuda_funcs = {(starpu_cuda_func_t)1},                                   \
		.cuda_flags = {STARPU_CUDA_ASYNC}, .nbuffers = (n),                      \
		.modes = {__VA_ARGS__}, .model = (model_), .name = (name_)               \
	}

static struct starpu_perfmodel models[] = {
	{.type = STARPU_HISTORY_BASED, .symbol = "chol_model_potrf"},
	{.type = STARPU_HISTORY_BASED, .symbol = "chol_model_trsm"},
	{.type = STARPU_HISTORY_BASED, .symbol = "chol_model_syrk"},
	{.type = STARPU_HISTORY_BASED, .symbol = "chol_model_gemm"}};
static struct starpu_codelet potrf = KERNELS("potrf", 1, &models[0], STARPU_RW);
static struct starpu_codelet trsm = KERNELS("trsm", 2, &models[1], STARPU_R, STARPU_RW);
static struct starpu_codelet syrk = KERNELS("syrk", 2, &models[2], STARPU_R, STARPU_RW);
static struct starpu_codelet gemm =
	KERNELS("gemm", 3, &models[3], STARPU_R, STARPU_R, STARPU_RW);

static starpu_data_handle_t matrix;
static int nblocks, is_unbounded;

static starpu_data_handle_t tile(int row, int column)
{
	return starpu_data_get_sub_data(matrix, 2, column, row);
}

static int priority(int unbounded, int is_urgent)
{
	if (is_unbounded)
		return unbounded;
	return is_urgent ? STARPU_MAX_PRIO : STARPU_DEFAULT_PRIO;
}

static void update(int k)
{
	int n2 = 2 * nblocks;

	for (int n = k + 1; n < nblocks; n++) {
		starpu_task_insert(&syrk, STARPU_R, tile(n, k), STARPU_RW, tile(n, n),
				   STARPU_PRIORITY, priority(n2 - 2 * k - n, n == k + 1),
				   0);
		for (int m = n + 1; m < nblocks; m++)
			starpu_task_insert(&gemm, STARPU_R, tile(m, k), STARPU_R,
					   tile(n, k), STARPU_RW, tile(m, n),
					   STARPU_PRIORITY,
					   priority(n2 - 2 * k - m - n, 0), 0);
		starpu_data_wont_use(tile(n, k));
	}
}

static void factorise(void)
{
	int n2 = 2 * nblocks;

	for (int k = 0; k < nblocks; k++) {
		starpu_task_insert(&potrf, STARPU_RW, tile(k, k), STARPU_PRIORITY,
				   priority(n2 - 2 * k, 1), 0);
		for (int m = k + 1; m < nblocks; m++)
			starpu_task_insert(&trsm, STARPU_R, tile(k, k), STARPU_RW,
					   tile(m, k), STARPU_PRIORITY,
					   priority(n2 - 2 * k - m, m == k + 1), 0);
		starpu_data_wont_use(tile(k, k));
		update(k);
	}
	starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
	struct starpu_data_filter columns = {.filter_func =
						     starpu_matrix_filter_vertical_block};
	struct starpu_data_filter rows = {.filter_func = starpu_matrix_filter_block};
	unsigned n;
	double start_us;
	float *values;

	if (argc != 3 || starpu_init(NULL))
		return 1;
	nblocks = atoi(argv[2]);
	n = (unsigned)atoi(argv[1]) * (unsigned)nblocks;
	is_unbounded = STARPU_MAX_PRIO - (long)STARPU_MIN_PRIO > 1 << 30;
	columns.nchildren = rows.nchildren = (unsigned)nblocks;
	starpu_malloc((void **)&values, (size_t)n * n * sizeof(*values));
	starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM, (uintptr_t)values, n, n, n,
				    sizeof(*values));
	starpu_data_map_filters(matrix, 2, &columns, &rows);
	start_us = starpu_timing_now();
	factorise();
	printf("makespan: %.9f s\n", (starpu_timing_now() - start_us) * 1e-6);
	starpu_data_unpartition(matrix, STARPU_MAIN_RAM);
	starpu_data_unregister(matrix);
	starpu_free_noflag(values, (size_t)n * n * sizeof(*values));
	starpu_shutdown();
	return 0;
}
