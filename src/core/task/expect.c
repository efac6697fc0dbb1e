/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/expect.h"

#include "base/check.h"

void deps_expect_last(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct data_body *body = job->accesses[i].datum->body;

		if (!body)
			continue;
		orr_bring(body->waiting_last);
		orr_bring(body->waiting_before);
	}
}

/* Who is first in line behind the only one that has the datum by its turn; NULL: nobody,
 * or there are others. */
static const struct access *behind(const struct access *access)
{
	const struct data_body *body = access->datum->body;

	if (access->state != ACCESS_GRANTED || body->nactive > 1)
		return NULL;
	return body->waiting;
}

void deps_expect_next_access(const struct access *access)
{
	if (access->datum->body)
		orr_bring(behind(access));
}

void deps_expect_next(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++)
		orr_bring(behind(&job->accesses[i]));
}

void deps_expect_ready(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct access *next = behind(&job->accesses[i]);

		if (!next)
			continue;
		orr_bring(next->next);
		orr_bring(next->skips);
		orr_bring(next->job);
	}
}

static void expect_data(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		orr_bring(job->accesses[i].datum);
		orr_bring(job->accesses[i].copy);
	}
}

static void expect_bodies(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		orr_bring(job->accesses[i].datum->body);
		orr_bring(&job->accesses[i].datum->body->valid);
	}
}

/* Of all its data each link of the chain comes at once: so many waits instead of as many
 * for each datum. */
void deps_expect_release(const struct job *job)
{
	orr_bring_lines(job->accesses, (size_t)job->naccesses * sizeof(struct access));
	expect_data(job);
	expect_bodies(job);
	deps_expect_next(job);
	deps_expect_ready(job);
}

/* Waits for nothing but the end of who holds what it is behind for. */
static const struct job *is_ready_next(const struct access *access)
{
	const struct access *next = behind(access);

	return next && next->job->missing == 1 ? next->job : NULL;
}

void deps_expect_next_job(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct job *next = is_ready_next(&job->accesses[i]);

		if (next)
			job_expect_as(next, job->accesses[i].expected);
	}
}

void deps_expect_next_data(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct job *next = is_ready_next(&job->accesses[i]);

		if (next)
			job_expect_data(next);
	}
}

void deps_expect_next_values(const struct job *job)
{
	for (int i = 0; i < job->naccesses; i++) {
		const struct job *next = is_ready_next(&job->accesses[i]);

		if (next)
			deps_bring_data(next);
	}
}

void deps_expect_step(const struct job *job, unsigned step)
{
	static void (*const steps[])(const struct job *job) = {
		expect_data, expect_bodies, deps_expect_next, deps_expect_ready,
		deps_expect_next_job};

	if (step < sizeof(steps) / sizeof(*steps))
		steps[step](job);
}

void deps_bring_data(const struct job *job)
{
	job_expect_data(job);
	for (int i = 0; i < job->naccesses; i++)
		if (job->accesses[i].datum->body)
			orr_bring(&job->accesses[i].datum->body->valid);
}
