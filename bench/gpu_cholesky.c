/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Cholesky by tiles on GPUs, in double precision, for real with cuBLAS and cuSOLVER
 * (scripts/calibrate-gpu and scripts/check-gpu compile it so), and in simulation with
 * models of the same kernels: A = L L^T.
 *
 * usage: gpu_cholesky [--check] ROWS ROWS-OF-A-TILE [REPEATS]
 *
 * Prints ROWS,TILE,median seconds,fastest,slowest,GFlop/s,tasks without a model.  The
 * first of the factorisations, which makes all allocations, does not count.  --check:
 * compare L (L^T x) with A x for a random x, and return 1 when they differ.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

#include "gpu_cholesky_kernels.h"

enum { MOST_TILES = 128, MOST_REPEATS = 100 };

struct factorisation {
	int nrows, tile_rows, ntiles, repeats, is_checked, computes;
	double *tiles[MOST_TILES][MOST_TILES]; /* by columns, the lower triangle */
	starpu_data_handle_t handles[MOST_TILES][MOST_TILES];
};

#define CODELET(kernel, symbol_, n, ...)                                                 \
	{                                                                                \
		.cuda_funcs = {gpu_##kernel}, .cuda_flags = {STARPU_CUDA_ASYNC},         \
		.nbuffers = n, .modes = {__VA_ARGS__}, .name = #kernel,                  \
		.model = &(struct starpu_perfmodel)                                      \
		{                                                                        \
			.type = STARPU_HISTORY_BASED, .symbol = symbol_                  \
		}                                                                        \
	}
static struct starpu_codelet potrf = CODELET(potrf, "orrery_dpotrf", 1, STARPU_RW),
			     trsm = CODELET(trsm, "orrery_dtrsm", 2, STARPU_R, STARPU_RW),
			     syrk = CODELET(syrk, "orrery_dsyrk", 2, STARPU_R, STARPU_RW),
			     gemm = CODELET(gemm, "orrery_dgemm", 3, STARPU_R, STARPU_R,
					    STARPU_RW);

/* ---- the matrix -------------------------------------------------------- */

/* A number in [0, 1) from a position (splitmix64, public domain). */
static double random_number(uint64_t at)
{
	uint64_t x = at + 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return ((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* Symmetric, and its diagonal dominates. */
static double element(const struct factorisation *f, int row, int column)
{
	uint64_t low = (uint64_t)(row < column ? row : column);
	uint64_t high = (uint64_t)(row + column) - low;

	return row == column ? f->nrows
			     : random_number(high * (uint64_t)f->nrows + low) - 0.5;
}

static size_t tile_bytes(const struct factorisation *f)
{
	return sizeof(double) * (size_t)f->tile_rows * (size_t)f->tile_rows;
}

static void fill(const struct factorisation *f, int i, int j)
{
	int n = f->tile_rows;

	for (int column = 0; column < n; column++)
		for (int row = 0; row < n; row++)
			f->tiles[i][j][(size_t)column * (size_t)n + (size_t)row] =
				element(f, i * n + row, j * n + column);
}

static void each_tile(struct factorisation *f,
		      void (*one)(struct factorisation *f, int i, int j))
{
	for (int j = 0; j < f->ntiles; j++)
		for (int i = j; i < f->ntiles; i++)
			one(f, i, j);
}

static void allocate_tile(struct factorisation *f, int i, int j)
{
	if (starpu_malloc((void **)&f->tiles[i][j], tile_bytes(f))) {
		fprintf(stderr, "gpu_cholesky: no memory for %d rows\n", f->nrows);
		exit(1);
	}
}

static void free_tile(struct factorisation *f, int i, int j)
{
	starpu_free_noflag(f->tiles[i][j], tile_bytes(f));
}

static void open_tile(struct factorisation *f, int i, int j)
{
	uint32_t n = (uint32_t)f->tile_rows;

	if (f->computes)
		fill(f, i, j);
	starpu_matrix_data_register(&f->handles[i][j], STARPU_MAIN_RAM,
				    (uintptr_t)f->tiles[i][j], n, n, n, sizeof(double));
}

static void close_tile(struct factorisation *f, int i, int j)
{
	starpu_data_unregister(f->handles[i][j]);
}

/* ---- the factorisation --------------------------------------------------- */

static void submit_all(struct factorisation *f)
{
	starpu_data_handle_t(*a)[MOST_TILES] = f->handles;

	for (int k = 0; k < f->ntiles; k++) {
		int priority = f->ntiles - k;

		starpu_task_insert(&potrf, STARPU_RW, a[k][k], STARPU_PRIORITY,
				   2 * priority, 0);
		for (int i = k + 1; i < f->ntiles; i++)
			starpu_task_insert(&trsm, STARPU_R, a[k][k], STARPU_RW, a[i][k],
					   STARPU_PRIORITY, 2 * priority - 1, 0);
		for (int i = k + 1; i < f->ntiles; i++) {
			starpu_task_insert(&syrk, STARPU_R, a[i][k], STARPU_RW, a[i][i],
					   STARPU_PRIORITY, priority, 0);
			for (int j = k + 1; j < i; j++)
				starpu_task_insert(&gemm, STARPU_R, a[i][k], STARPU_R,
						   a[j][k], STARPU_RW, a[i][j],
						   STARPU_PRIORITY, priority - 1, 0);
		}
	}
}

static double factorise_s(struct factorisation *f)
{
	double start_us, seconds;

	each_tile(f, open_tile);
	start_us = starpu_timing_now();
	submit_all(f);
	starpu_task_wait_for_all();
	seconds = 1e-6 * (starpu_timing_now() - start_us);
	each_tile(f, close_tile);
	return seconds;
}

/* ---- the check ----------------------------------------------------------- */

/* y += L x, or L^T x. */
static void multiply(const struct factorisation *f, int transposed, const double *x,
		     double *y)
{
	int n = f->tile_rows;

	for (int j = 0; j < f->nrows; j++)
		for (int i = j; i < f->nrows; i++) {
			double value =
				f->tiles[i / n][j / n]
					[(size_t)(j % n) * (size_t)n + (size_t)(i % n)];

			if (transposed)
				y[j] += value * x[i];
			else
				y[i] += value * x[j];
		}
}

static double *zeros(int n)
{
	double *values = calloc((size_t)n, sizeof(double));

	if (!values)
		abort();
	return values;
}

/* The largest difference, in parts of the largest element of A x. */
static double residual(const struct factorisation *f)
{
	double *x = zeros(f->nrows), *y = zeros(f->nrows), *z = zeros(f->nrows);
	double most = 0, wrong = 0;

	for (int i = 0; i < f->nrows; i++)
		x[i] = random_number(~(uint64_t)i) - 0.5;
	multiply(f, 1, x, y);
	multiply(f, 0, y, z);
	for (int i = 0; i < f->nrows; i++) {
		double expected = 0;

		for (int j = 0; j < f->nrows; j++)
			expected += element(f, i, j) * x[j];
		most = fmax(most, fabs(expected));
		wrong = fmax(wrong, fabs(expected - z[i]));
	}
	free(x);
	free(y);
	free(z);
	return wrong / most;
}

/* ---- life ----------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int read_arguments(struct factorisation *f, int argc, char **argv)
{
	int at = argc > 1 && !strcmp(argv[1], "--check") ? 2 : 1;

	f->is_checked = at == 2;
	f->nrows = argc > at ? atoi(argv[at]) : 2048;
	f->tile_rows = argc > at + 1 ? atoi(argv[at + 1]) : 256;
	f->repeats = argc > at + 2 ? atoi(argv[at + 2]) : 1;
	f->ntiles = f->tile_rows > 0 ? f->nrows / f->tile_rows : 0;
	if (f->ntiles >= 1 && f->ntiles <= MOST_TILES &&
	    f->ntiles * f->tile_rows == f->nrows && f->repeats >= 1 &&
	    f->repeats <= MOST_REPEATS)
		return 0;
	fprintf(stderr,
		"%s: %d rows in tiles of %d, %d times: expected 1 to %d whole tiles, and "
		"1 to %d times\n",
		argv[0], f->nrows, f->tile_rows, f->repeats, MOST_TILES, MOST_REPEATS);
	return -1;
}

static void print(const struct factorisation *f, double *seconds)
{
	double n = f->nrows, median_s;
	struct orrery_stats stats;

	qsort(seconds, (size_t)f->repeats, sizeof(*seconds), compare);
	median_s = seconds[f->repeats / 2];
	memset(&stats, 0, sizeof(stats));
	orrery_get_stats(&stats);
	printf("%d,%d,%.6g,%.6g,%.6g,%.4g,%.0f\n", f->nrows, f->tile_rows, median_s,
	       seconds[0], seconds[f->repeats - 1], 1e-9 / 3 * n * n * n / median_s,
	       (double)stats.uncalibrated_tasks);
}

int main(int argc, char **argv)
{
	static struct factorisation f;
	double seconds[MOST_REPEATS], wrong = 0;

	if (read_arguments(&f, argc, argv))
		return 2;
	if (starpu_init(NULL) != 0 || starpu_cuda_worker_get_count() == 0) {
		puts("skipped: no device");
		return 77;
	}
	f.computes = gpu_kernels_compute();
	gpu_kernels_open(f.tile_rows);
	each_tile(&f, allocate_tile);
	factorise_s(&f);
	for (int i = 0; i < f.repeats; i++)
		seconds[i] = factorise_s(&f);
	if (f.is_checked && f.computes)
		wrong = residual(&f);
	print(&f, seconds);
	each_tile(&f, free_tile);
	gpu_kernels_close();
	starpu_shutdown();
	if (f.is_checked && f.computes)
		printf("%s Cholesky with cuBLAS and cuSOLVER: residual %g, expected at "
		       "most 1e-12\n",
		       wrong <= 1e-12 ? "PASS" : "FAIL", wrong);
	return !(wrong <= 1e-12);
}
