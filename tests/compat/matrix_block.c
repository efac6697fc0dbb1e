/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A matrix by blocks, dealt over P x Q nodes; blocks are parts of larger arrays. */
#include <starpu.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NB 4  /* blocks in each direction */
#define BS 10 /* rows and columns of a block */
#define LD 13 /* leading dimension of the arrays that blocks lie in */

static void add_cpu(void *descr[], void *arg)
{
	double *from = (double *)STARPU_MATRIX_GET_PTR(descr[0]);
	double *to = (double *)STARPU_MATRIX_GET_PTR(descr[1]);
	unsigned nx = STARPU_MATRIX_GET_NX(descr[1]), ny = STARPU_MATRIX_GET_NY(descr[1]);
	unsigned ldf = STARPU_MATRIX_GET_LD(descr[0]),
		 ldt = STARPU_MATRIX_GET_LD(descr[1]);
	unsigned i, j;

	(void)arg;
	STARPU_ASSERT_MSG(nx == BS && ny == BS && ldf >= nx && ldt >= nx,
			  "%u x %u, %u and %u", nx, ny, ldf, ldt);
	for (j = 0; j < ny; j++)
		for (i = 0; i < nx; i++)
			to[j * ldt + i] += from[j * ldf + i];
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = {add_cpu},
	.cpu_funcs_name = {"add_cpu"},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_RW},
	.name = "add",
	.model = &starpu_perfmodel_nop,
};

static double *block[NB][NB];
static starpu_data_handle_t handle[NB][NB];

static int my_distrib(int y, int x, int nb_nodes)
{
	int p = nb_nodes % 2 == 0 ? 2 : 1, q = nb_nodes / p;

	return (y % p) * q + x % q;
}

static void fill(double *a, int y, int x)
{
	int i;

	for (i = 0; i < LD * BS; i++)
		a[i] = i % LD < BS ? 100 * y + 10 * x + (double)i / 1024 : -1;
}

static void distribute(int rank, int size)
{
	int x, y;

	for (y = 0; y < NB; y++)
		for (x = 0; x < NB; x++) {
			int owner = my_distrib(y, x, size);

			if (owner == rank) {
				starpu_malloc((void **)&block[y][x],
					      LD * BS * sizeof(double));
				fill(block[y][x], y, x);
				starpu_matrix_data_register(&handle[y][x],
							    STARPU_MAIN_RAM,
							    (uintptr_t)block[y][x], LD,
							    BS, BS, sizeof(double));
			} else {
				starpu_matrix_data_register(&handle[y][x], -1, 0, BS, BS,
							    BS, sizeof(double));
			}
			starpu_mpi_data_register(handle[y][x], y * NB + x, owner);
		}
}

/* Each row of blocks is summed up along the row, then down the last column. */
static void compute(void)
{
	int x, y, ret;

	for (y = 0; y < NB; y++)
		for (x = 1; x < NB; x++) {
			ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_R,
						     handle[y][x - 1], STARPU_RW,
						     handle[y][x], 0);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
		}
	for (y = 1; y < NB; y++) {
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_R,
					     handle[y - 1][NB - 1], STARPU_RW,
					     handle[y][NB - 1], 0);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
	}
}

static double expected(int y, int x, int i)
{
	double sum = 0;
	int u, v;

	for (v = x == NB - 1 ? 0 : y; v <= y; v++)
		for (u = 0; u <= x; u++)
			sum += 100 * v + 10 * u + (double)i / 1024;
	return sum;
}

static int wrong_block(int y, int x)
{
	int i;

#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	for (i = 0; i < LD * BS; i++)
		if (block[y][x][i] != (i % LD < BS ? expected(y, x, i) : -1)) {
			fprintf(stderr, "block %d,%d [%d] = %f\n", y, x, i,
				block[y][x][i]);
			return 1;
		}
	return 0;
}

static int finish(void)
{
	int x, y, bad = 0;

	for (y = 0; y < NB; y++)
		for (x = 0; x < NB; x++) {
			starpu_data_unregister(handle[y][x]);
			if (!block[y][x])
				continue;
			bad |= wrong_block(y, x);
			starpu_free_noflag(block[y][x], LD * BS * sizeof(double));
		}
	return bad;
}

int main(int argc, char **argv)
{
	int ret, rank, size;
	struct starpu_conf conf;

	ret = starpu_conf_init(&conf);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_conf_init");
	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, &conf);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	distribute(rank, size);
	compute();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	ret = finish();
	starpu_mpi_shutdown();
	return ret;
}
