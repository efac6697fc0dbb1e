/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A token that goes round with starpu_mpi_send and starpu_mpi_recv. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NITER 32
#define FPRINTF_MPI(stream, ...)                                                         \
	do {                                                                             \
		int rank_;                                                               \
		starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank_);                            \
		fprintf(stream, "[%d] ", rank_);                                         \
		fprintf(stream, __VA_ARGS__);                                            \
	} while (0)

static unsigned token = 42;
static starpu_data_handle_t token_handle;

void increment_cpu(void *descr[], void *_args)
{
	(void)_args;
	(*(unsigned *)STARPU_VARIABLE_GET_PTR(descr[0]))++;
}

static struct starpu_codelet increment_cl = {
	.cpu_funcs = {increment_cpu},
	.cpu_funcs_name = {"increment_cpu"},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.model = &starpu_perfmodel_nop,
};

static void increment_token(void)
{
	struct starpu_task *task = starpu_task_create();
	int ret;

	task->cl = &increment_cl;
	task->handles[0] = token_handle;
	ret = starpu_task_submit(task);
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_task_submit");
}

static void turns(int rank, int size)
{
	int loop, ret;

	for (loop = 0; loop < NITER; loop++) {
		int tag = loop * size + rank;

		if (loop == 0 && rank == 0) {
			starpu_data_acquire(token_handle, STARPU_W);
			token = 0;
			starpu_data_release(token_handle);
		} else {
			ret = starpu_mpi_recv(token_handle, (rank + size - 1) % size, tag,
					      MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_recv");
		}
		increment_token();
		if (loop == NITER - 1 && rank == size - 1)
			break;
		ret = starpu_mpi_send(token_handle, (rank + 1) % size, tag + 1,
				      MPI_COMM_WORLD);
		STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_send");
	}
}

int main(int argc, char **argv)
{
	int ret, rank, size;

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size < 2 || starpu_cpu_worker_get_count() == 0) {
		if (rank == 0)
			FPRINTF_MPI(stderr, "We need at least 2 processes and 1 CPU.\n");
		starpu_mpi_shutdown();
		return 77;
	}
	starpu_variable_data_register(&token_handle, STARPU_MAIN_RAM, (uintptr_t)&token,
				      sizeof(token));
	turns(rank, size);
	starpu_data_acquire(token_handle, STARPU_R);
	FPRINTF_MPI(stderr, "finished: token value %u\n", token);
	ret = token != (unsigned)((NITER - 1) * size + rank + 1);
	starpu_data_release(token_handle);
	starpu_data_unregister(token_handle);
	starpu_mpi_shutdown();
#ifdef STARPU_SIMGRID
	if (!getenv("CHECK_VALUES"))
		ret = 0;
#endif
	return ret;
}
