/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * One transfer between two nodes, by size, and the same by plain MPI: latency (half a
 * round trip), time per MiB when many follow one another, and how much of a transfer a
 * computation of twice its length does not hide, on the side that sends and on the side
 * that receives: compared with the computation, and with a task that makes it.
 *
 * usage: mpirun -n 2 transfers [LARGEST [BATCHES]]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum {
	DATA = 1,
	TOKEN = 2,
	OVER = 3,
	WINDOW = 16,
	LARGEST = 4 << 20,
	BATCHES = 8,
	PAGE = 4096
};

/* What is measured with either library. */
struct side {
	int rank, other, is_raw;
	int bytes;
	char *buffers; /* WINDOW of them, in the same place with both libraries: how its
			* pages lie makes a difference of 2 us for 256 KiB */
	starpu_data_handle_t handles[WINDOW], token;
	double token_value, nsteps; /* of a computation, 0: none */
};

/* ---- computation ----------------------------------------------------- */

static volatile double computed;

/* A chain, so that its time is that of its steps. */
static void compute(double nsteps)
{
	double x = 1;

	for (double i = 0; i < nsteps; i++)
		x = x * 0.999999 + 1e-6;
	computed = x;
}

static void kernel(void *buffers[], void *arg)
{
	(void)buffers;
	compute(*(const double *)arg);
}

static struct starpu_codelet computation = {.cpu_funcs = {kernel}};

