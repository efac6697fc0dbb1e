/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/sched/line.h"

#include "base/check.h"
#include "core/data/ahead.h"
#include "core/data/nearness.h"

void line_init(struct line *line)
{
	*line = (struct line){0};
	orr_lock_init(&line->lock);
}

void line_free(struct line *line)
{
	levels_free(&line->levels);
}

void line_push(struct line *line, struct job *job, int priority)
{
	orr_lock(&line->lock);
	levels_push(&line->levels, job, priority);
	orr_store(&line->length, line->length + 1);
	orr_unlock(&line->lock);
}

static struct job *pop(struct line *line, int looks, unsigned memory)
{
	struct job *job;

	if (orr_load(&line->length) == 0)
		return NULL;
	orr_lock(&line->lock);
	job = looks > 1 ? levels_pop_least(&line->levels, looks, nearness_lacks_bytes,
					   memory)
			: levels_pop(&line->levels);
	if (job)
		orr_store(&line->length, line->length - 1);
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

/* A job's data are locked under the line's lock, which keeps it here. */
int line_bring(struct line *line, unsigned memory)
{
	struct job *job;

	if (orr_load(&line->length) == 0)
		return 0;
	orr_lock(&line->lock);
	job = levels_find(&line->levels, LINE_AHEAD, ahead_bring, memory);
	orr_unlock(&line->lock);
	return job != NULL;
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
	orr_unlock(&line->lock);
}
