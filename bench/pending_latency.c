/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Latency of 8 bytes between two nodes, alone and while other receives are pending.
 *
 * usage: mpirun -n 2 pending_latency [ROUNDS]
 */
#include <stdlib.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum { PING = 1, PONG = 2, FIRST_PENDING = 1000, BATCHES = 5 };

struct peer {
	int rank, other;
	double value, count;
	starpu_data_handle_t handle;
};

/* Node 0 counts in the value, so that a message which did not arrive is noticed. */
static void exchange(struct peer *me)
{
	if (me->rank == 0) {
		starpu_data_acquire(me->handle, STARPU_RW);
		me->value = ++me->count;
		starpu_data_release(me->handle);
		starpu_mpi_send(me->handle, me->other, PING, MPI_COMM_WORLD);
		starpu_mpi_recv(me->handle, me->other, PONG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	} else {
		me->count++;
		starpu_mpi_recv(me->handle, me->other, PING, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		starpu_mpi_send(me->handle, me->other, PONG, MPI_COMM_WORLD);
	}
}

/* Half a round trip, in the fastest of several batches. */
static double latency_us(struct peer *me, int rounds)
{
	double best = 1e9;

	for (int batch = 0; batch <= BATCHES; batch++) {
		double start = bench_now_s(), seconds;

		for (int i = 0; i < rounds; i++)
			exchange(me);
		seconds = bench_now_s() - start;
		starpu_data_acquire(me->handle, STARPU_R);
		if (me->value != me->count) {
			fprintf(stderr, "pending_latency: received %g, expected %g\n",
				me->value, me->count);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		starpu_data_release(me->handle);
		if (batch && seconds < best)
			best = seconds;
	}
	return best / rounds / 2 * 1e6;
}

static double raw_latency_us(struct peer *me, int rounds)
{
	double value = 0, start = bench_now_s();

	for (int i = 0; i < rounds; i++) {
		if (me->rank == 0)
			MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_DOUBLE, me->other, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (me->rank == 1)
			MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
	}
	return (bench_now_s() - start) / rounds / 2 * 1e6;
}

static void measure(struct peer *me, int npending, int rounds)
{
	starpu_data_handle_t *handles = calloc(npending + 1, sizeof *handles);
	double *values = calloc(npending + 1, sizeof *values), us;
	char name[64];

	for (int i = 0; i < npending; i++) {
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
					      (uintptr_t)&values[i], sizeof values[i]);
		if (me->rank == 0)
			starpu_mpi_irecv_detached(handles[i], 1, FIRST_PENDING + i,
						  MPI_COMM_WORLD, NULL, NULL);
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
	us = latency_us(me, rounds);
	snprintf(name, sizeof name, "8 bytes %d pending", npending);
	if (me->rank == 0)
		bench_print("pending_latency", name, "us", us);
	for (int i = 0; i < npending && me->rank == 1; i++)
		starpu_mpi_isend_detached(handles[i], 0, FIRST_PENDING + i,
					  MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < npending; i++)
		starpu_data_unregister(handles[i]);
	free(handles);
	free(values);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200, size, level;
	struct peer me = {0};
	double raw_us;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "pending_latency: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	me.other = 1 - me.rank;
	raw_latency_us(&me, rounds);
	raw_us = raw_latency_us(&me, rounds);
	if (me.rank == 0)
		bench_print("pending_latency", "8 bytes plain MPI", "us", raw_us);
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_variable_data_register(&me.handle, STARPU_MAIN_RAM, (uintptr_t)&me.value,
				      sizeof me.value);
	measure(&me, 0, rounds);
	measure(&me, 100, rounds);
	measure(&me, 10000, rounds);
	starpu_data_unregister(me.handle);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
