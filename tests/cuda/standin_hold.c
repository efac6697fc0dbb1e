/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
/*
 * Of the stand-in for CUDA: operations that are held until others, which should run
 * beside them, have ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "standin.h"

enum { HOLDS_MAX = 16, PATIENCE_S = 30 };

struct hold {
	enum standin_kind what, until;
	long target;
};

/* Under the stand-in's lock. */
static struct holds {
	pthread_cond_t changed;
	struct hold each[HOLDS_MAX];
	int n;
	long ended[STANDIN_KINDS];
} holds = {.changed = PTHREAD_COND_INITIALIZER};

static const char *const names[STANDIN_KINDS] = {"kernels", "copies to devices",
						 "copies from devices",
						 "copies between devices", "launches"};

void standin_hold(enum standin_kind what, enum standin_kind until, int n)
{
	standin_lock();
	if (holds.n == HOLDS_MAX)
		abort();
	holds.each[holds.n++] = (struct hold){what, until, holds.ended[until] + n};
	standin_unlock(0);
}

int standin_nholds(void)
{
	int n;

	standin_lock();
	n = holds.n;
	standin_unlock(0);
	return n;
}

void standin_note(enum standin_kind kind)
{
	holds.ended[kind]++;
	pthread_cond_broadcast(&holds.changed);
}

/* The oldest one for this kind, which is forgotten: 1; 0: there is none. */
static int take(enum standin_kind kind, struct hold *hold)
{
	int i = 0;

	while (i < holds.n && holds.each[i].what != kind)
		i++;
	if (i == holds.n)
		return 0;
	*hold = holds.each[i];
	for (holds.n--; i < holds.n; i++)
		holds.each[i] = holds.each[i + 1];
	return 1;
}

static void wait_for(const struct hold *hold)
{
	const char *patience = getenv("STANDIN_PATIENCE_S");
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += patience ? atoi(patience) : PATIENCE_S;
	while (holds.ended[hold->until] < hold->target) {
		if (pthread_cond_timedwait(&holds.changed, &standin.lock, &until) == 0)
			continue;
		fprintf(stderr,
			"standin: stuck: one of the %s is to run beside %ld more of the "
			"%s, and the program starts none before it has ended\n",
			names[hold->what], hold->target - holds.ended[hold->until],
			names[hold->until]);
		abort();
	}
}

void standin_begin(enum standin_kind kind)
{
	struct hold hold;

	if (take(kind, &hold))
		wait_for(&hold);
}
