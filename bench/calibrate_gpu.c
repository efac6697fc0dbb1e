/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Measures the kernels of tiled Cholesky, LU and QR on a CUDA device with cuBLAS and
 * cuSOLVER, copies between host and device, and what launches, events and streams cost.
 * Nothing else should use the device.
 *
 * Not part of the build: scripts/calibrate-gpu compiles it where CUDA is installed, and
 * runs it; bench/write_models makes models of what it measures.
 *
 * usage: calibrate_gpu device
 *	what CUDA says of the device
 *	calibrate_gpu kernels|copies|costs FILE.csv [LARGEST-TILE [RUNS [SECONDS]]]
 *	measures what FILE has not yet, and adds a line as soon as it is known; begins
 *	nothing when SECONDS have passed, and returns 3 when something is left
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate_gpu.h"
#include "model_writer.h"

enum { MAX_RUNS = 101, TIME_IS_UP = 3, MIB = 1 << 20, COVER_MIB = 128 };

static const int tiles[] = {64,   128,  192,  256,  384,  512,  640,  768,  960,  1024,
			    1280, 1536, 1920, 2048, 2560, 3072, 3840, 4096, 6144, 8192};

/* Those before TRSM overwrite the tile that they factorise. */
enum kernel { POTRF, GETRF, GEQRF, TRSM, SYRK, GEMM, ORMQR, NKERNELS };

static const struct {
	const char *name;
	int ntiles;
	double flops; /* times the cube of the tile's rows */
} kernels[NKERNELS] = {
	[POTRF] = {"potrf", 1, 1. / 3}, [GETRF] = {"getrf", 1, 2. / 3},
	[GEQRF] = {"geqrf", 1, 4. / 3}, [TRSM] = {"trsm", 2, 1},
	[SYRK] = {"syrk", 2, 1},        [GEMM] = {"gemm", 3, 2},
	[ORMQR] = {"ormqr", 2, 2},
};

/* Operands on the device, for one size. */
struct operands {
	int n, is_double;
	size_t bytes;
	void *original, *a, *b, *c, *tau, *work;
	int *pivots, work_elements;
};

static void device_open(struct device *d, int largest)
{
	int cache_bytes;

	CHECK(cudaStreamCreate(&d->stream));
	CHECK(cudaEventCreate(&d->before));
	CHECK(cudaEventCreate(&d->start));
	CHECK(cudaEventCreate(&d->stop));
	CHECK(cublasCreate(&d->blas));
	CHECK(cublasSetStream(d->blas, d->stream));
	/* Full single precision: no tensor cores in TF32. */
	CHECK(cublasSetMathMode(d->blas, CUBLAS_DEFAULT_MATH));
	CHECK(cusolverDnCreate(&d->solver));
	CHECK(cusolverDnSetStream(d->solver, d->stream));
	CHECK(cudaMalloc((void **)&d->info, sizeof *d->info));
	CHECK(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0));
	/* Small ones are asked for where there is little of everything. */
	d->cover_bytes = (size_t)(largest < 1024 ? 1 : COVER_MIB) * MIB;
	if (d->cover_bytes < 2 * (size_t)cache_bytes)
		d->cover_bytes = 2 * (size_t)cache_bytes;
	CHECK(cudaMalloc(&d->cover, d->cover_bytes));
}

static void device_close(struct device *d)
{
	CHECK(cudaFree(d->cover));
	CHECK(cudaFree(d->info));
	CHECK(cusolverDnDestroy(d->solver));
	CHECK(cublasDestroy(d->blas));
	CHECK(cudaEventDestroy(d->start));
	CHECK(cudaEventDestroy(d->before));
	CHECK(cudaEventDestroy(d->stop));
	CHECK(cudaStreamDestroy(d->stream));
}

/* Positive definite, and near the unit matrix, so that repeated solves stay finite. */
static void fill(void *tile, int n, int is_double)
{
	for (long i = 0; i < (long)n * n; i++) {
		double value = (rand() / (double)RAND_MAX - 0.5) / n + (i % (n + 1) == 0);

		if (is_double)
			((double *)tile)[i] = value;
		else
			((float *)tile)[i] = value;
	}
}

