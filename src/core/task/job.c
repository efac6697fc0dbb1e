/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/task/links.h"

void job_init_common(struct job *job, struct node *node, const struct job_ops *ops,
		     struct access *room, unsigned nroom)
{
	event_unname(&node->events, job, EVENT_NAMES_OTHER);
	memset(job, 0, JOB_COMMON_BYTES);
	job->node = node;
	job->ops = ops;
	job->missing = job->end_deps = 1;
	job->accesses = job->room = room;
	job->nroom = (unsigned char)nroom;
}

void job_init(struct job *job, struct node *node, const struct job_ops *ops,
	      struct access *room, unsigned nroom)
{
	memset((char *)job + JOB_COMMON_BYTES, 0, sizeof(*job) - JOB_COMMON_BYTES);
	job_init_common(job, node, ops, room, nroom);
	orr_lock_init(&job->lock);
}

void job_reserve_many(struct job *job, unsigned naccesses)
{
	if (job->own_accesses)
		free(job->accesses);
	job->own_accesses = 0;
	job->accesses = job->room;
	if (naccesses > job->nroom) {
		job->accesses = orr_alloc(
			naccesses * (sizeof(*job->accesses) + sizeof(*job->sorted)));
		job->sorted = (struct access **)(job->accesses + naccesses);
		job->own_accesses = 1;
	}
	job->naccesses = (int)naccesses;
}

struct job *job_new(struct node *node, const struct job_ops *ops, unsigned naccesses)
{
	struct roomy_job *roomy;
	struct job *job;

	orr_lock(&node->pool_lock);
	roomy = pool_get(&node->job_pool);
	job = &roomy->job;
	job->task = NULL; /* Who walks over the pool sees no task before there is one. */
	orr_unlock(&node->pool_lock);
	job_init(job, node, ops, roomy->room, JOB_INLINE_ACCESSES);
	job_reserve(job, naccesses);
	return job;
}

void job_free(struct job *job)
{
	struct node *node = job->node;

	if (job->point)
		links_forget(job);
	if (job->own_accesses)
		free(job->accesses);
	orr_lock(&node->pool_lock);
	job->task = NULL;
	pool_put(&node->job_pool, job);
	orr_unlock(&node->pool_lock);
}

void ready_append(struct ready *ready, struct job *job)
{
	job->next = NULL;
	if (ready->last)
		ready->last->next = job;
	else
		ready->first = job;
	ready->last = job;
}

void job_satisfy(struct job *job, struct ready *ready)
{
	if (orr_add(&job->missing, -1) == 0)
		ready_append(ready, job);
}

void job_end_dep_release(struct job *job, struct ready *ready)
{
	if (orr_add(&job->end_deps, -1) > 0)
		return;
	job->nests = 1;
	ready_append(ready, job);
}

/* It starts when another one has; then the one behind it. */
static void expect(const struct job *job)
{
	job_expect_data(job);
	if (job->next)
		job_expect_as(job->next, job->next->block);
}

void ready_run_all(struct ready *ready)
{
	if (ready->is_running)
		return;
	ready->is_running = 1;
	while (ready->first) {
		struct job *job = ready->first;

		ready->first = job->next;
		if (!ready->first)
			ready->last = NULL;
		else if (job->node->machine->takes_turns)
			expect(ready->first);
		job->ops->start(job, ready);
	}
	ready->is_running = 0;
}
