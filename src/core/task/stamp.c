/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/task/task.h"

/*
 * stamp.c - what the changes of a task's state leave: dates in its profiling_info, and
 * records.
 */

/* The dates of each kind of event, by their offsets, and 0 behind them: submit_time, the
 * first field, belongs to a kind alone. */
#define AT(date) offsetof(struct starpu_profiling_task_info, date)

static const unsigned short dates[EVENT_NKINDS][2] = {
	[EVENT_TASK_PUSHED] = {AT(push_start_time)},
	[EVENT_TASK_TAKEN] = {AT(pop_end_time)},
	[EVENT_TASK_FETCHING] = {AT(acquire_data_start_time)},
	[EVENT_TASK_STARTED] = {AT(acquire_data_end_time), AT(start_time)},
	[EVENT_TASK_ENDED] = {AT(end_time)},
	[EVENT_TASK_RELEASING] = {AT(release_data_start_time)},
	[EVENT_TASK_RELEASED] = {AT(release_data_end_time)},
	[EVENT_TASK_CALLING] = {AT(callback_start_time)},
	[EVENT_TASK_TERMINATED] = {AT(callback_end_time)},
};

static void stamp(const struct job *job, enum event_kind kind, double now_s)
{
	struct starpu_profiling_task_info *info = job->task->profiling_info;
	struct timespec now = {.tv_sec = (time_t)now_s};

	now.tv_nsec = (long)((now_s - (double)now.tv_sec) * 1e9);
	if (kind == EVENT_TASK_SUBMITTED)
		info->submit_time = now;
	for (int i = 0; i < 2 && dates[kind][i]; i++)
		*(struct timespec *)((char *)info + dates[kind][i]) = now;
	if (kind == EVENT_TASK_STARTED)
		info->workerid = job->worker->id;
}

/* Or since when it is known to run. */
static double began_s(const struct job *job)
{
	double since_s = job->node->events.since_s;

	return job->worker->began_s > since_s ? job->worker->began_s : since_s;
}

static void record(struct job *job, enum event_kind kind, double now_s)
{
	struct event event = {.date_s = now_s, .kind = (uint8_t)kind, .id = job->id};

	switch (kind) {
	case EVENT_TASK_SUBMITTED:
		event.n = (uint32_t)job->task->priority;
		break;
	case EVENT_TASK_STARTED:
		job->worker->began_s = now_s;
		event.value = event_text(job->node, task_name(job->task));
		break;
	case EVENT_TASK_ENDED:
		event.value = event_bits(began_s(job));
		break;
	default:
		break;
	}
	event_tell(job->node, NULL, event);
}

void task_tell(struct job *job, enum event_kind kind)
{
	struct node *node = job->node;
	int is_wanted = events_want(&node->events, kind);
	double now_s;

	if (!is_wanted && !job->task->profiling_info)
		return;
	now_s = plat_now_s(node->plat);
	if (job->task->profiling_info)
		stamp(job, kind, now_s);
	if (is_wanted)
		record(job, kind, now_s);
}
