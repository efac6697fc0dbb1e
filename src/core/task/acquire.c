/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/acquire.h"

#include <errno.h>
#include <stdio.h>

#include "base/check.h"
#include "core/task/blocked.h"
#include "core/task/callback.h"
#include "core/data/coherency.h"
#include "core/data/views.h"
#include "core/task/deps.h"
#include "core/task/expect.h"
#include "core/task/exclusion.h"

static struct acquire *acquire_of(struct job *job)
{
	return (struct acquire *)(void *)job;
}

static void acquire_fetched(struct job *job, struct worker *worker)
{
	struct acquire *acquire = acquire_of(job);
	struct node *node = job->node;
	int counted = acquire->counted;

	(void)worker;
	job_move(job, JOB_RUNNING);
	acquire->by->acquired(acquire);
	/* The struct may be gone. */
	if (counted) {
		node_ended(node);
	}
}

static void acquire_fetch(struct acquire *acquire)
{
	struct job *job = acquire_job(acquire);

	job_move(job, JOB_FETCHING);
	job->nfetching = 1;
	if (acquire->by->granted)
		acquire->by->granted(acquire);
	if (acquire->memory == ACQUIRE_MAIN_MEMORY)
		acquire->memory = (int)coherency_main_memory(job->accesses[0].datum);
	if (acquire->memory >= 0 && !coherency_fetch(job, (unsigned)acquire->memory))
		return;
	job->nfetching = 0;
	acquire_fetched(job, NULL);
}

/* Its turn has come: bring the data. */
static void acquire_ready(struct job *job, struct ready *ready)
{
	struct acquire *acquire = acquire_of(job);

	if (!acquire->by->is_quiet && callback_later(job->node, job))
		return;
	if (orr_load(&job->exclusive) && !exclusion_take(job, ready))
		return;
	job_unblocked(job);
	job_move(job, JOB_READY);
	acquire_fetch(acquire);
}

static void acquire_describe(const struct job *job, char *text, size_t bytes)
{
	const struct acquire *acquire = (const struct acquire *)(const void *)job;
	const char *what = acquire->by->what;

	if (acquire->by->describe)
		acquire->by->describe(acquire, text, bytes);
	else
		snprintf(text, bytes, "%s", what ? what : "an acquisition");
}

static const struct job_ops acquire_ops = {.start = acquire_ready,
					   .fetched = acquire_fetched,
					   .describe = acquire_describe,
					   .is_held = 1};

static void prepare(struct node *node, struct acquire *acquire,
		    starpu_data_handle_t handle, unsigned mode)
{
	struct job *job = acquire_job(acquire);
	struct access *access = &acquire->access;

	job_init_common(job, node, &acquire_ops, access, 1);
	job->naccesses = 1;
	access->job = job;
	/* Others may look at the datum of a request that starts, which has it already. */
	if (access->datum != handle)
		access->datum = handle;
	access->next = access->beside = NULL;
	access->at = NULL;
	access->copy = NULL;
	access->mode = (unsigned short)mode;
	access->state = ACCESS_NEW;
	access->skipped = 0;
	access->memory = 0;
	access->expected = BLOCK_NONE;
	job->is_hint = acquire->is_hint;
	job_move(job, JOB_BLOCKED);
}

/* Nothing has to be looked at but the datum and its copy in the first main memory. */
static int is_plain(const struct acquire *acquire, unsigned flags)
{
	const struct node *node = acquire->access.job->node;

	return acquire->memory == STARPU_MAIN_RAM && acquire->by->is_quiet &&
	       !acquire->counted && node->memories[STARPU_MAIN_RAM].is_booked &&
	       (flags & (DATUM_SEQUENTIAL | DATUM_OUTDATED | DATUM_VIEWS)) ==
		       DATUM_SEQUENTIAL;
}

/* What acquire_start(), acquire_ready() and acquire_fetch() do, with the datum locked
 * once. */
static void start_plain(struct acquire *acquire)
{
	struct job *job = acquire_job(acquire);
	struct node *node = job->node;
	struct ready ready = {0};
	enum deps_begun begun = deps_submit_home(job, &ready);

	if (begun == DEPS_WAITS)
		job_satisfy(job, &ready);
	ready_run(node, &ready);
	if (begun == DEPS_WAITS)
		return;
	job_move(job, JOB_READY);
	job_move(job, JOB_FETCHING);
	if (begun == DEPS_IS_THERE || orr_add(&job->nfetching, -1) == 0)
		acquire_fetched(job, NULL);
}

void acquire_start(struct node *node, struct acquire *acquire,
		   starpu_data_handle_t handle, unsigned mode, int sequential)
{
	struct ready ready = {0};
	struct job *job = acquire_job(acquire);

	prepare(node, acquire, handle, mode);
	if (sequential && is_plain(acquire, data_flags(handle))) {
		start_plain(acquire);
		return;
	}
	if (acquire->counted)
		orr_add(&node->others_submitted, 1);
	sequential = sequential && (data_flags(handle) & DATUM_SEQUENTIAL);
	if (data_flags(handle) & DATUM_OUTDATED)
		deps_settle(job, sequential);
	if (data_flags(handle) & DATUM_VIEWS)
		views_submit(job, sequential, &ready);
	else
		deps_submit(job, sequential, &ready);
	if (acquire->counted && orr_load(&job->missing) > 1) {
		job_blocked(job);
		node_blocked(node);
	}
	job_satisfy(job, &ready);
	ready_run(node, &ready);
}

void acquire_wait(struct node *node, struct acquire *acquire, starpu_data_handle_t handle,
		  unsigned mode)
{
	prepare(node, acquire, handle, mode);
	acquire_job(acquire)->was_blocked = 1;
}

int acquire_try(struct node *node, struct acquire *acquire, starpu_data_handle_t handle,
		unsigned mode)
{
	struct job *job = acquire_job(acquire);
	struct ready ready = {0};
	int taken;

	if (!(data_flags(handle) & DATUM_SEQUENTIAL))
		mode |= ACCESS_UNORDERED;
	prepare(node, acquire, handle, mode);
	deps_settle(job, 1);
	if (data_flags(handle) & DATUM_VIEWS) {
		views_prepare(handle, mode, &ready);
		ready_run(node, &ready);
	}
	taken = deps_try(job, &ready);
	ready_run(node, &ready);
	if (!taken)
		return 0;
	if (acquire->counted)
		orr_add(&node->others_submitted, 1);
	job_move(job, JOB_READY);
	acquire_fetch(acquire);
	return 1;
}

void acquire_release(struct acquire *acquire)
{
	struct job *job = acquire_job(acquire);
	struct node *node = job->node;
	struct ready ready = {0};

	job_move(job, JOB_DONE);
	if (node->commons) /* Nobody else changes what that looks at. */
		deps_expect_release(job);
	if (!deps_release_home(job, &ready)) {
		coherency_unpin(job);
		deps_release(job, &ready);
	}
	/* The owner may use the struct again from here on. */
	callback_run(node, &ready);
}

int acquire_release_unheard(struct acquire *acquire)
{
	struct job *job = acquire_job(acquire);

	if (!deps_release_unheard(job))
		return 0;
	job_move(job, JOB_DONE);
	return 1;
}

void acquire_downgrade(struct acquire *acquire)
{
	struct ready ready = {0};

	deps_downgrade_access(&acquire->access, &ready);
	ready_run(acquire_job(acquire)->node, &ready);
}
