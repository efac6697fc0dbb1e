/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TESTS_MPI_CLAIM_H
#define ORR_TESTS_MPI_CLAIM_H

/*
 * mpi_claim.h - claims that several ranks check together: rank 0 prints PASS when all
 * agree.  Each claim is a life of the runtime of its own, inside one life of MPI.
 */
#include <string.h>

#include <starpu_mpi.h>

#include "claim.h"

/* In main's file, since programs are privatised; rank and size of MPI_COMM_WORLD. */
extern int claim_rank, claim_size;

static inline void claim_init(int ncpus)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.precedence_over_environment_variables = 1;
	if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, &conf) != 0)
		exit(77);
}

static inline int claim_failures_of_all(void)
{
	int total = 0;

	MPI_Allreduce(&claim_failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return total;
}

/* Sanitizers need one copy of the program for all simulated ranks. */
static inline int globals_are_shared(void)
{
	const char *privatisation = getenv("SMPI_PRIVATIZATION");

	return privatisation && strcmp(privatisation, "no") == 0;
}

/* What the program asks MPI for: CLAIM_THREAD_LEVEL, else MPI_THREAD_MULTIPLE. */
static inline int claim_level(void)
{
	const char *wanted = getenv("CLAIM_THREAD_LEVEL");

	if (wanted && strcmp(wanted, "funneled") == 0)
		return MPI_THREAD_FUNNELED;
	if (wanted && strcmp(wanted, "serialized") == 0)
		return MPI_THREAD_SERIALIZED;
	return MPI_THREAD_MULTIPLE;
}

/* argv[1], when there, selects the claims whose name contains it. */
static inline int mpi_claims_run(int argc, char **argv, const struct claim *claims)
{
	int level, nfailed = 0;

	if (globals_are_shared())
		return 77;
	MPI_Init_thread(&argc, &argv, claim_level(), &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &claim_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &claim_size);
	for (const struct claim *claim = claims; claim->name; claim++) {
		int failures;

		if (argc > 1 && !strstr(claim->name, argv[1]))
			continue;
		claim_failures = 0;
		claim->check();
		fflush(stdout);
		failures = claim_failures_of_all();
		nfailed += failures != 0;
		if (claim_rank == 0)
			printf("%s %s\n", failures ? "FAIL" : "PASS", claim->name);
		fflush(stdout);
	}
	MPI_Finalize();
	return nfailed != 0;
}

#endif