/* The most that any of the factorisations wants. */
static int work_elements(struct device *d, const struct operands *o)
{
	int n = o->n, most = 0, wanted[4];

	if (o->is_double) {
		CHECK(cusolverDnDpotrf_bufferSize(d->solver, CUBLAS_FILL_MODE_LOWER, n,
						  o->a, n, &wanted[0]));
		CHECK(cusolverDnDgetrf_bufferSize(d->solver, n, n, o->a, n, &wanted[1]));
		CHECK(cusolverDnDgeqrf_bufferSize(d->solver, n, n, o->a, n, &wanted[2]));
		CHECK(cusolverDnDormqr_bufferSize(d->solver, CUBLAS_SIDE_LEFT,
						  CUBLAS_OP_T, n, n, n, o->a, n, o->tau,
						  o->c, n, &wanted[3]));
	} else {
		CHECK(cusolverDnSpotrf_bufferSize(d->solver, CUBLAS_FILL_MODE_LOWER, n,
						  o->a, n, &wanted[0]));
		CHECK(cusolverDnSgetrf_bufferSize(d->solver, n, n, o->a, n, &wanted[1]));
		CHECK(cusolverDnSgeqrf_bufferSize(d->solver, n, n, o->a, n, &wanted[2]));
		CHECK(cusolverDnSormqr_bufferSize(d->solver, CUBLAS_SIDE_LEFT,
						  CUBLAS_OP_T, n, n, n, o->a, n, o->tau,
						  o->c, n, &wanted[3]));
	}
	for (int i = 0; i < 4; i++)
		most = wanted[i] > most ? wanted[i] : most;
	return most;
}

static void operands_open(struct device *d, struct operands *o, int n, int is_double)
{
	void **all[] = {&o->original, &o->a, &o->b, &o->c};
	void *host;

	*o = (struct operands){.n = n, .is_double = is_double};
	o->bytes = (size_t)n * n * (is_double ? 8 : 4);
	host = malloc(o->bytes);
	CHECK(!host);
	fill(host, n, is_double);
	for (int i = 0; i < 4; i++) {
		CHECK(cudaMalloc(all[i], o->bytes));
		CHECK(cudaMemcpy(*all[i], host, o->bytes, cudaMemcpyHostToDevice));
	}
	free(host);
	CHECK(cudaMalloc(&o->tau, (size_t)n * (is_double ? 8 : 4)));
	CHECK(cudaMalloc((void **)&o->pivots, (size_t)n * sizeof(*o->pivots)));
	o->work_elements = work_elements(d, o);
	CHECK(cudaMalloc(&o->work, (size_t)(o->work_elements + 1) * (is_double ? 8 : 4)));
}

static void operands_close(struct operands *o)
{
	CHECK(cudaFree(o->original));
	CHECK(cudaFree(o->a));
	CHECK(cudaFree(o->b));
	CHECK(cudaFree(o->c));
	CHECK(cudaFree(o->tau));
	CHECK(cudaFree(o->pivots));
	CHECK(cudaFree(o->work));
}

static void call_single(struct device *d, enum kernel kernel, struct operands *o)
{
	const float one = 1, minus_one = -1;
	int n = o->n;

	switch (kernel) {
	case POTRF:
		CHECK(cusolverDnSpotrf(d->solver, CUBLAS_FILL_MODE_LOWER, n, o->a, n,
				       o->work, o->work_elements, d->info));
		break;
	case GETRF:
		CHECK(cusolverDnSgetrf(d->solver, n, n, o->a, n, o->work, o->pivots,
				       d->info));
		break;
	case GEQRF:
		CHECK(cusolverDnSgeqrf(d->solver, n, n, o->a, n, o->tau, o->work,
				       o->work_elements, d->info));
		break;
	case ORMQR:
		CHECK(cusolverDnSormqr(d->solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, n, n, n,
				       o->a, n, o->tau, o->c, n, o->work,
				       o->work_elements, d->info));
		break;
	case TRSM:
		CHECK(cublasStrsm(d->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
				  CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, n, &one, o->a, n,
				  o->b, n));
		break;
	case SYRK:
		CHECK(cublasSsyrk(d->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n,
				  &minus_one, o->a, n, &one, o->b, n));
		break;
	default:
		CHECK(cublasSgemm(d->blas, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &minus_one,
				  o->a, n, o->b, n, &one, o->c, n));
	}
}

