/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * lives.c - several lives of the library in one simulation: each reads the environment
 * anew, also while other ranks are in an earlier one.
 */
#include <starpu_mpi.h>

#include "../api/claim.h"

enum { LIVES = 4 };

int claim_failures;
static int rank;

static void live(int life)
{
	char text[16];

	/* Ranks overlap: the later ones are still in the life before. */
	snprintf(text, sizeof(text), "%d", 1 + life % 2);
	setenv("STARPU_NCPU", text, 1);
	if (starpu_init(NULL) != 0) {
		claim_failures++;
		return;
	}
	CLAIM_EQ(starpu_cpu_worker_get_count(), 1 + life % 2);
	starpu_usleep((float)(10 * (1 + rank)));
	starpu_shutdown();
	unsetenv("STARPU_NCPU");
}

static void each_life_reads_the_environment(void)
{
	for (int i = 0; i < LIVES; i++)
		live(i);
}

static const struct claim claims[] = {
	{"each_life_reads_the_environment", each_life_reads_the_environment},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	failed = claims_run(claims, rank > 0);
	MPI_Finalize();
	return failed;
}
