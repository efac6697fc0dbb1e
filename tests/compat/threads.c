/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/* Threads of the application, each with a communicator and handles of its own: they
 * insert tasks, exchange messages, wait for them and unregister at the same time. */
#include <starpu.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS   3
#define MAX_RANKS 64
#define N         700
#define ROUNDS    8

struct work {
	int id, wrong;
	MPI_Comm comm;
	long mine[N];
	long expected[MAX_RANKS]; /* of each element of each rank's vector */
	starpu_data_handle_t handles[MAX_RANKS];
};

static int rank, size;

static void add_cpu(void *descr[], void *arg)
{
	long *to = (long *)STARPU_VECTOR_GET_PTR(descr[0]);
	const long *from = (const long *)STARPU_VECTOR_GET_PTR(descr[1]);
	int times;

	starpu_codelet_unpack_args(arg, &times);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(descr[0]); i++)
		to[i] += times * from[i];
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW, STARPU_R},
				    .name = "add"};

static void insert(struct work *work)
{
	for (int r = 0; r < size; r++) {
		int is_mine = r == rank;

		work->expected[r] = r + work->id;
		for (int i = 0; is_mine && i < N; i++)
			work->mine[i] = r + work->id;
		starpu_vector_data_register(
			&work->handles[r], is_mine ? STARPU_MAIN_RAM : -1,
			is_mine ? (uintptr_t)work->mine : 0, N, sizeof(long));
		starpu_mpi_data_register_comm(work->handles[r], 1000 * work->id + r, r,
					      work->comm);
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int r = 0; r < size; r++) {
			int from = (r + 1 + round) % size, times = (round + r) % 3;

			starpu_mpi_task_insert(work->comm, &add, STARPU_VALUE, &times,
					       sizeof times, STARPU_RW, work->handles[r],
					       STARPU_R, work->handles[from],
					       STARPU_PRIORITY, work->id, 0);
			work->expected[r] += times * work->expected[from];
		}
	}
}

static void pass_round(struct work *work)
{
	int from = (rank + size - 1) % size;
	long out = 10 * rank + work->id, in = -1;
	starpu_data_handle_t send, receive;

	starpu_variable_data_register(&send, STARPU_MAIN_RAM, (uintptr_t)&out,
				      sizeof out);
	starpu_variable_data_register(&receive, STARPU_MAIN_RAM, (uintptr_t)&in,
				      sizeof in);
	for (int i = 0; i < 5; i++) {
		starpu_mpi_req requests[2];

		starpu_mpi_isend(send, &requests[0], (rank + 1) % size, 77, work->comm);
		starpu_mpi_irecv(receive, &requests[1], from, 77, work->comm);
		starpu_mpi_wait(&requests[1], MPI_STATUS_IGNORE);
		starpu_mpi_wait(&requests[0], MPI_STATUS_IGNORE);
	}
	starpu_data_unregister(send);
	starpu_data_unregister(receive);
	work->wrong |= in != 10 * from + work->id;
}

static void *run(void *arg)
{
	struct work *work = arg;

	insert(work);
	pass_round(work);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(work->handles[r]);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct work works[THREADS];
	starpu_pthread_t threads[THREADS];
	int wrong = 0, all, ret, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	ret = starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL);
	if (ret == -ENODEV)
		return 77;
	STARPU_CHECK_RETURN_VALUE(ret, "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (int t = 0; t < THREADS; t++) {
		works[t].id = t + 1;
		MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
		starpu_mpi_comm_register(works[t].comm);
	}
	for (int t = 0; t < THREADS; t++)
		starpu_pthread_create(&threads[t], NULL, run, &works[t]);
	for (int t = 0; t < THREADS; t++) {
		void *unused;

		starpu_pthread_join(threads[t], &unused);
		for (int i = 0; i < N; i++)
			works[t].wrong |= works[t].mine[i] != works[t].expected[rank];
		if (works[t].wrong)
			printf("rank %d, thread %d: wrong values\n", rank, t);
		wrong |= works[t].wrong;
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_free(&works[t].comm);
	starpu_mpi_shutdown();
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return all;
}
