/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* C = A B by blocks; each node inserts only tasks that concern it, and flushes. */
#include <starpu_mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NB 4
#define BS 16

enum { A, B, C };

static void gemm_cpu(void *descr[], void *arg)
{
	const float *a = (float *)STARPU_MATRIX_GET_PTR(descr[0]);
	const float *b = (float *)STARPU_MATRIX_GET_PTR(descr[1]);
	float *c = (float *)STARPU_MATRIX_GET_PTR(descr[2]);
	unsigned n = STARPU_MATRIX_GET_NX(descr[2]), i, j, k;
	unsigned lda = STARPU_MATRIX_GET_LD(descr[0]),
		 ldb = STARPU_MATRIX_GET_LD(descr[1]);
	unsigned ldc = STARPU_MATRIX_GET_LD(descr[2]);

	(void)arg;
	for (j = 0; j < n; j++)
		for (k = 0; k < n; k++)
			for (i = 0; i < n; i++)
				c[j * ldc + i] += a[k * lda + i] * b[j * ldb + k];
}

static void zero_cpu(void *descr[], void *arg)
{
	float *c = (float *)STARPU_MATRIX_GET_PTR(descr[0]);
	unsigned i;

	(void)arg;
	for (i = 0; i < BS * BS; i++)
		c[i] = 0;
}

static struct starpu_perfmodel gemm_model = {.type = STARPU_HISTORY_BASED,
					     .symbol = "compat_gemm"};

static struct starpu_codelet gemm_cl = {
	.cpu_funcs = {gemm_cpu},
	.nbuffers = 3,
	.modes = {STARPU_R, STARPU_R, STARPU_RW},
	.model = &gemm_model,
	.name = "gemm",
	.color = 0x00ff00,
};

static struct starpu_codelet zero_cl = {
	.cpu_funcs = {zero_cpu},
	.nbuffers = 1,
	.modes = {STARPU_W},
	.model = &starpu_perfmodel_nop,
};

static starpu_data_handle_t x[3][NB][NB];
static float *local[3][NB][NB];
static int rank, size;

static int owner(int m, int i, int j)
{
	return (m + i * NB + j) % size; /* so that A, B and C lie on different nodes */
}

static float element(int m, int i, int j)
{
	return (float)((i * (m + 3) + j * 7) % 11 - 5);
}

static void setup(int m, int i, int j)
{
	int k;

	if (owner(m, i, j) == rank && m != C) {
		local[m][i][j] = malloc(BS * BS * sizeof(float));
		for (k = 0; k < BS * BS; k++)
			local[m][i][j][k] = element(m, i * BS + k % BS, j * BS + k / BS);
		starpu_matrix_data_register(&x[m][i][j], STARPU_MAIN_RAM,
					    (uintptr_t)local[m][i][j], BS, BS, BS,
					    sizeof(float));
	} else {
		starpu_matrix_data_register(&x[m][i][j], -1, 0, BS, BS, BS,
					    sizeof(float));
	}
	starpu_mpi_data_register(x[m][i][j], (m * NB + i) * NB + j, owner(m, i, j));
}

static int concerns_me(int i, int j, int k)
{
	return owner(A, i, k) == rank || owner(B, k, j) == rank || owner(C, i, j) == rank;
}

static void multiply(void)
{
	int i, j, k, ret;

	for (i = 0; i < NB; i++)
		for (j = 0; j < NB; j++) {
			ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &zero_cl, STARPU_W,
						     x[C][i][j], 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
	for (k = 0; k < NB; k++) {
		for (i = 0; i < NB; i++)
			for (j = 0; j < NB; j++) {
				if (!concerns_me(i, j, k))
					continue;
				ret = starpu_mpi_task_insert(
					MPI_COMM_WORLD, &gemm_cl, STARPU_R, x[A][i][k],
					STARPU_R, x[B][k][j], STARPU_RW, x[C][i][j],
					STARPU_FLOPS, 2.0 * BS * BS * BS, STARPU_PRIORITY,
					NB - k, 0);
				STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
			}
		for (i = 0; i < NB; i++) {
			starpu_mpi_cache_flush(MPI_COMM_WORLD, x[A][i][k]);
			starpu_mpi_cache_flush(MPI_COMM_WORLD, x[B][k][i]);
		}
	}
	starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
}

static int wrong(const float *c, int i, int j)
{
	int p, k;

	for (p = 0; p < BS * BS; p++) {
		int row = i * BS + p % BS, column = j * BS + p / BS;
		float sum = 0;

		for (k = 0; k < NB * BS; k++)
			sum += element(A, row, k) * element(B, k, column);
		if (fabsf(sum - c[p]) > 1e-3f) {
			fprintf(stderr, "[%d] C(%d,%d) = %f, not %f\n", rank, row, column,
				c[p], sum);
			return 1;
		}
	}
	return 0;
}

static int check(int i, int j)
{
	int bad = 0;

	if (owner(C, i, j) != rank)
		return 0;
	starpu_data_acquire(x[C][i][j], STARPU_R);
#ifdef STARPU_SIMGRID
	if (getenv("CHECK_VALUES"))
#endif
		bad = wrong((float *)starpu_data_get_local_ptr(x[C][i][j]), i, j);
	starpu_data_release(x[C][i][j]);
	return bad;
}

int main(int argc, char **argv)
{
	int ret, m, i, j, bad = 0;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (m = A; m <= C; m++)
		for (i = 0; i < NB; i++)
			for (j = 0; j < NB; j++)
				setup(m, i, j);
	multiply();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (i = 0; i < NB; i++)
		for (j = 0; j < NB; j++)
			bad |= check(i, j);
	for (m = A; m <= C; m++)
		for (i = 0; i < NB; i++)
			for (j = 0; j < NB; j++) {
				starpu_data_unregister(x[m][i][j]);
				free(local[m][i][j]);
			}
	starpu_mpi_shutdown();
	return bad;
}
