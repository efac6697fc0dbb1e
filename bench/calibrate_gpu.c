/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Measures the kernels of tiled Cholesky, LU and QR on a CUDA device with cuBLAS and
 * cuSOLVER, copies between host and device, and what launches, events and streams cost.
 * Writes DIR/orrery_KERNEL.HOST for each kernel, DIR/copies.HOST.csv and
 * DIR/costs.HOST.csv.  Nothing else should use the device.
 *
 * Not part of the build: scripts/calibrate-gpu compiles it where CUDA is installed, and
 * runs it.
 *
 * usage: calibrate_gpu DIR HOST [LARGEST-TILE]
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate_gpu.h"
#include "model_writer.h"

enum { MIN_RUNS = 11, MAX_RUNS = 101 };

static const double enough_ms = 200; /* for one size of one kernel */

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

void check_status(int status, const char *call, const char *file, int line)
{
	if (!status)
		return;
	fprintf(stderr, "%s:%d: %s returned %d\n", file, line, call, status);
	exit(1);
}

static void device_open(struct device *d)
{
	CHECK(cudaStreamCreate(&d->stream));
	CHECK(cudaEventCreate(&d->start));
	CHECK(cudaEventCreate(&d->stop));
	CHECK(cublasCreate(&d->blas));
	CHECK(cublasSetStream(d->blas, d->stream));
	/* Full single precision: no tensor cores in TF32. */
	CHECK(cublasSetMathMode(d->blas, CUBLAS_DEFAULT_MATH));
	CHECK(cusolverDnCreate(&d->solver));
	CHECK(cusolverDnSetStream(d->solver, d->stream));
	CHECK(cudaMalloc((void **)&d->info, sizeof *d->info));
}

static void device_close(struct device *d)
{
	CHECK(cudaFree(d->info));
	CHECK(cusolverDnDestroy(d->solver));
	CHECK(cublasDestroy(d->blas));
	CHECK(cudaEventDestroy(d->start));
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

/* Milliseconds on the device from before the call to its end. */
static double time_call(struct device *d, enum kernel kernel, struct operands *o)
{
	float ms;

	if (kernel < TRSM)
		CHECK(cudaMemcpyAsync(o->a, o->original, o->bytes,
				      cudaMemcpyDeviceToDevice, d->stream));
	CHECK(cudaStreamSynchronize(d->stream));
	CHECK(cudaEventRecord(d->start, d->stream));
	if (o->is_double)
		call_double(d, kernel, o);
	else
		call_single(d, kernel, o);
	CHECK(cudaEventRecord(d->stop, d->stream));
	CHECK(cudaEventSynchronize(d->stop));
	CHECK(cudaEventElapsedTime(&ms, d->start, d->stop));
	return ms;
}

static void check_factor(struct device *d)
{
	int info;

	CHECK(cudaMemcpy(&info, d->info, sizeof info, cudaMemcpyDeviceToHost));
	CHECK(info);
}

static void measure(struct device *d, struct writer_size *size, enum kernel kernel,
		    int is_double)
{
	double seconds[MAX_RUNS], spent_ms = 0;
	struct operands o;
	int runs = 0;

	operands_open(d, &o, size->tile, is_double);
	if (kernel == ORMQR)
		time_call(d, GEQRF, &o);
	time_call(d, kernel, &o);
	time_call(d, kernel, &o);
	while (runs < MIN_RUNS || (runs < MAX_RUNS && spent_ms < enough_ms)) {
		double ms = time_call(d, kernel, &o);

		seconds[runs++] = ms * 1e-3;
		spent_ms += ms;
	}
	if (kernel < TRSM || kernel == ORMQR)
		check_factor(d);
	writer_summarise(size, seconds, runs);
	operands_close(&o);
}

static int calibrate(struct device *d, struct writer *writer, enum kernel kernel,
		     int is_double, int largest)
{
	char symbol[64];

	snprintf(symbol, sizeof symbol, "orrery_%c%s", is_double ? 'd' : 's',
		 kernels[kernel].name);
	writer->symbol = symbol;
	writer->nsizes = 0;
	for (unsigned t = 0; t < sizeof tiles / sizeof *tiles && tiles[t] <= largest;
	     t++) {
		struct writer_size *size = &writer->sizes[writer->nsizes++];
		double n = tiles[t];

		*size = (struct writer_size){.tile = tiles[t],
					     .ntiles = kernels[kernel].ntiles,
					     .elem_bytes = is_double ? 8 : 4,
					     .flops = kernels[kernel].flops * n * n * n};
		measure(d, size, kernel, is_double);
		printf("%s,%d,%.3f,%.3f,%d,%.2f\n", symbol, tiles[t], size->median_us,
		       size->deviation_us, size->nsample,
		       size->flops / size->median_us * 1e-3);
		fflush(stdout);
	}
	return writer_write(writer);
}

/* ---- Copies ---------------------------------------------------------- */

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Wall-clock time: a copy of unpinned memory is staged by the host. */
static void measure_copy(struct device *d, struct writer_size *size, void *to,
			 const void *from, size_t bytes)
{
	double seconds[MAX_RUNS], spent_s = 0;
	int runs = 0;

	CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream));
	CHECK(cudaStreamSynchronize(d->stream));
	while (runs < MIN_RUNS || (runs < MAX_RUNS && spent_s < enough_ms * 1e-3)) {
		double start = now_s();

		CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d->stream));
		CHECK(cudaStreamSynchronize(d->stream));
		seconds[runs] = now_s() - start;
		spent_s += seconds[runs++];
	}
	writer_summarise(size, seconds, runs);
}

