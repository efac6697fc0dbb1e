/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Measures the kernels of tiled Cholesky on one core with OpenBLAS and writes one
 * performance model for each: DIR/orrery_KERNEL.HOST.  The machine should be idle.
 *
 * usage: calibrate_kernels DIR HOST DEVICE-DESCRIPTION [LARGEST-TILE [KERNEL]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>
#include <lapacke.h>

#include "model_writer.h"

enum {
	PASSES = 3,    /* over all sizes: the least disturbed counts */
	MIN_RUNS = 11, /* StarPU trusts a size from 10 on */
	MAX_RUNS = 101,
	NSETS = 64, /* operands in use, so that small tiles are not always in L1 */
	SETS_BYTES = 64 << 20
};

static const double enough_s = 0.1; /* for one size of one kernel in one pass */

static const int tiles[] = {64,  96,  128, 192,  256,  320,  384,  512,
			    640, 768, 960, 1024, 1280, 1536, 1920, 2048};

enum kernel { POTRF, TRSM, SYRK, GEMM, NKERNELS };

static const struct {
	const char *name;
	int ntiles;
	double flops; /* times the cube of the tile's rows */
} kernels[NKERNELS] = {
	[POTRF] = {"potrf", 1, 1. / 3},
	[TRSM] = {"trsm", 2, 1},
	[SYRK] = {"syrk", 2, 1},
	[GEMM] = {"gemm", 3, 2},
};

/* Operands of one call; original is what potrf must find again each time. */
struct operands {
	void *a, *b, *c;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *must_alloc(size_t bytes)
{
	void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

	if (!memory) {
		fprintf(stderr, "calibrate_kernels: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return memory;
}

/* Positive definite, and near the unit matrix, so that repeated solves stay finite. */
static void *new_tile(int n, int is_double)
{
	void *tile = must_alloc((size_t)n * n * (is_double ? 8 : 4));

	for (long i = 0; i < (long)n * n; i++) {
		double value = (rand() / (double)RAND_MAX - 0.5) / n + (i % (n + 1) == 0);

		if (is_double)
			((double *)tile)[i] = value;
		else
			((float *)tile)[i] = value;
	}
	return tile;
}

static void call_single(enum kernel kernel, int n, const struct operands *o)
{
	switch (kernel) {
	case POTRF:
		LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', n, o->a, n);
		break;
	case TRSM:
		cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
			    CblasNonUnit, n, n, 1, o->a, n, o->b, n);
		break;
	case SYRK:
		cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, o->a, n, 1,
			    o->b, n);
		break;
	default:
		cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, o->a, n,
			    o->b, n, 1, o->c, n);
	}
}

static void call_double(enum kernel kernel, int n, const struct operands *o)
{
	switch (kernel) {
	case POTRF:
		LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, o->a, n);
		break;
	case TRSM:
		cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
			    CblasNonUnit, n, n, 1, o->a, n, o->b, n);
		break;
	case SYRK:
		cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, o->a, n, 1,
			    o->b, n);
		break;
	default:
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, o->a, n,
			    o->b, n, 1, o->c, n);
	}
}

static double time_call(enum kernel kernel, int n, int is_double,
			const struct operands *o, const void *original)
{
	double start;

	if (kernel == POTRF)
		memcpy(o->a, original, (size_t)n * n * (is_double ? 8 : 4));
	start = now_s();
	if (is_double)
		call_double(kernel, n, o);
	else
		call_single(kernel, n, o);
	return now_s() - start;
}

