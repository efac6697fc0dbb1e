/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/line.h"

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/coherency.h"
#include "core/data/nearness.h"
#include "core/task/expect.h"

void line_init(struct line *line)
{
	*line = (struct line){0};
	orr_lock_init(&line->lock);
}

void line_free(struct line *line)
{
	levels_free(&line->levels);
}

/* The line is locked. */
static void forget_brought(struct line *line)
{
	line->brought = NULL;
	line->nbrought = 0;
}

void line_push(struct line *line, struct job *job, int priority)
{
	orr_lock(&line->lock);
	if (priority > line->priority)
		forget_brought(line);
	levels_push(&line->levels, job, priority);
	orr_store(&line->length, line->length + 1);
	orr_unlock(&line->lock);
}

static const struct job *head(const struct levels *levels)
{
	return levels->n ? levels->level[levels->n - 1].first : NULL;
}

/*
 * Jobs were pushed long ago, and what one names is known when it is near.  So those
 * behind the one that is popped come into the cache in steps, a step with each that is
 * popped; the last one, line_expect(), is between two.  Of what is asked for all at once
 * caches leave out a part.
 */
static void expect_next(const struct job *first)
{
	const struct job *next = first ? first->next : NULL;

	if (first)
		deps_bring_data(first);
	if (!next)
		return;
	job_expect_data(next);
	if (next->next)
		job_expect(next->next);
}

void line_expect(const struct line *line, unsigned memory)
{
	const struct job *job = head(&line->levels);

	if (!job)
		return;
	if (job->block)
		task_expect(job->task);
	coherency_expect(job, memory);
}

static struct job *pop(struct line *line, int looks, unsigned memory)
{
	const struct job *first;
	struct job *job;

	if (orr_load(&line->length) == 0)
		return NULL;
	orr_lock(&line->lock);
	first = head(&line->levels);
	job = looks > 1 ? levels_pop_least(&line->levels, looks, nearness_lacks_bytes,
					   memory)
			: levels_pop(&line->levels);
	if (job)
		orr_store(&line->length, line->length - 1);
	if (job && job->node->machine->takes_turns)
		expect_next(head(&line->levels));
	if (job != first || job == line->brought)
		forget_brought(line);
	else if (line->nbrought > 0)
		line->nbrought--;
	orr_unlock(&line->lock);
	return job;
}

struct job *line_pop(struct line *line)
{
	return pop(line, 1, 0);
}

struct job *line_pop_readiest(struct line *line, unsigned memory)
{
	return pop(line, LINE_LOOKS, memory);
}

/* From the first job on that may lack something; the line is locked. */
static int bring(struct line *line, unsigned memory)
{
	const struct level *level = line->levels.level;
	int at = line->levels.n - 1, n = line->nbrought, are_all = 1;
	struct job *job = line->brought ? line->brought->next : NULL;

	while (line->brought && level[at].priority != line->priority)
		at--;
	if (!line->brought && at >= 0)
		job = level[at].first;
	for (; at >= 0; job = --at >= 0 ? level[at].first : NULL)
		for (; job; job = job->next) {
			enum ahead_answer answer;

			if (n++ == LINE_AHEAD) {
				/* The next call looks at it, as a rule. */
				if (job->node->machine->takes_turns)
					expect_next(job);
				return 0;
			}
			answer = ahead_bring(job, memory);
			if (answer == AHEAD_TRAVELS)
				return 1;
			are_all = are_all && answer == AHEAD_THERE;
			if (!are_all)
				continue;
			line->brought = job;
			line->nbrought = n;
			line->priority = level[at].priority;
		}
	return 0;
}

/* A job's data are locked under the line's lock, which keeps it here. */
int line_bring(struct line *line, const struct worker *worker)
{
	int nlost = orr_load(&worker->node->memories[worker->memory].nlost);
	int travels;

	if (orr_load(&line->length) == 0)
		return 0;
	orr_lock(&line->lock);
	if (line->nlost != nlost)
		forget_brought(line);
	line->nlost = nlost;
	travels = bring(line, worker->memory);
	orr_unlock(&line->lock);
	return travels;
}

double line_below_s(struct line *line, int priority)
{
	double seconds;

	orr_lock(&line->lock);
	seconds = levels_below_s(&line->levels, priority);
	orr_unlock(&line->lock);
	return seconds;
}

void line_drain(struct line *line, struct ready *jobs)
{
	struct job *job;

	orr_lock(&line->lock);
	while ((job = levels_pop(&line->levels)))
		ready_append(jobs, job);
	orr_store(&line->length, 0);
	forget_brought(line);
	orr_unlock(&line->lock);
}
