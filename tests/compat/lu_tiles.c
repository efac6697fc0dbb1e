/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* LU without pivoting by tiles, priorities, 2D block-cyclic, in deprecated style. */
#include <starpu.h>
#include <starpu_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NT          5
#define BS          12
#define AT(a, i, j) (a)[(j)*BS + (i)]

static void getrf_cpu(void *descr[], void *arg)
{
	double *a = (double *)STARPU_MATRIX_GET_PTR(descr[0]);
	int i, j, k;

	(void)arg;
	for (k = 0; k < BS; k++)
		for (i = k + 1; i < BS; i++) {
			AT(a, i, k) /= AT(a, k, k);
			for (j = k + 1; j < BS; j++)
				AT(a, i, j) -= AT(a, i, k) * AT(a, k, j);
		}
}

static void trsm_l_cpu(void *descr[], void *arg) /* A := L^-1 A */
{
	double *l = (double *)STARPU_MATRIX_GET_PTR(descr[0]);
	double *a = (double *)STARPU_MATRIX_GET_PTR(descr[1]);
	int i, j, k;

	(void)arg;
	for (j = 0; j < BS; j++)
		for (k = 0; k < BS; k++)
			for (i = k + 1; i < BS; i++)
				AT(a, i, j) -= AT(l, i, k) * AT(a, k, j);
}

static void trsm_u_cpu(void *descr[], void *arg) /* A := A U^-1 */
{
	double *u = (double *)STARPU_MATRIX_GET_PTR(descr[0]);
	double *a = (double *)STARPU_MATRIX_GET_PTR(descr[1]);
	int i, j, k;

	(void)arg;
	for (i = 0; i < BS; i++)
		for (j = 0; j < BS; j++) {
			for (k = 0; k < j; k++)
				AT(a, i, j) -= AT(a, i, k) * AT(u, k, j);
			AT(a, i, j) /= AT(u, j, j);
		}
}

static void gemm_cpu(void *descr[], void *arg)
{
	double *a = (double *)STARPU_MATRIX_GET_PTR(descr[0]);
	double *b = (double *)STARPU_MATRIX_GET_PTR(descr[1]);
	double *c = (double *)STARPU_MATRIX_GET_PTR(descr[2]);
	int i, j, k;

	(void)arg;
	for (j = 0; j < BS; j++)
		for (k = 0; k < BS; k++)
			for (i = 0; i < BS; i++)
				AT(c, i, j) -= AT(a, i, k) * AT(b, k, j);
}

#define CODELET(kernel, n, ...)                                                          \
	static struct starpu_codelet kernel##_cl = {.where = STARPU_CPU,                 \
						    .cpu_funcs = {kernel##_cpu, NULL},   \
						    .nbuffers = n,                       \
						    .modes = {__VA_ARGS__},              \
						    .name = #kernel}
CODELET(getrf, 1, STARPU_RW);
CODELET(trsm_l, 2, STARPU_R, STARPU_RW);
CODELET(trsm_u, 2, STARPU_R, STARPU_RW);
CODELET(gemm, 3, STARPU_R, STARPU_R, STARPU_RW | STARPU_COMMUTE);

static starpu_data_handle_t h[NT][NT];
static double *tile[NT][NT];

static int owner(int i, int j, int size)
{
	int p = size >= 4 ? 2 : 1;

	return (i % p) * (size / p) + j % (size / p);
}

static double entry(int i, int j)
{
	return i == j ? 2.0 * NT * BS : (double)((i * 13 + j * 29) % 17) / 17;
}

static void factorise(void)
{
	int i, j, k;

	for (k = 0; k < NT; k++) {
		starpu_mpi_insert_task(MPI_COMM_WORLD, &getrf_cl, STARPU_PRIORITY,
				       STARPU_MAX_PRIO, STARPU_RW, h[k][k], 0);
		for (j = k + 1; j < NT; j++) {
			starpu_mpi_insert_task(MPI_COMM_WORLD, &trsm_l_cl, STARPU_R,
					       h[k][k], STARPU_RW, h[k][j], 0);
			starpu_mpi_insert_task(MPI_COMM_WORLD, &trsm_u_cl, STARPU_R,
					       h[k][k], STARPU_RW, h[j][k], 0);
		}
		starpu_mpi_cache_flush(MPI_COMM_WORLD, h[k][k]);
		for (i = k + 1; i < NT; i++)
			for (j = k + 1; j < NT; j++)
				starpu_mpi_insert_task(
					MPI_COMM_WORLD, &gemm_cl, STARPU_R, h[i][k],
					STARPU_R, h[k][j], STARPU_RW | STARPU_COMMUTE,
					h[i][j], STARPU_PRIORITY,
					i == k + 1 || j == k + 1 ? 1
								 : STARPU_DEFAULT_PRIO,
					0);
	}
}

/* Row ROW of L U, computed from the factors that node 0 holds, against the matrix. */
static int wrong_row(int row)
{
	int column, k;

	for (column = 0; column < NT * BS; column++) {
		double sum = 0;

		for (k = 0; k <= column && k <= row; k++) {
			double l = k == row
					   ? 1
					   : AT(tile[row / BS][k / BS], row % BS, k % BS);

			sum += l * AT(tile[k / BS][column / BS], k % BS, column % BS);
		}
		if (fabs(sum - entry(row, column)) > 1e-9)
			return 1;
	}
	return 0;
}

static int verify(int rank)
{
	int i, j, bad = 0;

	for (i = 0; i < NT; i++)
		for (j = 0; j < NT; j++) {
			starpu_mpi_get_data_on_node(MPI_COMM_WORLD, h[i][j], 0);
			if (rank)
				continue;
			starpu_data_acquire(h[i][j], STARPU_R);
			tile[i][j] = (double *)starpu_matrix_get_local_ptr(h[i][j]);
		}
	if (rank == 0) {
#ifdef STARPU_SIMGRID
		if (getenv("CHECK_VALUES"))
#endif
			for (i = 0; i < NT * BS; i++)
				bad |= wrong_row(i);
		for (i = 0; i < NT; i++)
			for (j = 0; j < NT; j++)
				starpu_data_release(h[i][j]);
	}
	return bad;
}

static void setup(int i, int j, int mine, int where)
{
	int k;

	if (mine) {
		starpu_malloc((void **)&tile[i][j], BS * BS * sizeof(double));
		for (k = 0; k < BS * BS; k++)
			tile[i][j][k] = entry(i * BS + k % BS, j * BS + k / BS);
	}
	starpu_matrix_data_register(&h[i][j], mine ? 0 : -1, (uintptr_t)tile[i][j], BS,
				    BS, BS, sizeof(double));
	starpu_data_set_tag(h[i][j], i * NT + j);
	starpu_data_set_rank(h[i][j], where);
}

int main(int argc, char **argv)
{
	static double *mine[NT][NT];
	int ret, rank, size, i, j;

	ret = starpu_init(NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_init");
	ret = starpu_mpi_init(&argc, &argv, 1);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < NT; i++)
		for (j = 0; j < NT; j++) {
			setup(i, j, owner(i, j, size) == rank, owner(i, j, size));
			mine[i][j] = tile[i][j];
		}
	factorise();
	starpu_task_wait_for_all();
	ret = verify(rank);
	if (ret)
		fprintf(stderr, "L U differs from A\n");
	for (i = 0; i < NT; i++)
		for (j = 0; j < NT; j++) {
			starpu_data_unregister(h[i][j]);
			if (mine[i][j])
				starpu_free_noflag(mine[i][j], BS * BS * sizeof(double));
		}
	starpu_mpi_shutdown();
	starpu_shutdown();
	return ret;
}
