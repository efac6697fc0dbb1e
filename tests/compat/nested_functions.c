/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Kernel and callback are functions inside main, with its variables: a GNU extension. */
#include <starpu_mpi.h>
#include <stdio.h>

#define ROUNDS 10

/* A thread of the program has code on its stack, too. */
static void *thread(void *arg)
{
	void one_more(void)
	{
		++*(int *)arg;
	}
	void (*volatile call)(void) = one_more;

	call();
	return NULL;
}

static int threads_run(void)
{
	int nran = 0;
	starpu_pthread_t other;

	starpu_pthread_create(&other, NULL, thread, &nran);
	starpu_pthread_join(other, NULL);
	return nran;
}

int main(int argc, char **argv)
{
	int rank, size, value = 0, factor = 1, ncalls = 0, ret;
	starpu_data_handle_t handle;
	struct starpu_codelet cl;

	void add_cpu(void *descr[], void *arg)
	{
		(void)arg;
		*(int *)STARPU_VARIABLE_GET_PTR(descr[0]) += factor;
	}

	void count(void *arg)
	{
		(void)arg;
		__atomic_fetch_add(&ncalls, factor, __ATOMIC_SEQ_CST);
	}

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	rank = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	starpu_codelet_init(&cl);
	cl.cpu_funcs[0] = add_cpu;
	cl.nbuffers = 1;
	cl.modes[0] = STARPU_RW;
	cl.model = &starpu_perfmodel_nop;
	starpu_variable_data_register(&handle, rank == 0 ? STARPU_MAIN_RAM : -1,
				      rank == 0 ? (uintptr_t)&value : 0, sizeof(value));
	starpu_mpi_data_register(handle, 1, 0);
	for (int i = 0; i < ROUNDS && !ret; i++)
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_RW, handle,
					     STARPU_EXECUTE_ON_NODE, i % size,
					     STARPU_CALLBACK, count, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(handle);

	int nran = threads_run();

	starpu_mpi_shutdown();
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES") && rank == 0)
		value = ROUNDS;
#endif
	if (ret || nran != 1 || ncalls != (ROUNDS - rank + size - 1) / size ||
	    (rank == 0 && value != ROUNDS)) {
		fprintf(stderr, "rank %d: value %d, %d calls, %d ran, error %d\n", rank,
			value, ncalls, nran, ret);
		return 1;
	}
	return 0;
}
