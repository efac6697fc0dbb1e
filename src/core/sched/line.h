/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_SCHED_LINE_H
#define ORR_CORE_SCHED_LINE_H

/*
 * line.h - the jobs that a policy has given to one worker, in the order in which it is to
 * run them: by priority if there are any, then by arrival, or first those whose data are
 * there.  All of them can run there, so nobody looks for who may.
 */
#include "core/sched/levels.h"
#include "core/worker.h"

struct line {
	struct orr_lock lock;
	int length; /* read without the lock, too */
	struct levels levels;
	/* The first nbrought jobs lacked nothing in their worker's memory when it had
	 * lost nlost copies; the last of them, NULL without one, and its priority. */
	int nbrought, priority;
	int nlost;
	/* Not the line's: jobs given to it that have not started, of whom owns it. */
	int nwaiting;
	struct job *brought;
};

void line_init(struct line *line);
void line_free(struct line *line);
/* Any thread. */
void line_push(struct line *line, struct job *job, int priority);
/* The first job, or NULL. */
struct job *line_pop(struct line *line);
/* In a process of one thread: soon the next one will be popped, for a worker with that
 * memory. */
void line_expect(const struct line *line, unsigned memory);
/* Of those of the best priority the one that lacks the fewest bytes in memory; of many
 * only the oldest LINE_LOOKS are asked. */
struct job *line_pop_readiest(struct line *line, unsigned memory);
/* What those of less than that priority are predicted to take. */
double line_below_s(struct line *line, int priority);
/* Begin to bring a value that one of the next LINE_AHEAD jobs lacks in the memory of the
 * worker, whose line it is; 1: one travels. */
int line_bring(struct line *line, const struct worker *worker);
/* All jobs, appended to jobs in their order. */
void line_drain(struct line *line, struct ready *jobs);

enum { LINE_LOOKS = 64, LINE_AHEAD = 16 };

#endif