static void call_double(struct device *d, enum kernel kernel, struct operands *o)
{
	const double one = 1, minus_one = -1;
	int n = o->n;

	switch (kernel) {
	case POTRF:
		CHECK(cusolverDnDpotrf(d->solver, CUBLAS_FILL_MODE_LOWER, n, o->a, n,
				       o->work, o->work_elements, d->info));
		break;
	case GETRF:
		CHECK(cusolverDnDgetrf(d->solver, n, n, o->a, n, o->work, o->pivots,
				       d->info));
		break;
	case GEQRF:
		CHECK(cusolverDnDgeqrf(d->solver, n, n, o->a, n, o->tau, o->work,
				       o->work_elements, d->info));
		break;
	case ORMQR:
		CHECK(cusolverDnDormqr(d->solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, n, n, n,
				       o->a, n, o->tau, o->c, n, o->work,
				       o->work_elements, d->info));
		break;
	case TRSM:
		CHECK(cublasDtrsm(d->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
				  CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, n, &one, o->a, n,
				  o->b, n));
		break;
	case SYRK:
		CHECK(cublasDsyrk(d->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n,
				  &minus_one, o->a, n, &one, o->b, n));
		break;
	default:
		CHECK(cublasDgemm(d->blas, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &minus_one,
				  o->a, n, o->b, n, &one, o->c, n));
	}
}

/* What a call takes. */
struct timing {
	double ms;     /* of the device, between two events */
	double gap_us; /* of the device, from the event before to the first of these */
	double host_s; /* until the call returns */
};

/*
 * As in a run: the device is busy when the call begins, so that its launch shows only
 * where it takes longer than what runs before; and the operands are not in the device's
 * caches, since other kernels had theirs there meanwhile.
 */
static struct timing time_call(struct device *d, enum kernel kernel, struct operands *o)
{
	struct timing timing;
	float ms, gap_ms;

	if (kernel < TRSM)
		CHECK(cudaMemcpyAsync(o->a, o->original, o->bytes,
				      cudaMemcpyDeviceToDevice, d->stream));
	CHECK(cudaStreamSynchronize(d->stream));
	CHECK(cudaMemsetAsync(d->cover, 0, d->cover_bytes, d->stream));
	CHECK(cudaEventRecord(d->before, d->stream));
	CHECK(cudaEventRecord(d->start, d->stream));
	timing.host_s = now_s();
	if (o->is_double)
		call_double(d, kernel, o);
	else
		call_single(d, kernel, o);
	timing.host_s = now_s() - timing.host_s;
	CHECK(cudaEventRecord(d->stop, d->stream));
	CHECK(cudaEventSynchronize(d->stop));
	CHECK(cudaEventElapsedTime(&gap_ms, d->before, d->start));
	CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
	timing.ms = ms;
	timing.gap_us = 1e3 * gap_ms;
	return timing;
}

static void check_factor(struct device *d)
{
	int info;

	CHECK(cudaMemcpy(&info, d->info, sizeof info, cudaMemcpyDeviceToHost));
	CHECK(info);
}

/* The kernel; how long it keeps the host; the gap before it. */
struct measured {
	struct writer_size size, host, gap;
};

static void measure(struct device *d, const struct limits *limits, enum kernel kernel,
		    struct operands *o, struct measured *measured)
{
	double seconds[MAX_RUNS], host_s[MAX_RUNS], gap_s[MAX_RUNS], spent_ms = 0;
	int runs = 0;