static void measure(struct writer_size *size, enum kernel kernel, int is_double)
{
	double seconds[MAX_RUNS], until;
	struct operands sets[NSETS];
	int n = size->tile, nsets, runs = 0;
	size_t bytes = (size_t)3 * n * n * size->elem_bytes;
	void *original = new_tile(n, is_double);

	nsets = SETS_BYTES / bytes < NSETS ? SETS_BYTES / bytes + 1 : NSETS;
	for (int i = 0; i < nsets; i++)
		sets[i] =
			(struct operands){new_tile(n, is_double), new_tile(n, is_double),
					  new_tile(n, is_double)};
	time_call(kernel, n, is_double, &sets[0], original); /* loads the code */
	until = now_s() + enough_s;
	while (runs < MIN_RUNS || (runs < MAX_RUNS && now_s() < until)) {
		seconds[runs] =
			time_call(kernel, n, is_double, &sets[runs % nsets], original);
		runs++;
	}
	writer_summarise(size, seconds, runs);
	for (int i = 0; i < nsets; i++) {
		free(sets[i].a);
		free(sets[i].b);
		free(sets[i].c);
	}
	free(original);
}

/* Another program on the sibling of a core can halve its speed for a while, so each
 * size is measured at three moments, and the fastest median is kept. */
static void measure_all(struct writer *writer, enum kernel kernel, int is_double)
{
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < writer->nsizes; i++) {
			struct writer_size *size = &writer->sizes[i], again = *size;

			measure(&again, kernel, is_double);
			if (!pass || again.median_us < size->median_us)
				*size = again;
		}
}

/* One file, unless only another kernel (like "dgemm") is wanted. */
static int calibrate(struct writer *writer, enum kernel kernel, int is_double,
		     int largest, const char *only)
{
	char symbol[64];

	snprintf(symbol, sizeof symbol, "orrery_%c%s", is_double ? 'd' : 's',
		 kernels[kernel].name);
	if (only && strcmp(only, symbol + strlen("orrery_")))
		return 0;
	writer->symbol = symbol;
	writer->nsizes = 0;
	for (unsigned t = 0; t < sizeof tiles / sizeof *tiles && tiles[t] <= largest;
	     t++) {
		double n = tiles[t];

		writer->sizes[writer->nsizes++] =
			(struct writer_size){.tile = tiles[t],
					     .ntiles = kernels[kernel].ntiles,
					     .elem_bytes = is_double ? 8 : 4,
					     .flops = kernels[kernel].flops * n * n * n};
	}
	measure_all(writer, kernel, is_double);
	for (int i = 0; i < writer->nsizes; i++) {
		const struct writer_size *size = &writer->sizes[i];

		printf("%s,%d,%.3f,%.3f,%d,%.2f\n", symbol, size->tile, size->median_us,
		       size->deviation_us, size->nsample,
		       size->flops / size->median_us * 1e-3);
	}
	fflush(stdout);
	return writer_write(writer);
}

int main(int argc, char **argv)
{
	struct writer writer = {0};
	char comment[1024], date[32];
	time_t now = time(NULL);
	int largest = argc > 4 ? atoi(argv[4]) : 2048;

	if (argc < 4) {
		fprintf(stderr, "usage: %s DIR HOST DEVICE [LARGEST-TILE [KERNEL]]\n",
			argv[0]);
		return 2;
	}
	openblas_set_num_threads(1);
	strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
	snprintf(comment, sizeof comment,
		 "Measured by bench/calibrate_kernels of Orrery on %s.\n"
		 "Device: %s, one core.\n"
		 "Library: %s, one thread.\n"
		 "Mean is the median of the runs in the fastest of %d passes, deviation\n"
		 "1.4826 times the median distance from it; the sums give these two.",
		 date, argv[3], openblas_get_config(), PASSES);
	writer.dir = argv[1];
	writer.host = argv[2];
	writer.comment = comment;
	printf("symbol,tile,median_us,deviation_us,runs,gflops\n");
	for (int is_double = 0; is_double < 2; is_double++)
		for (enum kernel kernel = 0; kernel < NKERNELS; kernel++)
			if (calibrate(&writer, kernel, is_double, largest,
				      argc > 5 ? argv[5] : NULL))
				return 1;
	return 0;
}
