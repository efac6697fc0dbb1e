/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_SCOUT_H
#define ORR_SIM_SCOUT_H

/*
 * scout.h - what the next events of a date will look at is brought in steps.
 *
 * Where nodes do the same, thousands of events have one date, each of another node: when
 * its turn comes, all that it looks at has left the cache.  But who comes next is known.
 * So with each event that leaves the calendar each of the next ones makes a step, which
 * brings what the step before has made known.  Steps only bring: an event may leave or
 * move at any time.
 */
struct dates;
struct plat_timer;

enum { SCOUT_DEPTH = 8 };

/* Returns whether there are more.  The event's own lines are there, and what makes it
 * possible is as when it will be fired. */
typedef int (*scout_step_fn)(const struct plat_timer *event, unsigned step);

/* Events that call fire() make these steps, from 0 on. */
struct scout_kind {
	void (*fire)(struct plat_timer *event);
	scout_step_fn step;
};

/* Only what the heap and the runs still have is looked at: this one may be gone. */
struct scouted {
	const struct plat_timer *event;
	scout_step_fn step; /* NULL: not yet known */
	unsigned nsteps;
	int is_done;
};

struct scout {
	const struct scout_kind *const *kinds; /* up to a NULL */
	/* The first event and those behind it in its run, n of them, from at on. */
	struct scouted ahead[SCOUT_DEPTH];
	unsigned at, n;
	double date_s;   /* of the first event, when one was taken out the last time */
	unsigned nalike; /* times in a row that it was this date */
};

/* An event has been taken out of the calendar. */
void scout_look(struct scout *scout, const struct dates *dates);

#endif
