/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_TASK_BLOCKED_H
#define ORR_CORE_TASK_BLOCKED_H

/*
 * blocked.h - how many of the submitted jobs wait for turns, predecessors or exclusion.
 *
 * Counted for the node, and for each scheduler but the initial one, whose jobs are those
 * that no other has.  A job counts in its scheduler's njobs meanwhile, which therefore
 * stays.
 */
#include "core/node.h"
#include "core/sched/sched.h"
#include "core/task/job.h"

static inline void job_count_blocked(struct job *job, int change)
{
	struct sched *sched = job->sched; /* Acquisitions have none. */

	orr_add(&job->node->nblocked, change);
	if (sched && sched->id != 0) {
		orr_add(&sched->nblocked, change);
		orr_add(&job->node->blocked_elsewhere, change);
	}
}

static inline void job_blocked(struct job *job)
{
	job->was_blocked = 1;
	job_count_blocked(job, 1);
}

/* It goes on; nothing happens to one that was not blocked. */
static inline void job_unblocked(struct job *job)
{
	if (!job->was_blocked)
		return;
	job->was_blocked = 0;
	job_count_blocked(job, -1);
}

#endif