	CHECK(cudaMemcpyAsync(o->a, o->original, o->bytes, cudaMemcpyDeviceToDevice,
			      d->stream));
	if (kernel == ORMQR)
		time_call(d, GEQRF, o);
	time_call(d, kernel, o);
	time_call(d, kernel, o);
	while (runs < limits->runs || (runs < MAX_RUNS && spent_ms < limits->enough_ms)) {
		struct timing timing = time_call(d, kernel, o);

		seconds[runs] = timing.ms * 1e-3;
		host_s[runs] = timing.host_s;
		gap_s[runs++] = timing.gap_us * 1e-6;
		spent_ms += timing.ms;
	}
	if (kernel < TRSM || kernel == ORMQR)
		check_factor(d);
	writer_summarise(&measured->size, seconds, runs);
	writer_summarise(&measured->host, host_s, runs);
	writer_summarise(&measured->gap, gap_s, runs);
}

/* Of one size in one precision, what the table has not. */
static void measure_tile(struct device *d, struct table *table, int tile, int is_double)
{
	struct operands o = {0};

	for (enum kernel kernel = 0; kernel < NKERNELS; kernel++) {
		double n = tile, flops = kernels[kernel].flops * n * n * n;
		struct measured measured = {0};
		const struct writer_size *size = &measured.size;
		char key[64];

		snprintf(key, sizeof key, "orrery_%c%s,%d,", is_double ? 'd' : 's',
			 kernels[kernel].name, tile);
		if (!table_wants(table, key))
			continue;
		if (!o.n)
			operands_open(d, &o, tile, is_double);
		measure(d, &table->limits, kernel, &o, &measured);
		table_add(table, "%s%d,%d,%.6g,%.3f,%.3f,%d,%.2f,%.3f,%.3f", key,
			  kernels[kernel].ntiles, is_double ? 8 : 4, flops,
			  size->median_us, size->deviation_us, size->nsample,
			  flops / size->median_us * 1e-3, measured.host.median_us,
			  measured.gap.median_us);
	}
	if (o.n)
		operands_close(&o);
}

static void calibrate_kernels(struct device *d, struct table *table)
{
	for (unsigned t = 0; t < sizeof tiles / sizeof *tiles; t++)
		for (int is_double = 0; is_double < 2; is_double++)
			if (tiles[t] <= table->limits.largest)
				measure_tile(d, table, tiles[t], is_double);
}

/* ---- Copies ---------------------------------------------------------- */

/* Wall-clock time: a copy of unpinned memory is staged by the host. */
static void measure_copy(struct device *d, const struct limits *limits,
			 struct writer_size *size, void *to, const void *from)
{
	double seconds[MAX_RUNS], spent_s = 0;
	size_t bytes = size->elem_bytes;
	int runs = 0;

	CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream));
	CHECK(cudaStreamSynchronize(d->stream));
	while (runs < limits->runs ||
	       (runs < MAX_RUNS && spent_s < limits->enough_ms * 1e-3)) {
		double start = now_s();

		CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream));
		CHECK(cudaStreamSynchronize(d->stream));
		seconds[runs] = now_s() - start;
		spent_s += seconds[runs++];
	}
	writer_summarise(size, seconds, runs);
}

static void measure_copies(struct device *d, struct table *table, size_t bytes,
			   int is_pinned)
{
	struct writer_size size = {.elem_bytes = bytes};
	void *host = NULL, *device = NULL;

	for (int back = 0; back < 2; back++) {
		char key[96];

		snprintf(key, sizeof key, "%s,%s,%zu,",
			 back ? "device to host" : "host to device",
			 is_pinned ? "pinned" : "pageable", bytes);
		if (!table_wants(table, key))
			continue;
		if (!host) {
			if (is_pinned)
				CHECK(cudaMallocHost(&host, bytes));
			else
				CHECK(!(host = malloc(bytes)));
			memset(host, 1, bytes);
			CHECK(cudaMalloc(&device, bytes));
		}
		measure_copy(d, &table->limits, &size, back ? host : device,
			     back ? device : host);
		table_add(table, "%s%.3f,%.3f,%d,%.3f", key, size.median_us,
			  size.deviation_us, size.nsample, bytes / size.median_us * 1e-3);
	}
	CHECK(cudaFree(device));
	if (host && is_pinned)
		CHECK(cudaFreeHost(host));
	else
		free(host);
}

