/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a CUDA device costs its host: launches, events, copies of rows, both directions at
 * once, and kernels on several streams.  Medians of RUNS, or of fewer where fewer are
 * asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "calibrate_gpu.h"

enum { RUNS = 21, REPEATS = 1000, MAX_STREAMS = 16, ROWS = 1024, MOST_MIB = 64 };

struct costs {
	struct device *d;
	struct table *table;
	double *x, *y;      /* nbytes of each on the device */
	void *there, *back; /* as much, pinned */
	size_t nbytes;
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
	int runs = costs->table->limits.runs < RUNS ? costs->table->limits.runs : RUNS;
	double seconds[RUNS];

	one(costs);
	for (int i = 0; i < runs; i++) {
		double start_s;

		CHECK(cudaDeviceSynchronize());
		start_s = now_s();
		one(costs);
		seconds[i] = now_s() - start_s;
	}
	CHECK(cudaDeviceSynchronize());
	qsort(seconds, (size_t)runs, sizeof *seconds, compare);
	return seconds[runs / 2];
}

/* 1: this is to be measured with n of them. */
static int wants(struct costs *costs, const char *what, int n)
{
	char key[96];

	costs->n = n;
	snprintf(key, sizeof key, "%s,%d,", what, n);
	return table_wants(costs->table, key);
}

static void tell(struct costs *costs, const char *what, double value, const char *unit)
{
	table_add(costs->table, "%s,%d,%.4g,%s", what, costs->n, value, unit);
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
		CHECK(cudaMalloc(&block, costs->nbytes));
		CHECK(cudaFree(block));
	}
}

static const struct {
	const char *what;
	void (*one)(struct costs *costs);
	int n;
} calls[] = {{"launch and wait", launch_and_wait, 1},
	     {"allocate and free", allocate, 1},
	     {"launch", launch, REPEATS},
	     {"launch and run", launch_and_wait, REPEATS},
	     {"record an event", record, REPEATS},
	     {"query an event", query, REPEATS}};

static void measure_calls(struct costs *costs)
{
	CHECK(cudaEventRecord(costs->d->start, costs->d->stream));
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (wants(costs, calls[i].what, calls[i].n))
			tell(costs, calls[i].what,
			     1e6 * median_s(costs, calls[i].one) / calls[i].n, "us each");
}

/* ---- copies ------------------------------------------------------------ */

static void copy_there(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->there, costs->nbytes,
			      cudaMemcpyHostToDevice, costs->streams[0]));
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

static void copy_back(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->back, costs->y, costs->nbytes,
			      cudaMemcpyDeviceToHost, costs->streams[1]));
	CHECK(cudaStreamSynchronize(costs->streams[1]));
}

static void copy_both(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->there, costs->nbytes,
			      cudaMemcpyHostToDevice, costs->streams[0]));
	copy_back(costs);
	CHECK(cudaStreamSynchronize(costs->streams[0]));
}

static void copy_on_device(struct costs *costs)
{
	CHECK(cudaMemcpyAsync(costs->x, costs->y, costs->nbytes, cudaMemcpyDeviceToDevice,
			      costs->streams[0]));
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

static const struct {
	const char *what;
	void (*one)(struct costs *costs);
	int times;
} copies[] = {{"MiB to the device", copy_there, 1},
	      {"MiB from the device", copy_back, 1},
	      {"MiB in each direction at once", copy_both, 2},
	      {"MiB within the device", copy_on_device, 1}};

static void measure_copies_together(struct costs *costs)
{
	double gigabytes = 1e-9 * (double)costs->nbytes;

	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		if (wants(costs, copies[i].what, (int)(costs->nbytes >> 20)))
			tell(costs, copies[i].what,
			     copies[i].times * gigabytes / median_s(costs, copies[i].one),
			     "GB/s");
	for (int n = 1; 2 * n * ROWS * sizeof(double) <= costs->nbytes && n <= ROWS;
	     n *= 4)
		if (wants(costs, "rows of 8 KiB to the device", n))
			tell(costs, "rows of 8 KiB to the device",
			     1e-9 * ROWS * sizeof(double) * n /
				     median_s(costs, copy_rows),
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

static double products_s(struct costs *costs, struct products products)
{
	int runs = costs->table->limits.runs < RUNS ? costs->table->limits.runs : RUNS;
	double best_s = 0;

	/* The first two make the streams' workspaces. */
	for (int i = -2; i < runs; i++) {
		double start_s = now_s(), seconds;

		multiply(costs, products);
		seconds = now_s() - start_s;
		best_s = i <= 0 || seconds < best_s ? seconds : best_s;
	}
	return best_s;
}

static void measure_streams(struct costs *costs, int tile)
{
	char what[64];

	for (int nstreams = 1; nstreams <= MAX_STREAMS; nstreams *= 2) {
		snprintf(what, sizeof what, "dgemm of %d on %d streams", tile, nstreams);
		if (wants(costs, what, 64))
			tell(costs, what,
			     2e-9 * tile * tile * tile * costs->n /
				     products_s(costs, (struct products){nstreams, tile}),
			     "GFlop/s");
	}
	CHECK(cublasSetStream(costs->d->blas, costs->d->stream));
}

void calibrate_costs(struct device *d, struct table *table)
{
	static const int sizes[] = {128, 256, 512, 704};
	struct costs costs = {.d = d, .table = table};
	int largest = table->limits.largest;

	/* As much as the largest products want, and no more than a small device has. */
	costs.nbytes = (size_t)(largest >= 512 ? MOST_MIB : 16) << 20;
	CHECK(cudaMalloc((void **)&costs.x, costs.nbytes));
	CHECK(cudaMalloc((void **)&costs.y, costs.nbytes));
	CHECK(cudaMemset(costs.x, 0, costs.nbytes));
	CHECK(cudaMallocHost(&costs.there, costs.nbytes));
	CHECK(cudaMallocHost(&costs.back, costs.nbytes));
	memset(costs.there, 0, costs.nbytes);
	for (int i = 0; i < MAX_STREAMS; i++)
		CHECK(cudaStreamCreateWithFlags(&costs.streams[i],
						cudaStreamNonBlocking));
	measure_calls(&costs);
	measure_copies_together(&costs);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (sizes[i] <= largest)
			measure_streams(&costs, sizes[i]);
	for (int i = 0; i < MAX_STREAMS; i++)
		CHECK(cudaStreamDestroy(costs.streams[i]));
	CHECK(cudaFreeHost(costs.back));
	CHECK(cudaFreeHost(costs.there));
	CHECK(cudaFree(costs.y));
	CHECK(cudaFree(costs.x));
}
