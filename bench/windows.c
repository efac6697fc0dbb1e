/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Streams between two nodes: windows of 16 messages one after another, by the library and
 * by plain MPI in turns, from and to the same memory.  Prints microseconds for a window
 * and the bandwidth in percent of plain MPI's, of the least window, of the tenth
 * percentile and of the median; and the same for half a round trip of one message.
 *
 * usage: mpirun -n 2 windows [BYTES [WINDOWS]]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

enum { DATA = 1, TOKEN = 2, WINDOW = 16, MOST = 1000, PAGE = 4096, WARM = 4 };

struct stream {
	int rank, other, bytes;
	char *buffers, token;
	starpu_data_handle_t handles[WINDOW], token_handle;
};

static void check(int ret)
{
	if (ret != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void window(struct stream *stream, int n)
{
	starpu_mpi_req requests[WINDOW];

	for (int i = 0; i < n; i++)
		check(stream->rank == 0
			      ? starpu_mpi_isend(stream->handles[i], &requests[i], 1,
						 DATA, MPI_COMM_WORLD)
			      : starpu_mpi_irecv(stream->handles[i], &requests[i], 0,
						 DATA, MPI_COMM_WORLD));
	for (int i = 0; i < n; i++)
		check(starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE));
	if (stream->rank == 0)
		check(starpu_mpi_recv(stream->token_handle, 1, TOKEN, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE));
	else
		check(starpu_mpi_send(stream->token_handle, 0, TOKEN, MPI_COMM_WORLD));
}

static void raw_window(struct stream *stream, int n)
{
	MPI_Request requests[WINDOW];

	for (int i = 0; i < n; i++) {
		char *at = stream->buffers + (size_t)i * (size_t)stream->bytes;

		if (stream->rank == 0)
			MPI_Isend(at, stream->bytes, MPI_BYTE, 1, DATA, MPI_COMM_WORLD,
				  &requests[i]);
		else
			MPI_Irecv(at, stream->bytes, MPI_BYTE, 0, DATA, MPI_COMM_WORLD,
				  &requests[i]);
	}
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	if (stream->rank == 0)
		MPI_Recv(&stream->token, 1, MPI_BYTE, 1, TOKEN, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else
		MPI_Send(&stream->token, 1, MPI_BYTE, 0, TOKEN, MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const struct stream *stream, int n, double *ours, double *raw,
		   int nwindows)
{
	static const char *const names[] = {"least", "tenth percentile", "median"};
	int at[] = {0, nwindows / 10, nwindows / 2};
	char text[96];

	qsort(ours, (size_t)nwindows, sizeof(double), compare);
	qsort(raw, (size_t)nwindows, sizeof(double), compare);
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%d of %d bytes, %s", n, stream->bytes,
			 names[i]);
		bench_print("windows", text, "us", ours[at[i]] * 1e6);
		snprintf(text, sizeof(text), "%d of %d bytes, %s, plain MPI", n,
			 stream->bytes, names[i]);
		bench_print("windows", text, "us", raw[at[i]] * 1e6);
		snprintf(text, sizeof(text), "%d of %d bytes, %s, of plain MPI", n,
			 stream->bytes, names[i]);
		bench_print("windows", text, "%", 100 * raw[at[i]] / ours[at[i]]);
	}
}

/* In turns, so that what disturbs one disturbs the other. */
static void measure(struct stream *stream, int n, int nwindows)
{
	static double ours[MOST], raw[MOST];

	for (int i = -WARM; i < nwindows; i++) {
		double start = bench_now_s(), between;

		window(stream, n);
		between = bench_now_s();
		raw_window(stream, n);
		if (i < 0)
			continue;
		ours[i] = between - start;
		raw[i] = bench_now_s() - between;
	}
	if (stream->rank == 0)
		report(stream, n, ours, raw, nwindows);
}

static void open_stream(struct stream *stream)
{
	size_t bytes = (size_t)WINDOW * (size_t)stream->bytes;
	void *buffers = NULL;

	check(posix_memalign(&buffers, PAGE, bytes));
	memset(buffers, 1, bytes);
	stream->buffers = buffers;
	for (int i = 0; i < WINDOW; i++)
		starpu_vector_data_register(&stream->handles[i], STARPU_MAIN_RAM,
					    (uintptr_t)stream->buffers +
						    (size_t)i * (size_t)stream->bytes,
					    (uint32_t)stream->bytes, 1);
	starpu_variable_data_register(&stream->token_handle, STARPU_MAIN_RAM,
				      (uintptr_t)&stream->token, 1);
}

static void close_stream(struct stream *stream)
{
	for (int i = 0; i < WINDOW; i++)
		starpu_data_unregister(stream->handles[i]);
	starpu_data_unregister(stream->token_handle);
	free(stream->buffers);
}

int main(int argc, char **argv)
{
	struct stream stream = {.bytes = argc > 1 ? atoi(argv[1]) : 1 << 18};
	int nwindows = argc > 2 ? atoi(argv[2]) : 60, size, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &stream.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2 || nwindows < 1 || nwindows > MOST) {
		fprintf(stderr, "windows: runs on 2 nodes, and at most %d windows\n",
			MOST);
		MPI_Finalize();
		return 77;
	}
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL))
		return 77;
	open_stream(&stream);
	measure(&stream, WINDOW, nwindows);
	measure(&stream, 1, nwindows);
	close_stream(&stream);
	starpu_mpi_shutdown();
	MPI_Finalize();
	return 0;
}