static void calibrate_copies(struct device *d, struct table *table)
{
	for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
		for (size_t bytes = 8; bytes < 16384; bytes *= 4)
			measure_copies(d, table, bytes, is_pinned);
		for (unsigned t = 0; t < sizeof tiles / sizeof *tiles; t++)
			if (tiles[t] <= table->limits.largest)
				measure_copies(d, table,
					       (size_t)tiles[t] * tiles[t] *
						       sizeof(float),
					       is_pinned);
	}
}

/* ---- Main ------------------------------------------------------------ */

static int describe(void)
{
	struct cudaDeviceProp properties;
	int runtime, driver, blas[3];
	time_t now = time(NULL);
	char date[32];

	CHECK(cudaFree(NULL)); /* Whether there is one is known after the first call. */
	CHECK(cudaGetDeviceProperties(&properties, 0));
	CHECK(cudaRuntimeGetVersion(&runtime));
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cublasGetProperty(MAJOR_VERSION, &blas[0]));
	CHECK(cublasGetProperty(MINOR_VERSION, &blas[1]));
	CHECK(cublasGetProperty(PATCH_LEVEL, &blas[2]));
	strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
	printf("device: %s\nmemory: %zu MiB\nmultiprocessors: %d\n", properties.name,
	       properties.totalGlobalMem >> 20, properties.multiProcessorCount);
	printf("date: %s\nlibrary: cuBLAS %d.%d.%d, no TF32\nruntime: %d\ndriver: %d\n",
	       date, blas[0], blas[1], blas[2], runtime, driver);
	printf("program: bench/calibrate_gpu of Orrery\n");
	return 0;
}

static const struct part {
	const char *name, *header;
	void (*measure)(struct device *d, struct table *table);
} parts[] = {
	{"kernels",
	 "symbol,tile,operands,element_bytes,flops,median_us,deviation_us,runs,gflops,"
	 "host_us,gap_us",
	 calibrate_kernels},
	{"copies", "direction,memory,bytes,median_us,deviation_us,runs,gb_per_s",
	 calibrate_copies},
	{"costs", "what,n,value,unit", calibrate_costs},
};

static double number(int argc, char **argv, int i, double preset)
{
	return argc > i ? atof(argv[i]) : preset;
}

static int run(const struct part *part, int argc, char **argv)
{
	double seconds = number(argc, argv, 5, 0);
	struct table table = {.path = argv[2],
			      .limits = {.largest = (int)number(argc, argv, 3, 8192),
					 .runs = (int)number(argc, argv, 4, 11),
					 .end_s = seconds > 0 ? now_s() + seconds : 0}};
	struct device device;

	if (table.limits.runs < 1 || table.limits.runs > MAX_RUNS ||
	    table.limits.largest < tiles[0]) {
		fprintf(stderr,
			"%s: %d runs of tiles up to %d: expected 1 to %d, and %d or "
			"more\n",
			argv[0], table.limits.runs, table.limits.largest, MAX_RUNS,
			tiles[0]);
		return 2;
	}
	/* Fewer runs are asked for where time counts more than precision. */
	table.limits.enough_ms = table.limits.runs < 11 ? 1 : 200;
	table_open(&table, part->header);
	device_open(&device, table.limits.largest);
	part->measure(&device, &table);
	device_close(&device);
	return table_close(&table) ? TIME_IS_UP : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "device"))
		return describe();
	for (unsigned i = 0; argc > 2 && i < sizeof parts / sizeof *parts; i++)
		if (!strcmp(argv[1], parts[i].name))
			return run(&parts[i], argc, argv);
	fprintf(stderr,
		"usage: %s device\n       %s kernels|copies|costs FILE.csv [LARGEST-TILE "
		"[RUNS [SECONDS]]]\n",
		argv[0], argv[0]);
	return 2;
}
