/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_QUEUE_H
#define ORR_CORE_SCHED_QUEUE_H

/*
 * queue.h - ready jobs in order: by priority, then by arrival, whatever kind they are.
 *
 * Workload: most programs use one priority, so jobs of the queue's present priority
 * sit in a list (constant cost); the others in a heap.  Jobs are kept apart by the
 * kinds of workers that may run them, so that a worker never walks over jobs that
 * are not for it; only jobs with a filter (can_execute, worker masks) are walked, and
 * of these only those that go before the best job without one.
 *
 * Who pushes adds to a stack that needs no lock; who pops sorts it in, and while no
 * priority counts only when there is nothing else: a thread that submits and a worker
 * that is behind it meet once for many jobs.
 */
#include "core/sched/levels.h"
#include "core/worker.h"

struct queue_lane {
	unsigned where;           /* types of workers that may run its jobs */
	struct job *first, *last; /* all of one priority, oldest first */
	int priority;             /* of the list */
	struct heap others;       /* other priorities */
};

enum { QUEUE_LANES = 8 };

/* Who pushes writes the first line and reads the second; who pops has the third, and
 * comes to the first when no job is left there. */
struct queue {
	ORR_OWN_LINE void *pushed; /* struct job, the newest first; atomic */
	ORR_OWN_LINE int ignores_priority;
	int has_priorities; /* atomic: some job had another priority than the usual 0 */
	ORR_OWN_LINE struct orr_lock lock; /* of all below: */
	int length; /* without the pushed ones; read without the lock */
	uint64_t arrival;
	struct queue_lane lanes[QUEUE_LANES];
	int nlanes;
	struct levels filtered; /* and those for whom there is no lane */
};

void queue_init(struct queue *queue, int ignores_priority);
void queue_free(struct queue *queue);
/* Any thread. */
void queue_push(struct queue *queue, struct job *job);
/* The first job that worker can run, its implementation chosen, or NULL. */
struct job *queue_pop(struct queue *queue, struct worker *worker);
/* Has it none?  Any thread. */
int queue_is_empty(struct queue *queue);
/* How many jobs it holds.  Any thread, for those who ask seldom. */
int queue_length(struct queue *queue);
/* All jobs, appended to jobs; those of a kind in their order. */
void queue_drain(struct queue *queue, struct ready *jobs);

#endif
