/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Cholesky and LU factorisation (without pivoting) by tiles on two nodes, of small tiles
 * and of coarse ones: time by task, of the best of some runs. Each node inserts all
 * tasks.
 *
 * usage: mpirun -n 2 factor [RUNS [TILES SIZE]...]   (default 5 32 64 8 256)
 */
#include <stdint.h>
#include <stdlib.h>

#include <cblas.h>
#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

struct matrix {
	int nb, size; /* tiles in a row, rows of a tile */
	int rank;
	starpu_data_handle_t *handles;
	double **tiles;
};

#define PTR(i) ((double *)STARPU_MATRIX_GET_PTR(buffers[i]))
#define N(i)   ((int)STARPU_MATRIX_GET_NX(buffers[i]))

/* ---- kernels, column by column --------------------------------------- */

static void eliminate(double *a, int n, int is_lower_only)
{
	for (int k = 0; k < n; k++) {
		double *pivot = a + k * n;

		for (int i = k + 1; i < n; i++)
			pivot[i] /= pivot[k];
		for (int j = k + 1; j < n; j++) {
			double factor =
				is_lower_only ? pivot[j] * pivot[k] : a[j * n + k];

			for (int i = is_lower_only ? j : k + 1; i < n; i++)
				a[j * n + i] -= pivot[i] * factor;
		}
	}
}

static void getrf_cpu(void *buffers[], void *arg)
{
	(void)arg;
	eliminate(PTR(0), N(0), 0);
}

/* L D L^T, and L times the root of D. */
static void potrf_cpu(void *buffers[], void *arg)
{
	double *a = PTR(0);
	int n = N(0);

	(void)arg;
	eliminate(a, n, 1);
	for (int k = 0; k < n; k++) {
		double root = __builtin_sqrt(a[k * n + k]);

		a[k * n + k] = root;
		for (int i = k + 1; i < n; i++)
			a[k * n + i] *= root;
	}
}

static void trsm_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, N(1),
		    N(0), 1, PTR(0), N(0), PTR(1), N(1));
}

static void syrk_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, N(1), N(0), -1, PTR(0), N(0),
		    1, PTR(1), N(1));
}

static void gemm_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, N(2), N(1), N(0), -1, PTR(0),
		    N(0), PTR(1), N(1), 1, PTR(2), N(2));
}

static void row_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, N(1),
		    N(0), 1, PTR(0), N(0), PTR(1), N(1));
}

static void column_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit,
		    N(1), N(0), 1, PTR(0), N(0), PTR(1), N(1));
}

static void update_cpu(void *buffers[], void *arg)
{
	(void)arg;
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N(2), N(1), N(0), -1,
		    PTR(0), N(0), PTR(1), N(1), 1, PTR(2), N(2));
}

