/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * A matrix product out of core: C = A B, where the three together do not fit in memory.
 *
 * Each matrix is a square of tiles, without memory of the program's (home node -1): the
 * library allocates them, and when main memory has a limit it writes those that nobody
 * uses to a disk and brings them back.  Nothing in the program says so:
 *
 *   STARPU_LIMIT_CPU_MEM=2 STARPU_DISK_SWAP=/tmp/swap ./ooc_product
 *
 * The order of the tasks decides how much travels: here each tile of C is computed as a
 * whole, with a row of A that stays for all tiles of that row.
 *
 * usage: ooc_product [TILES [SIDE]]: tiles in a row of a matrix, numbers in a row of a
 * tile
 */
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

enum { MAX_TILES = 32 };

typedef starpu_data_handle_t matrix[MAX_TILES][MAX_TILES];

static int ntiles = 4, side = 128;
static matrix a, b, c;

#define TILE(buffer) ((double *)STARPU_MATRIX_GET_PTR(buffer))

/* ---- kernels --------------------------------------------------------- */

/* Numbers of which sums of products are exact. */
static double number(int row, int column)
{
	return (double)((row * 7 + column * 3) % 5 - 2);
}

static void fill_cpu(void *buffers[], void *arg)
{
	double *tile = TILE(buffers[0]);
	int row, column, is_zero;

	starpu_codelet_unpack_args(arg, &row, &column, &is_zero);
	for (int j = 0; j < side; j++)
		for (int i = 0; i < side; i++)
			tile[j * side + i] =
				is_zero ? 0 : number(row * side + i, column * side + j);
}

/* c += a b, column by column */
static void multiply_cpu(void *buffers[], void *arg)
{
	const double *left = TILE(buffers[0]), *right = TILE(buffers[1]);
	double *sum = TILE(buffers[2]);

	(void)arg;
	for (int j = 0; j < side; j++)
		for (int k = 0; k < side; k++) {
			double factor = right[j * side + k];

			for (int i = 0; i < side; i++)
				sum[j * side + i] += left[k * side + i] * factor;
		}
}

static struct starpu_codelet fill = {.cpu_funcs = {fill_cpu},
				     .nbuffers = 1,
				     .modes = {STARPU_W},
				     .model = &starpu_perfmodel_nop,
				     .name = "fill"};
static struct starpu_codelet multiply = {.cpu_funcs = {multiply_cpu},
					 .nbuffers = 3,
					 .modes = {STARPU_R, STARPU_R, STARPU_RW},
					 .model = &starpu_perfmodel_nop,
					 .name = "multiply"};

/* ---- the product ----------------------------------------------------- */

static void make(matrix m, int is_zero)
{
	for (int j = 0; j < ntiles; j++)
		for (int i = 0; i < ntiles; i++) {
			starpu_matrix_data_register(&m[i][j], -1, 0, (uint32_t)side,
						    (uint32_t)side, (uint32_t)side,
						    sizeof(double));
			starpu_task_insert(&fill, STARPU_W, m[i][j], STARPU_VALUE, &i,
					   sizeof i, STARPU_VALUE, &j, sizeof j,
					   STARPU_VALUE, &is_zero, sizeof is_zero, 0);
		}
}

static void product(void)
{
	for (int i = 0; i < ntiles; i++)
		for (int j = 0; j < ntiles; j++)
			for (int k = 0; k < ntiles; k++)
				starpu_task_insert(&multiply, STARPU_R, a[i][k], STARPU_R,
						   b[k][j], STARPU_RW, c[i][j],
						   STARPU_FLOPS, 2. * side * side * side,
						   0);
}

/* Of one number of C, from the definition. */
static double expected(int row, int column)
{
	double sum = 0;

	for (int k = 0; k < ntiles * side; k++)
		sum += number(row, k) * number(k, column);
	return sum;
}

/* A diagonal of each tile is enough to see a tile that was lost or mixed up. */
static int count_wrong(int i, int j)
{
	const double *tile;
	int nwrong = 0;

	starpu_data_acquire(c[i][j], STARPU_R);
	tile = (const double *)starpu_matrix_get_local_ptr(c[i][j]);
	for (int d = 0; d < side; d += 9)
		nwrong += tile[d * side + d] != expected(i * side + d, j * side + d);
	starpu_data_release(c[i][j]);
	return nwrong;
}

static void end(matrix m)
{
	for (int j = 0; j < ntiles; j++)
		for (int i = 0; i < ntiles; i++)
			starpu_data_unregister(m[i][j]);
}

int main(int argc, char **argv)
{
	int executes, nwrong = 0;

	if (argc > 1)
		ntiles = atoi(argv[1]);
	if (argc > 2)
		side = atoi(argv[2]);
	if (ntiles < 1 || ntiles > MAX_TILES || side < 1) {
		fprintf(stderr, "usage: ooc_product [TILES (1 to %d) [SIDE]]\n",
			MAX_TILES);
		return 1;
	}
	if (starpu_init(NULL) != 0)
		return 77;
	executes = !orrery_is_simulated() ||
		   starpu_getenv_number_default("ORRERY_EXECUTE", 0);
	make(a, 0);
	make(b, 0);
	make(c, 1);
	product();
	starpu_task_wait_for_all();
	printf("%d tiles of %zu KiB; main memory may have %lld KiB, and has %zu\n",
	       3 * ntiles * ntiles, sizeof(double) * (size_t)(side * side) >> 10,
	       (long long)starpu_memory_get_total(STARPU_MAIN_RAM) >> 10,
	       starpu_memory_get_used(STARPU_MAIN_RAM) >> 10);
	if (starpu_disk_swap_node >= 0)
		printf("the disk has %zu KiB\n",
		       starpu_memory_get_used((unsigned)starpu_disk_swap_node) >> 10);
	for (int j = 0; executes && j < ntiles; j++)
		for (int i = 0; i < ntiles; i++)
			nwrong += count_wrong(i, j);
	end(a);
	end(b);
	end(c);
	starpu_shutdown();
	printf("%d numbers are wrong\n", nwrong);
	return nwrong > 0;
}
