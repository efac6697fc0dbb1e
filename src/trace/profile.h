/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TRACE_PROFILE_H
#define ORR_TRACE_PROFILE_H

/*
 * profile.h - how the workers of a node spend their time, and what its memories exchange.
 *
 * A sink that adds up records.  Who asks it holds the records back: events_read().
 */
#include "core/event.h"

/* What a worker does, the first that applies; none of these: it schedules. */
enum profile_state {
	PROFILE_EXECUTING,
	PROFILE_CALLING, /* the application's callbacks */
	PROFILE_WAITING, /* for the data of tasks that it has taken */
	PROFILE_SLEEPING,
	PROFILE_SCHEDULING,
	PROFILE_NSTATES
};

/* Since the last reset; dates on the clock of plat_now_s(). */
struct profile_worker {
	double since_s, until_s;
	double only_s[PROFILE_NSTATES]; /* they add up to the whole */
	double all_s[PROFILE_NSTATES];  /* also where an earlier one applies */
	double flops, energy_j;
};

struct profile_link {
	double since_s, until_s;
	uint64_t bytes;
	int ncopies;
};

/* Of a node with so many workers; counts from profile_start() on. */
struct profile *profile_open(int nworkers);
void profile_free(struct profile *profile);
struct event_sink *profile_sink(struct profile *profile);
/* Forget all; from now on records count. */
void profile_start(struct profile *profile, double now_s);
/* Nothing counts any more, not even time. */
void profile_stop(struct profile *profile, double now_s);
/* The answer is since the last reset, which this is. */
struct profile_worker profile_take_worker(struct profile *profile, int worker,
					  double now_s);
struct profile_link profile_take_link(struct profile *profile, unsigned from, unsigned to,
				      double now_s);

#endif