#define KERNEL(kernel, n, ...)                                                           \
	static struct starpu_codelet kernel = {.cpu_funcs = {kernel##_cpu},              \
					       .nbuffers = n,                            \
					       .modes = {__VA_ARGS__},                   \
					       .name = #kernel};
KERNEL(potrf, 1, STARPU_RW)
KERNEL(getrf, 1, STARPU_RW)
KERNEL(trsm, 2, STARPU_R, STARPU_RW)
KERNEL(syrk, 2, STARPU_R, STARPU_RW)
KERNEL(row, 2, STARPU_R, STARPU_RW)
KERNEL(column, 2, STARPU_R, STARPU_RW)
KERNEL(gemm, 3, STARPU_R, STARPU_R, STARPU_RW)
KERNEL(update, 3, STARPU_R, STARPU_R, STARPU_RW)

/* ---- the matrix ------------------------------------------------------ */

/* Any matrix whose diagonal dominates. */
static void fill(double *tile, int n, int is_diagonal, double diagonal)
{
	for (int k = 0; k < n * n; k++)
		tile[k] = 1.0 / (1 + k % 7);
	for (int k = 0; k < n && is_diagonal; k++)
		tile[k * n + k] = diagonal;
}

static void open_matrix(struct matrix *matrix)
{
	int nb = matrix->nb, n = matrix->size;
	size_t count = (size_t)(nb * nb);

	matrix->handles = calloc(count, sizeof(*matrix->handles));
	matrix->tiles = calloc(count, sizeof(*matrix->tiles));
	for (int t = 0; t < nb * nb; t++) {
		int owner = t % nb % 2, is_mine = owner == matrix->rank;

		if (is_mine) {
			matrix->tiles[t] = malloc(sizeof(double) * (size_t)(n * n));
			fill(matrix->tiles[t], n, t / nb == t % nb, nb * n);
		}
		starpu_matrix_data_register(&matrix->handles[t],
					    is_mine ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)matrix->tiles[t], (uint32_t)n,
					    (uint32_t)n, (uint32_t)n, sizeof(double));
		starpu_mpi_data_register(matrix->handles[t], t, owner);
	}
}

static void close_matrix(struct matrix *matrix)
{
	for (int t = 0; t < matrix->nb * matrix->nb; t++) {
		starpu_data_unregister(matrix->handles[t]);
		free(matrix->tiles[t]);
	}
	free(matrix->handles);
	free(matrix->tiles);
}

static starpu_data_handle_t tile(const struct matrix *matrix, int i, int j)
{
	return matrix->handles[i * matrix->nb + j];
}

/* ---- what is measured ------------------------------------------------ */

#define INSERT(...) starpu_mpi_task_insert(MPI_COMM_WORLD, __VA_ARGS__, 0)

static void cholesky(const struct matrix *m)
{
	for (int k = 0; k < m->nb; k++) {
		INSERT(&potrf, STARPU_RW, tile(m, k, k));
		for (int i = k + 1; i < m->nb; i++)
			INSERT(&trsm, STARPU_R, tile(m, k, k), STARPU_RW, tile(m, i, k));
		for (int i = k + 1; i < m->nb; i++) {
			INSERT(&syrk, STARPU_R, tile(m, i, k), STARPU_RW, tile(m, i, i));
			for (int j = k + 1; j < i; j++)
				INSERT(&gemm, STARPU_R, tile(m, i, k), STARPU_R,
				       tile(m, j, k), STARPU_RW, tile(m, i, j));
		}
	}
}

static void lu(const struct matrix *m)
{
	for (int k = 0; k < m->nb; k++) {
		INSERT(&getrf, STARPU_RW, tile(m, k, k));
		for (int j = k + 1; j < m->nb; j++)
			INSERT(&row, STARPU_R, tile(m, k, k), STARPU_RW, tile(m, k, j));
		for (int i = k + 1; i < m->nb; i++) {
			INSERT(&column, STARPU_R, tile(m, k, k), STARPU_RW,
			       tile(m, i, k));
			for (int j = k + 1; j < m->nb; j++)
				INSERT(&update, STARPU_R, tile(m, i, k), STARPU_R,
				       tile(m, k, j), STARPU_RW, tile(m, i, j));
		}
	}
}

static double once_s(struct matrix *matrix, void (*insert)(const struct matrix *matrix))
{
	double start_s, mine_s, all_s;

	open_matrix(matrix);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_s = bench_now_s();
	insert(matrix);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	mine_s = bench_now_s() - start_s;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	MPI_Allreduce(&mine_s, &all_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	close_matrix(matrix);
	return all_s;
}

static void measure(struct matrix *matrix, const char *what, int runs, double ntasks,
		    void (*insert)(const struct matrix *matrix))
{
	double best_s = once_s(matrix, insert);
	char name[80];

	for (int i = 1; i < runs; i++) {
		double s = once_s(matrix, insert);

		best_s = s < best_s ? s : best_s;
	}
	snprintf(name, sizeof(name), "%s of %d x %d tiles of %d", what, matrix->nb,
		 matrix->nb, matrix->size);
	if (matrix->rank == 0)
		bench_print("factor", name, "us a task", best_s / ntasks * 1e6);
}

static void measure_both(int rank, int runs, int nb, int size)
{
	struct matrix matrix = {.nb = nb, .size = size, .rank = rank};
	double n = nb;

	measure(&matrix, "cholesky", runs, n * (n + 1) * (n + 2) / 6, cholesky);
	measure(&matrix, "lu", runs, n * (n + 1) * (2 * n + 1) / 6, lu);
}

int main(int argc, char **argv)
{
	int level, rank, size, runs = argc > 1 ? atoi(argv[1]) : 5;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "factor: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	/* A worker is one core: the library must not take the others. */
	openblas_set_num_threads(1);
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	for (int i = 2; i + 1 < argc; i += 2)
		measure_both(rank, runs, atoi(argv[i]), atoi(argv[i + 1]));
	if (argc <= 2) {
		measure_both(rank, runs, 32, 64);
		measure_both(rank, runs, 8, 256);
	}
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