static void start_computation(struct side *side)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &computation;
	task->cl_arg = &side->nsteps;
	if (starpu_task_submit(task) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- one step with either library ------------------------------------ */

static char *buffer_of(const struct side *side, int i)
{
	return side->buffers + (size_t)i * (size_t)side->bytes;
}

static void send_one(struct side *side)
{
	if (side->is_raw)
		MPI_Send(side->buffers, side->bytes, MPI_BYTE, side->other, DATA,
			 MPI_COMM_WORLD);
	else
		starpu_mpi_send(side->handles[0], side->other, DATA, MPI_COMM_WORLD);
}

static void receive_one(struct side *side)
{
	if (side->is_raw)
		MPI_Recv(side->buffers, side->bytes, MPI_BYTE, side->other, DATA,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		starpu_mpi_recv(side->handles[0], side->other, DATA, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

/* The receives are posted. */
static void say_ready(struct side *side)
{
	if (side->is_raw)
		MPI_Send(&side->token_value, 1, MPI_DOUBLE, side->other, TOKEN,
			 MPI_COMM_WORLD);
	else
		starpu_mpi_send(side->token, side->other, TOKEN, MPI_COMM_WORLD);
}

static void raw_window(struct side *side, int is_sender, int n)
{
	MPI_Request requests[WINDOW];

	for (int i = 0; i < n; i++)
		if (is_sender)
			MPI_Isend(buffer_of(side, i), side->bytes, MPI_BYTE, side->other,
				  DATA, MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Irecv(buffer_of(side, i), side->bytes, MPI_BYTE, side->other,
				  DATA, MPI_COMM_WORLD, &requests[i]);
	if (!is_sender && side->token_value)
		say_ready(side);
	compute(side->nsteps);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void window(struct side *side, int is_sender, int n)
{
	starpu_mpi_req requests[WINDOW];

	if (side->is_raw) {
		raw_window(side, is_sender, n);
		return;
	}
	for (int i = 0; i < n; i++)
		if (is_sender)
			starpu_mpi_isend(side->handles[i], &requests[i], side->other,
					 DATA, MPI_COMM_WORLD);
		else
			starpu_mpi_irecv(side->handles[i], &requests[i], side->other,
					 DATA, MPI_COMM_WORLD);
	if (!is_sender && side->token_value)
		say_ready(side);
	if (side->nsteps > 0)
		start_computation(side);
	for (int i = 0; i < n; i++)
		starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE);
	if (side->nsteps > 0)
		starpu_task_wait_for_all();
}

static void await_token(struct side *side)
{
	if (side->is_raw)
		MPI_Recv(&side->token_value, 1, MPI_DOUBLE, side->other, TOKEN,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		starpu_mpi_recv(side->token, side->other, TOKEN, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

/* ---- rounds ---------------------------------------------------------- */

static double ping_pong_s(struct side *side)
{
	int rounds = side->bytes > 65536 ? 4 : 20;
	double start = bench_now_s();

	for (int i = 0; i < rounds; i++) {
		if (side->rank == 0)
			send_one(side);
		receive_one(side);
		if (side->rank == 1)
			send_one(side);
	}
	return (bench_now_s() - start) / rounds / 2;
}

/* Rank 1 ends last, and says so. */
static double stream_s(struct side *side)
{
	int rounds = side->bytes > 65536 ? 2 : 8;
	double start = bench_now_s();

	for (int i = 0; i < rounds; i++)
		window(side, side->rank == 0, WINDOW);
	side->rank == 0 ? receive_one(side) : send_one(side);
	return (bench_now_s() - start) / rounds / WINDOW;
}

/* Rank 1 goes on when rank 0 has ended, so that it sends nothing beside what is timed. */
static void end_once(struct side *side)
{
	if (side->is_raw && side->rank == 0)
		MPI_Send(&side->token_value, 1, MPI_DOUBLE, side->other, OVER,
			 MPI_COMM_WORLD);
	else if (side->is_raw)
		MPI_Recv(&side->token_value, 1, MPI_DOUBLE, side->other, OVER,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (side->rank == 0)
		starpu_mpi_send(side->token, side->other, OVER, MPI_COMM_WORLD);
	else
		starpu_mpi_recv(side->token, side->other, OVER, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

/* Rank 0 sends when rank 1 is ready; each takes its own time. */
static double once_s(struct side *side)
{
	double start, seconds;

	side->token_value = 1;
	if (side->rank == 0)
		await_token(side);
	start = bench_now_s();
	window(side, side->rank == 0, 1);
	seconds = bench_now_s() - start;
	end_once(side);
	side->token_value = 0;
	return seconds;
}

/* Short batches, since a machine is seldom undisturbed for long. */
static double best_s(struct side *side, double (*measure_s)(struct side *), int batches)
{
	double best = 1e30;

	for (int i = 0; i <= batches; i++) {
		double seconds = measure_s(side);

		if (i > 0 && seconds < best)
			best = seconds;
	}
	return best;
}

/* How many steps take that long. */
static double steps_for(double seconds)
{
	double best = 1e30;

	for (int i = 0; i < 10; i++) {
		double start = bench_now_s();

		compute(1e5);
		if (bench_now_s() - start < best)
			best = bench_now_s() - start;
	}
	return seconds / best * 1e5;
}

/* What is no part of a receive is said before it, too. */
static double computation_s(struct side *side)
{
	double start = bench_now_s();

	if (side->rank == 1)
		say_ready(side);
	compute(side->nsteps);
	return bench_now_s() - start;
}

static double task_s(struct side *side)
{
	double start = bench_now_s();

	if (side->rank == 1)
		say_ready(side);
	start_computation(side);
	starpu_task_wait_for_all();
	return bench_now_s() - start;
}

/* Beside the receiver's best_s(). */
static void hear_all(struct side *side, int batches)
{
	for (int i = 0; i <= batches; i++)
		await_token(side);
}

/* In percent of a transfer, that is, of what it takes on that side beside no computation:
 * where the sender helps, a part of half a round trip. */
struct exposed {
	double beyond_computation, beyond_task;
	double transfer_s;
};

static double percent(double both_s, double alone_s, double transfer_s)
{
	return both_s > alone_s ? 100 * (both_s - alone_s) / transfer_s : 0;
}

/* The part of a transfer that a computation on the given side, twice as long, does not
 * hide.  Valid there.  The computation is a task of the library's, which takes a while to
 * begin and to end by itself, so it is compared with that, too. */
static struct exposed expose(struct side *side, int computing, int batches)
{
	double transfer_s = best_s(side, once_s, 4 * batches);
	double both_s, direct_s = 0, alone_s = 0;

	side->nsteps = side->rank == computing ? steps_for(2 * transfer_s) : 0;
	if (side->nsteps > 0)
		direct_s = best_s(side, computation_s, 4 * batches);
	if (side->nsteps > 0 && !side->is_raw)
		alone_s = best_s(side, task_s, 4 * batches);
	for (int i = 0; i < 2 - side->is_raw && computing > side->rank; i++)
		hear_all(side, 4 * batches);
	both_s = best_s(side, once_s, 4 * batches);
	side->nsteps = 0;
	return (struct exposed){percent(both_s, direct_s, transfer_s),
				percent(both_s, alone_s, transfer_s), transfer_s};
}

static void report(const struct side *side, const char *what, const char *unit,
		   double value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %d bytes%s", what, side->bytes,
		 side->is_raw ? " plain MPI" : "");
	bench_print("transfers", name, unit, value);
}

static void measure(struct side *side, int batches)
{
	double latency_s = best_s(side, ping_pong_s, 10 * batches);
	double stream = best_s(side, stream_s, 2 * batches);

	if (side->rank == 0) {
		report(side, "latency", "us", latency_s * 1e6);
		report(side, "stream", "us/MiB", stream * 1e6 * (1 << 20) / side->bytes);
	}
	if (side->bytes < 65536)
		return;
	for (int computing = 0; computing < 2; computing++) {
		struct exposed exposed = expose(side, computing, batches);

		if (computing != side->rank)
			continue;
		report(side, computing ? "receiving" : "sending", "us",
		       exposed.transfer_s * 1e6);
		report(side, computing ? "exposed receiving" : "exposed sending", "%",
		       exposed.beyond_computation);
		if (!side->is_raw)
			report(side,
			       computing ? "exposed receiving, beyond a task"
					 : "exposed sending, beyond a task",
			       "%", exposed.beyond_task);
	}
}

static void prepare(struct side *side)
{
	if (side->is_raw)
		return;
	for (int i = 0; i < WINDOW; i++)
		starpu_vector_data_register(&side->handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)buffer_of(side, i),
					    (uint32_t)side->bytes, 1);
	starpu_variable_data_register(&side->token, STARPU_MAIN_RAM,
				      (uintptr_t)&side->token_value,
				      sizeof(side->token_value));
}

static void clean_up(struct side *side)
{
	for (int i = 0; i < WINDOW && !side->is_raw; i++)
		starpu_data_unregister(side->handles[i]);
	if (!side->is_raw)
		starpu_data_unregister(side->token);
}

static char *new_buffers(int largest)
{
	size_t bytes = (size_t)WINDOW * (size_t)(largest < LARGEST ? largest : LARGEST);
	void *buffers = NULL;

	if (posix_memalign(&buffers, PAGE, bytes) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(buffers, 1, bytes);
	return buffers;
}

static void measure_sizes(struct side *side, int largest, int batches)
{
	static const int sizes[] = {8, 512, 4096, 65536, 1 << 18, 1 << 20, 4 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i] > largest)
			break;
		side->bytes = sizes[i];
		prepare(side);
		measure(side, batches);
		clean_up(side);
	}
}

int main(int argc, char **argv)
{
	int largest = argc > 1 ? atoi(argv[1]) : LARGEST;
	int batches = argc > 2 ? atoi(argv[2]) : BATCHES, size, level;
	struct side side = {.is_raw = 1};

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &side.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "transfers: runs on 2 nodes, not %d\n", size);
		MPI_Finalize();
		return 77;
	}
	side.other = 1 - side.rank;
	side.buffers = new_buffers(largest);
	measure_sizes(&side, largest, batches);
	side.is_raw = 0;
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	measure_sizes(&side, largest, batches);
	starpu_mpi_shutdown();
	free(side.buffers);
	MPI_Finalize();
	return 0;
}
