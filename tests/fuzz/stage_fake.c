/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdlib.h>

#include "fake.h"
#include "run.h"

/* stage_fake.c - the stage on the fake: all ranks and lanes take turns, and who goes
 * first, when kernels end and when messages arrive is drawn from the seed. */

struct actor {
	void (*play)(void *lane);
	void *lane;
};

static void actor_main(void *arg)
{
	struct actor *actor = arg;

	actor->play(actor->lane);
}

void stage_run_lanes(int nlanes, void (*play)(void *lane), void **lanes)
{
	struct actor actors[MAX_LANES];
	struct fake_main *mains[MAX_LANES];

	for (int i = 1; i < nlanes; i++) {
		actors[i] = (struct actor){play, lanes[i]};
		mains[i] = fake_spawn(fake_selected(), actor_main, &actors[i]);
	}
	play(lanes[0]);
	for (int i = 1; i < nlanes; i++)
		fake_join(mains[i]);
}

void stage_yield(void)
{
	fake_yield();
}

int stage_is_single(uint64_t seed)
{
	(void)seed;
	return 0;
}

void stage_open(int distributed, int *argc, char ***argv)
{
	(void)distributed;
	(void)argc;
	(void)argv;
}

void stage_close(int distributed)
{
	(void)distributed;
}

int stage_is_told(int distributed)
{
	(void)distributed;
	return 1;
}

int stage_ranks(uint64_t seed, int distributed)
{
	if (distributed > 1)
		return distributed;
	return distributed ? 2 + (int)(seed % 4) : 1;
}

struct rank_main {
	int (*play)(void *arg, int rank);
	void *arg;
	int rank, nbad;
};

static void rank_plays(void *arg)
{
	struct rank_main *self = arg;

	self->nbad = self->play(self->arg, self->rank);
}

static int play_ranks(uint64_t seed, int nranks, int (*play)(void *arg, int rank),
		      void *arg)
{
	struct rank_main *ranks = calloc((size_t)nranks, sizeof(*ranks));
	int nbad = 0;

	fake_start(nranks, 1e-6, 1e9);
	fake_shuffle((unsigned long)seed + 1);
	for (int i = 0; i < nranks; i++) {
		ranks[i] = (struct rank_main){play, arg, i, 0};
		fake_spawn(i, rank_plays, &ranks[i]);
	}
	/* Where values are is not the program's. */
	fake_machine()->nnumas = seed % 2 ? 1 : 1 + (int)(seed / 2 % 4);
	fake_machine()->ncpus = atoi(getenv("STARPU_NCPU"));
	fake_play();
	for (int i = 0; i < nranks; i++)
		nbad += ranks[i].nbad;
	fake_stop();
	free(ranks);
	return nbad;
}

int stage_play(uint64_t seed, int distributed, int (*play)(void *arg, int rank),
	       void *arg)
{
	return play_ranks(seed, stage_ranks(seed, distributed), play, arg);
}

int stage_slaves(uint64_t seed, int most)
{
	return 1 + (int)(seed % (uint64_t)most);
}

int stage_play_slaves(uint64_t seed, int most, int (*play)(void *arg, int rank),
		      void *arg)
{
	return play_ranks(seed, 1 + stage_slaves(seed, most), play, arg);
}

/* All ranks are in one process. */
void stage_set_run(struct run *run)
{
	(void)run;
}

struct run *stage_run(void)
{
	return NULL;
}
