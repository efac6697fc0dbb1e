/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <orrery.h>

#include "run.h"

/* stage.c - where programs run: a thread for each lane. */

struct actor {
	pthread_t thread;
	void (*play)(void *lane);
	void *lane;
};

static void *actor_main(void *arg)
{
	struct actor *actor = arg;

	actor->play(actor->lane);
	return NULL;
}

void stage_run_lanes(int nlanes, void (*play)(void *lane), void **lanes)
{
	struct actor actors[MAX_LANES];

	for (int i = 1; i < nlanes; i++) {
		actors[i] = (struct actor){.play = play, .lane = lanes[i]};
		if (pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]))
			abort();
	}
	play(lanes[0]);
	for (int i = 1; i < nlanes; i++)
		pthread_join(actors[i].thread, NULL);
}

void stage_yield(void)
{
	sched_yield();
}

void stage_open(int distributed, int *argc, char ***argv)
{
	int level;

	if (distributed)
		MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
}

void stage_close(int distributed)
{
	if (distributed)
		MPI_Finalize();
}

int stage_is_told(int distributed)
{
	int rank = 0;

	if (distributed) {
		MPI_Barrier(MPI_COMM_WORLD); /* Nobody reads the environment now. */
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	return rank == 0;
}

int stage_ranks(uint64_t seed, int distributed)
{
	int nranks = 1;

	(void)seed;
	if (distributed)
		MPI_Comm_size(MPI_COMM_WORLD, &nranks);
	return nranks;
}

/* Each process is one rank. */
int stage_play(uint64_t seed, int distributed, int (*play)(void *arg, int rank),
	       void *arg)
{
	int rank = 0;

	(void)seed;
	if (distributed) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	return play(arg, rank);
}

int stage_slaves(uint64_t seed, int most)
{
	(void)seed;
	return most;
}

/* Only the master comes back. */
int stage_play_slaves(uint64_t seed, int most, int (*play)(void *arg, int rank),
		      void *arg)
{
	(void)seed;
	(void)most;
	return play(arg, 0);
}

/* A slave's kernels find what they belong to by this.  In simulation they are called in
 * the master's process. */
static struct run *the_run;

void stage_set_run(struct run *run)
{
	the_run = run;
}

struct run *stage_run(void)
{
	return the_run;
}

/* In simulation threads take turns where they wait; main plays all lanes of every other
 * program, and draws the turns. */
int stage_is_single(uint64_t seed)
{
	return orrery_is_simulated() && seed % 2 == 0;
}
