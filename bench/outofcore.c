/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What it costs that data do not fit in memory: a matrix product whose memory is limited
 * to a quarter of what it needs (the rest is on a disk), against the same product in core
 * and against the disk alone.
 *
 * usage: outofcore DIRECTORY [TILES [SIDE]]: of files; tiles in a row of a matrix,
 * numbers in a row of a tile.  With STARPU_NCPU and STARPU_SCHED.
 *
 * Prints the seconds of the product in core and out of core, of the disk alone for the
 * bytes that travelled, and how far the product out of core is from the slower of the
 * two: 1 is perfect.  The disk alone writes first and then reads, or mixes them on two
 * threads as the product does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <starpu.h>
#include <unistd.h>

#include "bench.h"

enum { MAX_TILES = 32, ROUNDS = 3, MIB = 1 << 20 };

static int ntiles = 8, side = 256, is_light;
static starpu_data_handle_t data[3][MAX_TILES][MAX_TILES];
static size_t nwritten, nread; /* bytes, counted by the disk's operations */

/* ---- a disk that counts ------------------------------------------------ */

static struct starpu_disk_ops disk, *files = &starpu_disk_unistd_ops;

static int count_read(void *base, void *object, void *to, off_t offset, size_t size)
{
	__atomic_add_fetch(&nread, size, __ATOMIC_RELAXED);
	return files->read(base, object, to, offset, size);
}

static int count_write(void *base, void *object, const void *from, off_t offset,
		       size_t size)
{
	__atomic_add_fetch(&nwritten, size, __ATOMIC_RELAXED);
	return files->write(base, object, from, offset, size);
}

/* Without the asynchronous operations that a table may have, which nobody could count. */
static void make_disk(void)
{
	disk = *files;
	disk.read = count_read;
	disk.write = count_write;
	disk.async_read = NULL;
	disk.async_write = NULL;
	disk.async_full_read = NULL;
	disk.async_full_write = NULL;
	disk.copy = NULL;
}

/* ---- the product ------------------------------------------------------- */

static void fill(void *buffers[], void *arg)
{
	double *tile = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);

	(void)arg;
	for (int i = 0; i < side * side; i++)
		tile[i] = 1e-3 * (i % 7);
}

static void multiply(void *buffers[], void *arg)
{
	const double *a = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
	const double *b = (double *)STARPU_MATRIX_GET_PTR(buffers[1]);
	double *c = (double *)STARPU_MATRIX_GET_PTR(buffers[2]);

	(void)arg;
	c[0] += a[0] * b[0];
	for (int j = 0; j < side && !is_light; j++)
		for (int k = 0; k < side; k++) {
			double factor = b[j * side + k];

			for (int i = 0; i < side; i++)
				c[j * side + i] += a[k * side + i] * factor;
		}
}

static struct starpu_codelet fills = {
	.cpu_funcs = {fill}, .nbuffers = 1, .modes = {STARPU_W}, .name = "fill"};
static struct starpu_codelet multiplies = {.cpu_funcs = {multiply},
					   .nbuffers = 3,
					   .modes = {STARPU_R, STARPU_R, STARPU_RW},
					   .name = "multiply"};

static void make_data(void)
{
	for (int m = 0; m < 3; m++)
		for (int i = 0; i < ntiles; i++)
			for (int j = 0; j < ntiles; j++) {
				starpu_matrix_data_register(
					&data[m][i][j], -1, 0, (uint32_t)side,
					(uint32_t)side, (uint32_t)side, sizeof(double));
				starpu_task_insert(&fills, STARPU_W, data[m][i][j], 0);
			}
	starpu_task_wait_for_all();
}

/* Tiles of C one after the other, rows to and fro: the last tiles are the next ones. */
static void product(void)
{
	for (int i = 0; i < ntiles; i++)
		for (int n = 0; n < ntiles; n++) {
			int j = i % 2 ? ntiles - 1 - n : n;

			for (int l = 0; l < ntiles; l++) {
				int k = n % 2 ? ntiles - 1 - l : l;

				starpu_task_insert(&multiplies, STARPU_R, data[0][i][k],
						   STARPU_R, data[1][k][j], STARPU_RW,
						   data[2][i][j], 0);
			}
		}
	starpu_task_wait_for_all();
}

static double product_s(const char *directory)
{
	double start_s;

	if (starpu_init(NULL) != 0)
		exit(77);
	if (directory && starpu_disk_register(&disk, (void *)directory, 1ll << 40) < 0)
		exit(1);
	make_data();
	nread = nwritten = 0;
	start_s = bench_now_s();
	product();
	start_s = bench_now_s() - start_s;
	for (int m = 0; m < 3; m++)
		for (int i = 0; i < ntiles; i++)
			for (int j = 0; j < ntiles; j++)
				starpu_data_unregister_no_coherency(data[m][i][j]);
	starpu_shutdown();
	return start_s;
}

