/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Values that travel between ranks from and to CUDA devices, on the stand-in for CUDA,
 * which is no GPU: a sum that goes round, with a device's kernel on each rank.
 */
#include <starpu_mpi.h>

#include "../api/claim.h"
#include "on_device.h"

int claim_failures;

enum { DATA = 6, N = 3000, ROUNDS = 10 };

/* y += x + 1 */
static void add(const struct launch *launch)
{
	double *y = standin_at(launch->ptr[0]);
	const double *x = standin_at(launch->ptr[1]);

	for (size_t i = 0; i < launch->nx; i++)
		y[i] += x[i] + 1;
}

static void add_cuda(void *buffers[], void *arg)
{
	(void)arg;
	launch_here((struct launch){.func = add,
				    .nx = STARPU_VECTOR_GET_NX(buffers[0]),
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0]),
					    (char *)STARPU_VECTOR_GET_PTR(buffers[1])}});
}

static struct starpu_codelet adds = {.cuda_funcs = {add_cuda},
				     .cuda_flags = {STARPU_CUDA_ASYNC},
				     .nbuffers = 2,
				     .modes = {STARPU_RW, STARPU_R},
				     .name = "adds"};

static void sums_go_round(void)
{
	static double x[DATA][N];
	double expected[DATA] = {0};
	starpu_data_handle_t handles[DATA];
	int rank = starpu_mpi_world_rank(), size = starpu_mpi_world_size();

	for (int i = 0; i < DATA; i++) {
		int mine = i % size == rank;

		starpu_vector_data_register(&handles[i], mine ? STARPU_MAIN_RAM : -1,
					    mine ? (uintptr_t)x[i] : 0, N,
					    sizeof(double));
		starpu_mpi_data_register(handles[i], i + 1, i % size);
	}
	for (int i = 0; i < ROUNDS * DATA; i++) {
		int to = i % DATA, from = (i + 1) % DATA;

		starpu_mpi_task_insert(MPI_COMM_WORLD, &adds, STARPU_RW, handles[to],
				       STARPU_R, handles[from], 0);
		expected[to] += expected[from] + 1;
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < DATA; i++) {
		starpu_data_unregister(handles[i]);
		for (int k = 0; i % size == rank && k < N; k++)
			CLAIM_EQ(x[i][k], expected[i]);
	}
}

/* ---- from one device to another's ------------------------------------- */

enum { MANY = 40000 };

static int is_direct(void)
{
	const char *wanted = getenv("STARPU_MPI_GPUDIRECT");

	return wanted && atoi(wanted) == 1;
}

static void count(const struct launch *launch)
{
	double *x = standin_at(launch->ptr[0]);

	for (size_t i = 0; i < launch->nx; i++)
		x[i] = launch->factor + (double)i;
}

static void count_cuda(void *buffers[], void *arg)
{
	double first;

	starpu_codelet_unpack_args(arg, &first);
	launch_here((struct launch){.func = count,
				    .nx = STARPU_VECTOR_GET_NX(buffers[0]),
				    .factor = first,
				    .ptr = {(char *)STARPU_VECTOR_GET_PTR(buffers[0])}});
}

static struct starpu_codelet counts = {.cuda_funcs = {count_cuda},
				       .cuda_flags = {STARPU_CUDA_ASYNC},
				       .nbuffers = 1,
				       .modes = {STARPU_W},
				       .name = "counts"};

static void count_there(starpu_data_handle_t handle, double first)
{
	starpu_task_insert(&counts, STARPU_W, handle, STARPU_VALUE, &first, sizeof(first),
			   STARPU_TASK_SYNCHRONOUS, 1, 0);
}

static void expect_in_main_memory(starpu_data_handle_t handle, int expected)
{
	int is_valid;

	starpu_data_query_status(handle, STARPU_MAIN_RAM, NULL, &is_valid, NULL);
	CLAIM_EQ(is_valid, expected);
}

