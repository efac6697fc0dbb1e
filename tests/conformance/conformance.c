/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"

/* The scenes on a real machine (mpirun) or a simulated one (smpirun). */

/* Rank 0 says how it went for all.  Returns the number of failures there. */
static int report(const struct actor *actor)
{
	size_t bytes = sizeof(actor->why);
	char *whys = malloc((size_t)actor->size * bytes);
	int nfailed = 0;

	MPI_Gather(actor->why, (int)bytes, MPI_CHAR, whys, (int)bytes, MPI_CHAR, 0,
		   MPI_COMM_WORLD);
	for (int i = 0; actor->rank == 0 && i < actor->size; i++) {
		const char *why = whys + (size_t)i * bytes;

		if (!*why)
			continue;
		printf("FAIL %s: rank %d: %s\n", actor->scene->name, i, why);
		nfailed++;
	}
	if (actor->rank == 0 && !nfailed)
		printf("PASS %s\n", actor->scene->name);
	fflush(stdout);
	free(whys);
	return nfailed;
}

static int play(struct actor *actor, const struct scene *scenes)
{
	int nfailed = 0;

	for (const struct scene *scene = scenes; scene->name; scene++) {
		if (scene->min_nodes > actor->size)
			continue;
		actor_prepare(actor, scene);
		actor_barrier(actor);
		actor_start(actor);
		actor_finish(actor);
		nfailed += report(actor);
	}
	return nfailed;
}

int main(int argc, char **argv)
{
	struct actor *actor = orr_alloc_lines(sizeof(*actor));
	MPI_Comm comm = MPI_COMM_WORLD;
	int rank, size, provided, ret, nfailed = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	ret = actor_open(actor, rank, size, &comm);
	if (ret < 0) {
		printf("FAIL open: rank %d: actor_open() returned %d\n", rank, ret);
		MPI_Abort(comm, 1);
	}
	nfailed += play(actor, plat_scenes);
	nfailed += play(actor, net_scenes);
	nfailed += play(actor, bulk_scenes);
	actor_barrier(actor);
	actor_close(actor);
	free(actor);
	MPI_Bcast(&nfailed, 1, MPI_INT, 0, comm);
	MPI_Finalize();
	return nfailed ? 1 : 0;
}