/* ---- the disk alone ----------------------------------------------------- */

enum { OBJECTS = 64 };

struct share {
	void *base, **objects;
	size_t first, nwrites, nops,
		bytes; /* of the disk's operations: every second one */
	unsigned step;
	int mixed;
};

/* Writes first and then reads, or both in turns. */
static int writes_now(const struct share *share, size_t op)
{
	if (!share->mixed)
		return op < share->nwrites;
	return op * share->nwrites / share->nops !=
	       (op + 1) * share->nwrites / share->nops;
}

static void *use_disk(void *arg)
{
	struct share *share = arg;
	char *buffer = aligned_alloc(4096, share->bytes);

	memset(buffer, 1, share->bytes);
	for (size_t op = share->first; op < share->nops; op += share->step) {
		void *object = share->objects[op * 37 % OBJECTS];

		if (writes_now(share, op))
			files->write(share->base, object, buffer, 0, share->bytes);
		else
			files->read(share->base, object, buffer, 0, share->bytes);
	}
	free(buffer);
	return NULL;
}

/* All operations by as many threads. */
static double ops_s(struct share share, unsigned nthreads)
{
	struct share shares[2] = {share, share};
	pthread_t threads[2];
	double start_s = bench_now_s();

	for (unsigned i = 0; i < nthreads; i++) {
		shares[i].first = i;
		shares[i].step = nthreads;
		pthread_create(&threads[i], NULL, use_disk, &shares[i]);
	}
	for (unsigned i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	return bench_now_s() - start_s;
}

/* Bytes written and read in files of a tile's size: one after the other, and mixed by two
 * threads, which is what the product asks of the disk. */
static void disk_s(const char *directory, size_t to_write, size_t to_read, double s[2])
{
	size_t bytes = sizeof(double) * (size_t)(side * side);
	char *buffer = aligned_alloc(4096, bytes);
	void *objects[OBJECTS];
	struct share share = {.base = files->plug((void *)directory, -1),
			      .objects = objects,
			      .nwrites = to_write / bytes,
			      .nops = (to_write + to_read) / bytes,
			      .bytes = bytes};
	double one_s;

	memset(buffer, 1, bytes);
	for (int i = 0; i < OBJECTS; i++) {
		objects[i] = files->alloc(share.base, bytes);
		files->write(share.base, objects[i], buffer, 0, bytes);
	}
	one_s = ops_s(share, 1);
	s[0] = one_s < s[0] ? one_s : s[0];
	share.mixed = 1;
	one_s = ops_s(share, 2);
	s[1] = one_s < s[1] ? one_s : s[1];
	for (int i = 0; i < OBJECTS; i++)
		files->free(share.base, objects[i], bytes);
	files->unplug(share.base);
	free(buffer);
}

int main(int argc, char **argv)
{
	size_t need;
	double core_s = 1e9, out_s = 1e9, alone_s[2] = {1e9, 1e9};
	char limit[32];

	if (argc < 2)
		return 1;
	is_light = argc > 2 && !strcmp(argv[2], "light");
	if (is_light)
		files = &starpu_disk_unistd_o_direct_ops;
	ntiles = argc > 3 ? atoi(argv[3]) : ntiles;
	side = argc > 4 ? atoi(argv[4]) : side;
	need = 3 * sizeof(double) * (size_t)(ntiles * ntiles) * (size_t)(side * side);
	snprintf(limit, sizeof(limit), "%zu", need / 4 / MIB);
	make_disk();
	for (int round = 0; round < ROUNDS; round++) {
		double one_s;

		unsetenv("STARPU_LIMIT_CPU_MEM");
		one_s = product_s(NULL);
		core_s = one_s < core_s ? one_s : core_s;
		setenv("STARPU_LIMIT_CPU_MEM", limit, 1);
		one_s = product_s(argv[1]);
		out_s = one_s < out_s ? one_s : out_s;
		disk_s(argv[1], nwritten, nread, alone_s);
	}
	bench_print("outofcore", "product in core", "s", core_s);
	bench_print("outofcore", "product with a quarter of the memory", "s", out_s);
	bench_print("outofcore", "disk alone, writes then reads", "s", alone_s[0]);
	bench_print("outofcore", "disk alone, mixed", "s", alone_s[1]);
	bench_print("outofcore", "bytes read", "MiB", (double)nread / MIB);
	bench_print("outofcore", "bytes written", "MiB", (double)nwritten / MIB);
	printf("outofcore,time over the slower of core and disk,ratio,%.4g\n",
	       out_s / (core_s > alone_s[0] ? core_s : alone_s[0]));
	printf("outofcore,time over the slower of core and mixed disk,ratio,%.4g\n",
	       out_s / (core_s > alone_s[1] ? core_s : alone_s[1]));
	return 0;
}
