/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/* A main that looks for messages of its own, again and again, while tasks of all ranks
 * send each other values. */
#include <stdio.h>

#include <starpu_mpi.h>

enum { ROUNDS = 5, TAG = 42 };

static int rank, size, nfailed;

static void add_cpu(void *buffers[], void *arg)
{
	(void)arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
		*(long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet add = {.cpu_funcs = {add_cpu},
				    .nbuffers = 2,
				    .modes = {STARPU_RW, STARPU_R},
				    .model = &starpu_perfmodel_nop,
				    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
				    .name = "add"};

static void claim(const char *text, int holds)
{
	nfailed += !holds;
	if (rank == 0 || !holds)
		printf("%s rank %d %s\n", holds ? "PASS" : "FAIL", rank, text);
}

/* Each value becomes its sum with the next rank's. */
static void insert_all(starpu_data_handle_t *handles)
{
	for (int r = 0; r < size; r++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_RW, handles[r],
				       STARPU_R, handles[(r + 1) % size], 0);
}

static int sums_are_right(void)
{
	long mine = rank, sum = 0;
	MPI_Request request;
	int is_over = 0;

	MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
	while (!is_over)
		MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
	return sum == (long)size * (size - 1) / 2;
}

/* Around the ring; found by MPI_Iprobe() or MPI_Probe(). */
static int is_passed_on(int again)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int value = rank, got = -1, is_there = !again, is_sent = 0, n = 0;
	MPI_Request request;
	MPI_Status status;

	MPI_Isend(&value, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &request);
	while (!is_there)
		MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &is_there, &status);
	if (!again)
		MPI_Probe(from, TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	MPI_Recv(&got, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (!is_sent)
		MPI_Testall(1, &request, &is_sent, MPI_STATUSES_IGNORE);
	return n == 1 && got == from;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t handles[16];
	long value, expected[16];
	int tests = 1, looks = 1, probes = 1;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	value = rank + 1;
	for (int r = 0; r < size; r++) {
		expected[r] = r + 1;
		starpu_variable_data_register(
			&handles[r], r == rank ? STARPU_MAIN_RAM : -1,
			r == rank ? (uintptr_t)&value : 0, sizeof(value));
		starpu_mpi_data_register(handles[r], r, r);
	}
	for (int round = 0; round < ROUNDS; round++) {
		insert_all(handles);
		for (int r = 0; r < size; r++)
			expected[r] += expected[(r + 1) % size];
		tests &= sums_are_right();
		looks &= is_passed_on(1);
		probes &= is_passed_on(0);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(handles[r]);
	claim("tests until a sum is there", tests);
	claim("looks until a message is there", looks);
	claim("probes for a message", probes);
	claim("has the value of its tasks", value == expected[rank]);
	starpu_mpi_shutdown();
	return nfailed > 0;
}
