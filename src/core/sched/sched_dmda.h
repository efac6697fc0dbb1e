/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_SCHED_DMDA_H
#define ORR_CORE_SCHED_SCHED_DMDA_H

/* sched_dmda.h - what the policies dm* know, for those that decide and those that ask. */
#include "core/node.h"
#include "core/sched/classes.h"
#include "core/sched/line.h"
#include "core/sched/sched.h"

struct dmda_kind {
	unsigned char ignores_transfers; /* and energy; no weights */
	unsigned char by_priority;       /* else by arrival */
	unsigned char readiest_first;    /* of one priority */
	unsigned char overtakes; /* a task is expected to pass those of lower priority */
};

struct dmda_worker {
	struct line line;
	double waiting_s; /* durations of its line.nwaiting tasks that have not started */
	/* Expected end of the one that runs; 0 without one, or when nobody knows. Written
	 * by the worker alone. */
	double running_until_s;
};

/* The way to a memory. */
struct dmda_link {
	double until_s;   /* when all that its tasks need is expected to have come */
	int nwaiting;     /* tasks that need transfers and have not started */
	double waiting_s; /* their transfers */
	double queued_s;  /* of these, no worker has taken the task yet */
};

/* What a worker would do with a task. */
struct dmda_chance {
	double duration_s; /* negative: it cannot run it; INFINITY: no model knows */
	double energy_j;
	unsigned char implementation;
	unsigned char is_to_be_measured;
};

/* What was said of tasks that differ in their data only. */
enum { DMDA_MEMOS = 8 };
struct dmda_memo {
	uint64_t key; /* 0: nothing */
	uint64_t memories;
	int nknown;
	struct dmda_chance *chances; /* by class */
};

struct dmda {
	struct sched base;
	const struct dmda_kind *kind;
	int brings_ahead;          /* data of tasks that wait for their worker */
	int asks_energy;           /* atomic: gamma is not zero */
	struct orr_lock lock;      /* of all below but the lines */
	double alpha, beta, gamma; /* gamma: seconds per joule */
	double idle_w;             /* power of a worker that waits */
	struct dmda_link *links;   /* by memory; behind the workers */
	struct classes classes;
	struct dmda_memo *memos; /* by key; where durations are predicted; or NULL */
	int nworkers;
	struct dmda_worker workers[];
};

/* Asked before anything is locked: once per class, unless the task tells its workers
 * apart, and once per memory. */
struct dmda_forecast {
	int nto_be_measured; /* workers or classes that are */
	int nknown;          /* that some model has a duration of */
	int is_by_class;     /* chances are of classes, else of workers */
	uint64_t memories;   /* of those that can run the task: */
	double transfer_s[NODE_MAX_MEMORIES];
	struct dmda_chance chances[STARPU_NMAXWORKERS];
};

enum { DMDA_CANNOT_RUN = -1 };

static inline const struct dmda_chance *
dmda_chance_of(const struct dmda *dmda, const struct dmda_forecast *forecast,
	       const struct worker *worker)
{
	return &forecast->chances[forecast->is_by_class
					  ? dmda->classes.seats[worker->id].class
					  : worker->id];
}

/* Into main memory nothing is brought ahead: the worker asks for it when it takes the
 * task, and each GPU sends over a link of its own. */
static inline int dmda_fetches(const struct worker *worker)
{
	return memory_is_main(worker->node, worker->memory);
}

/* sched_dmda_simulate.c: the date at which a task that is pushed now is expected to end,
 * on the worker that ends it first; INFINITY: nobody knows. */
double dmda_soonest_end_s(struct sched *sched, struct job *job);
/* sched_dmda_forecast.c */
void dmda_forecast(struct dmda_forecast *forecast, struct dmda *dmda, struct job *job);
void dmda_ask_models(struct dmda_chance *chance, struct worker *worker, struct job *job,
		     unsigned first);
double dmda_expected_s(struct worker *worker, struct job *job, unsigned implementation);

#endif
