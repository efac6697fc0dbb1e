/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A ring of detached transfers, whose callbacks wake up the application. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NITER 20
#define N     1000 /* integers in each message */

static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;

static void fill_cpu(void *descr[], void *arg)
{
	int first, *x = (int *)STARPU_VECTOR_GET_PTR(descr[0]);
	unsigned i;

	starpu_codelet_unpack_args(arg, &first);
	for (i = 0; i < STARPU_VECTOR_GET_NX(descr[0]); i++)
		x[i] = first + (int)i;
}

static struct starpu_codelet fill_cl = {
	.cpu_funcs = {fill_cpu},
	.nbuffers = 1,
	.modes = {STARPU_W},
	.name = "fill",
	.model = &starpu_perfmodel_nop,
};

static void done(void *arg)
{
	unsigned *completed = arg;

	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	(*completed)++;
	STARPU_PTHREAD_COND_SIGNAL(&cond);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

static int differs(const int *x, int first)
{
	int i;

#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		return 0;
#endif
	for (i = 0; i < N; i++)
		if (x[i] != first + i)
			return 1;
	return 0;
}

static int turn(int loop, int rank, int size, starpu_data_handle_t *handle, int *x)
{
	unsigned completed = 0;
	int first = 1000 * loop + rank, ret, from = (rank + size - 1) % size, bad;

	ret = starpu_task_insert(&fill_cl, STARPU_W, handle[0], STARPU_VALUE, &first,
				 sizeof(first), 0);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_insert");
	ret = starpu_mpi_irecv_detached(handle[1], from, loop, MPI_COMM_WORLD, done,
					&completed);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_irecv_detached");
	if (loop % 2)
		ret = starpu_mpi_isend_detached(handle[0], (rank + 1) % size, loop,
						MPI_COMM_WORLD, done, &completed);
	else
		ret = starpu_mpi_issend_detached(handle[0], (rank + 1) % size, loop,
						 MPI_COMM_WORLD, done, &completed);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_isend_detached");

	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	while (completed < 2)
		STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);

	starpu_data_acquire(handle[1], STARPU_R);
	bad = differs(x, 1000 * loop + from);
	starpu_data_release(handle[1]);
	return bad;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handle[2];
	struct starpu_conf conf;
	int *received, ret, rank, size, loop, bad = 0;

	starpu_conf_init(&conf);
	conf.sched_policy_name = "eager";
	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, &conf);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	starpu_malloc((void **)&received, N * sizeof(int));
	starpu_vector_data_register(&handle[0], -1, 0, N, sizeof(int));
	starpu_vector_data_register(&handle[1], STARPU_MAIN_RAM, (uintptr_t)received, N,
				    sizeof(int));
	for (loop = 0; loop < NITER && size > 1; loop++)
		bad |= turn(loop, rank, size, handle, received);
	starpu_data_unregister(handle[0]);
	starpu_data_unregister(handle[1]);
	starpu_free_noflag(received, N * sizeof(int));
	starpu_mpi_shutdown();
	STARPU_PTHREAD_MUTEX_DESTROY(&mutex);
	STARPU_PTHREAD_COND_DESTROY(&cond);
	return size < 2 ? 77 : bad;
}
