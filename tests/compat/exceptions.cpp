/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
// Ranks, and threads of each, handle exceptions of their own while others run.
#include <starpu.h>
#include <starpu_mpi.h>
#include <cstdio>
#include <stdexcept>
#include <string>

static int rank, failures;

static void wait(int how)
{
	switch (how) {
	case 0:
		return starpu_sleep(0.01F * (float)(1 + rank % 3));
	case 1:
		starpu_mpi_barrier(MPI_COMM_WORLD);
		return;
	default:
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

// Too long for the string itself: it is freed with the exception.
static std::string words(const char *who)
{
	return who + std::to_string(rank) + ", whose words lie on the heap";
}

static void handle(const char *who, int how)
{
	const std::string expected = words(who);

	try {
		throw std::runtime_error(expected);
	} catch (const std::exception &caught) {
		wait(how);
		if (expected != caught.what())
			failures++;
		try {
			wait(how);
			throw;
		} catch (const std::exception &again) {
			if (expected != again.what())
				failures++;
		}
	}
}

static void *beside(void *arg)
{
	handle("the thread of rank ", 0);
	return arg;
}

int main(int argc, char **argv)
{
	starpu_pthread_t thread;

	MPI_Init(&argc, &argv);
	if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL) != 0)
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	for (int how = 0; how < 3; how++) {
		starpu_pthread_create(&thread, NULL, beside, NULL);
		handle("rank ", how);
		starpu_pthread_join(thread, NULL);
	}
	starpu_mpi_shutdown();
	MPI_Finalize();
	if (failures)
		std::fprintf(stderr, "rank %d: %d words of others\n", rank, failures);
	return failures != 0;
}
