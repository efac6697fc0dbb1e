/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <starpu_mpi.h>

#include "claim.h"

/*
 * The library starts and ends many times in one process; what it took it gives back.
 * Beyond its first lives the memory in use does not grow.
 */
enum { NLIVES = 200, NFIRST = 50, NDATA = 60, MAX_GROWTH_KIB = 1024 };

int claim_failures;

/* Memory of the process in use. */
static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total, resident = 0;

	if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * 4;
}

static void increment(void *buffers[], void *arg)
{
	(void)arg;
	++*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet codelet = {.cpu_funcs = {increment},
					.nbuffers = 1,
					.modes = {STARPU_RW},
					.model = &starpu_perfmodel_nop,
					.name = "increment"};

static void work(int rank, int size, MPI_Comm copy)
{
	starpu_data_handle_t handles[NDATA], scratch;
	long values[NDATA] = {0};

	for (int i = 0; i < NDATA; i++) {
		int owner = i % size, here = owner == rank;

		starpu_variable_data_register(&handles[i], here ? STARPU_MAIN_RAM : -1,
					      here ? (uintptr_t)&values[i] : 0,
					      sizeof(long));
		starpu_mpi_data_register_comm(handles[i], i, owner,
					      i % 3 ? MPI_COMM_WORLD : copy);
	}
	starpu_vector_data_register(&scratch, -1, 0, 1000, sizeof(long));
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < NDATA; i++)
			CLAIM_EQ(starpu_mpi_task_insert(
					 i % 3 ? MPI_COMM_WORLD : copy, &codelet,
					 STARPU_RW, handles[i], STARPU_EXECUTE_ON_NODE,
					 (i + round) % size, STARPU_PRIORITY, i, 0),
				 0);
	for (starpu_tag_t tag = 1; tag < 20; tag++)
		starpu_tag_declare_deps(tag + 1, 1, tag);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(handles[i]);
	starpu_data_unregister(scratch);
}

static void live(void)
{
	int rank, size;
	MPI_Comm copy;

	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	starpu_mpi_comm_register(copy);
	work(rank, size, copy);
	starpu_mpi_shutdown();
	MPI_Comm_free(&copy);
}

static void lives_leave_nothing_behind(void)
{
	long first = 0, growth;

	for (int i = 0; i < NLIVES; i++) {
		if (i == NFIRST) {
			MPI_Barrier(MPI_COMM_WORLD);
			first = resident_kib();
		}
		live();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	growth = resident_kib() - first;
	if (growth > MAX_GROWTH_KIB)
		printf("%d lives took %ld KiB\n", NLIVES - NFIRST, growth);
	CLAIM(growth <= MAX_GROWTH_KIB);
}

static const struct claim claims[] = {
	{"two hundred lives of the library leave nothing behind",
	 lives_leave_nothing_behind},
	{0},
};

int main(int argc, char **argv)
{
	int level, rank, failed;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	failed = claims_run(claims, rank != 0);
	MPI_Finalize();
	return failed;
}
