/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a CUDA device costs its host: launches, events, copies of rows, both directions at
 * once, and kernels on several streams.  Medians of RUNS.
 */
#include <stdlib.h>
#include <string.h>

#include "calibrate_gpu.h"

enum { RUNS = 21, REPEATS = 1000, MAX_STREAMS = 16, ROWS = 1024, LARGE_MIB = 64 };

struct costs {
	struct device *d;
	FILE *f;
	double *x, *y;      /* LARGE_MIB on the device */
	void *there, *back; /* as much, pinned */
	cudaStream_t streams[MAX_STREAMS];
	int n; /* of what is measured */
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the seconds that one() takes, once the device has nothing to do. */
static double median_s(struct costs *costs, void (*one)(struct costs *costs))
{
	double seconds[RUNS];

	one(costs);
	for (int i = 0; i < RUNS; i++) {
		double start_s;

		CHECK(cudaDeviceSynchronize());
		start_s = now_s();
		one(costs);
		seconds[i] = now_s() - start_s;
	}
	CHECK(cudaDeviceSynchronize());
	qsort(seconds, RUNS, sizeof *seconds, compare);
	return seconds[RUNS / 2];
}

static void tell(struct costs *costs, const char *what, double value, const char *unit)
{
	fprintf(costs->f, "%s,%d,%.4g,%s\n", what, costs->n, value, unit);
	fflush(costs->f);
}

/* ---- calls ------------------------------------------------------------ */

static void launch(struct costs *costs)
{
	const double one = 1;

	for (int i = 0; i < costs->n; i++)
		CHECK(cublasDscal(costs->d->blas, 1, &one, costs->x, 1));
}

static void launch_and_wait(struct costs *costs)
{
	launch(costs);
	CHECK(cudaStreamSynchronize(costs->d->stream));
}

static void record(struct costs *costs)
{
	for (int i = 0; i < costs->n; i++)
		CHECK(cudaEventRecord(costs->d->stop, costs->d->stream));
}

static void query(struct costs *costs)
{
	for (int i = 0; i < costs->n; i++)
		CHECK(cudaEventQuery(costs->d->start));
}

static void allocate(struct costs *costs)
{
	void *block;

	for (int i = 0; i < costs->n; i++) {
		CHECK(cudaMalloc(&block, LARGE_MIB << 20));
		CHECK(cudaFree(block));
	}
}

static void measure_calls(struct costs *costs)
{
	CHECK(cudaEventRecord(costs->d->start, costs->d->stream));
	costs->n = 1;
	tell(costs, "launch and wait", 1e6 * median_s(costs, launch_and_wait), "us");
	tell(costs, "allocate and free", 1e6 * median_s(costs, allocate), "us");
	costs->n = REPEATS;
	tell(costs, "launch", 1e6 * median_s(costs, launch) / REPEATS, "us each");
	tell(costs, "launch and run", 1e6 * median_s(costs, launch_and_wait) / REPEATS,
	     "us each");
	tell(costs, "record an event", 1e6 * median_s(costs, record) / REPEATS,
	     "us each");
	tell(costs, "query an event", 1e6 * median_s(costs, query) / REPEATS, "us each");
}

/* ---- copies ------------------------------------------------------------ */

static void copy_there(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->there, LARGE_MIB << 20,
			      cudaMemcpyHostToDevice, costs->streams[0]));
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

static void copy_back(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->back, costs->y, LARGE_MIB << 20,
			      cudaMemcpyDeviceToHost, costs->streams[1]));
	CHECK(cudaStreamSynchronize(costs->streams[1]));
}

static void copy_both(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->there, LARGE_MIB << 20,
			      cudaMemcpyHostToDevice, costs->streams[0]));
	copy_back(costs);
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

static void copy_on_device(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->y, LARGE_MIB << 20,
			      cudaMemcpyDeviceToDevice, costs->streams[0]));
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