static void expect_counted(starpu_data_handle_t handle, double first)
{
	const double *x;

	starpu_data_acquire(handle, STARPU_R);
	x = (const double *)starpu_vector_get_local_ptr(handle);
	for (int i = 0; i < MANY; i++)
		CLAIM_EQ(x[i], first + i);
	starpu_data_release(handle);
}

/* The message comes before (early) or after its receive is posted. */
static void pass_on(starpu_data_handle_t big, starpu_data_handle_t small, int early)
{
	if (starpu_mpi_world_rank() == 0) {
		count_there(big, 7);
		starpu_mpi_send(early ? big : small, 1, early ? 1 : 2, MPI_COMM_WORLD);
		starpu_mpi_send(early ? small : big, 1, early ? 2 : 1, MPI_COMM_WORLD);
	} else {
		starpu_mpi_req request;

		count_there(big, 1);
		if (!early)
			starpu_mpi_irecv(big, &request, 0, 1, MPI_COMM_WORLD);
		starpu_mpi_recv(small, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (early)
			starpu_mpi_irecv(big, &request, 0, 1, MPI_COMM_WORLD);
		starpu_mpi_wait(&request, MPI_STATUS_IGNORE);
	}
}

static void from_device_to_device(void)
{
	int me = starpu_mpi_world_rank();

	for (int early = 0; me < 2 && early < 2; early++) {
		double flag = 0;
		starpu_data_handle_t big, small;

		starpu_vector_data_register(&big, -1, 0, MANY, sizeof(double));
		starpu_variable_data_register(&small, STARPU_MAIN_RAM, (uintptr_t)&flag,
					      sizeof(flag));
		pass_on(big, small, early);
		expect_in_main_memory(big, !is_direct());
		expect_counted(big, 7);
		starpu_data_unregister(big);
		starpu_data_unregister(small);
	}
}

/* What is in main memory anyway leaves from there, and arrives where it was before. */
static void from_main_memory_to_a_device(void)
{
	starpu_data_handle_t handle;
	int me = starpu_mpi_world_rank();

	if (me > 1)
		return;
	starpu_vector_data_register(&handle, -1, 0, MANY, sizeof(double));
	count_there(handle, 3 + me);
	if (me == 0) {
		expect_counted(handle, 3);
		starpu_mpi_send(handle, 1, 5, MPI_COMM_WORLD);
	} else {
		starpu_mpi_recv(handle, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect_in_main_memory(handle, !is_direct());
		expect_counted(handle, 3);
	}
	starpu_data_unregister(handle);
}

/* The sender's device has a kernel that is held until the value has left it. */
static void a_value_leaves_beside_a_kernel(void)
{
	int me = starpu_mpi_world_rank();
	double first = 2;
	starpu_data_handle_t sent, other;

	if (me > 1)
		return;
	starpu_vector_data_register(&sent, -1, 0, MANY, sizeof(double));
	starpu_vector_data_register(&other, -1, 0, MANY, sizeof(double));
	if (me == 0) {
		count_there(sent, 9);
		count_there(other, 1);
		if (!is_direct())
			standin_hold(STANDIN_KERNEL, STANDIN_FROM_DEVICE, 1);
		starpu_task_insert(&counts, STARPU_W, other, STARPU_VALUE, &first,
				   sizeof(first), 0);
		starpu_mpi_send(sent, 1, 6, MPI_COMM_WORLD);
		starpu_task_wait_for_all();
		CLAIM_EQ(standin_nholds(), 0);
	} else {
		starpu_mpi_recv(sent, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect_counted(sent, 9);
	}
	starpu_data_unregister(sent);
	starpu_data_unregister(other);
}

int main(int argc, char **argv)
{
	static const struct claim claims[] = {
		{"sums go round by devices of all ranks", sums_go_round},
		{"from a device to another rank's", from_device_to_device},
		{"from main memory to another rank's device",
		 from_main_memory_to_a_device},
		{"a value leaves a device beside its kernel",
		 a_value_leaves_beside_a_kernel},
		{NULL, NULL}};
	int ret;

	standin_use();
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	ret = claims_run(claims, starpu_mpi_world_rank() != 0);
	starpu_mpi_shutdown();
	return ret;
}