static void measure_copies(struct device *d, FILE *f, size_t bytes, int is_pinned)
{
	struct writer_size size = {0};
	void *host, *device;

	if (is_pinned)
		CHECK(cudaMallocHost(&host, bytes));
	else
		CHECK(!(host = malloc(bytes)));
	memset(host, 1, bytes);
	CHECK(cudaMalloc(&device, bytes));
	for (int back = 0; back < 2; back++) {
		measure_copy(d, &size, back ? host : device, back ? device : host, bytes);
		fprintf(f, "%s,%s,%zu,%.3f,%.3f,%d,%.3f\n",
			back ? "device to host" : "host to device",
			is_pinned ? "pinned" : "pageable", bytes, size.median_us,
			size.deviation_us, size.nsample, bytes / size.median_us * 1e-3);
	}
	CHECK(cudaFree(device));
	if (is_pinned)
		CHECK(cudaFreeHost(host));
	else
		free(host);
}

static int calibrate_copies(struct device *d, const struct writer *writer, int largest)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/copies.%s.csv", writer->dir, writer->host);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return -1;
	}
	fprintf(f, "direction,memory,bytes,median_us,deviation_us,runs,gb_per_s\n");
	for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
		for (size_t bytes = 8; bytes < 16384; bytes *= 4)
			measure_copies(d, f, bytes, is_pinned);
		for (unsigned t = 0; t < sizeof tiles / sizeof *tiles; t++)
			if (tiles[t] <= largest)
				measure_copies(
					d, f, (size_t)tiles[t] * tiles[t] * sizeof(float),
					is_pinned);
	}
	return fclose(f);
}

/* ---- Main ------------------------------------------------------------ */

static void describe(char *comment, size_t bytes)
{
	struct cudaDeviceProp properties;
	int runtime, driver, blas[3];
	time_t now = time(NULL);
	char date[32];

	CHECK(cudaGetDeviceProperties(&properties, 0));
	CHECK(cudaRuntimeGetVersion(&runtime));
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cublasGetProperty(MAJOR_VERSION, &blas[0]));
	CHECK(cublasGetProperty(MINOR_VERSION, &blas[1]));
	CHECK(cublasGetProperty(PATCH_LEVEL, &blas[2]));
	strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
	snprintf(comment, bytes,
		 "Measured by bench/calibrate_gpu of Orrery on %s.\n"
		 "Device: %s.\n"
		 "Library: cuBLAS %d.%d.%d, CUDA runtime %d, driver %d; no TF32.\n"
		 "Mean is the median of the runs, deviation 1.4826 times the median\n"
		 "distance from it; the sums are those that give these two.",
		 date, properties.name, blas[0], blas[1], blas[2], runtime, driver);
}

int main(int argc, char **argv)
{
	int largest = argc > 3 ? atoi(argv[3]) : 8192, failed = 0;
	struct writer writer = {.arch_type = 1};
	struct device device;
	char comment[1024];

	if (argc < 3) {
		fprintf(stderr, "usage: %s DIR HOST [LARGEST-TILE]\n", argv[0]);
		return 2;
	}
	describe(comment, sizeof comment);
	writer.dir = argv[1];
	writer.host = argv[2];
	writer.comment = comment;
	device_open(&device);
	printf("symbol,tile,median_us,deviation_us,runs,gflops\n");
	for (int is_double = 0; is_double < 2; is_double++)
		for (enum kernel kernel = 0; kernel < NKERNELS; kernel++)
			failed |= calibrate(&device, &writer, kernel, is_double, largest);
	failed |= calibrate_copies(&device, &writer, largest);
	failed |= calibrate_costs(&device, writer.dir, writer.host);
	device_close(&device);
	return failed != 0;
}
