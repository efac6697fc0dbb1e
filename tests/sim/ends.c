/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * ends.c - mains that end while others have their nodes open: what watches the program
 * looks at nothing of theirs any more, whenever its signal comes.
 */
#include <signal.h>

#include <simgrid/actor.h>
#include <starpu_mpi.h>

#include "../api/claim.h"

int claim_failures;

/* As the timer of src/sim/spin.c. */
static void watch(int failed, void *arg)
{
	(void)failed;
	(void)arg;
	raise(SIGVTALRM);
}

static void one_ends_after_the_other(void)
{
	int rank = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CLAIM_EQ(starpu_init(NULL), 0);
	starpu_usleep((float)(1000 * (1 + rank)));
	starpu_shutdown();
}

static const struct claim claims[] = {
	{"one_ends_after_the_other", one_ends_after_the_other},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	/* Before the library wants to hear of the end, and behind it. */
	sg_actor_on_exit(watch, NULL);
	MPI_Init(&argc, &argv);
	status = claims_run(claims, 0);
	sg_actor_on_exit(watch, NULL);
	MPI_Finalize();
	return status;
}
