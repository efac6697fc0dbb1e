/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * When a large value is there that leaves a node beside many others: as soon as beside
 * one of them, when it is more urgent.  All of them move together when it is not.
 * A value that lies on a GPU is brought home before it leaves.
 */
#include <starpu_mpi.h>

#include "../api/claim.h"

enum { BYTES = 512 << 10, FEW_BYTES = 1 << 10, FIRST = 1, MOST = 16 };

int claim_failures;
static int rank, size;

static void post(starpu_data_handle_t handle, int peer, int priority)
{
	/* The others follow when the first is on its way to be granted. */
	if (peer == FIRST + 1)
		starpu_usleep(5);
	if (rank == 0)
		starpu_mpi_isend_detached_prio(handle, peer, 1, priority, MPI_COMM_WORLD,
					       NULL, NULL);
	else
		starpu_mpi_irecv_detached_prio(handle, peer, 1, priority, MPI_COMM_WORLD,
					       NULL, NULL);
}

/* Rank 0 sends a value to each below n: how long the first takes, there; elsewhere 0. */
static double first_us(int n, int priority)
{
	starpu_data_handle_t handles[MOST];
	int nhandles = rank ? rank < n : n - 1;
	double start_us, took_us = 0;

	for (int i = 0; i < nhandles; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)malloc(BYTES), BYTES, 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	for (int i = 0; i < nhandles; i++)
		post(handles[i], rank ? 0 : FIRST + i,
		     rank + i == (rank ? FIRST : 0) ? priority : 0);
	if (rank == FIRST) {
		starpu_data_acquire(handles[0], STARPU_R);
		took_us = starpu_timing_now() - start_us;
		starpu_data_release(handles[0]);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < nhandles; i++) {
		free(starpu_data_get_local_ptr(handles[i]));
		starpu_data_unregister_no_coherency(handles[i]);
	}
	return took_us;
}

static void fill(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet fills_at_home = {.cpu_funcs = {fill},
					      .nbuffers = 1,
					      .modes = {STARPU_W},
					      .model = &starpu_perfmodel_nop};
static struct starpu_codelet fills_on_gpu = {.cuda_funcs = {fill},
					     .nbuffers = 1,
					     .modes = {STARPU_W},
					     .model = &starpu_perfmodel_nop};

/* From the post to its end, of a value of rank 0 that nothing else is done with; there.
 */
static double sent_us(struct starpu_codelet *codelet, int bytes)
{
	starpu_data_handle_t handle;
	double start_us;

	starpu_vector_data_register(&handle, -1, 0, (uint32_t)bytes, 1);
	if (rank == 0)
		starpu_task_insert(codelet, STARPU_W, handle, 0);
	starpu_task_wait_for_all();
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	if (rank == 0)
		starpu_mpi_isend_detached(handle, FIRST, 2, MPI_COMM_WORLD, NULL, NULL);
	if (rank == FIRST)
		starpu_mpi_irecv_detached(handle, 0, 2, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	start_us = starpu_timing_now() - start_us;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_data_unregister_no_coherency(handle);
	return start_us;
}

static void is_brought_home(void)
{
	static const int bytes[] = {FEW_BYTES, BYTES};
	/* The platform's latency of 8 us, and its 25 GB/s. */
	static const double least_us[] = {7.9, 28.8};

	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
	CLAIM(starpu_cuda_worker_get_count() > 0);
	for (int i = 0; i < 2; i++) {
		double home_us = sent_us(&fills_at_home, bytes[i]);
		double gpu_us = sent_us(&fills_on_gpu, bytes[i]);

		if (rank == 0)
			printf("%d bytes left after %g us, from a GPU after %g\n",
			       bytes[i], home_us, gpu_us);
		CLAIM(rank != 0 || gpu_us >= home_us + least_us[i]);
	}
	starpu_mpi_shutdown();
}

static void few_leave_beside_it(void)
{
	double alone_us, urgent_us, equal_us;

	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	CLAIM(size > 5 && size <= MOST);
	alone_us = first_us(FIRST + 1, 1);
	urgent_us = first_us(size, 1);
	equal_us = first_us(size, 0);
	if (rank == FIRST)
		printf("alone %g us, urgent %g, as urgent as the others %g\n", alone_us,
		       urgent_us, equal_us);
	CLAIM(urgent_us <= 2 * alone_us);
	CLAIM(equal_us >= 3 * alone_us);
	starpu_mpi_shutdown();
}

static const struct claim claims[] = {
	{"few leave beside an urgent value", few_leave_beside_it},
	{"a value on a GPU is brought home before it leaves", is_brought_home},
	{NULL, NULL},
};

int main(void)
{
	int failed;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	failed = claims_run(claims, rank != 0);
	MPI_Finalize();
	return failed;
}
