/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * lives.c - several lives of the library in one simulation: each reads the environment
 * anew, also while other ranks are in an earlier one; MPI need not be started, and may
 * be.
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

/* main has not called MPI_Init(). */
static void mpi_is_started_whatever_is_asked(void)
{
	int is_finalised = 1, is_initialised = 0;

	for (int i = 0; i < 2; i++) {
		CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL), 0);
		CLAIM_EQ(starpu_mpi_world_size(), 4);
		starpu_mpi_shutdown();
		MPI_Initialized(&is_initialised);
		MPI_Finalized(&is_finalised);
		CLAIM(is_initialised && !is_finalised);
	}
}

static void mpi_may_be_started_again(void)
{
	int level = -1;

	CLAIM_EQ(MPI_Init(NULL, NULL), MPI_SUCCESS);
	CLAIM_EQ(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level), MPI_SUCCESS);
	CLAIM(level >= MPI_THREAD_SINGLE);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void mpi_may_be_ended_twice(void)
{
	CLAIM_EQ(starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_shutdown();
	CLAIM_EQ(MPI_Finalize(), MPI_SUCCESS);
	CLAIM_EQ(MPI_Finalize(), MPI_SUCCESS);
}

static const struct claim claims[] = {
	{"mpi_is_started_whatever_is_asked", mpi_is_started_whatever_is_asked},
	{"mpi_may_be_started_again", mpi_may_be_started_again},
	{"each_life_reads_the_environment", each_life_reads_the_environment},
	{"mpi_may_be_ended_twice", mpi_may_be_ended_twice},
	{NULL, NULL},
};

int main(void)
{
	return claims_run(claims, 0);
}
