/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a task costs that a slave executes, and does nothing: alone, many at a time, and
 * with a datum that travels there and back; beside a round trip of MPI's own between the
 * two ranks, before they are master and slave.
 *
 * usage: slave_task [NTASKS], on two ranks with STARPU_NMPI_MS=1, STARPU_NMPIMSTHREADS=1
 */
#include <mpi.h>
#include <stdlib.h>

#include <starpu.h>

#include "bench.h"

enum { ROUNDS = 5, TRIPS = 2000, SMALL = 64, BYTES = 65536 };

void slave_task_nothing(void *buffers[], void *arg);

void slave_task_nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet empty = {.cpu_funcs = {slave_task_nothing},
				      .cpu_funcs_name = {"slave_task_nothing"},
				      .where = STARPU_MPI_MS};
static struct starpu_codelet changes = {.cpu_funcs = {slave_task_nothing},
					.cpu_funcs_name = {"slave_task_nothing"},
					.where = STARPU_MPI_MS,
					.nbuffers = 1,
					.modes = {STARPU_RW}};
static char memory[BYTES];

static void trip(int rank, int bytes)
{
	if (rank == 0)
		MPI_Send(memory, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	MPI_Recv(memory, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Send(memory, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

/* The fastest of several rounds. */
static void measure_trips(const char *name, int bytes)
{
	double best_s = 1e9;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 0; round <= ROUNDS; round++) {
		double start_s = bench_now_s(), seconds;

		for (int i = 0; i < TRIPS; i++)
			trip(rank, bytes);
		seconds = (bench_now_s() - start_s) / TRIPS;
		if (round > 0 && seconds < best_s)
			best_s = seconds;
	}
	if (rank == 0)
		bench_print("slave_task", name, "us", 1e6 * best_s);
}

static void alone(starpu_data_handle_t handle)
{
	(void)handle;
	starpu_task_insert(&empty, 0);
	starpu_task_wait_for_all();
}

static void among_others(starpu_data_handle_t handle)
{
	(void)handle;
	starpu_task_insert(&empty, 0);
}

static void there_and_back(starpu_data_handle_t handle)
{
	starpu_task_insert(&changes, STARPU_RW, handle, 0);
	starpu_data_acquire(handle, STARPU_RW);
	starpu_data_release(handle);
}

static void measure(const char *name, void (*insert)(starpu_data_handle_t), int ntasks)
{
	starpu_data_handle_t handle;
	double best_s = 1e9;

	starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, BYTES,
				    1);
	for (int round = 0; round <= ROUNDS; round++) {
		double start_s = bench_now_s(), seconds;

		for (int i = 0; i < ntasks; i++)
			insert(handle);
		starpu_task_wait_for_all();
		seconds = (bench_now_s() - start_s) / ntasks;
		if (round > 0 && seconds < best_s)
			best_s = seconds;
	}
	starpu_data_unregister(handle);
	bench_print("slave_task", name, "us", 1e6 * best_s);
}

int main(int argc, char **argv)
{
	int ntasks = argc > 1 ? atoi(argv[1]) : 2000, level, size;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "slave_task: start it with mpirun -np 2\n");
		MPI_Finalize();
		return 1;
	}
	measure_trips("MPI's round trip of 64 bytes", SMALL);
	measure_trips("MPI's round trip of 64 KiB", BYTES);
	if (starpu_initialize(NULL, &argc, &argv) != 0)
		return 1;
	if (starpu_mpi_ms_worker_get_count() == 0) {
		fprintf(stderr, "slave_task: set STARPU_NMPI_MS=1\n");
		return 1;
	}
	measure("a task alone", alone, ntasks);
	measure("a task among others", among_others, ntasks);
	measure("a task and 64 KiB there and back", there_and_back, ntasks);
	starpu_shutdown();
	MPI_Finalize();
	return 0;
}
