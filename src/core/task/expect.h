/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_EXPECT_H
#define ORR_CORE_TASK_EXPECT_H

/*
 * expect.h - what turns on data will look at is brought into the cache.
 *
 * In a process of one thread (machine->takes_turns) that simulates many tasks: most of
 * what is touched has not been for long, and waiting for memory is half of all time.
 * These bring it into the cache, each what the one before made known: of a job that
 * begins, the accesses that wait behind it; what says whether their jobs wait for nothing
 * else; all of those that do not; their data; the values.  A job may go: its data.  It is
 * about to be submitted: those behind whom it will wait.  It ends, long after it began:
 * all that its release looks at.
 */
#include "core/data/data.h"

void deps_expect_last(const struct job *job);
void deps_expect_next(const struct job *job);
void deps_expect_ready(const struct job *job);
void deps_expect_release(const struct job *job);
/* Who is behind one of its accesses. */
void deps_expect_next_access(const struct access *access);
/* deps_expect_release() in steps, from 0 on, and then the job that it makes ready; the
 * accesses have come. */
void deps_expect_step(const struct job *job, unsigned step);
void deps_expect_next_job(const struct job *job);
void deps_expect_next_data(const struct job *job);
void deps_expect_next_values(const struct job *job);
void deps_bring_data(const struct job *job);

static inline void deps_expect_data(const struct job *job)
{
	if (job->node->machine->takes_turns)
		deps_bring_data(job);
}

#endif
