/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* A value goes round; who waits for it asks again and again, in all the ways there are.
 */
#include <starpu_mpi.h>
#include <stdlib.h>

enum { WAYS = 5, ROUNDS = 6 };
static int rank, size;

static void increment_cpu(void *buffers[], void *arg)
{
	(void)arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet increment = {.cpu_funcs = {increment_cpu},
					  .nbuffers = 1,
					  .modes = {STARPU_RW},
					  .model = &starpu_perfmodel_nop,
					  .name = "increment"};

static struct starpu_task *submit(starpu_data_handle_t handle)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &increment;
	task->handles[0] = handle;
	task->detach = 0;
	if (starpu_task_submit(task) != 0)
		exit(77);
	return task;
}

/* Nobody else makes messages move meanwhile, nor time pass. */
static void await(int way, starpu_data_handle_t handle, struct starpu_task *task)
{
	int is_held = way == 0 || way == 1;

	switch (way) {
	case 0:
		while (starpu_data_acquire_try(handle, STARPU_R) != 0)
			;
		break;
	case 1:
		while (starpu_data_acquire_try(handle, STARPU_R) != 0)
			starpu_usleep(20);
		break;
	case 2:
		while (!starpu_task_finished(task))
			;
		break;
	case 3:
		while (starpu_task_nsubmitted() > 0)
			;
		break;
	default:
		while (starpu_task_nready() > 0 || starpu_task_nsubmitted() > 0)
			starpu_sleep(1e-4f);
	}
	if (is_held)
		starpu_data_release(handle);
}

/* Each rank adds one, and hands on. */
static void play(int way, starpu_data_handle_t handle)
{
	int from = (rank + size - 1) % size, to = (rank + 1) % size;

	for (int round = 0; round < ROUNDS; round++) {
		struct starpu_task *task;

		if (rank > 0 || round > 0)
			starpu_mpi_irecv_detached(handle, from, way, MPI_COMM_WORLD, NULL,
						  NULL);
		task = submit(handle);
		await(way, handle, task);
		if (starpu_task_wait(task) != 0)
			exit(1);
		if (rank < size - 1 || round < ROUNDS - 1)
			starpu_mpi_isend_detached(handle, to, way, MPI_COMM_WORLD, NULL,
						  NULL);
	}
}

int main(int argc, char **argv)
{
	int value = 0, last;
	starpu_data_handle_t handle;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
				      sizeof(value));
	for (int way = 0; way < WAYS; way++) {
		play(way, handle);
		starpu_mpi_wait_for_all(MPI_COMM_WORLD);
		/* The last one has the sum, and the first begins with it. */
		if (rank == size - 1)
			starpu_mpi_send(handle, 0, WAYS, MPI_COMM_WORLD);
		if (rank == 0)
			starpu_mpi_recv(handle, size - 1, WAYS, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE);
	}
	starpu_data_unregister(handle);
	last = value;
	starpu_mpi_shutdown();
	if (rank == 0 && last != WAYS * ROUNDS * size) {
		printf("%d, not %d\n", last, WAYS * ROUNDS * size);
		return 1;
	}
	return 0;
}
