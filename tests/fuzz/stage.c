/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <pthread.h>
#include <stdlib.h>

#include <orrery.h>

#include "run.h"

/* stage.c - where programs run: threads here, one thread in simulation. */

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
}

int stage_is_single(void)
{
	return orrery_is_simulated();
}
