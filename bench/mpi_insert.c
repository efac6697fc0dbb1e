/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * What a node among many pays for the tasks of the others: registration of data and
 * starpu_mpi_task_insert(), as one process that plays a node; and, as one of two that are
 * there, for tasks of the other one for which it sends or receives a value.
 *
 * usage: mpi_insert, with STARPU_MPI_FAKE_SIZE, STARPU_MPI_FAKE_RANK and
 * STARPU_DISABLE_KERNELS=1; or on two ranks
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_mpi.h>

#include "bench.h"

static void nothing(void *buffers[], void *arg)
{
	(void)buffers;
	(void)arg;
}

static struct starpu_codelet codelets[] = {
	{.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_RW}},
	{.cpu_funcs = {nothing}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}},
	{.cpu_funcs = {nothing}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}},
	{.cpu_funcs = {nothing}, .nbuffers = 1, .modes = {STARPU_W}},
};

/* A lower triangle of nb x nb tiles over a grid of p x p nodes; where skip is a rank,
 * its tiles go to the next one, so that nothing concerns it. */
struct triangle {
	int nb, p, skip;
	starpu_data_handle_t *tiles;
};

static int owner(const struct triangle *t, int i, int j)
{
	int rank = i % t->p * t->p + j % t->p;

	return rank == t->skip ? (rank + 1) % (t->p * t->p) : rank;
}

static starpu_data_handle_t *tile(const struct triangle *t, int i, int j)
{
	return &t->tiles[(size_t)i * t->nb + j];
}

/* Resident memory of the process: both libraries map some of theirs by themselves. */
static size_t resident_bytes(void)
{
	long total, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Tiles hold 8 x 8 floats: only their number matters. */
static void register_all(struct triangle *t, int rank, int64_t first_tag)
{
	static float memory[64];
	int count = t->nb * (t->nb + 1) / 2;
	char name[64];
	size_t before;
	double start;

	t->tiles = calloc((size_t)t->nb * t->nb, sizeof *t->tiles);
	memset(t->tiles, 0, (size_t)t->nb * t->nb * sizeof *t->tiles);
	before = resident_bytes();
	start = bench_now_s();
	for (int i = 0; i < t->nb; i++)
		for (int j = 0; j <= i; j++) {
			/* StarPU wants memory where a tile may be received. */
			int mine = t->skip < 0 || owner(t, i, j) == rank;

			starpu_matrix_data_register(
				tile(t, i, j), mine ? STARPU_MAIN_RAM : -1,
				mine ? (uintptr_t)memory : 0, 8, 8, 8, sizeof(float));
			starpu_mpi_data_register(*tile(t, i, j),
						 first_tag + (int64_t)i * t->nb + j,
						 owner(t, i, j));
		}
	start = bench_now_s() - start;
	snprintf(name, sizeof name, "register nb=%d %s", t->nb,
		 t->skip < 0 ? "tiles of all nodes" : "none of this node's");
	bench_print("mpi_insert", name, "ns/handle", start / count * 1e9);
	bench_print("mpi_insert", name, "bytes/handle",
		    (double)(resident_bytes() - before) / count);
}

static long insert_all(const struct triangle *t)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	long ntasks = 0;

	for (int k = 0; k < t->nb; k++) {
		starpu_mpi_task_insert(comm, &codelets[0], STARPU_RW, *tile(t, k, k), 0);
		for (int m = k + 1; m < t->nb; m++)
			starpu_mpi_task_insert(comm, &codelets[1], STARPU_R,
					       *tile(t, k, k), STARPU_RW, *tile(t, m, k),
					       0);
		for (int n = k + 1; n < t->nb; n++) {
			starpu_mpi_task_insert(comm, &codelets[1], STARPU_R,
					       *tile(t, n, k), STARPU_RW, *tile(t, n, n),
					       0);
			for (int m = n + 1; m < t->nb; m++)
				starpu_mpi_task_insert(comm, &codelets[2], STARPU_R,
						       *tile(t, m, k), STARPU_R,
						       *tile(t, n, k), STARPU_RW,
						       *tile(t, m, n), 0);
			ntasks += t->nb - n;
		}
		ntasks += t->nb - k;
	}
	return ntasks;
}

static void measure(int nb, int p, int rank, int concerns)
{
	static int64_t first_tag;
	struct triangle t = {.nb = nb, .p = p, .skip = concerns ? -1 : rank};
	char name[64];
	double start;
	long ntasks;

	register_all(&t, rank, first_tag);
	first_tag += (int64_t)nb * nb;
	start = bench_now_s();
	ntasks = insert_all(&t);
	start = bench_now_s() - start;
	snprintf(name, sizeof name, "insert nb=%d %s", nb,
		 concerns ? "tiles of all nodes" : "none of this node's");
	bench_print("mpi_insert", name, "ns/task", start / ntasks * 1e9);
	starpu_task_wait_for_all();
}

/* ---- two ranks: values travel ---------------------------------------- */

enum { VALUES = 20000 };

struct values {
	starpu_data_handle_t mine[VALUES], others; /* of node 0; of node 1 */
};

static void register_values(struct values *values)
{
	static int memory[VALUES + 1];

	for (int i = 0; i <= VALUES; i++) {
		starpu_data_handle_t *handle =
			i < VALUES ? &values->mine[i] : &values->others;

		starpu_variable_data_register(handle, STARPU_MAIN_RAM,
					      (uintptr_t)&memory[i], sizeof(int));
		starpu_mpi_data_register(*handle, i, i == VALUES);
	}
}

static void print_each(const char *name, double start, int rank)
{
	double end = bench_now_s();

	if (rank == 0)
		bench_print("mpi_insert", name, "ns/task", (end - start) / VALUES * 1e9);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
}

static void measure_transfers(int rank)
{
	static struct values values;
	double start;

	register_values(&values);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	for (int round = 0; round < 2; round++) {
		start = bench_now_s();
		for (int i = 0; i < VALUES; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &codelets[1], STARPU_R,
					       values.mine[i], STARPU_RW, values.others,
					       0);
		print_each(round ? "insert task that only sends, again"
				 : "insert task that only sends",
			   start, rank);
		start = bench_now_s();
		for (int i = 0; i < VALUES; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &codelets[3],
					       STARPU_EXECUTE_ON_NODE, 1, STARPU_W,
					       values.mine[i], 0);
		print_each(round ? "insert task that only receives, again"
				 : "insert task that only receives",
			   start, rank);
	}
}

int main(int argc, char **argv)
{
	int rank, size, nprocesses, p = 1;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_size(MPI_COMM_WORLD, &nprocesses);
	if (nprocesses == 2) {
		measure_transfers(rank);
		starpu_mpi_shutdown();
		return 0;
	}
	while ((p + 1) * (p + 1) <= size)
		p++;
	measure(40, p, rank, 0);
	measure(100, p, rank, 0);
	measure(40, p, rank, 1);
	measure(100, p, rank, 1);
	/* The messages to nodes that do not exist never end. */
	_Exit(0);
}
