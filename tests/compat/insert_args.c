/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Where tasks run: ON_NODE, ON_DATA, owners; and every kind of argument. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x5ca1ab1e

static int callbacks;

static void where_cpu(void *descr[], void *cl_arg)
{
	int *r = (int *)STARPU_VARIABLE_GET_PTR(descr[0]);
	int *w = (int *)STARPU_VARIABLE_GET_PTR(descr[1]);
	char name[8];
	double d;
	int i;
	unsigned char c;

	starpu_codelet_unpack_args(cl_arg, &i, &d, name, &c);
	STARPU_ASSERT_MSG(i == MAGIC && d == 0.25 && !strcmp(name, "orbit") && c == 7,
			  "arguments: %x %f %.8s %d", (unsigned)i, d, name, c);
	*w = *r + 10 * starpu_mpi_world_rank();
}

static void sum_cpu(void *descr[], void *cl_arg)
{
	int n, i, *sum = (int *)STARPU_VARIABLE_GET_PTR(descr[0]);

	starpu_codelet_unpack_args(cl_arg, &n);
	for (i = 1; i <= n; i++)
		*sum += *(int *)STARPU_VARIABLE_GET_PTR(descr[i]);
}

static struct starpu_codelet where_cl = {
	.cpu_funcs = {where_cpu},
	.nbuffers = 2,
	.modes = {STARPU_R, STARPU_RW},
};

static struct starpu_codelet sum_cl = {
	.cpu_funcs = {sum_cpu},
	.nbuffers = STARPU_VARIABLE_NBUFFERS,
};

static void count_callback(void *arg)
{
	STARPU_ATOMIC_ADD(&callbacks, *(int *)arg);
}

#define ARGS                                                                             \
	STARPU_R, x[0], STARPU_RW, x[1], STARPU_VALUE, &magic, sizeof(magic),            \
		STARPU_VALUE, &quarter, sizeof(quarter), STARPU_VALUE, name,             \
		sizeof(name), STARPU_VALUE, &seven, sizeof(seven)

static void insert_all(starpu_data_handle_t *x, int size)
{
	static int two = 2;
	int magic = MAGIC, ret, n = 2, last = size - 1;
	double quarter = 0.25;
	char name[8] = "orbit";
	unsigned char seven = 7;
	struct starpu_data_descr descrs[2] = {{x[1], STARPU_R}, {x[2], STARPU_R}};

	/* On the owner of x[1], on a node, where a datum lives. */
	ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &where_cl, ARGS, STARPU_NAME,
				     "plain", STARPU_CALLBACK_WITH_ARG_NFREE,
				     count_callback, &two, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
	ret = starpu_mpi_insert_task(MPI_COMM_WORLD, &where_cl, ARGS,
				     STARPU_EXECUTE_ON_NODE, last, STARPU_PRIORITY, 1, 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_insert_task");
	ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &where_cl, ARGS,
				     STARPU_EXECUTE_ON_DATA, x[0], STARPU_CALLBACK,
				     count_callback, STARPU_CALLBACK_ARG,
				     memcpy(malloc(sizeof(two)), &two, sizeof(two)), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
	/* x[1] = 1 + 10 * rank of x[0], by now 1. */
	ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &sum_cl, STARPU_RW, x[0],
				     STARPU_DATA_MODE_ARRAY, descrs, n, STARPU_VALUE, &n,
				     sizeof(n), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_task_insert");
}

int main(int argc, char **argv)
{
	int value[3] = {1, 100, 1000}, ret, rank, size, i, bad = 0;
	starpu_data_handle_t x[3];

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < 3; i++) {
		int owner = i % size;

		if (owner == rank)
			starpu_variable_data_register(&x[i], STARPU_MAIN_RAM,
						      (uintptr_t)&value[i], sizeof(int));
		else
			starpu_variable_data_register(&x[i], -1, (uintptr_t)NULL,
						      sizeof(int));
		starpu_mpi_data_register(x[i], 100 + i, owner);
		STARPU_ASSERT(starpu_mpi_data_get_rank(x[i]) == owner);
		STARPU_ASSERT(starpu_mpi_data_get_tag(x[i]) == 100 + i);
	}
	insert_all(x, size);
	starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
	starpu_task_wait_for_all();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (i = 0; i < 3; i++)
		starpu_data_unregister(x[i]);
#ifdef STARPU_SIMGRID
	if (getenv("CHECK_VALUES"))
#endif
		bad = rank == 0 && value[0] != 1 + 1 + 1000;
	/* One callback where x[1] lives, one where x[0] does. */
	if (callbacks != 2 * ((rank == 1 % size) + (rank == 0)))
		bad |= 2;
	if (bad)
		fprintf(stderr, "[%d] %d %d, callbacks %d\n", rank, value[0], value[1],
			callbacks);
	starpu_mpi_shutdown();
	return bad;
}