/* A tile of n rows of ROWS doubles in rows twice as long. */
static void copy_rows(struct costs *costs)
{
	size_t row = ROWS * sizeof(double);

	CHECK(cudaMemcpy2DAsync(costs->x, row, costs->there, 2 * row, row,
				(size_t)costs->n, cudaMemcpyHostToDevice,
				costs->streams[0]));
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

static void measure_copies_together(struct costs *costs)
{
	double gigabytes = (LARGE_MIB << 20) * 1e-9;

	costs->n = LARGE_MIB;
	tell(costs, "MiB to the device", gigabytes / median_s(costs, copy_there), "GB/s");
	tell(costs, "MiB from the device", gigabytes / median_s(costs, copy_back),
	     "GB/s");
	tell(costs, "MiB in each direction at once",
	     2 * gigabytes / median_s(costs, copy_both), "GB/s");
	tell(costs, "MiB within the device", gigabytes / median_s(costs, copy_on_device),
	     "GB/s");
	for (costs->n = 1; costs->n <= ROWS; costs->n *= 4)
		tell(costs, "rows of 8 KiB to the device",
		     1e-9 * ROWS * sizeof(double) * costs->n / median_s(costs, copy_rows),
		     "GB/s");
}

/* ---- streams ----------------------------------------------------------- */

struct products {
	int nstreams, tile;
};

static void multiply(struct costs *costs, struct products products)
{
	const double one = 1, zero = 0;
	int n = products.tile;
	size_t square = (size_t)n * (size_t)n;

	for (int i = 0; i < costs->n; i++) {
		int lane = i % products.nstreams;

		CHECK(cublasSetStream(costs->d->blas, costs->streams[lane]));
		CHECK(cublasDgemm(costs->d->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one,
				  costs->x, n, costs->x + square, n, &zero,
				  costs->y + (size_t)lane * square, n));
	}
	CHECK(cudaDeviceSynchronize());
}

static void measure_streams(struct costs *costs, int tile)
{
	char what[64];

	costs->n = 64;
	for (int nstreams = 1; nstreams <= MAX_STREAMS; nstreams *= 2) {
		struct products products = {nstreams, tile};
		double best_s = 0;

		for (int i = 0; i < RUNS; i++) {
			double start_s = now_s(), seconds;

			multiply(costs, products);
			seconds = now_s() - start_s;
			best_s = i < 2 || seconds < best_s ? seconds : best_s;
		}
		snprintf(what, sizeof what, "dgemm of %d on %d streams", tile, nstreams);
		tell(costs, what, 2e-9 * tile * tile * tile * costs->n / best_s,
		     "GFlop/s");
	}
	CHECK(cublasSetStream(costs->d->blas, costs->d->stream));
}

int calibrate_costs(struct device *d, const char *dir, const char *host)
{
	static const int sizes[] = {128, 256, 512, 704};
	struct costs costs = {.d = d};
	char path[1024];

	snprintf(path, sizeof path, "%s/costs.%s.csv", dir, host);
	costs.f = fopen(path, "w");
	if (!costs.f) {
		perror(path);
		return -1;
	}
	fprintf(costs.f, "what,n,value,unit\n");
	CHECK(cudaMalloc((void **)&costs.x, LARGE_MIB << 20));
	CHECK(cudaMalloc((void **)&costs.y, LARGE_MIB << 20));
	CHECK(cudaMemset(costs.x, 0, LARGE_MIB << 20));
	CHECK(cudaMallocHost(&costs.there, LARGE_MIB << 20));
	CHECK(cudaMallocHost(&costs.back, LARGE_MIB << 20));
	memset(costs.there, 0, LARGE_MIB << 20);
	for (int i = 0; i < MAX_STREAMS; i++)
		CHECK(cudaStreamCreateWithFlags(&costs.streams[i],
						cudaStreamNonBlocking));
	measure_calls(&costs);
	measure_copies_together(&costs);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		measure_streams(&costs, sizes[i]);
	for (int i = 0; i < MAX_STREAMS; i++)
		CHECK(cudaStreamDestroy(costs.streams[i]));
	CHECK(cudaFreeHost(costs.back));
	CHECK(cudaFreeHost(costs.there));
	CHECK(cudaFree(costs.y));
	CHECK(cudaFree(costs.x));
	return fclose(costs.f);
}
